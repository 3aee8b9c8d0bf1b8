#include "capture/ingest/frame_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "capture/ingest/store_scopes.h"
#include "capture/log/frame_log.h"

namespace accelscope::capture::ingest {
namespace {

namespace fs = std::filesystem;

bool is_capture(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".frames") return true;
  }
  return false;
}

std::vector<fs::path> captures_in(const fs::path& folder) {
  if (is_capture(folder)) return {folder};
  std::vector<fs::path> captures;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.is_directory(failure) && is_capture(entry.path())) captures.push_back(entry.path());
  }
  std::sort(captures.begin(), captures.end());
  return captures;
}

class CaptureReader {
 public:
  CaptureReader(const fs::path& folder, Store& store)
      : folder_(folder), reader_(folder, 0), scopes_(store), ingest_(scopes_) {}

  Result<void> read(const std::function<bool()>& keep_going) {
    while (keep_going()) {
      Result<std::optional<wire::Frame>> frame = reader_.next();
      if (!frame) return frame.error();
      if (!frame.value()) return finish();
      if (Result<void> taken = take(std::move(*frame.value())); !taken) return taken;
    }
    return {};
  }
  [[nodiscard]] std::uint64_t frames() const noexcept { return ingest_.last_sequence(); }

 private:
  Result<void> take(wire::Frame frame) {
    if (frame.header.type == wire::FrameType::end) {
      if (const Result<wire::StreamEnd> end = wire::decode<wire::StreamEnd>(frame.body); end) end_ = end.value();
    }
    const std::uint64_t sequence = frame.header.sequence;
    if (sequence == 0) return {};
    const std::uint64_t expected = ingest_.last_sequence() + 1;
    if (sequence > expected) {
      const std::string& damage = reader_.damage();
      const wire::Gap gap{expected, sequence - 1, 0, damage.empty() ? "they are not in the folder any more" : damage};
      if (Result<void> skipped = ingest_.take(gap); !skipped) return skipped;
    }
    const Result<void> taken = ingest_.take(std::move(frame));
    return taken ? Result<void>() : ingest_.take(wire::Gap{sequence, sequence, 0, taken.message()});
  }

  Result<void> finish() {
    if (ingest_.last_sequence() == 0) return {};
    reader_.end();
    if (reader_.damaged_places() > 0) {
      Result<void> noted = scopes_.sink(0).define(QualityEntry{
          wire::kDamagedFrames, reader_.damaged_places(),
          "places of the folder's files cannot be read; what lies around them is here: " + reader_.damage(),
          Severity::error});
      if (!noted) return noted;
    }
    // An agent keeps the end beside the frames.
    const Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(folder_);
    if (!end_ && facts) end_ = facts->end;
    if (end_) {
      const Result<std::string> compared = ingest_.finish(*end_);
      return compared ? Result<void>() : Result<void>(compared.error());
    }
    return scopes_.sink(0).define(QualityEntry{"capture_unfinished", 1,
                                               "the capture has no end in this folder: it was interrupted, or it still "
                                               "goes on; what had been sealed is here",
                                               Severity::warning});
  }

  fs::path folder_;
  log::FrameLogReader reader_;
  StoreScopes scopes_;
  StreamIngest ingest_;
  std::optional<wire::StreamEnd> end_;
};

}  // namespace

bool holds_frames(const fs::path& folder) {
  std::error_code failure;
  return fs::is_directory(folder, failure) && !captures_in(folder).empty();
}

Result<void> import_frames(const fs::path& folder, Store& store, const std::function<bool()>& keep_going) {
  std::uint64_t frames = 0;
  for (const fs::path& capture : captures_in(folder)) {
    CaptureReader reader(capture, store);
    if (Result<void> read = reader.read(keep_going); !read) {
      return Error{fmt::format("{}: {}", capture.string(), read.message())};
    }
    frames += reader.frames();
  }
  if (frames > 0) return {};
  return Error{fmt::format("{}: no frame in this folder can be read; there is nothing to recover", folder.string())};
}

}  // namespace accelscope::capture::ingest
