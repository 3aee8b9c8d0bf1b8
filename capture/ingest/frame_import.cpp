#include "capture/ingest/frame_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "capture/ingest/logged_frames.h"
#include "capture/ingest/store_scopes.h"

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

// One capture's, into scopes of its own. Returns how many frames there were.
Result<std::uint64_t> import_capture(const fs::path& folder, Store& store, const std::function<bool()>& keep_going) {
  StoreScopes scopes(store);
  StreamIngest ingest(scopes);
  LoggedFrames frames(folder, "folder's files", ingest);
  std::optional<wire::StreamEnd> end;
  bool whole = true;
  const Result<void> read = frames.read([&] { return whole = keep_going(); },
                                        [&end](const wire::Frame& frame) {
                                          if (frame.header.type != wire::FrameType::end) return;
                                          if (auto told = wire::decode<wire::StreamEnd>(frame.body); told) end = *told;
                                        });
  if (!read) return read.error();
  if (!whole || ingest.last_sequence() == 0) return ingest.last_sequence();
  Result<void> noted = frames.finish(scopes.sink(0));
  // An agent keeps the end beside the frames.
  const Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(folder);
  if (!end && facts) end = facts->end;
  if (noted && end) {
    if (const Result<std::string> compared = ingest.finish(*end); !compared) noted = compared.error();
  } else if (noted) {
    noted = scopes.sink(0).define(QualityEntry{"capture_unfinished", 1,
                                               "the capture has no end in this folder: it was interrupted, or it still "
                                               "goes on; what had been sealed is here"});
  }
  if (!noted) return noted.error();
  return ingest.last_sequence();
}

}  // namespace

bool holds_frames(const fs::path& folder) {
  std::error_code failure;
  return fs::is_directory(folder, failure) && !captures_in(folder).empty();
}

Result<void> import_frames(const fs::path& folder, Store& store, const std::function<bool()>& keep_going) {
  std::uint64_t frames = 0;
  for (const fs::path& capture : captures_in(folder)) {
    const Result<std::uint64_t> read = import_capture(capture, store, keep_going);
    if (!read) return Error{fmt::format("{}: {}", capture.string(), read.message())};
    frames += *read;
  }
  if (frames > 0) return {};
  return Error{fmt::format("{}: no frame in this folder can be read; there is nothing to recover", folder.string())};
}

}  // namespace accelscope::capture::ingest
