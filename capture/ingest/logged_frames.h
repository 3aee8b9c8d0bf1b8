// Reads the frames of one capture that lie in a folder (capture/log) into the sinks of its scopes, as far as they can
// be read: what is missing or damaged becomes a gap, and stands in the quality report.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "capture/ingest/stream_ingest.h"
#include "capture/log/frame_log.h"

namespace accelscope::capture::ingest {

class LoggedFrames {
 public:
  // place: what the folder is to its reader, for messages: "recovery file".
  LoggedFrames(std::filesystem::path folder, std::string place, StreamIngest& ingest)
      : reader_(std::move(folder), 0), place_(std::move(place)), ingest_(ingest) {}

  // Everything that is there, or until keep_going() says no. `other` gets the frames that are neither data nor gaps.
  Result<void> read(const std::function<bool()>& keep_going, const std::function<void(const wire::Frame&)>& other);
  // Nobody writes the log any more, and all was read: notes the damage.
  Result<void> finish(EventSink& notes);

 private:
  Result<void> take(wire::Frame frame);

  log::FrameLogReader reader_;
  std::string place_;
  StreamIngest& ingest_;
};

}  // namespace accelscope::capture::ingest
