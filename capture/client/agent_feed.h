// What comes from one agent on its way into the session: into the recovery file, then into the store, one scope for
// each kind of the capture, with the host's clock brought onto the session's time. No sockets in here: the same code
// reads a recovery file that a dead process left. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "capture/ingest/host_clock_sink.h"
#include "capture/ingest/session_clock.h"
#include "capture/ingest/stream_ingest.h"
#include "capture/log/frame_log.h"

namespace accelscope::capture::client {

// The hosts of a session: two agents on one host, or hosts of one name, are told apart by their places.
class HostNames {
 public:
  // The host's name, with the place's port if another place has that name already. Any thread.
  [[nodiscard]] std::string name(const std::string& host, const std::string& place);
  [[nodiscard]] const std::shared_ptr<ingest::HostFacts>& facts() const noexcept { return facts_; }

 private:
  std::shared_ptr<ingest::HostFacts> facts_ = std::make_shared<ingest::HostFacts>();
  std::mutex mutex_;
  std::map<std::string, std::string> places_;  // by host
};

struct AgentFeedOptions {
  std::string place;
  std::shared_ptr<HostNames> hosts;  // none: the name is taken as it is
  std::shared_ptr<ingest::SessionClock> clock;
  bool reference = true;         // the session's time is this agent's
  bool names_host = false;       // on tracks: there are several hosts
  std::filesystem::path folder;  // of the recovery file; "": none is kept
};

class AgentFeed final : public ingest::SinkProvider {
 public:
  // The sinks are asked for with the scopes of the wire.
  AgentFeed(ingest::SinkProvider& sinks, AgentFeedOptions options);

  // Reads what a former process left in the folder, and goes on there. Damage is counted in the quality report.
  Result<void> replay();

  Result<void> begin(const wire::Started& started, const std::string& host);  // also when a capture was taken up again
  Result<void> take(wire::Frame frame);
  Result<void> take(const wire::Gap& gap);
  Result<std::string> finish(const wire::StreamEnd& end);  // see StreamIngest::finish()
  Result<void> add_clock(const ClockPair& pair);
  Result<void> tick(bool last = false);  // tells the store what is known better of the clock
  Result<void> note(const QualityEntry& entry) { return sink(0).define(entry); }

  EventSink& sink(std::uint32_t scope) override;

  [[nodiscard]] const ingest::StreamIngest& counts() const noexcept { return ingest_; }
  [[nodiscard]] std::uint64_t durable() const noexcept;  // highest number in the recovery file that is on the disk
  [[nodiscard]] const std::string& unsafe() const noexcept { return unsafe_; }  // why no more is kept there; "": it is
  [[nodiscard]] const ingest::HostClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const log::FrameLogFacts& facts() const noexcept { return facts_; }

 private:
  Result<void> log(const wire::Frame& frame);
  Result<void> write_facts();
  Result<void> lose_log(const Error& why);
  Result<void> keep_log_safe();
  void replay(const wire::Frame& frame);
  [[nodiscard]] std::string host() const { return host_.empty() ? options_.place : host_; }

  ingest::SinkProvider& sinks_;
  AgentFeedOptions options_;
  ingest::HostClock clock_;
  ingest::StreamIngest ingest_;
  std::map<std::uint32_t, std::unique_ptr<ingest::HostClockSink>> scopes_;
  std::unique_ptr<log::FrameLog> log_;
  log::FrameLogFacts facts_;
  std::string unsafe_;
  std::string host_;
  std::vector<ClockAnchor> map_;  // host ns -> session ns, as the store has it
};

// A reading of clocks as it is kept in a recovery file.
[[nodiscard]] wire::Frame encode_clock_pair(const ClockPair& pair);
[[nodiscard]] Result<ClockPair> decode_clock_pair(ByteView body);

}  // namespace accelscope::capture::client
