// Kernels, markers and barriers.
#include "capture/probe/opencl/command_entry.h"

namespace accelscope::probe::opencl {
namespace {

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                                  cl_uint wait_count, const cl_event* waits, cl_event* event) {
  return enqueue({.call = Call::NDRangeKernel,
                  .kind = CommandKind::kernel,
                  .queue = queue,
                  .wait_count = wait_count,
                  .waits = waits,
                  .event = event,
                  .kernel = kernel,
                  .dimensions = dimensions,
                  .global = global,
                  .local = local,
                  .offset = offset},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                              wait_count, waits, out);
                 });
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event* waits,
                                cl_event* event) {
  constexpr std::size_t kOne = 1;
  return enqueue({.call = Call::Task,
                  .kind = CommandKind::kernel,
                  .queue = queue,
                  .wait_count = wait_count,
                  .waits = waits,
                  .event = event,
                  .kernel = kernel,
                  .dimensions = 1,
                  .global = &kOne,
                  .local = &kOne},
                 [&](cl_event* out) { return layer().next.clEnqueueTask(queue, kernel, wait_count, waits, out); });
}

cl_int CL_API_CALL enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*), void* arguments,
                                         std::size_t bytes, cl_uint memory_count, const cl_mem* memories,
                                         const void** places, cl_uint wait_count, const cl_event* waits,
                                         cl_event* event) {
  return enqueue({.call = Call::NativeKernel,
                  .kind = CommandKind::native_kernel,
                  .queue = queue,
                  .wait_count = wait_count,
                  .waits = waits,
                  .event = event},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueNativeKernel(queue, function, arguments, bytes, memory_count, memories,
                                                             places, wait_count, waits, out);
                 });
}

cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_event* event) {
  return enqueue({.call = Call::Marker, .kind = CommandKind::marker, .queue = queue, .event = event},
                 [&](cl_event* out) { return layer().next.clEnqueueMarker(queue, out); });
}

cl_int CL_API_CALL enqueue_marker_with_waits(cl_command_queue queue, cl_uint wait_count, const cl_event* waits,
                                             cl_event* event) {
  return enqueue(
      {.call = Call::MarkerWithWaitList,
       .kind = CommandKind::marker,
       .queue = queue,
       .wait_count = wait_count,
       .waits = waits,
       .event = event},
      [&](cl_event* out) { return layer().next.clEnqueueMarkerWithWaitList(queue, wait_count, waits, out); });
}

cl_int CL_API_CALL enqueue_barrier_with_waits(cl_command_queue queue, cl_uint wait_count, const cl_event* waits,
                                              cl_event* event) {
  return enqueue(
      {.call = Call::BarrierWithWaitList,
       .kind = CommandKind::barrier,
       .queue = queue,
       .wait_count = wait_count,
       .waits = waits,
       .event = event},
      [&](cl_event* out) { return layer().next.clEnqueueBarrierWithWaitList(queue, wait_count, waits, out); });
}

// These have no event.
cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue) {
  const std::uint64_t begin = now_ticks();
  const cl_int result = layer().next.clEnqueueBarrier(queue);
  record_call(Call::Barrier, begin, result);
  return result;
}

cl_int CL_API_CALL enqueue_wait_for_events(cl_command_queue queue, cl_uint count, const cl_event* events) {
  const std::uint64_t begin = now_ticks();
  const cl_int result = layer().next.clEnqueueWaitForEvents(queue, count, events);
  record_call(Call::WaitForEventsInQueue, begin, result);
  return result;
}

}  // namespace

void fill_commands(cl_icd_dispatch& table) {
  if (table.clEnqueueNDRangeKernel != nullptr) table.clEnqueueNDRangeKernel = enqueue_kernel;
  if (table.clEnqueueTask != nullptr) table.clEnqueueTask = enqueue_task;
  if (table.clEnqueueNativeKernel != nullptr) table.clEnqueueNativeKernel = enqueue_native_kernel;
  if (table.clEnqueueMarker != nullptr) table.clEnqueueMarker = enqueue_marker;
  if (table.clEnqueueMarkerWithWaitList != nullptr) table.clEnqueueMarkerWithWaitList = enqueue_marker_with_waits;
  if (table.clEnqueueBarrierWithWaitList != nullptr) table.clEnqueueBarrierWithWaitList = enqueue_barrier_with_waits;
  if (table.clEnqueueBarrier != nullptr) table.clEnqueueBarrier = enqueue_barrier;
  if (table.clEnqueueWaitForEvents != nullptr) table.clEnqueueWaitForEvents = enqueue_wait_for_events;
}

}  // namespace accelscope::probe::opencl
