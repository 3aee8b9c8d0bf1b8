// Queues, and what programs ask of queues and events: the answers hide that all queues keep times.
#include <cstring>

#include "capture/probe/bodies.h"
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

void add_queue(cl_command_queue handle, cl_device_id device, cl_command_queue_properties asked, bool has_times,
               std::optional<std::vector<cl_queue_properties>> properties) {
  drain_before_exit();
  State& now = state();
  auto queue = std::make_shared<Queue>();
  queue->number = now.new_number();
  queue->device = number_of_device(device);
  queue->device_handle = device;
  queue->in_order = (asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  queue->has_times = has_times;
  queue->program_has_times = (asked & CL_QUEUE_PROFILING_ENABLE) != 0;
  queue->properties = std::move(properties);
  BodyWriter body;
  body.number(queue->number).number(queue->device);
  body.number((queue->in_order ? 0U : kOutOfOrder) | (has_times ? 0U : kHasNoTimes));
  layer().channel->define(static_cast<std::uint32_t>(DefinitionType::queue), body.bytes());
  now.queues.set(handle, std::move(queue));
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* result_ret) {
  const Table& next = layer().next;
  cl_int result = CL_SUCCESS;
  bool has_times = true;
  cl_command_queue queue = next.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, &result);
  if (queue == nullptr) {  // as the program would have it
    queue = next.clCreateCommandQueue(context, device, properties, &result);
    has_times = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  }
  if (queue != nullptr) add_queue(queue, device, properties, has_times, std::nullopt);
  if (result_ret != nullptr) *result_ret = result;
  return queue;
}

// Pairs of a name and a value with a 0 at the end; with the 0. Empty: there is no list.
[[nodiscard]] std::vector<cl_queue_properties> copy_of(const cl_queue_properties* properties) {
  std::vector<cl_queue_properties> copy;
  if (properties == nullptr) return copy;
  for (; *properties != 0; properties += 2) copy.insert(copy.end(), properties, properties + 2);
  copy.push_back(0);
  return copy;
}

// The same list with times asked for; `asked` gets what the program asks for.
[[nodiscard]] std::vector<cl_queue_properties> with_times(std::vector<cl_queue_properties> properties,
                                                          cl_command_queue_properties& asked) {
  if (properties.empty()) properties.push_back(0);
  for (std::size_t i = 0; i + 1 < properties.size(); i += 2) {
    if (properties[i] != CL_QUEUE_PROPERTIES) continue;
    asked = properties[i + 1];
    properties[i + 1] |= CL_QUEUE_PROFILING_ENABLE;
    return properties;
  }
  properties.insert(properties.begin(), {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE});
  return properties;
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties* properties, cl_int* result_ret) {
  const Table& next = layer().next;
  cl_int result = CL_SUCCESS;
  cl_command_queue_properties asked = 0;
  std::vector<cl_queue_properties> own = copy_of(properties);
  const std::vector<cl_queue_properties> timed = with_times(own, asked);
  bool has_times = true;
  cl_command_queue queue = nullptr;
  const bool on_device = (asked & CL_QUEUE_ON_DEVICE) != 0;  // nothing of the host's ever comes there
  if (!on_device) queue = next.clCreateCommandQueueWithProperties(context, device, timed.data(), &result);
  if (queue == nullptr) {
    queue = next.clCreateCommandQueueWithProperties(context, device, properties, &result);
    has_times = (asked & CL_QUEUE_PROFILING_ENABLE) != 0;
  }
  if (queue != nullptr && !on_device) add_queue(queue, device, asked, has_times, std::move(own));
  if (result_ret != nullptr) *result_ret = result;
  return queue;
}

void hide_times(cl_queue_properties& properties, const Queue& queue) {
  if (!queue.program_has_times) properties &= ~static_cast<cl_queue_properties>(CL_QUEUE_PROFILING_ENABLE);
}

cl_int CL_API_CALL queue_info(cl_command_queue handle, cl_command_queue_info what, std::size_t size, void* value,
                              std::size_t* size_ret) {
  const std::shared_ptr<Queue> queue = state().queues.find(handle);
  if (queue != nullptr && what == CL_QUEUE_REFERENCE_COUNT) state().collector.collect(*queue);  // events may hold it
  if (queue != nullptr && what == CL_QUEUE_PROPERTIES_ARRAY && queue->properties) {
    const std::vector<cl_queue_properties>& own = *queue->properties;
    return answer(own.data(), own.size() * sizeof own[0], size, value, size_ret);
  }
  std::size_t bytes = 0;
  const cl_int result = layer().next.clGetCommandQueueInfo(handle, what, size, value, &bytes);
  if (size_ret != nullptr && result == CL_SUCCESS) *size_ret = bytes;
  if (queue == nullptr || result != CL_SUCCESS || value == nullptr) return result;
  auto* words = static_cast<cl_queue_properties*>(value);
  if (what == CL_QUEUE_PROPERTIES && bytes >= sizeof *words) hide_times(words[0], *queue);
  if (what == CL_QUEUE_PROPERTIES_ARRAY) {
    for (std::size_t i = 0; (i + 2) * sizeof *words <= bytes && words[i] != 0; i += 2) {
      if (words[i] == CL_QUEUE_PROPERTIES) hide_times(words[i + 1], *queue);
    }
  }
  return result;
}

cl_int CL_API_CALL set_queue_property(cl_command_queue handle, cl_command_queue_properties properties, cl_bool enable,
                                      cl_command_queue_properties* old) {
  const std::shared_ptr<Queue> queue = state().queues.find(handle);
  // Times that the program no longer wants are kept all the same.
  const bool keeps = queue != nullptr && enable == CL_FALSE;
  const cl_command_queue_properties passed =
      keeps ? properties & ~static_cast<cl_command_queue_properties>(CL_QUEUE_PROFILING_ENABLE) : properties;
  const cl_int result = layer().next.clSetCommandQueueProperty(handle, passed, enable, old);
  if (queue == nullptr || result != CL_SUCCESS) return result;
  if (old != nullptr) hide_times(*old, *queue);
  if ((properties & CL_QUEUE_PROFILING_ENABLE) != 0) queue->program_has_times = enable != CL_FALSE;
  return result;
}

[[nodiscard]] std::shared_ptr<Queue> queue_of(cl_event event) {
  cl_command_queue handle = nullptr;
  const cl_int result = layer().next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(void*), &handle, nullptr);
  return result == CL_SUCCESS && handle != nullptr ? state().queues.find(handle) : nullptr;
}

cl_int CL_API_CALL event_times(cl_event event, cl_profiling_info what, std::size_t size, void* value,
                               std::size_t* size_ret) {
  const std::shared_ptr<Queue> queue = queue_of(event);
  if (queue != nullptr && queue->has_times && !queue->program_has_times) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return layer().next.clGetEventProfilingInfo(event, what, size, value, size_ret);
}

cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, std::size_t size, void* value,
                              std::size_t* size_ret) {
  const std::shared_ptr<Queue> queue = what == CL_EVENT_REFERENCE_COUNT ? queue_of(event) : nullptr;
  if (queue != nullptr) state().collector.collect(*queue);
  const cl_int result = layer().next.clGetEventInfo(event, what, size, value, size_ret);
  if (queue == nullptr || value == nullptr || result != CL_SUCCESS) return result;
  *static_cast<cl_uint*>(value) -= state().collector.references_to(*queue, event);
  return result;
}

[[nodiscard]] std::shared_ptr<Queue> record_wait(Call call, std::uint64_t begin_ticks, cl_int result,
                                                 cl_command_queue handle) {
  std::shared_ptr<Queue> queue = state().queues.find(handle);
  record_call(call, begin_ticks, result, queue == nullptr ? 0 : queue->number);
  return queue;
}

}  // namespace

void fill_queues(Table& table) {
  put<&Table::clCreateCommandQueue>(table, create_queue);
  put<&Table::clCreateCommandQueueWithProperties>(table, create_queue_with_properties);
  count_references<&Table::clRetainCommandQueue, &Table::clReleaseCommandQueue, &State::queues>(table);
  put<&Table::clGetCommandQueueInfo>(table, queue_info);
  put<&Table::clSetCommandQueueProperty>(table, set_queue_property);
  put<&Table::clGetEventProfilingInfo>(table, event_times);
  put<&Table::clGetEventInfo>(table, event_info);
  timed<&Table::clFinish>(table, [](std::uint64_t begin_ticks, cl_int result, cl_command_queue handle) {
    const std::shared_ptr<Queue> queue = record_wait("clFinish", begin_ticks, result, handle);
    if (queue != nullptr) state().collector.collect(*queue);
  });
  timed<&Table::clFlush>(table, [](std::uint64_t begin_ticks, cl_int result, cl_command_queue handle) {
    (void)record_wait("clFlush", begin_ticks, result, handle);
  });
  timed<&Table::clWaitForEvents>(table,
                                 [](std::uint64_t begin_ticks, cl_int result, cl_uint count, const cl_event* events) {
                                   record_call("clWaitForEvents", begin_ticks, result);
                                   if (result != CL_SUCCESS || !layer().channel->collecting()) return;
                                   std::shared_ptr<Queue> last;
                                   for (cl_uint i = 0; i < count; ++i) {
                                     const std::shared_ptr<Queue> queue = queue_of(events[i]);
                                     if (queue != nullptr && queue != last) state().collector.collect(*queue);
                                     last = queue;
                                   }
                                 });
  // Its handle may have been that of a command's event.
  after<&Table::clCreateUserEvent>(table, [](cl_event made, auto...) {
    if (made != nullptr) state().events.forget(made);
  });
}

}  // namespace accelscope::probe::opencl
