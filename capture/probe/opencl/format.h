// What the OpenCL layer tells the kind `opencl`: records of the rings and bodies of definitions. All numbers of objects
// are the layer's own, from 1, and are never used again within a process; those of memory are counted apart. Times of
// the host are ticks of the channel, times of a device are its own profiling ticks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/probe/channel_format.h"

namespace accelscope::probe::opencl {

enum class RecordType : std::uint16_t {
  call = 1,         // CallRecord; head.value: its place in kCallNames
  command = 2,      // CommandRecord and what follows it; head.value: its place in kCallNames
  completion = 3,   // CompletionRecord; head.value: the execution status, CL_COMPLETE (0) or an error
  allocation = 4,   // AllocationRecord; head.value: MemoryKind
  release = 5,      // ReleaseRecord
  calibration = 6,  // CalibrationRecord; head.value: number of the device
};

// A call that put no command into a queue, or failed.
struct CallRecord {
  RecordHead head;
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
  std::int32_t result;   // CL_SUCCESS (0) or an error
  std::uint32_t object;  // number of the queue, program or memory that it is about; 0: none
};

enum class CommandKind : std::uint8_t {
  kernel = 1,
  native_kernel,
  read,
  write,
  copy,
  fill,
  migrate,
  map,
  unmap,
  marker,
  barrier,
};

// Flags of a command.
constexpr unsigned kBlocking = 1;
constexpr unsigned kMapsForReading = 2;
constexpr unsigned kMapsForWriting = 4;
constexpr unsigned kToHost = 8;        // migrations
constexpr unsigned kListsAreCut = 16;  // more waits or arguments than a record takes

// A command that a call put into a queue. Behind it lie, in this order: for kernels `dimensions` times the global size,
// the local size (0: chosen by the driver) and the offset, one after the other; for what moves bytes a TransferRecord;
// `waits` numbers of commands; `arguments` of ArgumentRecord.
struct CommandRecord {
  RecordHead head;
  std::uint64_t command;  // its number
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
  std::uint32_t queue;
  std::uint32_t kernel;  // number; 0: none
  CommandKind kind;
  std::uint8_t flags;
  std::uint8_t dimensions;
  std::uint8_t arguments;
  std::uint16_t waits;
  std::uint16_t has_transfer;
};
static_assert(sizeof(CommandRecord) == 48);
constexpr std::size_t kMostWaits = 2048;
constexpr std::size_t kMostArguments = 128;

struct TransferRecord {
  std::uint64_t bytes;
  std::uint32_t source;  // numbers of memory; 0: the host
  std::uint32_t target;
  std::uint64_t source_offset;
  std::uint64_t target_offset;
};

enum class ArgumentKind : std::uint8_t { not_set, value, memory, local, shared_pointer };
struct ArgumentRecord {
  ArgumentKind kind;
  std::uint8_t unused[3];
  std::uint32_t bytes;
  std::uint64_t value;  // its first 8 bytes, the number of the memory, or the pointer
};
static_assert(sizeof(ArgumentRecord) == 16);

struct CompletionRecord {
  RecordHead head;
  std::uint64_t command;
  std::uint64_t queued;  // all 0: the device has no times
  std::uint64_t submit;
  std::uint64_t start;
  std::uint64_t end;
};

enum class MemoryKind : std::uint32_t { buffer = 1, image, pipe, sub_buffer, shared, host_buffer };
struct AllocationRecord {
  RecordHead head;
  std::uint64_t ticks;
  std::uint64_t bytes;
  std::uint64_t address;  // of shared memory and of memory in the program's own; else 0
  std::uint64_t flags;    // cl_mem_flags
  std::uint32_t memory;   // its number
  std::uint32_t parent;   // of sub-buffers
  std::uint32_t device;   // of the context, if it has but one; else 0
  std::uint32_t unused;
};
struct ReleaseRecord {
  RecordHead head;
  std::uint64_t ticks;
  std::uint64_t memory;
};

// The device's clock stood at `device_ticks` at some time between the two others.
struct CalibrationRecord {
  RecordHead head;
  std::uint64_t device_ticks;
  std::uint64_t before_ticks;
  std::uint64_t after_ticks;
};

// Bodies, as BodyWriter packs them.
enum class DefinitionType : std::uint32_t {
  device = 1,  // u32 number, u64 global memory in bytes, u64 compute units, text name, text vendor, text driver version
  queue = 2,   // u32 number, u32 device, u32 flags
  program = 3,  // u32 number, u32 ProgramForm, text source, or what is known in its place
  kernel = 4,   // u32 number, u32 program, text name, u32 count, then a type and a name of each argument ("": unknown)
  build = 5,    // u32 program, u32 BuildStep, u64 begin and end ticks, i32 result, text options, text device, text log
};
constexpr std::uint32_t kOutOfOrder = 1;  // flags of a queue
constexpr std::uint32_t kHasNoTimes = 2;
enum class ProgramForm : std::uint32_t { source = 1, binary, intermediate, built_in, linked };
enum class BuildStep : std::uint32_t { build = 1, compile, link };

constexpr std::array kCallNames = {"clEnqueueNDRangeKernel",
                                   "clEnqueueTask",
                                   "clEnqueueNativeKernel",
                                   "clEnqueueReadBuffer",
                                   "clEnqueueReadBufferRect",
                                   "clEnqueueReadImage",
                                   "clEnqueueWriteBuffer",
                                   "clEnqueueWriteBufferRect",
                                   "clEnqueueWriteImage",
                                   "clEnqueueCopyBuffer",
                                   "clEnqueueCopyBufferRect",
                                   "clEnqueueCopyImage",
                                   "clEnqueueCopyImageToBuffer",
                                   "clEnqueueCopyBufferToImage",
                                   "clEnqueueFillBuffer",
                                   "clEnqueueFillImage",
                                   "clEnqueueMigrateMemObjects",
                                   "clEnqueueMapBuffer",
                                   "clEnqueueMapImage",
                                   "clEnqueueUnmapMemObject",
                                   "clEnqueueSVMMemcpy",
                                   "clEnqueueSVMMemFill",
                                   "clEnqueueSVMMap",
                                   "clEnqueueSVMUnmap",
                                   "clEnqueueSVMMigrateMem",
                                   "clEnqueueSVMFree",
                                   "clEnqueueMarker",
                                   "clEnqueueMarkerWithWaitList",
                                   "clEnqueueBarrier",
                                   "clEnqueueBarrierWithWaitList",
                                   "clEnqueueWaitForEvents",
                                   "clFinish",
                                   "clFlush",
                                   "clWaitForEvents",
                                   "clBuildProgram",
                                   "clCompileProgram",
                                   "clLinkProgram",
                                   "clCreateProgram",
                                   "clCreateKernel",
                                   "clCreateBuffer or clCreateImage",
                                   "clSVMAlloc",
                                   "clSVMFree"};
// One of them, as records name it: its place.
struct Call {
  consteval Call(const char* name) {
    while (std::string_view(kCallNames.at(place)) != name) ++place;
  }
  std::uint32_t place = 0;
};

}  // namespace accelscope::probe::opencl
