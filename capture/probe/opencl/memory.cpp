// Buffers, images and shared memory: when they are made and when the program has let go of them.
#include "capture/probe/opencl/command_entry.h"

namespace accelscope::probe::opencl {
namespace {

// 0 if the context has several.
[[nodiscard]] std::uint32_t only_device(cl_context context) {
  cl_device_id device = nullptr;
  std::size_t bytes = 0;
  const cl_icd_dispatch& next = layer().next;
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
                cl_mem parent) {
  const cl_icd_dispatch& next = layer().next;
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

// Around a call that makes memory and puts its result through a pointer.
template <typename Next>
cl_mem create(MemoryKind kind, cl_context context, cl_mem_flags flags, const void* host, cl_int* result_ret,
              Next&& next, cl_mem parent = nullptr) {
  const std::uint64_t begin = now_ticks();
  cl_int result = CL_SUCCESS;
  cl_mem handle = next(&result);
  record_call(Call::CreateMemory, begin, result);
  if (handle != nullptr) add_object(handle, kind, context, flags, host, parent);
  if (result_ret != nullptr) *result_ret = result;
  return handle;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                                 cl_int* result_ret) {
  return create(MemoryKind::buffer, context, flags, host, result_ret,
                [&](cl_int* result) { return layer().next.clCreateBuffer(context, flags, bytes, host, result); });
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context, const cl_mem_properties* properties,
                                                 cl_mem_flags flags, std::size_t bytes, void* host,
                                                 cl_int* result_ret) {
  return create(MemoryKind::buffer, context, flags, host, result_ret, [&](cl_int* result) {
    return layer().next.clCreateBufferWithProperties(context, properties, flags, bytes, host, result);
  });
}

// The buffer or image whose memory the image uses.
[[nodiscard]] cl_mem parent_of(const cl_image_desc* description) {
  return description == nullptr ? nullptr : description->mem_object;
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                const cl_image_desc* description, void* host, cl_int* result_ret) {
  return create(
      MemoryKind::image, context, flags, host, result_ret,
      [&](cl_int* result) { return layer().next.clCreateImage(context, flags, format, description, host, result); },
      parent_of(description));
}

cl_mem CL_API_CALL create_image_with_properties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, const cl_image_format* format,
                                                const cl_image_desc* description, void* host, cl_int* result_ret) {
  return create(
      MemoryKind::image, context, flags, host, result_ret,
      [&](cl_int* result) {
        return layer().next.clCreateImageWithProperties(context, properties, flags, format, description, host, result);
      },
      parent_of(description));
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   std::size_t width, std::size_t height, std::size_t row_pitch, void* host,
                                   cl_int* result_ret) {
  return create(MemoryKind::image, context, flags, host, result_ret, [&](cl_int* result) {
    return layer().next.clCreateImage2D(context, flags, format, width, height, row_pitch, host, result);
  });
}

cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   std::size_t width, std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host, cl_int* result_ret) {
  return create(MemoryKind::image, context, flags, host, result_ret, [&](cl_int* result) {
    return layer().next.clCreateImage3D(context, flags, format, width, height, depth, row_pitch, slice_pitch, host,
                                        result);
  });
}

cl_mem CL_API_CALL create_pipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                               const cl_pipe_properties* properties, cl_int* result_ret) {
  return create(MemoryKind::pipe, context, flags, nullptr, result_ret, [&](cl_int* result) {
    return layer().next.clCreatePipe(context, flags, packet_bytes, packets, properties, result);
  });
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* region,
                                     cl_int* result_ret) {
  cl_context context = nullptr;
  (void)layer().next.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(void*), &context, nullptr);
  return create(
      MemoryKind::sub_buffer, context, flags, nullptr, result_ret,
      [&](cl_int* result) { return layer().next.clCreateSubBuffer(buffer, flags, type, region, result); }, buffer);
}

cl_int CL_API_CALL retain(cl_mem handle) {
  const cl_int result = layer().next.clRetainMemObject(handle);
  const std::shared_ptr<Memory> memory = result == CL_SUCCESS ? state().memories.find(handle) : nullptr;
  if (memory != nullptr) ++memory->references;
  return result;
}

cl_int CL_API_CALL release(cl_mem handle) {
  const std::shared_ptr<Memory> memory = state().memories.find(handle);
  // Forgotten before the driver may give the handle to another object.
  if (memory != nullptr && --memory->references == 0) state().memories.take(handle);
  return layer().next.clReleaseMemObject(handle);
}

void* CL_API_CALL allocate_shared(cl_context context, cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
  const std::uint64_t begin = now_ticks();
  void* pointer = layer().next.clSVMAlloc(context, flags, bytes, alignment);
  record_call(Call::AllocateShared, begin, CL_SUCCESS);
  if (pointer != nullptr) {
    const std::shared_ptr<Memory> memory = new_memory(bytes);
    record_allocation(*memory, MemoryKind::shared, only_device(context), flags, pointer);
    state().shared.set(pointer, memory);
  }
  return pointer;
}

void CL_API_CALL free_shared(cl_context context, void* pointer) {
  const std::uint64_t begin = now_ticks();
  const std::shared_ptr<Memory> memory = state().shared.take(pointer);
  layer().next.clSVMFree(context, pointer);
  record_call(Call::FreeShared, begin, CL_SUCCESS);
}

// Counted as free from here on: that the command has run, nobody tells.
cl_int CL_API_CALL enqueue_free_shared(cl_command_queue queue, cl_uint count, void** pointers,
                                       void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void**, void*),
                                       void* user_data, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const std::vector<void*> freed(pointers, pointers == nullptr ? pointers : pointers + count);
  const cl_int result = enqueue({.call = Call::SVMFree,
                                 .kind = CommandKind::marker,
                                 .queue = queue,
                                 .wait_count = wait_count,
                                 .waits = waits,
                                 .event = event},
                                [&](cl_event* out) {
                                  return layer().next.clEnqueueSVMFree(queue, count, pointers, function, user_data,
                                                                       wait_count, waits, out);
                                });
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

void fill_memory(cl_icd_dispatch& table) {
  if (table.clCreateBuffer != nullptr) table.clCreateBuffer = create_buffer;
  if (table.clCreateBufferWithProperties != nullptr) {
    table.clCreateBufferWithProperties = create_buffer_with_properties;
  }
  if (table.clCreateImage != nullptr) table.clCreateImage = create_image;
  if (table.clCreateImageWithProperties != nullptr) table.clCreateImageWithProperties = create_image_with_properties;
  if (table.clCreateImage2D != nullptr) table.clCreateImage2D = create_image_2d;
  if (table.clCreateImage3D != nullptr) table.clCreateImage3D = create_image_3d;
  if (table.clCreatePipe != nullptr) table.clCreatePipe = create_pipe;
  if (table.clCreateSubBuffer != nullptr) table.clCreateSubBuffer = create_sub_buffer;
  if (table.clRetainMemObject != nullptr) table.clRetainMemObject = retain;
  if (table.clReleaseMemObject != nullptr) table.clReleaseMemObject = release;
  if (table.clSVMAlloc != nullptr) table.clSVMAlloc = allocate_shared;
  if (table.clSVMFree != nullptr) table.clSVMFree = free_shared;
  if (table.clEnqueueSVMFree != nullptr) table.clEnqueueSVMFree = enqueue_free_shared;
}

}  // namespace accelscope::probe::opencl
