// Commands that move bytes: reads, writes, copies, fills, maps, of buffers, images and shared memory.
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

using Sizes = const std::size_t*;  // three: of a corner or a region

[[nodiscard]] CommandFacts moves(const TransferRecord& transfer, unsigned flags = 0) {
  return {.flags = flags, .moves = true, .transfer = transfer};
}

[[nodiscard]] std::uint64_t volume(Sizes region) {
  return region == nullptr ? 0 : std::uint64_t{region[0]} * region[1] * region[2];
}

[[nodiscard]] std::uint64_t image_bytes(cl_mem image, Sizes region) {
  if (!layer().channel->collecting()) return 0;
  const std::shared_ptr<Memory> known = state().memories.find(image);
  return known == nullptr ? 0 : volume(region) * known->element_bytes;
}

// Of a corner in a buffer with such rows and slices, as OpenCL counts it.
[[nodiscard]] std::uint64_t corner(Sizes origin, Sizes region, std::size_t row_pitch, std::size_t slice_pitch) {
  if (origin == nullptr || region == nullptr) return 0;
  const std::uint64_t row = row_pitch != 0 ? row_pitch : region[0];
  const std::uint64_t slice = slice_pitch != 0 ? slice_pitch : region[1] * row;
  return origin[2] * slice + origin[1] * row + origin[0];
}

[[nodiscard]] unsigned blocking_flag(cl_bool blocking) { return blocking != CL_FALSE ? kBlocking : 0U; }

[[nodiscard]] unsigned map_flags(cl_bool blocking, cl_map_flags flags) {
  return blocking_flag(blocking) | ((flags & CL_MAP_READ) != 0 ? kMapsForReading : 0U) |
         ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0 ? kMapsForWriting : 0U);
}

[[nodiscard]] unsigned migration_flags(cl_mem_migration_flags flags) {
  return (flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0 ? kToHost : 0U;
}

void fill_buffers(Table& table) {
  enqueued<&Table::clEnqueueReadBuffer, "clEnqueueReadBuffer", CommandKind::read>(
      table, [](cl_mem buffer, cl_bool blocking, std::size_t offset, std::size_t bytes, void*) {
        return moves({bytes, number_of_memory(buffer), 0, offset, 0}, blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueWriteBuffer, "clEnqueueWriteBuffer", CommandKind::write>(
      table, [](cl_mem buffer, cl_bool blocking, std::size_t offset, std::size_t bytes, const void*) {
        return moves({bytes, 0, number_of_memory(buffer), 0, offset}, blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueReadBufferRect, "clEnqueueReadBufferRect", CommandKind::read>(
      table, [](cl_mem buffer, cl_bool blocking, Sizes origin, Sizes host_origin, Sizes region, std::size_t row,
                std::size_t slice, std::size_t host_row, std::size_t host_slice, void*) {
        return moves({volume(region), number_of_memory(buffer), 0, corner(origin, region, row, slice),
                      corner(host_origin, region, host_row, host_slice)},
                     blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueWriteBufferRect, "clEnqueueWriteBufferRect", CommandKind::write>(
      table, [](cl_mem buffer, cl_bool blocking, Sizes origin, Sizes host_origin, Sizes region, std::size_t row,
                std::size_t slice, std::size_t host_row, std::size_t host_slice, const void*) {
        return moves({volume(region), 0, number_of_memory(buffer), corner(host_origin, region, host_row, host_slice),
                      corner(origin, region, row, slice)},
                     blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueCopyBuffer, "clEnqueueCopyBuffer", CommandKind::copy>(
      table, [](cl_mem source, cl_mem target, std::size_t from, std::size_t to, std::size_t bytes) {
        return moves({bytes, number_of_memory(source), number_of_memory(target), from, to});
      });
  enqueued<&Table::clEnqueueCopyBufferRect, "clEnqueueCopyBufferRect", CommandKind::copy>(
      table, [](cl_mem source, cl_mem target, Sizes from, Sizes to, Sizes region, std::size_t source_row,
                std::size_t source_slice, std::size_t target_row, std::size_t target_slice) {
        return moves({volume(region), number_of_memory(source), number_of_memory(target),
                      corner(from, region, source_row, source_slice), corner(to, region, target_row, target_slice)});
      });
  enqueued<&Table::clEnqueueFillBuffer, "clEnqueueFillBuffer", CommandKind::fill>(
      table, [](cl_mem buffer, const void*, std::size_t, std::size_t offset, std::size_t bytes) {
        return moves({bytes, 0, number_of_memory(buffer), 0, offset});
      });
  enqueued<&Table::clEnqueueMapBuffer, "clEnqueueMapBuffer", CommandKind::map>(
      table, [](cl_mem buffer, cl_bool blocking, cl_map_flags flags, std::size_t offset, std::size_t bytes) {
        return moves({bytes, number_of_memory(buffer), 0, offset, 0}, map_flags(blocking, flags));
      });
}

void fill_images(Table& table) {
  enqueued<&Table::clEnqueueReadImage, "clEnqueueReadImage", CommandKind::read>(
      table, [](cl_mem image, cl_bool blocking, Sizes, Sizes region, auto...) {
        return moves({image_bytes(image, region), number_of_memory(image), 0, 0, 0}, blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueWriteImage, "clEnqueueWriteImage", CommandKind::write>(
      table, [](cl_mem image, cl_bool blocking, Sizes, Sizes region, auto...) {
        return moves({image_bytes(image, region), 0, number_of_memory(image), 0, 0}, blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueCopyImage, "clEnqueueCopyImage", CommandKind::copy>(
      table, [](cl_mem source, cl_mem target, Sizes, Sizes, Sizes region) {
        return moves({image_bytes(source, region), number_of_memory(source), number_of_memory(target), 0, 0});
      });
  enqueued<&Table::clEnqueueCopyImageToBuffer, "clEnqueueCopyImageToBuffer", CommandKind::copy>(
      table, [](cl_mem image, cl_mem buffer, Sizes, Sizes region, std::size_t offset) {
        return moves({image_bytes(image, region), number_of_memory(image), number_of_memory(buffer), 0, offset});
      });
  enqueued<&Table::clEnqueueCopyBufferToImage, "clEnqueueCopyBufferToImage", CommandKind::copy>(
      table, [](cl_mem buffer, cl_mem image, std::size_t offset, Sizes, Sizes region) {
        return moves({image_bytes(image, region), number_of_memory(buffer), number_of_memory(image), offset, 0});
      });
  enqueued<&Table::clEnqueueFillImage, "clEnqueueFillImage", CommandKind::fill>(
      table, [](cl_mem image, const void*, Sizes, Sizes region) {
        return moves({image_bytes(image, region), 0, number_of_memory(image), 0, 0});
      });
  enqueued<&Table::clEnqueueMapImage, "clEnqueueMapImage", CommandKind::map>(
      table, [](cl_mem image, cl_bool blocking, cl_map_flags flags, Sizes, Sizes region, auto...) {
        return moves({image_bytes(image, region), number_of_memory(image), 0, 0, 0}, map_flags(blocking, flags));
      });
}

[[nodiscard]] std::uint32_t number_of_shared(const void* pointer) {
  const std::shared_ptr<Memory> known = state().shared.find(pointer);
  return known == nullptr ? 0 : known->number;
}

void fill_shared(Table& table) {
  enqueued<&Table::clEnqueueSVMMemcpy, "clEnqueueSVMMemcpy", CommandKind::copy>(
      table, [](cl_bool blocking, void* target, const void* source, std::size_t bytes) {
        return moves({bytes, number_of_shared(source), number_of_shared(target), 0, 0}, blocking_flag(blocking));
      });
  enqueued<&Table::clEnqueueSVMMemFill, "clEnqueueSVMMemFill", CommandKind::fill>(
      table, [](void* target, const void*, std::size_t, std::size_t bytes) {
        return moves({bytes, 0, number_of_shared(target), 0, 0});
      });
  enqueued<&Table::clEnqueueSVMMap, "clEnqueueSVMMap", CommandKind::map>(
      table, [](cl_bool blocking, cl_map_flags flags, void* pointer, std::size_t bytes) {
        return moves({bytes, number_of_shared(pointer), 0, 0, 0}, map_flags(blocking, flags));
      });
  enqueued<&Table::clEnqueueSVMUnmap, "clEnqueueSVMUnmap", CommandKind::unmap>(table, [](void* pointer) {
    return moves({0, 0, number_of_shared(pointer), 0, 0});
  });
  enqueued<&Table::clEnqueueSVMMigrateMem, "clEnqueueSVMMigrateMem", CommandKind::migrate>(
      table, [](cl_uint count, const void** pointers, Sizes sizes, cl_mem_migration_flags flags) {
        TransferRecord transfer{};
        for (cl_uint i = 0; pointers != nullptr && i < count; ++i) {
          if (sizes != nullptr && sizes[i] != 0) {
            transfer.bytes += sizes[i];
          } else if (const std::shared_ptr<Memory> known = state().shared.find(pointers[i])) {
            transfer.bytes += known->bytes;
          }
        }
        return moves(transfer, migration_flags(flags));
      });
}

}  // namespace

void fill_transfers(Table& table) {
  fill_buffers(table);
  fill_images(table);
  fill_shared(table);
  enqueued<&Table::clEnqueueMigrateMemObjects, "clEnqueueMigrateMemObjects", CommandKind::migrate>(
      table, [](cl_uint count, const cl_mem* memories, cl_mem_migration_flags migration) {
        const unsigned flags = migration_flags(migration);
        TransferRecord transfer{};
        for (cl_uint i = 0; memories != nullptr && i < count; ++i) {
          const std::shared_ptr<Memory> known = state().memories.find(memories[i]);
          if (known != nullptr) transfer.bytes += known->bytes;
        }
        if (count == 1 && memories != nullptr) {
          (flags == kToHost ? transfer.source : transfer.target) = number_of_memory(*memories);
        }
        return moves(transfer, flags);
      });
  // How much of it was mapped, and whether it was written, is known by the map.
  enqueued<&Table::clEnqueueUnmapMemObject, "clEnqueueUnmapMemObject", CommandKind::unmap>(
      table, [](cl_mem memory, void*) {
        return moves({0, 0, number_of_memory(memory), 0, 0});
      });
}

}  // namespace accelscope::probe::opencl
