// Kernels, markers and barriers.
#include <algorithm>
#include <cstring>

#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

// Commands that the call waits for. Read before the call: it may put its own event where the list lies.
thread_local std::vector<std::uint64_t> waits_of_call;

void read_waits(const CommandCall& call) {
  waits_of_call.clear();
  if (call.waits == nullptr) return;
  for (cl_uint i = 0; i < call.wait_count; ++i) {
    const std::uint64_t command = state().events.find(call.waits[i]);
    if (command != 0) waits_of_call.push_back(command);
  }
}

char* put(char* at, const void* bytes, std::size_t count) {
  if (count != 0) std::memcpy(at, bytes, count);
  return at + count;
}

char* put_sizes(char* at, const std::size_t* sizes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = sizes == nullptr ? 0 : sizes[i];
    at = put(at, &size, sizeof size);
  }
  return at;
}

}  // namespace

CommandEntry::CommandEntry(const CommandCall& call) : call_(call) {
  if (!layer().channel->collecting()) return;
  queue_ = state().queues.find(call.queue);
  if (queue_ == nullptr) return;
  read_waits(call);
  begin_ticks_ = now_ticks();
}

void CommandEntry::finish(cl_int result) {
  State& now = state();
  if (queue_ == nullptr) {
    if (call_.event != nullptr && result == CL_SUCCESS) now.events.forget(*call_.event);
    return;
  }
  if (result != CL_SUCCESS) {
    record_call(call_.call, begin_ticks_, result, queue_->number);
    return;
  }
  const std::uint64_t end_ticks = now_ticks();
  const std::uint64_t command = now.last_command.fetch_add(1, std::memory_order_relaxed) + 1;
  write(command, end_ticks);
  if (call_.event != nullptr) {
    own_ = *call_.event;
    (void)layer().next.clRetainEvent(own_);
    now.events.set(own_, command);
  }
  if (own_ != nullptr) now.collector.add(queue_, {own_, command});
  if ((call_.facts.flags & kBlocking) != 0) now.collector.collect(*queue_);
}

void CommandEntry::write(std::uint64_t command, std::uint64_t end_ticks) const {
  ThreadRing* ring = layer().channel->ring_even_paused();
  if (ring == nullptr) return;
  const CommandFacts& facts = call_.facts;
  const std::shared_ptr<Kernel> kernel = facts.kernel == nullptr ? nullptr : state().kernels.find(facts.kernel);
  const std::size_t argument_count =
      kernel == nullptr || !layer().keeps_arguments ? 0 : std::min(kernel->arguments.size(), kMostArguments);
  const std::size_t wait_count = std::min(waits_of_call.size(), kMostWaits);
  const bool cut = wait_count < waits_of_call.size() ||
                   (kernel != nullptr && argument_count != 0 && argument_count < kernel->arguments.size());
  const std::size_t dimensions = facts.global == nullptr ? 0 : facts.dimensions;
  const std::size_t bytes = sizeof(CommandRecord) + 3 * 8 * dimensions + (facts.moves ? sizeof(TransferRecord) : 0) +
                            8 * wait_count + sizeof(ArgumentRecord) * argument_count;
  char* at = ring->reserve(bytes);
  if (at == nullptr) return;
  const CommandRecord record{
      {static_cast<std::uint16_t>(RecordType::command), static_cast<std::uint16_t>(bytes / 8), call_.call.place},
      command,
      begin_ticks_,
      end_ticks,
      queue_->number,
      kernel == nullptr ? 0 : kernel->number,
      call_.kind,
      static_cast<std::uint8_t>(facts.flags | (cut ? kListsAreCut : 0U)),
      static_cast<std::uint8_t>(dimensions),
      static_cast<std::uint8_t>(argument_count),
      static_cast<std::uint16_t>(wait_count),
      static_cast<std::uint16_t>(facts.moves ? 1 : 0)};
  at = put(at, &record, sizeof record);
  at = put_sizes(at, facts.global, dimensions);
  at = put_sizes(at, facts.local, dimensions);
  at = put_sizes(at, facts.offset, dimensions);
  if (facts.moves) at = put(at, &facts.transfer, sizeof(TransferRecord));
  at = put(at, waits_of_call.data(), 8 * wait_count);
  if (argument_count != 0) put(at, kernel->arguments.data(), sizeof(ArgumentRecord) * argument_count);
  ring->commit(bytes);
}

std::uint32_t number_of_memory(cl_mem memory) {
  if (!layer().channel->collecting()) return 0;
  const std::shared_ptr<Memory> known = state().memories.find(memory);
  return known == nullptr ? 0 : known->number;
}

void fill_commands(Table& table) {
  const auto nothing_more = [](auto...) { return CommandFacts{}; };
  enqueued<&Table::clEnqueueNDRangeKernel, "clEnqueueNDRangeKernel", CommandKind::kernel>(
      table, [](cl_kernel kernel, cl_uint dimensions, const std::size_t* offset, const std::size_t* global,
                const std::size_t* local) {
        return CommandFacts{
            .kernel = kernel, .dimensions = dimensions, .global = global, .local = local, .offset = offset};
      });
  enqueued<&Table::clEnqueueTask, "clEnqueueTask", CommandKind::kernel>(table, [](cl_kernel kernel) {
    static constexpr std::size_t kOne = 1;
    return CommandFacts{.kernel = kernel, .dimensions = 1, .global = &kOne, .local = &kOne};
  });
  enqueued<&Table::clEnqueueNativeKernel, "clEnqueueNativeKernel", CommandKind::native_kernel>(table, nothing_more);
  enqueued<&Table::clEnqueueMarker, "clEnqueueMarker", CommandKind::marker>(table, nothing_more);
  enqueued<&Table::clEnqueueMarkerWithWaitList, "clEnqueueMarkerWithWaitList", CommandKind::marker>(table,
                                                                                                    nothing_more);
  enqueued<&Table::clEnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList", CommandKind::barrier>(table,
                                                                                                       nothing_more);
  // These have no event.
  timed<&Table::clEnqueueBarrier>(table, [](std::uint64_t begin_ticks, cl_int result, cl_command_queue) {
    record_call("clEnqueueBarrier", begin_ticks, result);
  });
  timed<&Table::clEnqueueWaitForEvents>(table, [](std::uint64_t begin_ticks, cl_int result, auto...) {
    record_call("clEnqueueWaitForEvents", begin_ticks, result);
  });
}

}  // namespace accelscope::probe::opencl
