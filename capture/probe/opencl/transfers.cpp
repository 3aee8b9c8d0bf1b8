// Commands that move bytes: reads, writes, copies, fills, maps, of buffers, images and shared memory.
#include "capture/probe/opencl/command_entry.h"

namespace accelscope::probe::opencl {
namespace {

[[nodiscard]] std::uint64_t volume(const std::size_t* region) {
  return region == nullptr ? 0 : std::uint64_t{region[0]} * region[1] * region[2];
}

[[nodiscard]] std::uint64_t image_bytes(cl_mem image, const std::size_t* region) {
  if (!layer().channel->collecting()) return 0;
  const std::shared_ptr<Memory> known = state().memories.find(image);
  return known == nullptr ? 0 : volume(region) * known->element_bytes;
}

// Of a corner in a buffer with such rows and slices, as OpenCL counts it.
[[nodiscard]] std::uint64_t corner(const std::size_t* origin, const std::size_t* region, std::size_t row_pitch,
                                   std::size_t slice_pitch) {
  if (origin == nullptr || region == nullptr) return 0;
  const std::uint64_t row = row_pitch != 0 ? row_pitch : region[0];
  const std::uint64_t slice = slice_pitch != 0 ? slice_pitch : region[1] * row;
  return origin[2] * slice + origin[1] * row + origin[0];
}

[[nodiscard]] unsigned blocking_flag(cl_bool blocking) { return blocking != CL_FALSE ? kBlocking : 0U; }

[[nodiscard]] unsigned map_flags(cl_map_flags flags) {
  return ((flags & CL_MAP_READ) != 0 ? kMapsForReading : 0U) |
         ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0 ? kMapsForWriting : 0U);
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                               std::size_t bytes, void* host, cl_uint wait_count, const cl_event* waits,
                               cl_event* event) {
  const TransferRecord transfer{bytes, number_of_memory(buffer), 0, offset, 0};
  return enqueue(
      {Call::ReadBuffer, CommandKind::read, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, host, wait_count, waits, out);
      });
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                                std::size_t bytes, const void* host, cl_uint wait_count, const cl_event* waits,
                                cl_event* event) {
  const TransferRecord transfer{bytes, 0, number_of_memory(buffer), 0, offset};
  return enqueue(
      {Call::WriteBuffer, CommandKind::write, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, host, wait_count, waits, out);
      });
}

cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                             const std::size_t* host_origin, const std::size_t* region, std::size_t row_pitch,
                             std::size_t slice_pitch, std::size_t host_row_pitch, std::size_t host_slice_pitch,
                             void* host, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{volume(region), number_of_memory(buffer), 0,
                                corner(origin, region, row_pitch, slice_pitch),
                                corner(host_origin, region, host_row_pitch, host_slice_pitch)};
  return enqueue(
      {Call::ReadBufferRect, CommandKind::read, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueReadBufferRect(queue, buffer, blocking, origin, host_origin, region, row_pitch,
                                                    slice_pitch, host_row_pitch, host_slice_pitch, host, wait_count,
                                                    waits, out);
      });
}

cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                              const std::size_t* host_origin, const std::size_t* region, std::size_t row_pitch,
                              std::size_t slice_pitch, std::size_t host_row_pitch, std::size_t host_slice_pitch,
                              const void* host, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{volume(region), 0, number_of_memory(buffer),
                                corner(host_origin, region, host_row_pitch, host_slice_pitch),
                                corner(origin, region, row_pitch, slice_pitch)};
  return enqueue(
      {Call::WriteBufferRect, CommandKind::write, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueWriteBufferRect(queue, buffer, blocking, origin, host_origin, region, row_pitch,
                                                     slice_pitch, host_row_pitch, host_slice_pitch, host, wait_count,
                                                     waits, out);
      });
}

cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target, std::size_t source_offset,
                               std::size_t target_offset, std::size_t bytes, cl_uint wait_count, const cl_event* waits,
                               cl_event* event) {
  const TransferRecord transfer{bytes, number_of_memory(source), number_of_memory(target), source_offset,
                                target_offset};
  return enqueue({Call::CopyBuffer, CommandKind::copy, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueCopyBuffer(queue, source, target, source_offset, target_offset, bytes,
                                                           wait_count, waits, out);
                 });
}

cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* source_origin,
                             const std::size_t* target_origin, const std::size_t* region, std::size_t source_row,
                             std::size_t source_slice, std::size_t target_row, std::size_t target_slice,
                             cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{volume(region), number_of_memory(source), number_of_memory(target),
                                corner(source_origin, region, source_row, source_slice),
                                corner(target_origin, region, target_row, target_slice)};
  return enqueue({Call::CopyBufferRect, CommandKind::copy, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueCopyBufferRect(queue, source, target, source_origin, target_origin,
                                                               region, source_row, source_slice, target_row,
                                                               target_slice, wait_count, waits, out);
                 });
}

cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                              const std::size_t* region, std::size_t row_pitch, std::size_t slice_pitch, void* host,
                              cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(image, region), number_of_memory(image), 0, 0, 0};
  return enqueue(
      {Call::ReadImage, CommandKind::read, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueReadImage(queue, image, blocking, origin, region, row_pitch, slice_pitch, host,
                                               wait_count, waits, out);
      });
}

cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                               const std::size_t* region, std::size_t row_pitch, std::size_t slice_pitch,
                               const void* host, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(image, region), 0, number_of_memory(image), 0, 0};
  return enqueue(
      {Call::WriteImage, CommandKind::write, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueWriteImage(queue, image, blocking, origin, region, row_pitch, slice_pitch, host,
                                                wait_count, waits, out);
      });
}

cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* source_origin,
                              const std::size_t* target_origin, const std::size_t* region, cl_uint wait_count,
                              const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(source, region), number_of_memory(source), number_of_memory(target), 0, 0};
  return enqueue({Call::CopyImage, CommandKind::copy, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueCopyImage(queue, source, target, source_origin, target_origin, region,
                                                          wait_count, waits, out);
                 });
}

cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const std::size_t* origin,
                                        const std::size_t* region, std::size_t offset, cl_uint wait_count,
                                        const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(image, region), number_of_memory(image), number_of_memory(buffer), 0,
                                offset};
  return enqueue({Call::CopyImageToBuffer, CommandKind::copy, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, offset,
                                                                  wait_count, waits, out);
                 });
}

cl_int CL_API_CALL copy_buffer_to_image(cl_command_queue queue, cl_mem buffer, cl_mem image, std::size_t offset,
                                        const std::size_t* origin, const std::size_t* region, cl_uint wait_count,
                                        const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(image, region), number_of_memory(buffer), number_of_memory(image), offset,
                                0};
  return enqueue({Call::CopyBufferToImage, CommandKind::copy, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, region,
                                                                  wait_count, waits, out);
                 });
}

cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, std::size_t pattern_bytes,
                               std::size_t offset, std::size_t bytes, cl_uint wait_count, const cl_event* waits,
                               cl_event* event) {
  const TransferRecord transfer{bytes, 0, number_of_memory(buffer), 0, offset};
  return enqueue({Call::FillBuffer, CommandKind::fill, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset, bytes,
                                                           wait_count, waits, out);
                 });
}

cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem image, const void* colour, const std::size_t* origin,
                              const std::size_t* region, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{image_bytes(image, region), 0, number_of_memory(image), 0, 0};
  return enqueue({Call::FillImage, CommandKind::fill, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueFillImage(queue, image, colour, origin, region, wait_count, waits, out);
                 });
}

cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem* memories,
                           cl_mem_migration_flags migration, cl_uint wait_count, const cl_event* waits,
                           cl_event* event) {
  const bool to_host = (migration & CL_MIGRATE_MEM_OBJECT_HOST) != 0;
  TransferRecord transfer{};
  for (cl_uint i = 0; memories != nullptr && i < count; ++i) {
    const std::shared_ptr<Memory> known = state().memories.find(memories[i]);
    if (known != nullptr) transfer.bytes += known->bytes;
  }
  if (count == 1 && memories != nullptr) (to_host ? transfer.source : transfer.target) = number_of_memory(*memories);
  return enqueue({Call::MigrateMemObjects, CommandKind::migrate, queue, wait_count, waits, event,
                  to_host ? kToHost : 0U, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueMigrateMemObjects(queue, count, memories, migration, wait_count, waits,
                                                                  out);
                 });
}

void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                             std::size_t offset, std::size_t bytes, cl_uint wait_count, const cl_event* waits,
                             cl_event* event, cl_int* result_ret) {
  const TransferRecord transfer{bytes, number_of_memory(buffer), 0, offset, 0};
  void* mapped = nullptr;
  const cl_int result = enqueue({Call::MapBuffer, CommandKind::map, queue, wait_count, waits, event,
                                 blocking_flag(blocking) | map_flags(flags), &transfer},
                                [&](cl_event* out) {
                                  cl_int code = CL_SUCCESS;
                                  mapped = layer().next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset,
                                                                           bytes, wait_count, waits, out, &code);
                                  return code;
                                });
  if (result_ret != nullptr) *result_ret = result;
  return mapped;
}

void* CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                            const std::size_t* origin, const std::size_t* region, std::size_t* row_pitch,
                            std::size_t* slice_pitch, cl_uint wait_count, const cl_event* waits, cl_event* event,
                            cl_int* result_ret) {
  const TransferRecord transfer{image_bytes(image, region), number_of_memory(image), 0, 0, 0};
  void* mapped = nullptr;
  const cl_int result =
      enqueue({Call::MapImage, CommandKind::map, queue, wait_count, waits, event,
               blocking_flag(blocking) | map_flags(flags), &transfer},
              [&](cl_event* out) {
                cl_int code = CL_SUCCESS;
                mapped = layer().next.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row_pitch,
                                                        slice_pitch, wait_count, waits, out, &code);
                return code;
              });
  if (result_ret != nullptr) *result_ret = result;
  return mapped;
}

// How much of it was mapped, and whether it was written, is known by the map.
cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint wait_count, const cl_event* waits,
                         cl_event* event) {
  const TransferRecord transfer{0, 0, number_of_memory(memory), 0, 0};
  return enqueue({Call::UnmapMemObject, CommandKind::unmap, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueUnmapMemObject(queue, memory, mapped, wait_count, waits, out);
                 });
}

[[nodiscard]] std::uint32_t number_of_shared(const void* pointer) {
  const std::shared_ptr<Memory> known = state().shared.find(pointer);
  return known == nullptr ? 0 : known->number;
}

cl_int CL_API_CALL shared_copy(cl_command_queue queue, cl_bool blocking, void* target, const void* source,
                               std::size_t bytes, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{bytes, number_of_shared(source), number_of_shared(target), 0, 0};
  return enqueue(
      {Call::SVMMemcpy, CommandKind::copy, queue, wait_count, waits, event, blocking_flag(blocking), &transfer},
      [&](cl_event* out) {
        return layer().next.clEnqueueSVMMemcpy(queue, blocking, target, source, bytes, wait_count, waits, out);
      });
}

cl_int CL_API_CALL shared_fill(cl_command_queue queue, void* target, const void* pattern, std::size_t pattern_bytes,
                               std::size_t bytes, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{bytes, 0, number_of_shared(target), 0, 0};
  return enqueue(
      {Call::SVMMemFill, CommandKind::fill, queue, wait_count, waits, event, 0, &transfer}, [&](cl_event* out) {
        return layer().next.clEnqueueSVMMemFill(queue, target, pattern, pattern_bytes, bytes, wait_count, waits, out);
      });
}

cl_int CL_API_CALL shared_map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* pointer,
                              std::size_t bytes, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const TransferRecord transfer{bytes, number_of_shared(pointer), 0, 0, 0};
  return enqueue({Call::SVMMap, CommandKind::map, queue, wait_count, waits, event,
                  blocking_flag(blocking) | map_flags(flags), &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueSVMMap(queue, blocking, flags, pointer, bytes, wait_count, waits, out);
                 });
}

cl_int CL_API_CALL shared_unmap(cl_command_queue queue, void* pointer, cl_uint wait_count, const cl_event* waits,
                                cl_event* event) {
  const TransferRecord transfer{0, 0, number_of_shared(pointer), 0, 0};
  return enqueue({Call::SVMUnmap, CommandKind::unmap, queue, wait_count, waits, event, 0, &transfer},
                 [&](cl_event* out) { return layer().next.clEnqueueSVMUnmap(queue, pointer, wait_count, waits, out); });
}

cl_int CL_API_CALL shared_migrate(cl_command_queue queue, cl_uint count, const void** pointers,
                                  const std::size_t* sizes, cl_mem_migration_flags migration, cl_uint wait_count,
                                  const cl_event* waits, cl_event* event) {
  TransferRecord transfer{};
  for (cl_uint i = 0; pointers != nullptr && i < count; ++i) {
    if (sizes != nullptr && sizes[i] != 0) {
      transfer.bytes += sizes[i];
    } else if (const std::shared_ptr<Memory> known = state().shared.find(pointers[i])) {
      transfer.bytes += known->bytes;
    }
  }
  return enqueue({Call::SVMMigrateMem, CommandKind::migrate, queue, wait_count, waits, event,
                  (migration & CL_MIGRATE_MEM_OBJECT_HOST) != 0 ? kToHost : 0U, &transfer},
                 [&](cl_event* out) {
                   return layer().next.clEnqueueSVMMigrateMem(queue, count, pointers, sizes, migration, wait_count,
                                                              waits, out);
                 });
}

void fill_shared(cl_icd_dispatch& table) {
  if (table.clEnqueueSVMMemcpy != nullptr) table.clEnqueueSVMMemcpy = shared_copy;
  if (table.clEnqueueSVMMemFill != nullptr) table.clEnqueueSVMMemFill = shared_fill;
  if (table.clEnqueueSVMMap != nullptr) table.clEnqueueSVMMap = shared_map;
  if (table.clEnqueueSVMUnmap != nullptr) table.clEnqueueSVMUnmap = shared_unmap;
  if (table.clEnqueueSVMMigrateMem != nullptr) table.clEnqueueSVMMigrateMem = shared_migrate;
}

}  // namespace

void fill_transfers(cl_icd_dispatch& table) {
  if (table.clEnqueueReadBuffer != nullptr) table.clEnqueueReadBuffer = read_buffer;
  if (table.clEnqueueWriteBuffer != nullptr) table.clEnqueueWriteBuffer = write_buffer;
  if (table.clEnqueueReadBufferRect != nullptr) table.clEnqueueReadBufferRect = read_rect;
  if (table.clEnqueueWriteBufferRect != nullptr) table.clEnqueueWriteBufferRect = write_rect;
  if (table.clEnqueueCopyBuffer != nullptr) table.clEnqueueCopyBuffer = copy_buffer;
  if (table.clEnqueueCopyBufferRect != nullptr) table.clEnqueueCopyBufferRect = copy_rect;
  if (table.clEnqueueReadImage != nullptr) table.clEnqueueReadImage = read_image;
  if (table.clEnqueueWriteImage != nullptr) table.clEnqueueWriteImage = write_image;
  if (table.clEnqueueCopyImage != nullptr) table.clEnqueueCopyImage = copy_image;
  if (table.clEnqueueCopyImageToBuffer != nullptr) table.clEnqueueCopyImageToBuffer = copy_image_to_buffer;
  if (table.clEnqueueCopyBufferToImage != nullptr) table.clEnqueueCopyBufferToImage = copy_buffer_to_image;
  if (table.clEnqueueFillBuffer != nullptr) table.clEnqueueFillBuffer = fill_buffer;
  if (table.clEnqueueFillImage != nullptr) table.clEnqueueFillImage = fill_image;
  if (table.clEnqueueMigrateMemObjects != nullptr) table.clEnqueueMigrateMemObjects = migrate;
  if (table.clEnqueueMapBuffer != nullptr) table.clEnqueueMapBuffer = map_buffer;
  if (table.clEnqueueMapImage != nullptr) table.clEnqueueMapImage = map_image;
  if (table.clEnqueueUnmapMemObject != nullptr) table.clEnqueueUnmapMemObject = unmap;
  fill_shared(table);
}

}  // namespace accelscope::probe::opencl
