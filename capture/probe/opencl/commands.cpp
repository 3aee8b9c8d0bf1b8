// Kernels, markers and barriers.
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {

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
