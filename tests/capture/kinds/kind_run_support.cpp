#include "tests/capture/kinds/kind_run_support.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace accelscope::capture {

ScratchFolder::ScratchFolder() {
  static std::atomic<int> count = 0;
  path = std::filesystem::temp_directory_path() / fmt::format("accelscope_test_{}_{}", ::getpid(), ++count);
  std::filesystem::create_directories(path);
}

namespace {

// A further scope of the capture, stopped and paused with it.
class ScopeSink final : public EventSink {
 public:
  ScopeSink(std::shared_ptr<RecordingSink> retained, const EventSink& capture)
      : retained_(std::move(retained)), capture_(capture) {}
  Result<void> define(const Definition& definition) override { return retained_->define(definition); }
  Result<void> append(SealedChunk chunk) override { return retained_->append(std::move(chunk)); }
  [[nodiscard]] bool cancelled() const override { return capture_.cancelled(); }
  [[nodiscard]] bool paused() const override { return capture_.paused(); }

 private:
  std::shared_ptr<RecordingSink> retained_;
  const EventSink& capture_;
};

}  // namespace

KindOutcome run_kind_into(const request::CaptureRequest& request, EventSink& sink, const std::string& work_folder) {
  KindOutcome outcome;
  const request::KindRun run{
      .request = request,
      .choice = request.kinds.front(),
      .origin = std::chrono::steady_clock::now(),
      .work_folder = work_folder,
      .open_scope =
          [&] {
            outcome.scopes.push_back(std::make_shared<RecordingSink>());
            return std::make_unique<ScopeSink>(outcome.scopes.back(), sink);
          },
      .watch = {.printed = [&outcome](bool, std::string_view bytes) { outcome.printed += bytes; },
                .ended = [&outcome](int status) { outcome.exit_status = status; }},
  };
  outcome.result = request::run_kind(run, sink);
  return outcome;
}

std::vector<RecordedEvent> events_of(const RecordingSink& sink, const std::string& track) {
  std::vector<RecordedEvent> found;
  for (const RecordedEvent& event : sink.events()) {
    if (sink.tracks.at(event.track).name == track) found.push_back(event);
  }
  return found;
}

std::vector<std::string> lines_of(const RecordingSink& sink, const std::string& track) {
  std::vector<std::string> lines;
  std::int64_t last_line = 0;
  for (const RecordedEvent& event : events_of(sink, track)) {
    const Schema& schema = sink.schema_of(event);
    const ChunkView view = sink.view(event);
    const std::string text(view.text(*schema.find("text"), event.row));
    const std::int64_t line = view.int64(*schema.find("line"), event.row);
    if (line == last_line) {
      lines.back() += text;
    } else {
      lines.push_back(text);
    }
    last_line = line;
  }
  return lines;
}

bool has_quality(const RecordingSink& sink, const std::string& kind) {
  return std::any_of(sink.qualities.begin(), sink.qualities.end(),
                     [&kind](const QualityEntry& entry) { return entry.kind == kind; });
}

std::string quality_detail(const RecordingSink& sink, const std::string& kind) {
  for (const QualityEntry& entry : sink.qualities) {
    if (entry.kind == kind) return entry.detail;
  }
  return {};
}

}  // namespace accelscope::capture
