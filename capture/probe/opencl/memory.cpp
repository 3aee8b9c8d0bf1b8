// Buffers, images and shared memory: when they are made and when the program has let go of them.
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

// 0 if the context has several.
[[nodiscard]] std::uint32_t only_device(cl_context context) {
  cl_device_id device = nullptr;
  std::size_t bytes = 0;
  const Table& next = layer().next;
  if (next.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS) return 0;
  if (bytes != sizeof(void*)) return 0;
  if (next.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, &device, nullptr) != CL_SUCCESS) return 0;
  return number_of_device(device);
}

// Also while the capture is paused: what is in use then is in use afterwards.
void record_allocation(const Memory& memory, MemoryKind kind, std::uint32_t device, std::uint64_t flags,
                       const void* address) {
  ThreadRing* ring = layer().channel->ring_even_paused();
  if (ring == nullptr) return;
  ring->put(AllocationRecord{{static_cast<std::uint16_t>(RecordType::allocation), sizeof(AllocationRecord) / 8,
                              static_cast<std::uint32_t>(kind)},
                             now_ticks(),
                             memory.bytes,
                             reinterpret_cast<std::uintptr_t>(address),
                             flags,
                             memory.number,
                             memory.parent == nullptr ? 0 : memory.parent->number,
                             device,
                             0});
}

[[nodiscard]] std::shared_ptr<Memory> new_memory(std::uint64_t bytes) {
  auto memory = std::make_shared<Memory>();
  memory->number = ++state().last_memory;
  memory->bytes = bytes;
  return memory;
}

[[nodiscard]] bool is_in_program(cl_mem_flags flags) { return (flags & CL_MEM_USE_HOST_PTR) != 0; }

void add_object(cl_mem handle, MemoryKind kind, cl_context context, cl_mem_flags flags, const void* host,
                cl_mem parent = nullptr) {
  const Table& next = layer().next;
  std::size_t bytes = 0;
  (void)next.clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  const std::shared_ptr<Memory> memory = new_memory(bytes);
  if (kind == MemoryKind::image) {
    std::size_t element = 1;
    (void)next.clGetImageInfo(handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
    memory->element_bytes = element;
  }
  if (is_in_program(flags)) kind = MemoryKind::host_buffer;
  if (parent != nullptr) {
    memory->parent = state().memories.find(parent);
    kind = MemoryKind::sub_buffer;
  }
  record_allocation(*memory, kind, only_device(context), flags, is_in_program(flags) ? host : nullptr);
  state().memories.set(handle, memory);
}

// The buffer or image whose memory the image uses.
[[nodiscard]] cl_mem parent_of(const cl_image_desc* description) {
  return description == nullptr ? nullptr : description->buffer;  // or mem_object, in one union
}

constexpr Call kCreateMemory = "clCreateBuffer or clCreateImage";

void fill_memory_creation(Table& table) {
  created<&Table::clCreateBuffer, kCreateMemory>(
      table, [](cl_mem made, cl_context context, cl_mem_flags flags, std::size_t, void* host) {
        add_object(made, MemoryKind::buffer, context, flags, host);
      });
  created<&Table::clCreateBufferWithProperties, kCreateMemory>(
      table, [](cl_mem made, cl_context context, const cl_mem_properties*, cl_mem_flags flags, std::size_t,
                void* host) { add_object(made, MemoryKind::buffer, context, flags, host); });
  created<&Table::clCreateImage, kCreateMemory>(
      table,
      [](cl_mem made, cl_context context, cl_mem_flags flags, const cl_image_format*, const cl_image_desc* description,
         void* host) { add_object(made, MemoryKind::image, context, flags, host, parent_of(description)); });
  created<&Table::clCreateImageWithProperties, kCreateMemory>(
      table, [](cl_mem made, cl_context context, const cl_mem_properties*, cl_mem_flags flags, const cl_image_format*,
                const cl_image_desc* description,
                void* host) { add_object(made, MemoryKind::image, context, flags, host, parent_of(description)); });
  created<&Table::clCreateImage2D, kCreateMemory>(
      table, [](cl_mem made, cl_context context, cl_mem_flags flags, const cl_image_format*, std::size_t, std::size_t,
                std::size_t, void* host) { add_object(made, MemoryKind::image, context, flags, host); });
  created<&Table::clCreateImage3D, kCreateMemory>(
      table, [](cl_mem made, cl_context context, cl_mem_flags flags, const cl_image_format*, std::size_t, std::size_t,
                std::size_t, std::size_t, std::size_t,
                void* host) { add_object(made, MemoryKind::image, context, flags, host); });
  created<&Table::clCreatePipe, kCreateMemory>(table, [](cl_mem made, cl_context context, cl_mem_flags flags, auto...) {
    add_object(made, MemoryKind::pipe, context, flags, nullptr);
  });
  created<&Table::clCreateSubBuffer, kCreateMemory>(table, [](cl_mem made, cl_mem buffer, cl_mem_flags flags, auto...) {
    cl_context context = nullptr;
    (void)layer().next.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(void*), &context, nullptr);
    add_object(made, MemoryKind::sub_buffer, context, flags, nullptr, buffer);
  });
}

void CL_API_CALL free_shared(cl_context context, void* pointer) {
  const std::uint64_t begin = now_ticks();
  const std::shared_ptr<Memory> memory = state().shared.take(pointer);
  layer().next.clSVMFree(context, pointer);
  record_call("clSVMFree", begin, CL_SUCCESS);
}

// Counted as free from here on: that the command has run, nobody tells.
cl_int CL_API_CALL enqueue_free_shared(cl_command_queue queue, cl_uint count, void** pointers,
                                       void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void**, void*),
                                       void* user_data, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const std::vector<void*> freed(pointers, pointers == nullptr ? pointers : pointers + count);
  const cl_int result =
      AtPlace<&Table::clEnqueueSVMFree>::call_enqueued<"clEnqueueSVMFree", CommandKind::marker,
                                                       decltype([](auto...) { return CommandFacts{}; })>(
          queue, count, pointers, function, user_data, wait_count, waits, event);
  if (result != CL_SUCCESS) return result;
  for (void* pointer : freed) state().shared.take(pointer);
  return result;
}

}  // namespace

Memory::~Memory() {
  ThreadRing* ring = layer().channel->ring_even_paused();
  if (ring == nullptr) return;
  ring->put(ReleaseRecord{
      {static_cast<std::uint16_t>(RecordType::release), sizeof(ReleaseRecord) / 8, 0}, now_ticks(), number});
}

void fill_memory(Table& table) {
  fill_memory_creation(table);
  count_references<&Table::clRetainMemObject, &Table::clReleaseMemObject, &State::memories>(table);
  timed<&Table::clSVMAlloc>(table, [](std::uint64_t begin_ticks, void* made, cl_context context, cl_svm_mem_flags flags,
                                      std::size_t bytes, cl_uint) {
    record_call("clSVMAlloc", begin_ticks, CL_SUCCESS);
    if (made == nullptr) return;
    const std::shared_ptr<Memory> memory = new_memory(bytes);
    record_allocation(*memory, MemoryKind::shared, only_device(context), flags, made);
    state().shared.set(made, memory);
  });
  put<&Table::clSVMFree>(table, free_shared);
  put<&Table::clEnqueueSVMFree>(table, enqueue_free_shared);
}

}  // namespace accelscope::probe::opencl
