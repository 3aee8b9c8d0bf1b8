#include "capture/client/agent_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "capture/ingest/logged_frames.h"
#include "core/base/format.h"

namespace accelscope::capture::client {
namespace {

constexpr double kLargeResidual = 1e6;  // ns; the eye compares hosts at about a millisecond
constexpr std::uintmax_t kReserve = 64U << 20;

// A pair as a log keeps it: the agent's answer, and how sure it is.
struct KeptPair {
  wire::ClockReport report;
  std::int64_t uncertainty_ns = 0;
  static void fields(auto& walk, auto& pair) { walk(pair.report, pair.uncertainty_ns); }
};

}  // namespace

wire::Frame encode_clock_pair(const ClockPair& pair) {
  return wire::make_frame(wire::FrameType::clock, write_fields(KeptPair{{pair.ns, pair.ticks}, pair.uncertainty_ns}));
}

Result<ClockPair> decode_clock_pair(ByteView body) {
  const Result<KeptPair> kept = read_fields<KeptPair>(body, "reading of clocks");
  if (!kept) return kept.error();
  return ClockPair{kept->report.agent_ns, kept->report.viewer_ns, kept->uncertainty_ns};
}

std::string HostNames::name(const std::string& host, const std::string& place) {
  const std::lock_guard lock(mutex_);
  const auto [known, first] = places_.try_emplace(host, place);
  if (first || known->second == place) return host;
  const std::string port = place.substr(std::min(place.size(), place.rfind(':') + 1));
  const bool has_port = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  return has_port ? fmt::format("{}:{}", host, port) : fmt::format("{} ({})", host, place);
}

AgentFeed::AgentFeed(ingest::SinkProvider& sinks, AgentFeedOptions options)
    : sinks_(sinks), options_(std::move(options)), clock_(options_.clock, options_.reference), ingest_(*this) {
  facts_.place = options_.place;
}

EventSink& AgentFeed::sink(std::uint32_t scope) {
  EventSink& inner = sinks_.sink(scope);
  if (options_.reference && !options_.names_host) return inner;
  std::unique_ptr<ingest::HostClockSink>& found = scopes_[scope];
  if (!found) {
    found = std::make_unique<ingest::HostClockSink>(inner, host(), options_.reference,
                                                    options_.hosts ? options_.hosts->facts() : nullptr);
    if (!map_.empty()) found->start_with(map_, clock_.fit().residual_ns());
  }
  return *found;
}

Result<void> AgentFeed::begin(const wire::Started& started, const std::string& host_name) {
  host_ = options_.hosts ? options_.hosts->name(host_name, options_.place) : host_name;
  facts_.capture_id = started.capture_id;
  facts_.name = started.name;
  facts_.description = started.description;
  facts_.begun_unix_ns = started.begun_unix_ns;
  facts_.state = wire::CaptureState::running;
  if (log_ || options_.folder.empty()) return write_facts();
  Result<std::unique_ptr<log::FrameLog>> log =
      log::FrameLog::create(options_.folder, {.capture_id = started.capture_id});
  if (!log) return lose_log(log.error());
  log_ = std::move(log).value();
  return write_facts();
}

Result<void> AgentFeed::write_facts() {
  if (!log_) return {};
  const Result<void> written = log_->write_facts(facts_);
  return written ? Result<void>() : lose_log(written.error());
}

// The capture goes on without it; only a death of this process would then cost something.
Result<void> AgentFeed::lose_log(const Error& why) {
  log_.reset();
  options_.folder.clear();
  unsafe_ = "what comes from now on is in memory only: " + why.message;
  return note({"recovery_file", 1, "what came after this could not be saved while capturing: " + why.message});
}

Result<void> AgentFeed::log(const wire::Frame& frame) {
  if (!log_) return {};
  // After damage in the file the agent may send what the file already counts.
  if (frame.header.sequence != 0 && frame.header.sequence <= log_->last_sequence()) return {};
  const Result<void> kept = log_->append(frame);
  return kept ? Result<void>() : lose_log(kept.error());
}

std::uint64_t AgentFeed::durable() const noexcept {
  return log_ ? std::min(log_->synced_sequence(), ingest_.last_sequence()) : 0;
}

Result<void> AgentFeed::take(wire::Frame frame) {
  if (frame.header.sequence == ingest_.last_sequence() + 1) {
    if (Result<void> kept = log(frame); !kept) return kept;
  }
  return ingest_.take(std::move(frame));
}

Result<void> AgentFeed::take(const wire::Gap& gap) {
  if (Result<void> taken = ingest_.take(gap); !taken) return taken;
  return log(wire::encode(gap));
}

Result<std::string> AgentFeed::finish(const wire::StreamEnd& end) {
  if (Result<void> told = tick(true); !told) return told.error();
  if (!facts_.end) {
    facts_.end = end;
    facts_.state = wire::CaptureState::ended;
    if (Result<void> kept = log(wire::encode(end)); !kept) return kept.error();
    if (Result<void> kept = write_facts(); !kept) return kept.error();
    if (const Result<void> synced = log_ ? log_->sync() : Result<void>(); !synced) {
      if (Result<void> lost = lose_log(synced.error()); !lost) return lost.error();
    }
  }
  return ingest_.finish(end);
}

Result<void> AgentFeed::add_clock(const ClockPair& pair) {
  clock_.add(pair);
  return log(encode_clock_pair(pair));
}

// What is on the disk grows with every tick. The disk is not filled to its end: what else is written there fails first,
// and the session itself needs room.
Result<void> AgentFeed::keep_log_safe() {
  if (!log_) return {};
  log_->request_sync();
  if (const std::string failure = log_->sync_failure(); !failure.empty()) return lose_log(Error{failure});
  std::error_code unknown;
  const auto room = std::filesystem::space(options_.folder, unknown);
  if (unknown || room.available >= kReserve) return {};
  return lose_log(Error{fmt::format("{}: only {} are left there", options_.folder.string(),
                                    format_bytes(static_cast<double>(room.available)))});
}

Result<void> AgentFeed::tick(bool last) {
  if (Result<void> safe = keep_log_safe(); !safe) return safe;
  const std::optional<std::vector<ClockAnchor>> anchors = clock_.due(std::chrono::steady_clock::now(), last);
  const double residual = clock_.fit().residual_ns();
  if (anchors) {
    map_ = *anchors;
    for (auto& [number, scope] : scopes_) {
      if (Result<void> set = scope->set_map(*anchors, residual); !set) return set;
    }
  }
  if (!last || clock_.reference() || clock_.fit().empty()) return {};
  if (Result<void> kept =
          sink(0).define(MetaEntry{fmt::format("clock.{}.residual_ns", host()), fmt::format("{:.0f}", residual)});
      !kept) {
    return kept;
  }
  if (residual <= kLargeResidual) return {};
  return note({QualityKind("clock_residual").as(Severity::warning), 1,
               fmt::format("the clock of {} could be brought onto the session's time only within {}; compare its "
                           "events with those of other hosts at no finer scale",
                           host(), format_duration(residual))});
}

Result<void> AgentFeed::replay() {
  const Result<log::FrameLogFacts> facts = log::FrameLog::read_facts(options_.folder);
  if (facts) facts_ = facts.value();
  facts_.end.reset();  // it comes with the frames
  log::FrameLogRecovery found;
  Result<std::unique_ptr<log::FrameLog>> log =
      log::FrameLog::open_existing(options_.folder, {.capture_id = facts_.capture_id}, found);
  if (!log) return log.error();
  ingest::LoggedFrames frames(options_.folder, "recovery files", ingest_);
  const Result<void> read = frames.read([] { return true; }, [this](const wire::Frame& frame) { replay(frame); });
  if (!read) return read;
  log_ = std::move(log).value();
  log_->request_sync();
  if (Result<void> told = tick(true); !told) return told;
  if (Result<void> noted = frames.finish(sink(0)); !noted) return noted;
  if (facts_.end) {
    if (const Result<std::string> compared = ingest_.finish(*facts_.end); !compared) return compared.error();
  }
  if (found.cut_bytes == 0) return {};
  return note({"recovery_cut", found.cut_bytes,
               "bytes of a last frame that was being written when the program ended; the agent sends it again if it "
               "still has the capture"});
}

void AgentFeed::replay(const wire::Frame& frame) {
  if (frame.header.type == wire::FrameType::clock) {
    if (const Result<ClockPair> pair = decode_clock_pair(frame.body); pair) clock_.add(pair.value());
  }
  if (frame.header.type == wire::FrameType::end) {
    if (const Result<wire::StreamEnd> end = wire::decode<wire::StreamEnd>(frame.body); end) facts_.end = end.value();
  }
}

}  // namespace accelscope::capture::client
