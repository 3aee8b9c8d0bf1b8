#include "capture/client/stream_ingest.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "core/base/format.h"
#include "core/chunk/chunk_format.h"

namespace accelscope::capture {

Result<void> StreamIngest::take(Frame frame) {
  const std::uint64_t sequence = frame.header.sequence;
  if (sequence <= last_sequence_) {
    ++doubled_frames_;
    return {};
  }
  if (sequence != last_sequence_ + 1) {
    return Error{fmt::format("left out frames {} to {}", last_sequence_ + 1, sequence - 1)};
  }
  Result<void> taken = frame.header.type == FrameType::chunk ? take_chunk(std::move(frame)) : take_definition(frame);
  if (!taken) return Error{fmt::format("sent frame {}, which cannot be kept: {}", sequence, taken.message())};
  last_sequence_ = sequence;
  return {};
}

Result<void> StreamIngest::take_definition(const Frame& frame) {
  Result<std::optional<Definition>> definition = decode_definition(frame.body);
  if (!definition) return definition.error();
  if (!definition.value()) {
    ++unknown_definitions_;
    return {};
  }
  return sink_.define(*definition.value());
}

Result<void> StreamIngest::take_chunk(Frame frame) {
  ChunkHeader header;
  if (frame.body.size() < sizeof header) return Error{"the chunk is shorter than a chunk's header"};
  std::memcpy(&header, frame.body.data(), sizeof header);
  if (header.magic != kChunkMagic) return Error{"it is not a chunk"};
  if (header.lane > kMaxLocalNumber) return Error{fmt::format("lane {} is out of range", header.lane)};
  if (Result<void> appended = sink_.append({std::move(frame.body), header.lane, header.first_ordinal, header.count});
      !appended) {
    return appended;
  }
  if (lane_events_.size() <= header.lane) lane_events_.resize(header.lane + 1);
  lane_events_[header.lane] += header.count;
  events_ += header.count;
  ++chunks_;
  return {};
}

std::uint64_t StreamIngest::events_of(LaneNumber lane) const noexcept {
  return lane < lane_events_.size() ? lane_events_[lane] : 0;
}

Result<std::string> StreamIngest::finish(const StreamEnd& end) {
  std::uint64_t missing_events = 0;
  std::uint64_t lanes = 0;
  for (const LaneTotal& total : end.lanes) {
    const std::uint64_t have = events_of(total.lane);
    if (have >= total.events) continue;
    missing_events += total.events - have;
    ++lanes;
  }
  std::string text;
  if (missing_events > 0) {
    text = fmt::format("{} events of {} lanes were sent but never came", format_count(missing_events), lanes);
  } else if (end.last_sequence != last_sequence_ || end.events != events_) {
    missing_events = end.events > events_ ? end.events - events_ : 0;
    text = fmt::format("the agent counts {} frames and {} events, {} and {} came", end.last_sequence,
                       format_count(end.events), last_sequence_, format_count(events_));
  }
  lost_events_ = missing_events;
  std::vector<QualityEntry> entries;
  if (!text.empty()) {
    entries.push_back({"lost_events", missing_events, text + "; report this with both versions", Severity::error});
  }
  if (doubled_frames_ > 0) {
    entries.push_back({"doubled_frames", doubled_frames_, "frames that came twice were dropped", Severity::note});
  }
  if (unknown_definitions_ > 0) {
    entries.push_back({"unknown_definitions", unknown_definitions_,
                       "the agent is newer and sends records that this version skips; update accelscope",
                       Severity::warning});
  }
  for (const QualityEntry& entry : entries) {
    if (Result<void> kept = sink_.define(entry); !kept) return kept.error();
  }
  return text;
}

}  // namespace accelscope::capture
