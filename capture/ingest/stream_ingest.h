// Takes the numbered frames of one capture into the sinks of its scopes and keeps count: a doubled frame is dropped and
// counted, a missing one is an error unless the agent said that it is gone, and the totals at the end are compared with
// what came. No sockets in here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/log/frame_log.h"
#include "capture/wire/messages.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"
#include "core/store/store.h"

namespace accelscope::capture::ingest {

// Each kind of a capture numbers its lanes, tracks and so on for itself, so each has a sink of its own.
class SinkProvider {
 public:
  SinkProvider() = default;
  SinkProvider(const SinkProvider&) = delete;
  SinkProvider& operator=(const SinkProvider&) = delete;
  virtual ~SinkProvider() = default;
  virtual EventSink& sink(std::uint32_t scope) = 0;  // made when it is first asked for
};

class StreamIngest {
 public:
  explicit StreamIngest(SinkProvider& sinks) : sinks_(sinks) {}

  // A definition or a chunk. After an error nothing more may be taken; what came before stays in the sinks.
  Result<void> take(wire::Frame frame);
  // The frames up to gap.last will not come. A gap that begins behind what came is an error.
  Result<void> take(const wire::Gap& gap);

  // Compares the totals, and writes what is missing or doubled into the quality report. Returns what is missing, or
  // what does not agree, in a sentence, or "".
  Result<std::string> finish(const wire::StreamEnd& end);

  // After finish(): whether the agent counts what came and what it said to be gone, by events, lanes, chunks and
  // frames.
  [[nodiscard]] bool totals_agree() const noexcept { return totals_agree_; }
  [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_sequence_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::uint64_t doubled_frames() const noexcept { return doubled_frames_; }
  [[nodiscard]] std::uint64_t lost_frames() const noexcept { return lost_frames_; }
  // In gaps, as far as it is known; after finish() by the agent's totals.
  // All that were made and did not come: with frames that the agent let go, or dropped before they were numbered.
  [[nodiscard]] std::uint64_t lost_events() const noexcept { return lost_events_ + dropped_events_; }
  [[nodiscard]] std::uint64_t dropped_events() const noexcept { return dropped_events_; }  // as the agent said

 private:
  Result<void> take_definition(const wire::Frame& frame);
  Result<void> take_chunk(wire::Frame frame);
  [[nodiscard]] std::string compare(const wire::StreamEnd& end);
  Result<void> report(const QualityEntry& entry) { return sinks_.sink(0).define(entry); }

  SinkProvider& sinks_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t doubled_frames_ = 0;
  std::uint64_t reported_doubled_ = 0;
  std::uint64_t lost_frames_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t dropped_events_ = 0;
  std::uint64_t unknown_definitions_ = 0;
  bool totals_agree_ = true;
  std::map<LaneNumber, std::uint64_t> lane_events_;  // by lane number with its scope on the wire
};

// Frames on disk, opened like a file: an agent's spool, or what a viewer or `accelscope record` left behind when it
// died. Reads only: the folder stays as it is, also while a living process writes it.

// A capture's folder of frames, or a folder of such folders.
[[nodiscard]] bool holds_frames(const std::filesystem::path& folder);

// All captures that lie there, each in scopes of its own; damage is counted in the quality report. Fails if nothing can
// be read. keep_going: asked now and then; false ends it with what has been read.
Result<void> import_frames(const std::filesystem::path& folder, Store& store, const std::function<bool()>& keep_going);

// Reads the frames of one capture that lie in a folder (capture/log) into the sinks of its scopes, as far as they can
// be read: what is missing or damaged becomes a gap, and stands in the quality report.
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

// The scopes of one capture in a store: each kind's is made when it is first asked for.
class StoreScopes final : public SinkProvider {
 public:
  explicit StoreScopes(Store& store) : store_(store) {}
  EventSink& sink(std::uint32_t scope) override {
    std::unique_ptr<StoreSink>& found = sinks_[scope];
    if (!found) found = std::make_unique<StoreSink>(store_);
    return *found;
  }

 private:
  Store& store_;
  std::map<std::uint32_t, std::unique_ptr<StoreSink>> sinks_;
};

}  // namespace accelscope::capture::ingest
