// Commands and allocations of a process, written when all of them that a turn of reading brought are known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "capture/kinds/opencl/build_log.h"
#include "capture/kinds/opencl/process.h"
#include "capture/kinds/opencl/schemas.h"
#include "core/base/format.h"
#include "core/model/time_range.h"

namespace accelscope::capture::kinds::opencl {
namespace {

using probe::opencl::CommandKind;
using probe::opencl::CommandRecord;
using probe::opencl::TransferRecord;

// What a first launch is held up is only told where it is more than the work of a driver.
constexpr std::int64_t kShortestCompileNs = 100'000;

// By CommandKind from 1. Of kernels the name is known.
[[nodiscard]] const char* operation_name(CommandKind kind) {
  constexpr const char* kNames[] = {"native kernel", "native kernel", "read",  "write",  "copy",   "fill",
                                    "migrate",       "map",           "unmap", "marker", "barrier"};
  const auto place = static_cast<std::size_t>(kind) - 1;
  return kNames[std::min(place, std::size(kNames) - 1)];
}

[[nodiscard]] const char* direction_name(CommandKind kind, unsigned flags) {
  switch (kind) {
    case CommandKind::read:
      return "device to host";
    case CommandKind::write:
      return "host to device";
    case CommandKind::map:
      return (flags & probe::opencl::kMapsForReading) != 0 ? "device to host" : "host to device";
    case CommandKind::unmap:
      return "host to device";
    case CommandKind::migrate:
      return (flags & probe::opencl::kToHost) != 0 ? "device to host" : "host to device";
    default:
      return "device to device";
  }
}

[[nodiscard]] bool is_transfer(CommandKind kind) {
  return kind == CommandKind::read || kind == CommandKind::write || kind == CommandKind::copy ||
         kind == CommandKind::fill || kind == CommandKind::migrate;
}
[[nodiscard]] bool is_map(CommandKind kind) { return kind == CommandKind::map || kind == CommandKind::unmap; }
[[nodiscard]] bool is_kernel(CommandKind kind) {
  return kind == CommandKind::kernel || kind == CommandKind::native_kernel;
}

// From one of a command's times to a later one; 0 where the driver has them in another order.
[[nodiscard]] std::int64_t between(std::uint64_t from, std::uint64_t to) {
  return to > from ? static_cast<std::int64_t>(to - from) : 0;
}

}  // namespace

void OpenclProcess::write_done() {
  if (done_.empty()) return;
  for (const Done& done : done_) {
    const auto queue = queues_.find(done.command->record.queue);
    if (queue == queues_.end() || queue->second.device == nullptr || done.times.queued == 0) continue;
    queue->second.device->brackets.add(static_cast<std::int64_t>(done.times.queued), done.command->begin_ns,
                                       done.command->end_ns);
  }
  session_.update_clocks(process_.clock->last_ns());
  judge_times();
  // Mostly they are in order already, and sorting them would take memory for as many again.
  const auto earlier = [](const Done& a, const Done& b) { return a.start < b.start; };
  if (!std::is_sorted(done_.begin(), done_.end(), earlier)) std::stable_sort(done_.begin(), done_.end(), earlier);
  for (const Done& done : done_) {
    write_command(done);
    open_.erase(done.times.command);
  }
  done_.clear();
}

// Of the commands of a turn, by all that the device has done so far.
void OpenclProcess::judge_times() {
  // No session has room for later ones.
  const auto ticks = [](std::uint64_t time) {
    return static_cast<std::int64_t>(std::min(time, static_cast<std::uint64_t>(kFarthestTime)));
  };
  std::set<std::uint32_t> in_turn;
  for (Done& done : done_) {
    done.start = ticks(done.times.start);
    done.end = std::max(done.start, ticks(done.times.end));
    const auto queue = queues_.find(done.command->record.queue);
    if (queue == queues_.end() || queue->second.device == nullptr || done.times.end == 0) continue;
    in_turn.insert(queue->first);
    queue->second.times.add(done.start, done.end - done.start);
    queue->second.device->times.add(done.start, done.end - done.start);
    if (done.times.queued != 0) queue->second.device->queued.add(ticks(done.times.queued), 0);
  }
  for (const std::uint32_t number : in_turn) {
    SessionDevice& device = *queues_.at(number).device;
    const std::array<sources::tracks::SketchedTrack, 2> sketches = {{{&device.times, false}, {&device.queued, true}}};
    device.bounds = sources::tracks::bounds_of(sketches, 1);
  }
  for (Done& done : done_) {
    const auto queue = queues_.find(done.command->record.queue);
    if (queue == queues_.end() || queue->second.device == nullptr || done.times.end == 0) continue;
    done.doubtful = !queue->second.device->bounds.hold(done.start, done.end - done.start);
  }
  for (const std::uint32_t number : in_turn) judge_lengths(number, queues_.at(number));
}

// Commands of an in-order queue that later ones of the turn lie within.
void OpenclProcess::judge_lengths(std::uint32_t number, const Queue& queue) {
  sources::tracks::LengthJudge judge(queue.times, queue.device->bounds);
  if (!queue.in_order || !judge.suspects()) return;
  constexpr StringId kKinds = 16;
  const auto name = [](const Done& done) {
    return static_cast<StringId>(done.command->record.kernel * kKinds +
                                 static_cast<unsigned>(done.command->record.kind));
  };
  const auto each = [&](const auto& visit) {
    for (Done& done : done_) {
      if (done.command->record.queue == number && done.times.end != 0) visit(done);
    }
  };
  each([&](const Done& done) { judge.look(done.start, done.end - done.start, name(done)); });
  if (!judge.any_candidate()) return;
  each([&](const Done& done) { judge.overlap(done.start, done.end - done.start); });
  each([&](Done& done) {
    done.doubtful = done.doubtful || judge.is_doubtful(done.start, done.end - done.start, name(done));
  });
}

void OpenclProcess::write_command(const Done& done) {
  const auto queue = queues_.find(done.command->record.queue);
  if (queue == queues_.end()) {
    ++malformed_;
    return;
  }
  if (done.times.end == 0) {
    ++without_times_;
    return;
  }
  const CommandKind kind = done.command->record.kind;
  doubtful_times_ += done.doubtful ? 1 : 0;
  if (is_kernel(kind)) {
    write_kernel(done, queue->second);
  } else if (is_transfer(kind) || is_map(kind)) {
    write_transfer(done, queue->second);
  } else {
    write_sync(done, queue->second);
  }
  if (!done.doubtful) queue->second.last_end_ticks = std::max(queue->second.last_end_ticks, done.end);
}

void OpenclProcess::write_kernel(const Done& done, Queue& queue) {
  const Command& command = *done.command;
  const auto known = kernels_.find(command.record.kernel);
  const Kernel* kernel = known == kernels_.end() ? nullptr : &known->second;
  if (kernel != nullptr && command.first_launch && !done.doubtful) write_first_launch(done, queue, *kernel);
  const StringId name = kernel == nullptr ? writer_.intern(operation_name(command.record.kind)) : kernel->name_id;
  const SchemaNumber table = session_.tables[OpenclTable::kernels];
  Row row = writer_.begin_event(queue_track(queue, queue.kernels, done.doubtful, "", "stream", table, 0), done.start,
                                done.end - done.start, name);
  const Launch& launch = command.launch;
  row.unsigned_integer(kKernelCommand, command_key(command.record.command));
  if (launch.global_id != 0) row.string(kKernelGlobal, launch.global_id);
  if (launch.local_id != 0) row.string(kKernelLocal, launch.local_id);
  if (launch.offset_id != 0) row.string(kKernelOffset, launch.offset_id);
  if (launch.work_items != 0) row.integer(kKernelWorkItems, launch.work_items);
  if (launch.work_groups != 0) row.integer(kKernelWorkGroups, launch.work_groups);
  if (launch.arguments_id != 0) row.string(kKernelArguments, launch.arguments_id);
  if (kernel != nullptr && kernel->source_id != 0) row.string(kKernelSource, kernel->source_id);
  if (kernel != nullptr && kernel->program_id != 0) row.string(kKernelProgram, kernel->program_id);
  if (command.first_launch) row.boolean(kKernelFirst, true);
  write_waits(row, kKernelQueued, done);
}

void OpenclProcess::write_transfer(const Done& done, Queue& queue) {
  const CommandRecord& record = done.command->record;
  const TransferRecord& transfer = done.command->transfer;
  const SchemaNumber table = session_.tables[is_map(record.kind) ? OpenclTable::maps : OpenclTable::transfers];
  const TrackNumber track =
      is_map(record.kind) ? queue_track(queue, queue.maps, done.doubtful, " maps", "dma_queue", table, 2)
                          : queue_track(queue, queue.transfers, done.doubtful, " transfers", "dma_queue", table, 1);
  Row row = writer_.begin_event(track, done.start, done.end - done.start, writer_.intern(operation_name(record.kind)));
  row.unsigned_integer(kTransferCommand, command_key(record.command));
  row.string(kTransferDirection, writer_.intern(direction_name(record.kind, record.flags)));
  if (record.kind != CommandKind::unmap) {
    row.integer(kTransferBytes, static_cast<std::int64_t>(transfer.bytes));
    if (done.end > done.start)
      row.real(kTransferBandwidth, static_cast<double>(transfer.bytes) / static_cast<double>(done.end - done.start));
  }
  if (transfer.source != 0) {
    row.string(kTransferFrom, done.command->source_id);
    row.integer(kTransferFromOffset, static_cast<std::int64_t>(transfer.source_offset));
  }
  if (transfer.target != 0) {
    row.string(kTransferTo, done.command->target_id);
    row.integer(kTransferToOffset, static_cast<std::int64_t>(transfer.target_offset));
  }
  if ((record.flags & probe::opencl::kBlocking) != 0) row.boolean(kTransferBlocking, true);
  write_waits(row, kTransferQueued, done);
}

void OpenclProcess::write_sync(const Done& done, Queue& queue) {
  const CommandRecord& record = done.command->record;
  const SchemaNumber table = session_.tables[OpenclTable::syncs];
  Row row = writer_.begin_event(queue_track(queue, queue.syncs, done.doubtful, " markers", "sync", table, 3),
                                done.start, done.end - done.start, writer_.intern(operation_name(record.kind)));
  row.unsigned_integer(kSyncCommand, command_key(record.command));
  write_waits(row, kSyncQueued, done);
}

// The columns that end every table of commands.
void OpenclProcess::write_waits(Row& row, std::size_t queued_column, const Done& done) {
  row.integer(queued_column, between(done.times.queued, done.times.submit));
  row.integer(queued_column + 1, between(done.times.submit, done.times.start));
  const auto status = static_cast<std::int32_t>(done.times.head.value);
  if (status != 0) row.string(queued_column + 2, writer_.intern(status_name(status)));
}

// Drivers compile for a kernel's first launch: within the call, before the command is queued, or while it waits to
// begin though nothing is before it.
void OpenclProcess::write_first_launch(const Done& done, const Queue& queue, const Kernel& kernel) {
  if (queue.device == nullptr || done.times.queued == 0) return;
  const auto queued = static_cast<std::int64_t>(done.times.queued);
  const auto write = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    if (end_ns - begin_ns < kShortestCompileNs) return;
    Row row = writer_.begin_event(host_track(builds_, "program builds", "build", session_.tables[OpenclTable::builds]),
                                  begin_ns, end_ns - begin_ns,
                                  writer_.intern(fmt::format("first launch of {}", kernel.name)));
    row.string(kBuildStep, writer_.intern("first launch"));
    row.string(kBuildKernel, kernel.name_id);
    if (kernel.program_id != 0) row.string(kBuildProgram, kernel.program_id);
    row.string(kBuildDevice, writer_.intern(queue.device->name));
  };
  const ClockMap& map = queue.device->map;
  write(done.command->begin_ns, std::min(map.to_ns(queued), done.command->end_ns));
  if (!queue.in_order && done.command->waits) return;  // it waits for others
  const std::int64_t free = queue.in_order ? std::max(queued, queue.last_end_ticks) : queued;
  write(map.to_ns(free), map.to_ns(static_cast<std::int64_t>(done.times.start)));
}

void OpenclProcess::write_memory() {
  std::stable_sort(memory_events_.begin(), memory_events_.end(),
                   [](const MemoryEvent& a, const MemoryEvent& b) { return a.ns < b.ns; });
  for (const MemoryEvent& event : memory_events_) {
    const auto found = allocations_.find(event.memory);
    if (found == allocations_.end()) continue;  // it was made before the capture
    const Allocation& allocation = found->second;
    TrackNumber& track = allocation.device == nullptr ? shared_memory_ : allocation.device->memory;
    if (track == kNone) {
      track = writer_.add_track({.name = "memory",
                                 .kind = "memory",
                                 .device = allocation.device == nullptr ? "" : allocation.device->name,
                                 .schema = session_.tables[OpenclTable::memory]});
    }
    Row row = writer_.begin_event(track, event.ns, 0, writer_.intern(allocation.name));
    row.unsigned_integer(kMemoryKey, memory_key(event.memory));
    row.integer(kMemoryBytes, event.is_release ? -allocation.bytes : allocation.bytes);
    row.string(kMemoryPool, writer_.intern(allocation.pool));
    if (allocation.address != 0) row.unsigned_integer(kMemoryAddress, allocation.address);
    if (!allocation.flags.empty()) row.string(kMemoryFlags, writer_.intern(allocation.flags));
    if (!allocation.parent.empty()) row.string(kMemoryParent, writer_.intern(allocation.parent));
    if (!event.is_release) continue;
    memory_names_.erase(event.memory);
    allocations_.erase(found);
  }
  memory_events_.clear();
}

// What a process defines: devices, queues, programs, kernels, and the builds of programs.

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
