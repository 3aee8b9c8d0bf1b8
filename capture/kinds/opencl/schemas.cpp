#include "capture/kinds/opencl/schemas.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture::kinds::opencl {
namespace {

using namespace columns;

constexpr ColumnSpec kCommand = {
    "command", kUnsigned, "", kIds, "Command", "Number of the command, by which dependencies name it.", Role::key};
constexpr ColumnSpec kQueued = {
    "queued_ns", kInt,       "ns",
    kTiming,     "In queue", "From when the command was put into the queue until it was submitted to the device."};
constexpr ColumnSpec kSubmitted = {"submitted_ns", kInt,
                                   "ns",           kTiming,
                                   "Submitted",    "From when the command was submitted to the device until it began."};
constexpr ColumnSpec kStatus = {"status",   kString,  "",
                                kOperation, "Status", "Error with which the command ended; empty: it succeeded."};

constexpr ColumnSpec kKernels[] = {
    kCommand,
    {"global_size", kString, "", kLaunch, "Global size", "Work items in each dimension."},
    {"local_size", kString, "", kLaunch, "Local size",
     "Work items of a work-group in each dimension; empty: chosen by the driver."},
    {"global_offset", kString, "", kLaunch, "Global offset", "First id in each dimension, where it is not 0."},
    {"work_items", kInt, "", kLaunch, "Work items", "Of all dimensions."},
    {"work_groups", kInt, "", kLaunch, "Work-groups", "Where the program chose the local size."},
    {"arguments", kString, "", kLaunch, "Arguments", "As they were set when the kernel was launched."},
    {"source", kString, "", kSource, "Source", "Where the kernel is defined.", Role::source_location},
    {"program", kString, "", kSource, "Program", "The program that the kernel belongs to."},
    {"first_launch", kFlag, "", kLaunch, "First launch",
     "First of this kernel on the device: drivers often compile it then."},
    kQueued,
    kSubmitted,
    kStatus,
};
template <bool kMaps>
constexpr ColumnSpec kTransfers[] = {
    kCommand,
    {"direction", kString, "", kTransfer, "Direction", "Between the host's and the device's memory."},
    {"bytes", kInt, "B", kTransfer, "Bytes",
     kMaps ? "Bytes mapped; devices that share the host's memory move none of them." : "Bytes moved.", Role::bytes},
    {"bandwidth", kReal, "GB/s", kTransfer, "Bandwidth", "Bytes over duration."},
    {"source", kString, "", kTransfer, "From", "Buffer, image or shared memory that is read; empty: the host's."},
    {"source_offset", kInt, "B", kTransfer, "From offset", "Where in it the transfer begins."},
    {"target", kString, "", kTransfer, "To", "Buffer, image or shared memory that is written; empty: the host's."},
    {"target_offset", kInt, "B", kTransfer, "To offset", "Where in it the transfer begins."},
    {"blocking", kFlag, "", kOperation, "Blocking", "The calling thread waited for it."},
    kQueued,
    kSubmitted,
    kStatus,
};
constexpr ColumnSpec kSyncs[] = {kCommand, kQueued, kSubmitted, kStatus};
constexpr ColumnSpec kCalls[] = {
    {"call", kUnsigned, "", kIds, "Call", "Number of the call, by which dependencies name it.", Role::key},
    {"queue", kString, "", kOperation, "Queue", "The queue that it is about."},
    {"subject", kString, "", kOperation, "About", "Kernel that is launched, or memory that is moved."},
    {"bytes", kInt, "B", kOperation, "Bytes", "Bytes that the call is about."},
    {"result", kString, "", kOperation, "Result", "Error that it returned; empty: it succeeded."},
};
constexpr std::string_view kWaits[] = {"clFinish", "clWaitForEvents"};
constexpr ColumnSpec kBuilds[] = {
    {"step", kString, "", kOperation, "Step", "build, compile, link or first launch."},
    {"program", kString, "", kSource, "Program", "The program that was built."},
    {"kernel", kString, "", kSource, "Kernel", "The kernel whose first launch it was."},
    {"device", kString, "", kOperation, "Device", "The device that it was built for."},
    {"options", kText, "", kOperation, "Options", "The options of the build."},
    {"result", kString, "", kOperation, "Result", "Error that the build returned; empty: it succeeded."},
    {"errors", kInt, "", kOperation, "Errors", "Errors in its log."},
    {"warnings", kInt, "", kOperation, "Warnings", "Warnings in its log."},
    {"log", kText, "", kOperation, "Log", "What the driver's compiler printed."},
};
constexpr ColumnSpec kMessages[] = {
    {"text", kText, "", kOperation, "Message", "What the driver's compiler said."},
    {"source", kString, "", kSource, "Source", "The line that it is about.", Role::source_location},
    {"program", kString, "", kSource, "Program", "The program that was built."},
};
constexpr ColumnSpec kAllocations[] = {
    {"object_id", kUnsigned, "", kIds, "Object", "The same for its allocation and its release.", Role::key},
    {"allocation_bytes", kInt, "B", kMemory, "Size", "Bytes allocated, or released where negative.", Role::allocation,
     true},
    {"pool", kString, "", kMemory, "Pool",
     "Device memory: buffers and images; SVM: shared virtual memory; host memory: the program's own that a buffer "
     "uses; views: parts of other buffers, counted there as well.",
     Role::pool, true},
    {"address", kUnsigned, "", kMemory, "Address", "In the program, where it is known.", Role::address},
    {"flags", kString, "", kMemory, "Flags", "The flags that it was made with."},
    {"parent", kString, "", kMemory, "Part of", "The buffer whose memory it uses."},
};
constexpr ColumnSpec kFlows[] = {
    {"source_command", kUnsigned, "", kIds, "", "The call or command that had to come first.", Role::flow_source, true},
    {"target_command", kUnsigned, "", kIds, "", "The command that follows from it.", Role::flow_target, true},
};

}  // namespace

// By OpenclTable.
const std::array<TableSpec, 10> kOpenclTables = {{
    {{"kernel", EventKind::slice, "kernel", "Name of the kernel function."}, kKernels},
    // As every source of copies calls them, so that one query fits all.
    {{"memcpy", EventKind::slice, "operation", "What moves the bytes: read, write, copy, fill or migrate."},
     kTransfers<false>},
    {{"map", EventKind::slice, "operation", "Maps device memory into the program, or gives it back."},
     kTransfers<true>},
    {{"sync", EventKind::slice, "operation", "A marker or barrier of a queue."}, kSyncs},
    {{"runtime_call", EventKind::slice, "function", "The OpenCL function that the program called.", kWaits}, kCalls},
    {{"build", EventKind::slice, "build",
      "What was compiled. A first launch is the time that a kernel's first launch was held up before the device "
      "began: the driver's compiler, as a rule."},
     kBuilds},
    {{"build_error", EventKind::instant, "message", "What the driver's compiler said."}, kMessages},
    // Tables of this name are shown as signs in the timeline.
    {{"warnings", EventKind::instant, "message", "What the driver's compiler said."}, kMessages},
    {{"memory_event", EventKind::memory, "object", "The buffer, image or shared memory."}, kAllocations},
    {{"dependency", EventKind::flow, "reason", "Why the second event came after the first."}, kFlows},
}};

std::string status_name(std::int32_t status) {
  static constexpr const char* kFromMinus1[] = {"CL_DEVICE_NOT_FOUND",
                                                "CL_DEVICE_NOT_AVAILABLE",
                                                "CL_COMPILER_NOT_AVAILABLE",
                                                "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                                                "CL_OUT_OF_RESOURCES",
                                                "CL_OUT_OF_HOST_MEMORY",
                                                "CL_PROFILING_INFO_NOT_AVAILABLE",
                                                "CL_MEM_COPY_OVERLAP",
                                                "CL_IMAGE_FORMAT_MISMATCH",
                                                "CL_IMAGE_FORMAT_NOT_SUPPORTED",
                                                "CL_BUILD_PROGRAM_FAILURE",
                                                "CL_MAP_FAILURE",
                                                "CL_MISALIGNED_SUB_BUFFER_OFFSET",
                                                "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                                                "CL_COMPILE_PROGRAM_FAILURE",
                                                "CL_LINKER_NOT_AVAILABLE",
                                                "CL_LINK_PROGRAM_FAILURE",
                                                "CL_DEVICE_PARTITION_FAILED",
                                                "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"};
  static constexpr const char* kFromMinus30[] = {"CL_INVALID_VALUE",
                                                 "CL_INVALID_DEVICE_TYPE",
                                                 "CL_INVALID_PLATFORM",
                                                 "CL_INVALID_DEVICE",
                                                 "CL_INVALID_CONTEXT",
                                                 "CL_INVALID_QUEUE_PROPERTIES",
                                                 "CL_INVALID_COMMAND_QUEUE",
                                                 "CL_INVALID_HOST_PTR",
                                                 "CL_INVALID_MEM_OBJECT",
                                                 "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
                                                 "CL_INVALID_IMAGE_SIZE",
                                                 "CL_INVALID_SAMPLER",
                                                 "CL_INVALID_BINARY",
                                                 "CL_INVALID_BUILD_OPTIONS",
                                                 "CL_INVALID_PROGRAM",
                                                 "CL_INVALID_PROGRAM_EXECUTABLE",
                                                 "CL_INVALID_KERNEL_NAME",
                                                 "CL_INVALID_KERNEL_DEFINITION",
                                                 "CL_INVALID_KERNEL",
                                                 "CL_INVALID_ARG_INDEX",
                                                 "CL_INVALID_ARG_VALUE",
                                                 "CL_INVALID_ARG_SIZE",
                                                 "CL_INVALID_KERNEL_ARGS",
                                                 "CL_INVALID_WORK_DIMENSION",
                                                 "CL_INVALID_WORK_GROUP_SIZE",
                                                 "CL_INVALID_WORK_ITEM_SIZE",
                                                 "CL_INVALID_GLOBAL_OFFSET",
                                                 "CL_INVALID_EVENT_WAIT_LIST",
                                                 "CL_INVALID_EVENT",
                                                 "CL_INVALID_OPERATION",
                                                 "CL_INVALID_GL_OBJECT",
                                                 "CL_INVALID_BUFFER_SIZE",
                                                 "CL_INVALID_MIP_LEVEL",
                                                 "CL_INVALID_GLOBAL_WORK_SIZE",
                                                 "CL_INVALID_PROPERTY",
                                                 "CL_INVALID_IMAGE_DESCRIPTOR",
                                                 "CL_INVALID_COMPILER_OPTIONS",
                                                 "CL_INVALID_LINKER_OPTIONS",
                                                 "CL_INVALID_DEVICE_PARTITION_COUNT",
                                                 "CL_INVALID_PIPE_SIZE",
                                                 "CL_INVALID_DEVICE_QUEUE",
                                                 "CL_INVALID_SPEC_ID",
                                                 "CL_MAX_SIZE_RESTRICTION_EXCEEDED"};
  if (status == 0) return {};
  const auto at = [status](std::int32_t first) { return static_cast<std::size_t>(first - status); };
  if (status < 0 && at(-1) < std::size(kFromMinus1)) return kFromMinus1[at(-1)];
  if (status <= -30 && at(-30) < std::size(kFromMinus30)) return kFromMinus30[at(-30)];
  return fmt::format("error {}", status);
}

std::string memory_flags_text(std::uint64_t flags) {
  static constexpr std::pair<std::uint64_t, const char*> kNames[] = {
      {1U << 0, "READ_WRITE"},      {1U << 1, "WRITE_ONLY"},     {1U << 2, "READ_ONLY"},
      {1U << 3, "USE_HOST_PTR"},    {1U << 4, "ALLOC_HOST_PTR"}, {1U << 5, "COPY_HOST_PTR"},
      {1U << 7, "HOST_WRITE_ONLY"}, {1U << 8, "HOST_READ_ONLY"}, {1U << 9, "HOST_NO_ACCESS"},
      {1U << 10, "SVM_FINE_GRAIN"}, {1U << 11, "SVM_ATOMICS"},   {1U << 12, "KERNEL_READ_AND_WRITE"},
  };
  std::string text;
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) != 0) text += (text.empty() ? "" : " | ") + std::string(name);
  }
  return text;
}

}  // namespace accelscope::capture::kinds::opencl
