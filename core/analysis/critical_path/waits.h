// What every wait of a session was for: of events that are waits (EVENT_SEMAPHORE, cudaStreamSynchronize), of events
// that say how long they waited before they began, and of streams that stand idle before their next kernel. Each has
// one cause and, where the session carries it, the event that ended it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/critical_path/work_graph.h"

namespace accelscope::analysis {

enum class WaitReason : std::uint8_t {
  semaphore,   // an engine waits for what another one does
  dma,         // a transfer
  queue,       // the server is taken: by another transfer, by the stream's work
  barrier,     // a collective, and who comes to it last
  dependency,  // its own engine's result, or a recorded dependency that no semaphore stands for
  host,        // a launch, or a call of the host
  issue,       // the time that an instruction takes to follow another
  unknown,     // nothing in the session tells
};
inline constexpr std::size_t kWaitReasonCount = 8;
[[nodiscard]] std::string_view wait_reason_name(WaitReason reason) noexcept;

struct AttributedWait {
  NodeIndex node = kNoNode, source = kNoNode;  // source: kNoNode where it is not known
  std::int64_t begin_ns = 0, end_ns = 0;
  WaitReason reason = WaitReason::unknown;
  EdgeConfidence confidence = EdgeConfidence::recorded;  // of `source`
  bool recorded = false;                                 // the source said that it waited; else the stream stood idle
  std::uint32_t semaphore = kNone;                       // that it waited for; kNone: its operands name none
  std::int64_t value = 0;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

struct WaitReport {
  std::vector<AttributedWait> waits;  // by begin
  std::uint64_t held_already = 0;     // waits whose condition held before they began: they are not listed
  std::uint64_t without_source = 0;   // of `waits`
  std::int64_t total_ns = 0;
};

// Those that overlap the range. Fails only when cancelled.
[[nodiscard]] Result<WaitReport> attribute_waits(const WorkGraph& graph, const TimeRange& range, WorkerPool& pool,
                                                 TaskControl& control);

// Why an event did not begin (or, where it waits, did not end) before it did.
[[nodiscard]] WaitReason wait_reason(const WorkGraph& graph, NodeIndex node, const Hold& hold);

// "S[5]>=12"; "" where it waited for none.
[[nodiscard]] std::string semaphore_text(const AttributedWait& wait);

// Time of one cause, tensor or line.
struct WaitSum {
  std::string label;
  std::uint64_t count = 0;
  std::int64_t wait_ns = 0;
};
enum class WaitsBy : std::uint8_t { reason, source, line };  // source: the signaller's name: of a transfer its tensor
// The longest first.
[[nodiscard]] std::vector<WaitSum> sum_waits(const WorkGraph& graph, const WaitReport& report, WaitsBy by);

}  // namespace accelscope::analysis
