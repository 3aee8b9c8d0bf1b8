#include "tests/support/planted/true_waits.h"

#include <algorithm>
#include <array>
#include <map>

#include "capture/sim/kernel/time_model.h"

namespace accelscope::capture::sim {
namespace {

// The rules of schedule.h once more, with who is to blame instead of when it is: the times are known.
class TrueRules {
 public:
  explicit TrueRules(const KernelTrace& trace) : trace_(trace), program_(*trace.program), holds_(count()) {
    for (const PacketRecord& packet : trace.packets) {
      if (!packet.semaphore) packets_[packet.engine].push_back(&packet);
    }
    for (std::uint32_t index = 1; index < count(); ++index) {
      const Operation& operation = program_.operations[index];
      if (operation.kind == OperationKind::transfer) {
        look_at_transfer(index);
      } else if (operation.kind == OperationKind::collective) {
        holds_[index] = {latest_source(operation), false, kSemaphoreNs};
      } else {
        look_at_instruction(index, operation);
      }
    }
  }

  std::vector<TrueWait> waits;
  [[nodiscard]] std::vector<std::uint32_t> path() const {
    std::uint32_t last = 0;
    for (std::uint32_t index = 1; index < count(); ++index) {
      if (last == 0 || trace_.ends[index] > trace_.ends[last]) last = index;
    }
    std::vector<std::uint32_t> path;
    // From the packet of a transfer that ended last, or from the one that was served before another one's.
    for (int engine = -1; last != kNoOperation;) {
      if (path.empty() || path.back() != last) path.push_back(last);
      const auto packets = packet_holds_.find(last);
      if (packets == packet_holds_.end()) {
        last = holds_[last].source;
        engine = -1;
        continue;
      }
      const std::size_t served = engine < 0 ? packets->second.last : static_cast<std::size_t>(engine);
      const TrueHold& hold = packets->second.engines[served];
      const bool same_engine = program_.operations[hold.source].kind == OperationKind::transfer;
      last = hold.source;
      engine = same_engine ? static_cast<int>(served) : -1;
    }
    return path;
  }

 private:
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(program_.operations.size()); }
  [[nodiscard]] std::int64_t end_of(std::uint32_t operation) const {
    return operation == kNoOperation ? start_signal_ : trace_.ends[operation];
  }
  [[nodiscard]] std::uint32_t latest_source(const Operation& operation) const {
    std::uint32_t latest = operation.after[0];
    for (const std::uint32_t need : operation.after) {
      if (end_of(need) > end_of(latest)) latest = need;
    }
    return latest;
  }

  void look_at_instruction(std::uint32_t index, const Operation& operation) {
    const auto unit = static_cast<std::size_t>(operation.unit);
    // The host lets the first kernel begin when all is set up.
    const bool startup_wait = trace_.pass == 0 && operation.kind == OperationKind::wait;
    start_signal_ = startup_wait ? kStartupNs : trace_.begin;
    TrueHold hold{last_[unit], false, kIssueNs};
    std::int64_t issue = end_of_unit(unit) + kIssueNs;
    const auto after = [&](std::int64_t time, std::uint32_t source, bool from_begin) {
      if (time <= issue) return;
      issue = time;
      hold = {source, from_begin, 0};
    };
    constexpr auto kTensor = static_cast<std::size_t>(Unit::tensor), kScalar = static_cast<std::size_t>(Unit::scalar);
    if (operation.flags & kAfterWeights) after(end_of_unit(kTensor), last_[kTensor], false);
    if (operation.flags & kAfterMatmul && matmul_ != 0) after(trace_.starts[matmul_], matmul_, true);
    if (operation.flags & kAfterScalar) after(end_of_unit(kScalar), last_[kScalar], false);
    const std::uint32_t source = latest_source(operation);
    const std::int64_t ready = end_of(source) + kSemaphoreNs;
    const bool is_wait = operation.kind == OperationKind::wait;
    if (is_wait ? ready - issue > kShortestWaitNs : ready > issue) {
      hold = {source, false, kSemaphoreNs};
      add_wait(index, operation, issue, ready);
    }
    holds_[index] = hold;
    last_[unit] = index;
    if (operation.flags & kThrottled) matmul_ = index;
  }
  [[nodiscard]] std::int64_t end_of_unit(std::size_t unit) const {
    return last_[unit] == kNoOperation ? trace_.begin : trace_.ends[last_[unit]];
  }

  void add_wait(std::uint32_t index, const Operation& operation, std::int64_t begin, std::int64_t end) {
    TrueWait wait{.operation = index, .begin = begin, .end = end, .sources = {}};
    for (const std::uint32_t need : operation.after) {
      if (need != kNoOperation && end_of(need) + kSemaphoreNs == end) wait.sources.push_back(need);
    }
    if (wait.sources.empty()) {
      const bool host = trace_.pass == 0 && operation.kind == OperationKind::wait;
      wait.cause = host ? TrueCause::semaphore : TrueCause::unknown;
      wait.semaphore = host ? kHostSemaphore : 0;
      wait.value = host ? 1 : 0;
      waits.push_back(std::move(wait));
      return;
    }
    const Operation& source = program_.operations[wait.sources.front()];
    wait.value = program_.texts[wait.sources.front()].signal;
    if (source.kind == OperationKind::transfer) {
      wait.cause = TrueCause::dma;
      wait.semaphore = queue_text(source.queue).semaphore;
    } else if (source.kind == OperationKind::collective) {
      wait.cause = TrueCause::barrier;
      wait.semaphore = unit_semaphore(source.unit);
    } else if (engine_name(source.unit) == engine_name(operation.unit)) {
      wait.cause = TrueCause::own_result;
    } else {
      wait.cause = TrueCause::semaphore;
      wait.semaphore = unit_semaphore(source.unit);
    }
    waits.push_back(std::move(wait));
  }

  // A packet begins when its engine is free, or a latency after the trigger.
  void look_at_transfer(std::uint32_t index) {
    PacketHolds& holds = packet_holds_[index];
    std::int64_t last_end = INT64_MIN;
    for (unsigned engine = 0; engine < kDmaEngines; ++engine) {
      const std::size_t place = served_[engine]++;
      const PacketRecord& packet = *packets_[engine][place];
      const PacketRecord* before = place == 0 ? nullptr : packets_[engine][place - 1];
      const bool waited = before != nullptr && before->start + before->duration + kSemaphorePacketNs == packet.start;
      holds.engines[engine] = {waited ? before->operation : latest_source(program_.operations[index]), false, 0};
      if (packet.start + packet.duration <= last_end) continue;
      last_end = packet.start + packet.duration;
      holds.last = engine;
    }
  }

  static constexpr int kHostSemaphore = 2;
  const KernelTrace& trace_;
  const KernelProgram& program_;
  std::vector<TrueHold> holds_;
  std::array<std::vector<const PacketRecord*>, kDmaEngines> packets_;
  std::array<std::size_t, kDmaEngines> served_ = {};
  struct PacketHolds {
    std::array<TrueHold, kDmaEngines> engines = {};
    unsigned last = 0;
  };
  std::map<std::uint32_t, PacketHolds> packet_holds_;  // of transfers
  std::array<std::uint32_t, kUnitCount> last_ = {};
  std::uint32_t matmul_ = 0;
  std::int64_t start_signal_ = 0;
};

}  // namespace

std::vector<TrueWait> true_waits(const KernelTrace& trace) { return std::move(TrueRules(trace).waits); }
std::vector<std::uint32_t> true_path(const KernelTrace& trace) { return TrueRules(trace).path(); }

}  // namespace accelscope::capture::sim
