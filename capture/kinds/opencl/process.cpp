#include "capture/kinds/opencl/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "capture/kinds/base/held_records.h"
#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/opencl/schemas.h"
#include "capture/sources/tracks/track_events.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::opencl {
namespace {

// Of the tightest bracket, or a few us: what calls take that are not disturbed.
constexpr std::int64_t kTightTimes = 4;
constexpr std::int64_t kTightNs = 10'000;

}  // namespace

void DeviceClock::add(std::int64_t ticks, std::int64_t before_ns, std::int64_t after_ns) {
  const Bracket bracket{ticks, before_ns, std::max(before_ns, after_ns)};
  if (stretch_ && bracket.before_ns - stretch_begin_ns_ >= spacing_ns_) end_stretch();
  if (!stretch_) {
    // What is older than the last anchor has come too late to be one.
    if (!anchors_.empty() && bracket.before_ns < anchors_.back().after_ns + spacing_ns_ / 2) return;
    stretch_begin_ns_ = bracket.before_ns;
  } else if (bracket.width() >= stretch_->width() || bracket.before_ns < stretch_begin_ns_) {
    return;
  }
  stretch_ = bracket;
  changed_ = true;
}

void DeviceClock::end_stretch() {
  // A clock that was set back, or a bracket that is no use, would make the line fall.
  const ClockAnchor next = stretch_->anchor();
  if (anchors_.empty() || (next.ticks > anchors_.back().anchor().ticks && next.ns > anchors_.back().anchor().ns)) {
    anchors_.push_back(*stretch_);
  }
  stretch_.reset();
  if (anchors_.size() >= kMostAnchors) thin_out();
}

void DeviceClock::thin_out() {
  std::size_t retained = 0;
  for (std::size_t i = 0; i < anchors_.size(); i += 2) anchors_[retained++] = anchors_[i];
  anchors_.resize(retained);
  spacing_ns_ *= 2;
}

// Strictly rising, and no two so close together that they say little of the clock's rate.
void DeviceClock::join(const std::vector<Bracket>& brackets, Clock& clock) const {
  clock.anchors.clear();
  for (const Bracket& bracket : brackets) {
    const ClockAnchor anchor = bracket.anchor();
    if (!clock.anchors.empty()) {
      const ClockAnchor& last = clock.anchors.back();
      if (anchor.ticks <= last.ticks || anchor.ns <= last.ns) continue;
      if (clock.anchors.size() == 1 && anchor.ns - last.ns < spacing_ns_ / 2) continue;
    }
    clock.anchors.push_back(anchor);
  }
}

bool DeviceClock::update(Clock& clock) {
  if (!changed_) return false;
  changed_ = false;
  std::vector<Bracket> all = anchors_;
  if (stretch_) all.push_back(*stretch_);
  std::int64_t tightest = all.front().width();
  for (const Bracket& bracket : all) tightest = std::min(tightest, bracket.width());
  // A thread may lose its processor within a call. Wide brackets count where the line through the others misses them.
  const auto is_tight = [&](const Bracket& bracket) { return bracket.width() <= kTightTimes * tightest + kTightNs; };
  std::vector<Bracket> used;
  std::copy_if(all.begin(), all.end(), std::back_inserter(used), is_tight);
  join(used, clock);
  const ClockMap line(clock);
  const auto is_missed = [&](const Bracket& bracket) {
    const std::int64_t ns = line.to_ns(bracket.ticks);
    return ns < bracket.before_ns || ns > bracket.after_ns;
  };
  used.clear();
  std::copy_if(all.begin(), all.end(), std::back_inserter(used),
               [&](const Bracket& bracket) { return is_tight(bracket) || is_missed(bracket); });
  join(used, clock);
  std::int64_t widest = 0;
  for (const Bracket& bracket : used) widest = std::max(widest, bracket.width());
  clock.residual_ns = static_cast<double>(widest) / 2;  // the true time lies within the bracket
  ++clock.version;
  return true;
}

OpenclSession::OpenclSession(SessionWriter& session_writer, bool with_calls)
    : writer(session_writer), keeps_calls(with_calls), tables(session_writer, kOpenclTables) {
  tables.define_all();
}

SessionDevice& OpenclSession::device(const std::string& name, std::size_t nth, std::uint64_t memory_bytes) {
  const std::string full_name = nth == 0 ? name : fmt::format("{} #{}", name, nth + 1);
  for (const std::unique_ptr<SessionDevice>& known : devices_) {
    if (known->name == full_name) return *known;
  }
  devices_.push_back(std::make_unique<SessionDevice>());
  SessionDevice& device = *devices_.back();
  device.name = full_name;
  device.clock.name = full_name;
  device.clock.number = writer.add_clock(device.clock);
  if (memory_bytes != 0)
    writer.set_meta(fmt::format("capacity.{} device memory", full_name), std::to_string(memory_bytes));
  return device;
}

void OpenclSession::update_clocks(std::int64_t now_ns) {
  for (const std::unique_ptr<SessionDevice>& device : devices_) {
    const bool is_due = device->clock.anchors.empty() || now_ns - device->updated_ns >= kClockIntervalNs;
    if (!is_due || !device->brackets.update(device->clock)) continue;
    device->updated_ns = now_ns;
    device->map = ClockMap(device->clock);
    writer.update_clock(device->clock);
  }
}

std::string OpenclSession::add_source(const std::string& text) {
  const auto [place, is_new] = sources_.try_emplace(text, fmt::format("opencl/program-{}.cl", sources_.size() + 1));
  if (is_new) writer.add_source_file(place->second, text);
  return place->second;
}

namespace {

using probe::opencl::ArgumentKind;
using probe::opencl::ArgumentRecord;

template <typename Number>
[[nodiscard]] Number as(std::uint64_t value) {
  Number number{};
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Without a type, small numbers are taken to be signed and what does not fit to be bits.
[[nodiscard]] std::string value_text(const ArgumentRecord& argument, const std::string& type) {
  const std::uint64_t value = argument.value;
  const bool is_unsigned = type.starts_with('u');
  if (type == "float" && argument.bytes == sizeof(float)) return fmt::format("{}", as<float>(value));
  if (type == "double" && argument.bytes == sizeof(double)) return fmt::format("{}", as<double>(value));
  switch (argument.bytes) {
    case 1:
      return is_unsigned ? fmt::format("{}", as<std::uint8_t>(value)) : fmt::format("{}", as<std::int8_t>(value));
    case 2:
      if (type == "half") return fmt::format("{:#06x}", as<std::uint16_t>(value));
      return is_unsigned ? fmt::format("{}", as<std::uint16_t>(value)) : fmt::format("{}", as<std::int16_t>(value));
    case 4:
      return is_unsigned ? fmt::format("{}", as<std::uint32_t>(value)) : fmt::format("{}", as<std::int32_t>(value));
    case 8:
      return is_unsigned ? fmt::format("{}", value) : fmt::format("{}", as<std::int64_t>(value));
    default:
      return fmt::format("{} B", argument.bytes);
  }
}

[[nodiscard]] std::string text_of(const ArgumentRecord& argument, const std::string& type,
                                  const std::map<std::uint64_t, std::string>& memories) {
  switch (argument.kind) {
    case ArgumentKind::value:
      return value_text(argument, type);
    case ArgumentKind::memory: {
      const auto known = memories.find(argument.value);
      return known == memories.end() ? fmt::format("memory {}", argument.value) : known->second;
    }
    case ArgumentKind::local:
      return fmt::format("local {}", format_bytes(argument.bytes));
    case ArgumentKind::shared_pointer:
      return fmt::format("{:#x}", argument.value);
    case ArgumentKind::not_set:
      break;
  }
  return "?";
}

}  // namespace

std::string argument_text(std::span<const ArgumentRecord> arguments, std::span<const ArgumentName> names,
                          const std::map<std::uint64_t, std::string>& memories) {
  static const ArgumentName kUnknown;
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentName& name = i < names.size() ? names[i] : kUnknown;
    if (i != 0) text += ", ";
    if (!name.name.empty()) text += name.name + "=";
    text += text_of(arguments[i], name.type, memories);
  }
  return text;
}

namespace {

using probe::opencl::AllocationRecord;
using probe::opencl::ArgumentRecord;
using probe::opencl::CallRecord;
using probe::opencl::CommandRecord;
using probe::opencl::CompletionRecord;
using probe::opencl::RecordType;
using probe::opencl::TransferRecord;

constexpr unsigned kProcessShift = 44;                          // of keys: above the numbers of 8 T commands
constexpr std::uint64_t kMemoryKeys = std::uint64_t{1} << 43U;  // of commands and of memory

[[nodiscard]] std::string sizes_text(std::span<const std::uint64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::uint64_t size) { return size == 0; })
             ? std::string()
             : fmt::format("{}", fmt::join(sizes, " x "));
}

// What memory is called and which pool it belongs to, by MemoryKind from 1.
constexpr std::pair<const char*, const char*> kMemoryKinds[] = {{"buffer", "device memory"},
                                                                {"image", "device memory"},
                                                                {"pipe", "device memory"},
                                                                {"view", "views"},
                                                                {"SVM", "SVM"},
                                                                {"buffer", "host memory"}};
[[nodiscard]] const auto& memory_kind(std::uint32_t kind) {
  return kMemoryKinds[kind >= 1 && kind <= std::size(kMemoryKinds) ? kind - 1 : 0];
}

}  // namespace

OpenclProcess::OpenclProcess(const probes::ProbeProcess& process, OpenclSession& session)
    : process_(process),
      session_(session),
      writer_(session.writer),
      process_index_(session.new_process()),
      key_base_(process_index_ << kProcessShift),
      title_(process.title()),
      launch_(writer_.intern("launch")),
      wait_list_(writer_.intern("wait list")) {}

std::uint64_t OpenclProcess::memory_key(std::uint64_t memory) const noexcept {
  return key_base_ | kMemoryKeys | memory;
}

void OpenclProcess::thread(const probes::ProbeThread& thread) { threads_[thread.index].name = thread.name; }

void OpenclProcess::thread_ended(const probes::ProbeThread& /*thread*/, std::int64_t /*now_ns*/) {}

void OpenclProcess::record(const probes::ProbeThread& thread, probe::RecordHead head,
                           std::span<const std::uint64_t> words) {
  switch (static_cast<RecordType>(head.type)) {
    case RecordType::call:
      if (CallRecord record{}; probes::read_record(head, words, record)) return add_call(thread, record);
      break;
    case RecordType::command:
      return add_command(thread, head, words);
    case RecordType::completion:
      if (CompletionRecord record{}; probes::read_record(head, words, record)) return add_completion(record);
      break;
    case RecordType::allocation:
      if (AllocationRecord record{}; probes::read_record(head, words, record)) return add_allocation(record);
      break;
    case RecordType::release:
      if (probe::opencl::ReleaseRecord record{}; probes::read_record(head, words, record)) {
        memory_events_.push_back({to_ns(record.ticks), record.memory, true});
        return;
      }
      break;
    case RecordType::calibration:
      if (probe::opencl::CalibrationRecord record{}; probes::read_record(head, words, record)) {
        const auto device = devices_.find(head.value);
        if (device == devices_.end()) break;
        device->second->brackets.add(static_cast<std::int64_t>(record.device_ticks), to_ns(record.before_ticks),
                                     to_ns(record.after_ticks));
        return;
      }
      break;
  }
  ++malformed_;
}

void OpenclProcess::add_call(const probes::ProbeThread& thread, const CallRecord& record) {
  if (record.head.value >= probe::opencl::kCallNames.size()) {
    ++malformed_;
    return;
  }
  const std::int64_t begin_ns = to_ns(record.begin_ticks);
  Row row =
      writer_.begin_event(call_track(thread), begin_ns, std::max<std::int64_t>(0, to_ns(record.end_ticks) - begin_ns),
                          call_name(record.head.value));
  if (const auto queue = queues_.find(record.object); queue != queues_.end()) {
    row.string(kCallQueue, queue->second.name_id);
  }
  if (record.result != 0) row.string(kCallResult, writer_.intern(status_name(record.result)));
}

void OpenclProcess::add_command(const probes::ProbeThread& thread, probe::RecordHead head,
                                std::span<const std::uint64_t> words) {
  Command command;
  CommandRecord& record = command.record;
  const bool is_whole = probes::read_record(head, words, record);
  const std::size_t fixed = (sizeof(CommandRecord) - sizeof head) / 8;
  const std::size_t sizes = std::size_t{3} * record.dimensions;
  const std::size_t transfer = record.has_transfer != 0 ? sizeof(TransferRecord) / 8 : 0;
  const std::size_t arguments = std::size_t{record.arguments} * sizeof(ArgumentRecord) / 8;
  if (!is_whole || words.size() != fixed + sizes + transfer + record.waits + arguments ||
      head.value >= probe::opencl::kCallNames.size()) {
    ++malformed_;
    return;
  }
  words = words.subspan(fixed);
  command.begin_ns = to_ns(record.begin_ticks);
  command.end_ns = std::max(command.begin_ns, to_ns(record.end_ticks));
  command.waits = record.waits != 0;
  if (transfer != 0) {
    std::memcpy(&command.transfer, words.data() + sizes, sizeof(TransferRecord));
    command.source_id = memory_id(command.transfer.source);
    command.target_id = memory_id(command.transfer.target);
  }
  if (const auto kernel = kernels_.find(record.kernel); kernel != kernels_.end()) {
    read_sizes(kernel->second, words.first(sizes));
    read_arguments(kernel->second, words.last(arguments));
    command.launch = kernel->second.last;
    const auto queue = queues_.find(record.queue);
    const SessionDevice* device = queue == queues_.end() ? nullptr : queue->second.device;
    std::vector<const SessionDevice*>& launched_on = kernel->second.launched_on;
    if (std::find(launched_on.begin(), launched_on.end(), device) == launched_on.end()) {
      launched_on.push_back(device);
      command.first_launch = true;
    }
  }
  if ((record.flags & probe::opencl::kListsAreCut) != 0) ++cut_;
  write_command_call(thread, head.value, command);
  add_waits(command, words.subspan(sizes + transfer, record.waits));
  const auto [place, is_new] = open_.emplace(record.command, command);
  if (!is_new) ++malformed_;
  for (auto* completions : {&early_, &early_before_}) {
    const auto early = completions->find(record.command);
    if (early == completions->end()) continue;
    finish_command(place->second, early->second);
    completions->erase(early);
  }
}

void OpenclProcess::read_sizes(Kernel& kernel, std::span<const std::uint64_t> sizes) {
  if (std::equal(sizes.begin(), sizes.end(), kernel.last_sizes.begin(), kernel.last_sizes.end())) return;
  const std::size_t dimensions = sizes.size() / 3;
  const std::span<const std::uint64_t> global = sizes.first(dimensions);
  const std::span<const std::uint64_t> local = sizes.subspan(dimensions, dimensions);
  kernel.last_sizes.assign(sizes.begin(), sizes.end());
  kernel.last.global_id = writer_.intern(sizes_text(global));
  kernel.last.local_id = writer_.intern(sizes_text(local));
  kernel.last.offset_id = writer_.intern(sizes_text(sizes.last(dimensions)));
  std::uint64_t items = 1;
  std::uint64_t groups = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    items *= global[i];
    groups *= local[i] == 0 ? 0 : (global[i] + local[i] - 1) / local[i];
  }
  kernel.last.work_items = static_cast<std::int64_t>(items);
  kernel.last.work_groups = static_cast<std::int64_t>(groups);
}

void OpenclProcess::read_arguments(Kernel& kernel, std::span<const std::uint64_t> words) {
  if (std::equal(words.begin(), words.end(), kernel.last_arguments.begin(), kernel.last_arguments.end())) return;
  kernel.last_arguments.assign(words.begin(), words.end());
  std::vector<ArgumentRecord> arguments(words.size_bytes() / sizeof(ArgumentRecord));
  if (!arguments.empty()) std::memcpy(arguments.data(), words.data(), words.size_bytes());
  kernel.last.arguments_id = writer_.intern(argument_text(arguments, kernel.arguments, memory_names_));
}

void OpenclProcess::add_waits(const Command& command, std::span<const std::uint64_t> waits) {
  if (waits.empty()) return;
  for (const std::uint64_t wait : waits) {
    write_flow(command_key(wait), command_key(command.record.command), wait_list_, command.begin_ns);
  }
}

// Flows need no time of their own; theirs rises, so that they lie in one lane.
void OpenclProcess::write_flow(std::uint64_t source, std::uint64_t target, StringId reason, std::int64_t ns) {
  if (flows_ == kNone)
    flows_ = writer_.add_track({.name = "dependencies", .kind = "flow", .schema = session_.tables[OpenclTable::flows]});
  last_flow_ns_ = std::max(last_flow_ns_, ns);
  Row row = writer_.begin_event(flows_, last_flow_ns_, 0, reason);
  row.unsigned_integer(kFlowSource, source);
  row.unsigned_integer(kFlowTarget, target);
}

void OpenclProcess::write_command_call(const probes::ProbeThread& thread, std::uint32_t function,
                                       const Command& command) {
  if (!session_.keeps_calls) return;
  const CommandRecord& record = command.record;
  Row row =
      writer_.begin_event(call_track(thread), command.begin_ns, command.end_ns - command.begin_ns, call_name(function));
  row.unsigned_integer(kCallCommand, call_key(record.command));
  if (const auto queue = queues_.find(record.queue); queue != queues_.end()) {
    row.string(kCallQueue, queue->second.name_id);
  }
  if (const auto kernel = kernels_.find(record.kernel); kernel != kernels_.end()) {
    row.string(kCallSubject, kernel->second.name_id);
  } else if (record.has_transfer != 0) {
    const TransferRecord& transfer = command.transfer;
    const StringId memory = transfer.target != 0 ? command.target_id : command.source_id;
    if (memory != 0) row.string(kCallSubject, memory);
    if (transfer.bytes != 0) row.integer(kCallBytes, static_cast<std::int64_t>(transfer.bytes));
  }
  write_flow(call_key(record.command), command_key(record.command), launch_, command.begin_ns);
}

void OpenclProcess::add_completion(const CompletionRecord& record) {
  const auto open = open_.find(record.command);
  if (open == open_.end()) {
    early_[record.command] = record;
  } else {
    finish_command(open->second, record);
  }
}

void OpenclProcess::finish_command(Command& command, const CompletionRecord& times) {
  if (command.is_done) {
    ++malformed_;
    return;
  }
  command.is_done = true;
  done_.push_back({&command, times});
}

void OpenclProcess::add_allocation(const AllocationRecord& record) {
  const auto& [kind, pool] = memory_kind(record.head.value);
  Allocation& allocation = allocations_[record.memory];
  allocation.name = fmt::format("{} {}", kind, record.memory);
  allocation.bytes = bounded_bytes(record.bytes);
  allocation.flags = memory_flags_text(record.flags);
  allocation.parent = memory_name(record.parent);
  allocation.pool = pool;
  allocation.address = record.address;
  const auto device = devices_.find(record.device);
  allocation.device = device == devices_.end() ? nullptr : device->second;
  memory_names_[record.memory] = allocation.name;
  memory_events_.push_back({to_ns(record.ticks), record.memory, false});
}

std::string OpenclProcess::memory_name(std::uint64_t memory) const {
  const auto known = memory_names_.find(memory);
  return known == memory_names_.end() ? std::string() : known->second;
}

StringId OpenclProcess::memory_id(std::uint64_t memory) {
  const std::string name = memory_name(memory);
  return name.empty() ? 0 : writer_.intern(name);
}

void OpenclProcess::forget_early() {
  without_calls_ += early_before_.size();
  early_before_ = std::move(early_);
  early_.clear();
}

void OpenclProcess::read_until(std::int64_t now_ns) {
  write_memory();
  write_done();
  forget_early();
  session_.update_clocks(now_ns);
}

void OpenclProcess::ended(const probes::ProbeEnd& end) {
  read_until(end.end_ns);
  forget_early();
  const std::string unfinished =
      end.dropped != 0 ? "commands whose times were dropped, or that had not ended; --buffer makes more room"
                       : fmt::format(
                             "commands had not ended when {} ended, so they have no times; wait for the queues "
                             "(clFinish) before the end to see them",
                             end.by_capture ? "the capture" : "the program");
  tell(writer_, title_ + ": ",
       {{"opencl_unfinished", open_.size(), unfinished},
        {"opencl_without_times", without_times_,
         "commands of which the driver tells no times; they are missing in the queues' rows"},
        {"impossible_times", doubtful_times_, std::string(sources::tracks::kDoubtfulTimesAreSetAside)},
        {"opencl_without_calls", without_calls_, "commands whose calls were dropped; --buffer makes more room"},
        {"opencl_long_lists", cut_, "commands with more dependencies or arguments than are kept"},
        {"opencl_malformed", malformed_, "records that cannot be read"}});
}

StringId OpenclProcess::call_name(std::uint32_t function) {
  StringId& id = call_names_[function];
  if (id == 0) id = writer_.intern(probe::opencl::kCallNames[function]);
  return id;
}

TrackNumber OpenclProcess::call_track(const probes::ProbeThread& thread) {
  ThreadTrack& known = threads_[thread.index];
  if (known.track != kNone) return known.track;
  // Threads that nobody has named are called like the program.
  const bool is_named = !known.name.empty() && !title_.starts_with(known.name);
  const std::string name = is_named ? known.name : thread.id == process_.id ? "main" : std::to_string(thread.id);
  known.track = writer_.add_track({.name = name + " runtime",
                                   .kind = "host_thread",
                                   .device = title_,
                                   .schema = session_.tables[OpenclTable::calls],
                                   .order = static_cast<std::int64_t>(thread.index)});
  return known.track;
}

TrackNumber OpenclProcess::host_track(TrackNumber& track, const char* name, const char* kind, SchemaNumber schema) {
  if (track == kNone) track = writer_.add_track({.name = name, .kind = kind, .device = title_, .schema = schema});
  return track;
}

TrackNumber OpenclProcess::queue_track(Queue& queue, Queue::Rows& rows, bool doubtful, const char* suffix,
                                       const char* kind, SchemaNumber schema, std::int64_t order) {
  TrackNumber& track = doubtful ? rows.doubtful : rows.track;
  if (track != kNone) return track;
  Track made{.name = queue.name + suffix, .kind = kind, .schema = schema, .order = order};
  if (queue.device != nullptr) {
    made.device = queue.device->name;
    made.clock = queue.device->clock.number;
  }
  if (doubtful) made = sources::tracks::doubtful_track(made, kNone, order);
  track = writer_.add_track(std::move(made));
  return track;
}

}  // namespace accelscope::capture::kinds::opencl
