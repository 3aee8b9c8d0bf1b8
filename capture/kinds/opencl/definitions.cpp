// What a process defines: devices, queues, programs, kernels, and the builds of programs.
#include <fmt/format.h>

#include <algorithm>

#include "capture/kinds/opencl/build_log.h"
#include "capture/kinds/opencl/process.h"
#include "capture/kinds/opencl/schemas.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::opencl {
namespace {

using probe::BodyReader;
using probe::opencl::BuildStep;
using probe::opencl::ProgramForm;

constexpr std::size_t kMessageNameChars = 60;
constexpr std::uint32_t kMostArguments = 4096;  // more than any device allows

[[nodiscard]] const char* step_name(BuildStep step) {
  return step == BuildStep::compile ? "compile" : step == BuildStep::link ? "link" : "build";
}

}  // namespace

void OpenclProcess::define(std::uint32_t type, std::string_view body) {
  // By DefinitionType from 1.
  constexpr void (OpenclProcess::*kDefine[])(BodyReader&) = {
      &OpenclProcess::define_device, &OpenclProcess::define_queue, &OpenclProcess::define_program,
      &OpenclProcess::define_kernel, &OpenclProcess::define_build};
  BodyReader reader(body);
  if (type >= 1 && type <= std::size(kDefine)) (this->*kDefine[type - 1])(reader);
  if (type < 1 || type > std::size(kDefine) || !reader.ok()) ++malformed_;
}

void OpenclProcess::define_device(BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto memory_bytes = body.number<std::uint64_t>();
  const auto units = body.number<std::uint64_t>();
  const std::string name = body.text();
  const std::string vendor = body.text();
  const std::string driver = body.text();
  SessionDevice& device = session_.device(name, devices_of_name_[name]++, memory_bytes);
  devices_[number] = &device;
  const std::string prefix = "opencl." + device.name + ".";
  writer_.set_meta(prefix + "vendor", vendor);
  writer_.set_meta(prefix + "driver_version", driver);
  writer_.set_meta(prefix + "compute_units", std::to_string(units));
  writer_.set_meta(prefix + "global_memory_bytes", std::to_string(memory_bytes));
}

void OpenclProcess::define_queue(BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto device = devices_.find(body.number<std::uint32_t>());
  const auto flags = body.number<std::uint32_t>();
  Queue& queue = queues_[number];
  queue.in_order = (flags & probe::opencl::kOutOfOrder) == 0;
  queue.has_times = (flags & probe::opencl::kHasNoTimes) == 0;
  queue.device = device == devices_.end() ? nullptr : device->second;
  queue.name = fmt::format("queue {}", queues_.size());
  if (!queue.in_order) queue.name += " (out of order)";
  if (process_index_ != 0) queue.name += " of " + title_;
  queue.name_id = writer_.intern(queue.name);
}

void OpenclProcess::define_program(BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto form = static_cast<ProgramForm>(body.number<std::uint32_t>());
  const std::string text = body.text();
  Program& program = programs_[number];
  program.name = fmt::format("program {}", programs_.size());
  if (form != ProgramForm::source) {
    program.name += " (" + text + ")";
  } else if (!text.empty()) {
    program.source = text;
    program.path = session_.add_source(text);
  }
}

void OpenclProcess::define_kernel(BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto program = programs_.find(body.number<std::uint32_t>());
  Kernel& kernel = kernels_[number];
  kernel.name = body.text();
  kernel.name_id = writer_.intern(kernel.name);
  const auto count = std::min(body.number<std::uint32_t>(), kMostArguments);
  for (std::uint32_t i = 0; i < count && body.ok(); ++i) {
    std::string type = body.text();
    kernel.arguments.push_back({std::move(type), body.text()});
  }
  if (program == programs_.end()) return;
  kernel.program_id = writer_.intern(program->second.name);
  const KernelText text = find_kernel(program->second.source, kernel.name);
  if (text.line != 0) kernel.source_id = writer_.intern(fmt::format("{}:{}", program->second.path, text.line));
  if (text.parameters.size() != kernel.arguments.size()) return;
  for (std::size_t i = 0; i < text.parameters.size(); ++i) {
    if (kernel.arguments[i].type.empty()) kernel.arguments[i].type = text.parameters[i].type;
    if (kernel.arguments[i].name.empty()) kernel.arguments[i].name = text.parameters[i].name;
  }
}

void OpenclProcess::define_build(BodyReader& body) {
  const auto program = programs_.find(body.number<std::uint32_t>());
  const auto step = static_cast<BuildStep>(body.number<std::uint32_t>());
  const std::int64_t begin_ns = to_ns(body.number<std::uint64_t>());
  const std::int64_t end_ns = std::max(begin_ns, to_ns(body.number<std::uint64_t>()));
  const auto result = body.number<std::int32_t>();
  const std::string options = body.text();
  const std::string device = body.text();
  const std::string log = body.text();
  if (!body.ok() || program == programs_.end()) {
    ++malformed_;
    return;
  }
  std::int64_t errors = 0;
  std::int64_t warnings = 0;
  write_messages(program->second, log, end_ns, errors, warnings);
  Row row = writer_.begin_event(host_track(builds_, "program builds", "build", session_.tables[OpenclTable::builds]),
                                begin_ns, end_ns - begin_ns,
                                writer_.intern(fmt::format("{} {}", step_name(step), program->second.name)));
  row.string(kBuildStep, writer_.intern(step_name(step)));
  row.string(kBuildProgram, writer_.intern(program->second.name));
  row.string(kBuildDevice, writer_.intern(device));
  if (!options.empty()) row.text(kBuildOptions, options);
  if (result != 0) row.string(kBuildResult, writer_.intern(status_name(result)));
  row.integer(kBuildErrors, errors);
  row.integer(kBuildWarnings, warnings);
  if (!log.empty()) row.text(kBuildLog, log);
}

void OpenclProcess::write_messages(const Program& program, const std::string& log, std::int64_t ns,
                                   std::int64_t& errors, std::int64_t& warnings) {
  for (const BuildMessage& message : parse_build_log(log)) {
    ++(message.is_error ? errors : warnings);
    const TrackNumber track =
        message.is_error ? host_track(errors_, "build errors", "error", session_.tables[OpenclTable::errors])
                         : host_track(warnings_, "build warnings", "warning", session_.tables[OpenclTable::warnings]);
    Row row = writer_.begin_event(track, ns, 0, writer_.intern(shorten_middle(message.text, kMessageNameChars)));
    row.text(kMessageText, message.text);
    if (message.line != 0 && !program.path.empty()) {
      row.string(kMessageSource, writer_.intern(fmt::format("{}:{}", program.path, message.line)));
    }
    row.string(kMessageProgram, writer_.intern(program.name));
  }
}

}  // namespace accelscope::capture::kinds::opencl
