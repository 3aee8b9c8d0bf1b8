#include "capture/kinds/opencl/schemas.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace accelscope::capture::kinds::opencl {
namespace {

constexpr auto kInt = ColumnType::int64;
constexpr auto kUnsigned = ColumnType::uint64;
constexpr auto kReal = ColumnType::float64;
constexpr auto kString = ColumnType::string;
constexpr auto kText = ColumnType::text;
constexpr auto kFlag = ColumnType::boolean;

[[nodiscard]] Column command_column() {
  return {"command", kUnsigned, "", "IDs", "Command", "Number of the command, by which dependencies name it.",
          Role::key};
}
[[nodiscard]] Column queued_column() {
  return {"queued_ns", kInt,
          "ns",        "Timing",
          "In queue",  "From when the command was put into the queue until it was submitted to the device."};
}
[[nodiscard]] Column submitted_column() {
  return {"submitted_ns", kInt,        "ns",
          "Timing",       "Submitted", "From when the command was submitted to the device until it began."};
}
[[nodiscard]] Column status_column() {
  return {"status", kString, "", "Operation", "Status", "Error with which the command ended; empty: it succeeded."};
}

[[nodiscard]] Schema table(std::string name, EventKind kind, std::string name_column, std::string explanation,
                           std::vector<Column> columns) {
  Schema schema;
  schema.name = std::move(name);
  schema.kind = kind;
  schema.name_column = std::move(name_column);
  schema.name_explanation = std::move(explanation);
  schema.columns = std::move(columns);
  return schema;
}

[[nodiscard]] std::vector<Column> transfer_columns(std::string bytes_explanation) {
  return {
      command_column(),
      {"direction", kString, "", "Transfer", "Direction", "Between the host's and the device's memory."},
      {"bytes", kInt, "B", "Transfer", "Bytes", std::move(bytes_explanation), Role::bytes},
      {"bandwidth", kReal, "GB/s", "Transfer", "Bandwidth", "Bytes over duration."},
      {"source", kString, "", "Transfer", "From", "Buffer, image or shared memory that is read; empty: the host's."},
      {"source_offset", kInt, "B", "Transfer", "From offset", "Where in it the transfer begins."},
      {"target", kString, "", "Transfer", "To", "Buffer, image or shared memory that is written; empty: the host's."},
      {"target_offset", kInt, "B", "Transfer", "To offset", "Where in it the transfer begins."},
      {"blocking", kFlag, "", "Operation", "Blocking", "The calling thread waited for it."},
      queued_column(),
      submitted_column(),
      status_column(),
  };
}

}  // namespace

Schema kernel_schema() {
  return table(
      "kernel", EventKind::slice, "kernel", "Name of the kernel function.",
      {
          command_column(),
          {"global_size", kString, "", "Launch", "Global size", "Work items in each dimension."},
          {"local_size", kString, "", "Launch", "Local size",
           "Work items of a work-group in each dimension; empty: chosen by the driver."},
          {"global_offset", kString, "", "Launch", "Global offset", "First id in each dimension, where it is not 0."},
          {"work_items", kInt, "", "Launch", "Work items", "Of all dimensions."},
          {"work_groups", kInt, "", "Launch", "Work-groups", "Where the program chose the local size."},
          {"arguments", kString, "", "Launch", "Arguments", "As they were set when the kernel was launched."},
          {"source", kString, "", "Source", "Source", "Where the kernel is defined.", Role::source_location},
          {"program", kString, "", "Source", "Program", "The program that the kernel belongs to."},
          {"first_launch", kFlag, "", "Launch", "First launch",
           "First of this kernel on the device: drivers often compile it then."},
          queued_column(),
          submitted_column(),
          status_column(),
      });
}

Schema transfer_schema() {
  // As every source of copies calls them, so that one query fits all.
  return table("memcpy", EventKind::slice, "operation", "What moves the bytes: read, write, copy, fill or migrate.",
               transfer_columns("Bytes moved."));
}

Schema map_schema() {
  return table("map", EventKind::slice, "operation", "Maps device memory into the program, or gives it back.",
               transfer_columns("Bytes mapped; devices that share the host's memory move none of them."));
}

Schema sync_schema() {
  return table("sync", EventKind::slice, "operation", "A marker or barrier of a queue.",
               {command_column(), queued_column(), submitted_column(), status_column()});
}

Schema call_schema() {
  Schema schema =
      table("runtime_call", EventKind::slice, "function", "The OpenCL function that the program called.",
            {
                {"call", kUnsigned, "", "IDs", "Call", "Number of the call, by which dependencies name it.", Role::key},
                {"queue", kString, "", "Operation", "Queue", "The queue that it is about."},
                {"subject", kString, "", "Operation", "About", "Kernel that is launched, or memory that is moved."},
                {"bytes", kInt, "B", "Operation", "Bytes", "Bytes that the call is about."},
                {"result", kString, "", "Operation", "Result", "Error that it returned; empty: it succeeded."},
            });
  schema.wait_names = {"clFinish", "clWaitForEvents"};
  return schema;
}

Schema build_schema() {
  return table(
      "build", EventKind::slice, "build",
      "What was compiled. A first launch is the time that a kernel's first launch was held up before the device "
      "began: the driver's compiler, as a rule.",
      {
          {"step", kString, "", "Operation", "Step", "build, compile, link or first launch."},
          {"program", kString, "", "Source", "Program", "The program that was built."},
          {"kernel", kString, "", "Source", "Kernel", "The kernel whose first launch it was."},
          {"device", kString, "", "Operation", "Device", "The device that it was built for."},
          {"options", kText, "", "Operation", "Options", "The options of the build."},
          {"result", kString, "", "Operation", "Result", "Error that the build returned; empty: it succeeded."},
          {"errors", kInt, "", "Operation", "Errors", "Errors in its log."},
          {"warnings", kInt, "", "Operation", "Warnings", "Warnings in its log."},
          {"log", kText, "", "Operation", "Log", "What the driver's compiler printed."},
      });
}

namespace {

[[nodiscard]] Schema message_schema(std::string name) {
  return table(std::move(name), EventKind::instant, "message", "What the driver's compiler said.",
               {
                   {"text", kText, "", "Operation", "Message", "What the driver's compiler said."},
                   {"source", kString, "", "Source", "Source", "The line that it is about.", Role::source_location},
                   {"program", kString, "", "Source", "Program", "The program that was built."},
               });
}

}  // namespace

Schema error_schema() { return message_schema("build_error"); }
// Tables of this name are shown as signs in the timeline.
Schema warning_schema() { return message_schema("warnings"); }

Schema memory_schema() {
  return table(
      "memory_event", EventKind::memory, "object", "The buffer, image or shared memory.",
      {
          {"object_id", kUnsigned, "", "IDs", "Object", "The same for its allocation and its release.", Role::key},
          {"allocation_bytes", kInt, "B", "Memory", "Size", "Bytes allocated, or released where negative.",
           Role::allocation, true},
          {"pool", kString, "", "Memory", "Pool",
           "Device memory: buffers and images; SVM: shared virtual memory; host memory: the program's own that a "
           "buffer "
           "uses; views: parts of other buffers, counted there as well.",
           Role::pool, true},
          {"address", kUnsigned, "", "Memory", "Address", "In the program, where it is known.", Role::address},
          {"flags", kString, "", "Memory", "Flags", "The flags that it was made with."},
          {"parent", kString, "", "Memory", "Part of", "The buffer whose memory it uses."},
      });
}

Schema flow_schema() {
  return table(
      "dependency", EventKind::flow, "reason", "Why the second event came after the first.",
      {
          {"source_command", kUnsigned, "", "IDs", "", "The call or command that had to come first.", Role::flow_source,
           true},
          {"target_command", kUnsigned, "", "IDs", "", "The command that follows from it.", Role::flow_target, true},
      });
}

std::string status_name(std::int32_t status) {
  struct Name {
    std::int32_t status;
    const char* name;
  };
  static constexpr Name kNames[] = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {-8, "CL_MEM_COPY_OVERLAP"},
      {-9, "CL_IMAGE_FORMAT_MISMATCH"},
      {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-12, "CL_MAP_FAILURE"},
      {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-15, "CL_COMPILE_PROGRAM_FAILURE"},
      {-16, "CL_LINKER_NOT_AVAILABLE"},
      {-17, "CL_LINK_PROGRAM_FAILURE"},
      {-18, "CL_DEVICE_PARTITION_FAILED"},
      {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
      {-30, "CL_INVALID_VALUE"},
      {-31, "CL_INVALID_DEVICE_TYPE"},
      {-32, "CL_INVALID_PLATFORM"},
      {-33, "CL_INVALID_DEVICE"},
      {-34, "CL_INVALID_CONTEXT"},
      {-35, "CL_INVALID_QUEUE_PROPERTIES"},
      {-36, "CL_INVALID_COMMAND_QUEUE"},
      {-37, "CL_INVALID_HOST_PTR"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
      {-40, "CL_INVALID_IMAGE_SIZE"},
      {-41, "CL_INVALID_SAMPLER"},
      {-42, "CL_INVALID_BINARY"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-44, "CL_INVALID_PROGRAM"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-47, "CL_INVALID_KERNEL_DEFINITION"},
      {-48, "CL_INVALID_KERNEL"},
      {-49, "CL_INVALID_ARG_INDEX"},
      {-50, "CL_INVALID_ARG_VALUE"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-53, "CL_INVALID_WORK_DIMENSION"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-56, "CL_INVALID_GLOBAL_OFFSET"},
      {-57, "CL_INVALID_EVENT_WAIT_LIST"},
      {-58, "CL_INVALID_EVENT"},
      {-59, "CL_INVALID_OPERATION"},
      {-60, "CL_INVALID_GL_OBJECT"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-62, "CL_INVALID_MIP_LEVEL"},
      {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {-64, "CL_INVALID_PROPERTY"},
      {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
      {-66, "CL_INVALID_COMPILER_OPTIONS"},
      {-67, "CL_INVALID_LINKER_OPTIONS"},
      {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
      {-69, "CL_INVALID_PIPE_SIZE"},
      {-70, "CL_INVALID_DEVICE_QUEUE"},
      {-71, "CL_INVALID_SPEC_ID"},
      {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
  };
  if (status == 0) return {};
  for (const Name& known : kNames) {
    if (known.status == status) return known.name;
  }
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
