#include "capture/ingest/stream_ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/chunk/chunk_format.h"

namespace accelscope::capture::ingest {

Result<void> StreamIngest::take(wire::Frame frame) {
  const std::uint64_t sequence = frame.header.sequence;
  if (sequence <= last_sequence_) {
    ++doubled_frames_;
    return {};
  }
  if (sequence != last_sequence_ + 1) {
    return Error{fmt::format("left out frames {} to {}", last_sequence_ + 1, sequence - 1)};
  }
  Result<void> taken =
      frame.header.type == wire::FrameType::chunk ? take_chunk(std::move(frame)) : take_definition(frame);
  if (!taken) return Error{fmt::format("sent frame {}, which cannot be kept: {}", sequence, taken.message())};
  last_sequence_ = sequence;
  return {};
}

Result<void> StreamIngest::take(const wire::Gap& gap) {
  if (gap.first > last_sequence_ + 1 || gap.first == 0 || gap.last < gap.first) {
    return Error{fmt::format("announced a gap of frames {} to {} after frame {}", gap.first, gap.last, last_sequence_)};
  }
  if (gap.last <= last_sequence_) return {};
  const std::uint64_t frames = gap.last - last_sequence_;
  last_sequence_ = gap.last;
  lost_frames_ += frames;
  lost_events_ += gap.events;
  std::string text = "frames that the agent no longer has";
  if (gap.events > 0) text += fmt::format(", with {} events", format_count(gap.events));
  if (!gap.reason.empty()) text += ": " + wire::printable(gap.reason);
  return report({"lost_frames", frames, text});
}

Result<void> StreamIngest::take_definition(const wire::Frame& frame) {
  std::optional<Definition> definition = TRY(decode_definition(frame.body));
  if (!definition) {
    ++unknown_definitions_;
    return {};
  }
  if (const auto* reported = std::get_if<QualityEntry>(&*definition);
      reported != nullptr && reported->kind == wire::kDroppedEvents) {
    dropped_events_ += reported->count;
  }
  return sinks_.sink(frame.header.scope).define(*definition);
}

Result<void> StreamIngest::take_chunk(wire::Frame frame) {
  const std::optional<ChunkHeader> header = read_chunk_header(frame.body);
  if (!header) return Error{"it is not a chunk"};
  if (header->lane > kMaxLocalNumber) return Error{fmt::format("lane {} is out of range", header->lane)};
  if (Result<void> appended = sinks_.sink(frame.header.scope).append({std::move(frame.body)}); !appended) {
    return appended;
  }
  lane_events_[scoped_number(frame.header.scope, header->lane)] += header->count;
  events_ += header->count;
  ++chunks_;
  return {};
}

// What is missing or does not agree, in a sentence; "" if nothing is. Sets lost_events_ and totals_agree_.
std::string StreamIngest::compare(const wire::StreamEnd& end) {
  std::uint64_t missing = 0;
  std::uint64_t lanes = 0;
  std::uint64_t surplus = 0;  // lanes of which more came than the agent counts
  for (const wire::LaneTotal& total : end.lanes) {
    const auto found = lane_events_.find(total.lane);
    const std::uint64_t have = found == lane_events_.end() ? 0 : found->second;
    surplus += have > total.events ? 1 : 0;
    if (have >= total.events) continue;
    missing += std::min(total.events - have, std::numeric_limits<std::uint64_t>::max() - missing);
    ++lanes;
  }
  lost_events_ = missing;
  if (missing > 0) {
    totals_agree_ = lost_frames_ > 0 && surplus == 0;
    return fmt::format("{} events of {} lanes were {}", format_count(missing), lanes,
                       lost_frames_ > 0 ? "lost with frames that the agent no longer had" : "sent but never came");
  }
  lost_events_ = end.events > events_ ? end.events - events_ : 0;
  // Frames that are gone took an unknown number of chunks with them.
  const bool same_frames = end.last_sequence == last_sequence_ && (lost_frames_ > 0 || end.chunks == chunks_);
  totals_agree_ = surplus == 0 && same_frames && end.events >= events_ && (lost_frames_ > 0 || lost_events_ == 0);
  if (totals_agree_ && lost_events_ == 0) return "";
  std::string text =
      fmt::format("the agent counts {} frames, {} chunks and {} events; {}, {} and {} came", end.last_sequence,
                  end.chunks, format_count(end.events), last_sequence_ - lost_frames_, chunks_, format_count(events_));
  if (lost_frames_ > 0) text += fmt::format(", and {} frames are said to be gone", lost_frames_);
  if (surplus > 0) text += fmt::format(", and more of {} lanes than it counts", surplus);
  return text;
}

Result<std::string> StreamIngest::finish(const wire::StreamEnd& end) {
  std::string text = compare(end);
  std::vector<QualityEntry> entries;
  if (!text.empty()) {
    const char* advice =
        lost_frames_ > 0 ? "; give the agent more --buffer or a --spool folder" : "; report this with both versions";
    if (lost_events_ > 0) {
      entries.push_back({"lost_events", lost_events_, text + advice});
    } else {
      entries.push_back({"totals_disagree", 1, text + advice});
    }
  }
  if (const std::uint64_t doubled = doubled_frames_ - std::exchange(reported_doubled_, doubled_frames_); doubled > 0) {
    entries.push_back({"doubled_frames", doubled, "frames that came twice were dropped"});
  }
  if (const std::uint64_t unknown = std::exchange(unknown_definitions_, 0); unknown > 0) {
    entries.push_back({"unknown_definitions", unknown,
                       "the agent is newer and sends records that this version skips; update accelscope"});
  }
  for (const QualityEntry& entry : entries) {
    TRY(report(entry));
  }
  if (dropped_events_ > 0) {  // the agent's own entry says so in the session
    text += fmt::format(
        "{}the agent dropped {} events for want of room; give it a larger --buffer or --spool-limit, "
        "or --when-full wait",
        text.empty() ? "" : "; ", format_count(dropped_events_));
  }
  return text;
}

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
                                          if (auto reported = wire::decode<wire::StreamEnd>(frame.body); reported)
                                            end = *reported;
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

Result<void> LoggedFrames::read(const std::function<bool()>& keep_going,
                                const std::function<void(const wire::Frame&)>& other) {
  while (keep_going()) {
    std::optional<wire::Frame> frame = TRY(reader_.next());
    if (!frame) return {};
    const wire::FrameType type = frame->header.type;
    if (type == wire::FrameType::gap) {
      const Result<wire::Gap> gap = wire::decode<wire::Gap>(frame->body);
      if (!gap || gap->last <= ingest_.last_sequence()) continue;
      if (Result<void> taken = ingest_.take(*gap); !taken) return taken;
    } else if (frame->header.sequence == 0) {
      other(*frame);
    } else if (Result<void> taken = take(std::move(*frame)); !taken) {
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
