// Runs a kind into a sink that tests can steer, and reads back what it wrote.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture {

// Both conditions are asked on the kind's thread and may look at what has come so far.
class SteeredSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override { return retained.define(definition); }
  Result<void> append(SealedChunk chunk) override {
    if (on_append) on_append(chunk);
    return retained.append(std::move(chunk));
  }
  [[nodiscard]] bool cancelled() const override { return cancel_when && cancel_when(retained); }
  [[nodiscard]] bool paused() const override { return pause_when && pause_when(retained); }

  RecordingSink retained;
  std::function<bool(const RecordingSink&)> cancel_when;
  std::function<bool(const RecordingSink&)> pause_when;
  std::function<void(const SealedChunk&)> on_append;
};

// A folder of its own, removed with this object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
  std::filesystem::path path;
};

struct KindOutcome {
  Result<void> result;
  std::string printed;  // by the program, both streams
  int exit_status = -1;
  std::vector<std::shared_ptr<RecordingSink>> scopes;  // that the kind has opened
};
// The first kind of the request.
KindOutcome run_kind_into(const request::CaptureRequest& request, EventSink& sink, const std::string& work_folder = "");

// The text column of the events of the track, in order; pieces of a line joined.
[[nodiscard]] std::vector<std::string> lines_of(const RecordingSink& sink, const std::string& track);
[[nodiscard]] std::vector<RecordedEvent> events_of(const RecordingSink& sink, const std::string& track);
[[nodiscard]] bool has_quality(const RecordingSink& sink, const std::string& kind);
[[nodiscard]] std::string quality_detail(const RecordingSink& sink, const std::string& kind);

}  // namespace accelscope::capture
