#include "capture/ingest/logged_frames.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture::ingest {

Result<void> LoggedFrames::read(const std::function<bool()>& keep_going,
                                const std::function<void(const wire::Frame&)>& other) {
  while (keep_going()) {
    Result<std::optional<wire::Frame>> frame = reader_.next();
    if (!frame) return frame.error();
    if (!frame.value()) return {};
    const wire::FrameType type = (*frame)->header.type;
    if (type == wire::FrameType::gap) {
      const Result<wire::Gap> gap = wire::decode<wire::Gap>((*frame)->body);
      if (!gap || gap->last <= ingest_.last_sequence()) continue;
      if (Result<void> taken = ingest_.take(*gap); !taken) return taken;
    } else if ((*frame)->header.sequence == 0) {
      other(**frame);
    } else if (Result<void> taken = take(std::move(**frame)); !taken) {
      return taken;
    }
  }
  return {};
}

// What is damaged is left out; what depends on it, too.
Result<void> LoggedFrames::take(wire::Frame frame) {
  const std::uint64_t sequence = frame.header.sequence;
  const std::uint64_t expected = ingest_.last_sequence() + 1;
  if (sequence > expected) {
    const std::string reason = reader_.damage().empty() ? "missing in the " + place_ : reader_.damage();
    if (Result<void> skipped = ingest_.take(wire::Gap{expected, sequence - 1, 0, reason}); !skipped) return skipped;
  }
  const std::uint32_t events = log::events_in(frame);
  const Result<void> taken = ingest_.take(std::move(frame));
  return taken ? Result<void>() : ingest_.take(wire::Gap{sequence, sequence, events, taken.message()});
}

Result<void> LoggedFrames::finish(EventSink& notes) {
  reader_.end();
  if (reader_.damaged_places() == 0) return {};
  return notes.define(QualityEntry{
      wire::kDamagedFrames, reader_.damaged_places(),
      fmt::format("places of the {} cannot be read; what lies around them is here: {}", place_, reader_.damage())});
}

}  // namespace accelscope::capture::ingest
