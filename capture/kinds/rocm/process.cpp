#include "capture/kinds/rocm/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/kinds/base/symbols.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::kinds::rocm {
namespace {

using namespace probe::rocm;
using probe::RawRecord;
using rocm_files::RocmHostTable;
using sdk::behind_ids;
using sdk::Layout;

constexpr std::uint16_t kSdkTypes = static_cast<std::uint16_t>(RecordType::first_of_sdk);
constexpr TracingLibrary kSdkWords = {"rocm",
                                      "rocprofiler-sdk",
                                      "records have no times, and were left out",
                                      "had no room for",
                                      "records that are shorter than their layout, and were left out",
                                      ""};

}  // namespace

RocmSession::RocmSession(SessionWriter& session_writer, std::chrono::steady_clock::time_point origin)
    : writer(session_writer),
      flows(session_writer),
      values([this](std::string_view text) { return writer.intern(text); }),
      origin_ns(std::chrono::nanoseconds(origin.time_since_epoch()).count()) {
  for (std::size_t i = 0; i < schemas_.size(); ++i) {
    schemas_[i] = rocm_files::make_rocm_schema(static_cast<RocmTable>(i));
  }
  numbers_.fill(kNone);
}

SchemaNumber RocmSession::schema(RocmTable table) {
  SchemaNumber& number = numbers_[static_cast<std::size_t>(table)];
  if (number == kNone) number = writer.add_schema(schemas_[static_cast<std::size_t>(table)]);
  return number;
}

Row RocmSession::write(TrackNumber track, RocmTable table, const rocm_files::RocmRecord& record,
                       const sources::tracks::EventValues& of, std::optional<std::uint32_t> depth) {
  const std::int64_t length = table == RocmTable::memory ? 0 : record.end - record.start;
  Row row = depth ? writer.begin_event_at(track, *depth, record.start, length, record.name)
                  : writer.begin_event(track, record.start, length, record.name);
  sources::tracks::put_values(row, schemas_[static_cast<std::size_t>(table)].columns, of.values(), of.texts());
  return row;
}

RocmProcess::RocmProcess(const probes::ProbeProcess& process, RocmSession& session)
    : TracedProcess(process, session.writer, session.flows, kSdkWords),
      session_(session),
      process_index_(session.process_count++) {}

void RocmProcess::define_own(std::uint32_t type, probe::BodyReader& reader) {
  switch (static_cast<DefinitionType>(type)) {
    case DefinitionType::collector: {
      version_ = reader.number<std::uint32_t>();
      const std::string prefix = fmt::format("rocm.{}.rocprofiler_sdk", process_.id);
      session_.writer.set_meta(prefix, reader.text());
      session_.writer.set_meta(prefix + "_version",
                               fmt::format("{}.{}.{}", version_ / 10'000, version_ / 100 % 100, version_ % 100));
      break;
    }
    case DefinitionType::operation: {
      const auto number = reader.number<std::uint32_t>();
      const std::string kind = reader.text();
      std::string text = reader.text();
      if (text.empty()) text = fmt::format("{} {}", kind, number & 0xFFFFU);
      const StringId kind_word = word(kind), name = word(text);
      operations_[number] = {kind_word, name, std::move(text)};
      break;
    }
    case DefinitionType::agent:
      define_agent(reader);
      break;
    case DefinitionType::kernel:
      define_kernel(reader);
      break;
    default:
      ++malformed_;
  }
}

void RocmProcess::define_agent(probe::BodyReader& body) {
  const auto id = body.number<std::uint64_t>();
  rocm_files::RocmAgent agent;
  agent.is_gpu = body.number<std::uint8_t>() != 0;
  const auto memory_bytes = body.number<std::uint64_t>();
  agent.name = body.text();
  agent.product = body.text();
  for (auto facts = body.number<std::uint32_t>(); facts > 0 && body.ok(); --facts) {
    const std::string fact = body.text();
    rocm_files::add_agent_fact(fact, std::to_string(body.number<std::uint32_t>()), agent);
  }
  if (!body.ok() || agents_.contains(id)) return;
  agent.number = agent_counts_[agent.is_gpu ? 1 : 0]++;
  if (agent.is_gpu) {
    SessionWriter& writer = session_.writer;
    if (memory_bytes != 0) {
      agent.facts.emplace("totalGlobalMem", std::to_string(memory_bytes));
      writer.set_meta(fmt::format("capacity.{} memory", sources::tracks::gpu_name(agent.number)),
                      std::to_string(memory_bytes));
    }
    rocm_files::write_agent_facts(writer, fmt::format("device.{}.", agent.number), agent);
  }
  agents_.emplace(id, std::move(agent));
}

// "_Z3addPf.kd": the symbol of the code's description.
void RocmProcess::define_kernel(probe::BodyReader& body) {
  Kernel& kernel = kernels_[body.number<std::uint64_t>()];
  kernel.sgprs = body.number<std::uint32_t>();
  kernel.vgprs = body.number<std::uint32_t>();
  kernel.accum_vgprs = body.number<std::uint32_t>();
  std::string text = body.text();
  if (text.ends_with(".kd")) text.resize(text.size() - 3);
  const std::string shown = text.empty() ? "unnamed kernel" : demangled(text);
  kernel.name = word(shown);
  kernel.is_collective = rocm_files::is_collective_kernel(shown);
}

void RocmProcess::record_own(const probes::ProbeThread& thread, probe::RecordHead head,
                             std::span<const std::uint64_t> words) {
  if (head.type >= kSdkTypes && head.type < kSdkTypes + std::size(sdk::kLayouts)) {
    const auto layout = static_cast<Layout>(head.type - kSdkTypes);
    const RawRecord raw{reinterpret_cast<const std::uint8_t*>(words.data()), words.size_bytes()};
    std::uint64_t start = 0, end = 0;
    if (!raw.read(behind_ids(sdk::row_of(layout).start, wider(layout)), start) ||
        !raw.read(behind_ids(sdk::row_of(layout).end, wider(layout)), end)) {
      ++malformed_;
    } else if (start == 0 || end == 0) {
      ++without_times_;
    } else {
      hold(head, words, to_ns(start, clock_offset_), to_ns(end, clock_offset_));
    }
    return;
  }
  switch (static_cast<RecordType>(head.type)) {
    case RecordType::mark:
    case RecordType::push:
    case RecordType::start:
    case RecordType::pop:
    case RecordType::stop:
      if (MarkRecord record{}; probes::read_record(head, words, record)) return take_mark(thread, record);
      break;
    case RecordType::first_of_sdk:
      break;
  }
  ++malformed_;
}

// The library reads CLOCK_BOOTTIME, which is ours while the system has not slept: then its time lies between two of
// ours, and needs no conversion. Else the middle of the shortest pair says how far the clocks are apart.
void RocmProcess::take_clock(const probe::ClockRecord& record) {
  const std::int64_t before = bounded_ns(record.before), sdk = bounded_ns(record.library);
  const std::int64_t width = std::max<std::int64_t>(0, bounded_ns(record.after) - before);
  const bool is_ours = sdk >= before && sdk <= before + width;
  if (is_ours) {
    clock_offset_ = residual_ns_ = 0;
  } else if (!has_clock_ || width / 2 < residual_ns_) {
    clock_offset_ = before + width / 2 - sdk;
    residual_ns_ = width / 2;
  }
  has_clock_ = true;
}

void RocmProcess::take_mark(const probes::ProbeThread& thread, const MarkRecord& record) {
  const std::int64_t ns = to_ns(record.time, 0);
  NestedSpans<OpenRange>& ranges = ranges_[thread.id];
  switch (static_cast<RecordType>(record.head.type)) {
    case RecordType::mark:
      return write_mark(marks_track(thread.id), static_cast<std::uint32_t>(ranges.size()), {record.head.value, ns}, ns,
                        "roctxMarkA");
    case RecordType::push:
      return ranges.begin({record.head.value, ns});
    case RecordType::start:
      return started_.begin(record.range, {record.head.value, ns});
    case RecordType::pop:
      if (ranges.empty()) return;  // it began before the capture, or in a pause
      return ranges.end(ranges.size() - 1, [&](const OpenRange& range, std::size_t depth, bool) {
        write_mark(marks_track(thread.id), static_cast<std::uint32_t>(depth), range, ns, "roctxRangePushA");
      });
    default:
      (void)started_.end(record.range, [&](const OpenRange& range, std::uint32_t lane) {
        write_mark(started_track(), lane, range, ns, "roctxRangeStartA");
      });
  }
}

void RocmProcess::write_mark(TrackNumber track, std::uint32_t lane, const OpenRange& range, std::int64_t end,
                             const char* kind) {
  rocm_files::RocmOnHost mark;
  mark.table = RocmHostTable::mark;
  mark.start = range.start;
  mark.end = std::max(range.start, end);
  mark.name = names_[range.name];
  mark.category = word("MARKER_CORE_API");
  mark.mark_kind = word(kind);
  (void)session_.write(track, RocmTable::mark, mark, session_.values.of(mark), lane);
}

void RocmProcess::write(probe::RecordHead head, const std::uint64_t* words) {
  const auto layout = static_cast<Layout>(head.type - kSdkTypes);
  const RawRecord raw{reinterpret_cast<const std::uint8_t*>(words + 1), (head.words - 1U) * sizeof *words};
  const Operation& operation = operations_[head.value];
  switch (layout) {
    case Layout::dispatch:
      return write_dispatch(raw, operation);
    case Layout::copy:
      return write_copy(raw, operation);
    case Layout::allocation:
    case Layout::scratch:
      return write_allocation(raw, operation, layout == Layout::scratch);
    case Layout::call:
      return write_call(raw, operation);
    case Layout::migration:
    case Layout::fault:
      return write_page(raw, operation, layout == Layout::fault);
  }
}

template <typename Record>
Record RocmProcess::begin(const RawRecord& raw, const Operation& operation, Layout layout, probe::U64 thread) const {
  const sdk::LayoutRow& row = sdk::row_of(layout);
  Record record;
  record.start = to_ns(raw.get(behind_ids(row.start, wider(layout))), clock_offset_);
  record.end = std::max(record.start, to_ns(raw.get(behind_ids(row.end, wider(layout))), clock_offset_));
  record.name = operation.name;
  record.category = operation.kind;
  if (thread.offset == 0) return record;  // of the system, not of a thread
  record.correlation = static_cast<std::int64_t>(raw.get(sdk::kCorrelation));
  record.thread = static_cast<std::int64_t>(raw.get(behind_ids(thread, wider(layout))));
  return record;
}

void RocmProcess::write_dispatch(const RawRecord& raw, const Operation& operation) {
  namespace from = sdk::dispatch;
  auto dispatch = begin<rocm_files::RocmDispatch>(raw, operation, Layout::dispatch, from::thread);
  const auto agent_id = raw.get(from::agent);
  const auto kernel_id = raw.get(from::kernel);
  const auto known = kernels_.find(kernel_id);
  const Kernel kernel =
      known != kernels_.end() ? known->second : Kernel{word(fmt::format("kernel {}", kernel_id)), false, 0, 0, 0};
  dispatch.name = kernel.name;
  dispatch.kernel_id = static_cast<std::int64_t>(kernel_id);
  dispatch.dispatch_id = static_cast<std::int64_t>(raw.get(from::dispatch));
  dispatch.agent = static_cast<std::int64_t>(agent_id);
  dispatch.queue = static_cast<std::int64_t>(raw.get(from::queue));
  if (const auto stream = raw.get(sdk::kExternal); stream != 0) dispatch.stream = static_cast<std::int64_t>(stream - 1);
  dispatch.scratch_bytes = raw.get(from::private_bytes);
  dispatch.shared_bytes = raw.get(from::group_bytes);
  dispatch.workgroup = {raw.get(from::workgroup_x), raw.get(from::workgroup_y), raw.get(from::workgroup_z)};
  dispatch.work_items = {raw.get(from::grid_x), raw.get(from::grid_y), raw.get(from::grid_z)};
  if (kernel.vgprs + kernel.sgprs > 0) {
    dispatch.vgprs = kernel.vgprs;
    dispatch.accum_vgprs = kernel.accum_vgprs;
    dispatch.sgprs = kernel.sgprs;
  }
  const TrackNumber track = device_track(kernel.is_collective ? Sort::collectives : Sort::kernels, agent_id, dispatch);
  const Row row = session_.write(track, RocmTable::kernel, dispatch,
                                 session_.values.of(dispatch, agent(agent_id).number, process_.id));
  launches_.ran(raw.get(sdk::kCorrelation), {row.id(), dispatch.start});
}

// On the GPU of the two; of two, the one that is written.
void RocmProcess::write_copy(const RawRecord& raw, const Operation& operation) {
  namespace from = sdk::copy;
  auto copy = begin<rocm_files::RocmCopy>(raw, operation, Layout::copy, from::thread);
  const auto source = raw.get(from::source_agent), target = raw.get(from::target_agent);
  const std::uint64_t on = !agent(target).is_gpu && agent(source).is_gpu ? source : target;
  copy.agent = static_cast<std::int64_t>(on);
  copy.source = static_cast<std::int64_t>(source);
  copy.destination = static_cast<std::int64_t>(target);
  copy.bytes = static_cast<std::int64_t>(raw.get(from::bytes));
  if (const auto stream = raw.get(sdk::kExternal); stream != 0) copy.stream = static_cast<std::int64_t>(stream - 1);
  if (std::uint64_t address = 0; raw.read(from::source_address, address)) copy.source_address = address;
  if (std::uint64_t address = 0; raw.read(from::target_address, address)) copy.destination_address = address;
  const Row row = session_.write(
      device_track(Sort::copies, on, copy), RocmTable::memcpy, copy,
      session_.values.of(copy, agent(on).number, process_.id, word(device(source)), word(device(target))));
  launches_.ran(raw.get(sdk::kCorrelation), {row.id(), copy.start});
}

// What is released has the size that it was allocated with, and lies where it was.
void RocmProcess::write_allocation(const RawRecord& raw, const Operation& operation, bool is_scratch) {
  const Layout layout = is_scratch ? Layout::scratch : Layout::allocation;
  const std::uint16_t further = wider(layout);
  const auto field = [&](probe::U64 of_memory, probe::U64 of_scratch) {
    return behind_ids(is_scratch ? of_scratch : of_memory, further);
  };
  auto allocation = begin<rocm_files::RocmAllocation>(raw, operation, layout,
                                                      is_scratch ? sdk::scratch::thread : sdk::allocation::thread);
  rocm_files::set_allocation_kind(allocation, operation.text, is_scratch,
                                  [this](std::string_view text) { return word(text); });
  std::uint64_t on = raw.get(field(sdk::allocation::agent, sdk::scratch::agent));
  MaybeNumber bytes;
  if (std::uint64_t given = 0; raw.read(field(sdk::allocation::bytes, sdk::scratch::bytes), given)) {
    bytes = bounded_bytes(given);
  }
  if (is_scratch) {
    allocation.queue = static_cast<std::int64_t>(raw.get(behind_ids(sdk::scratch::queue, further)));
    allocation.flags = word(std::to_string(raw.get(behind_ids(sdk::scratch::flags, further))));
    if (bytes && allocation.releases) bytes = -*bytes;
  } else {
    const auto address = raw.get(behind_ids(sdk::allocation::address, further));
    allocation.address = address;
    const auto known = allocated_.find(address);
    if (!allocation.releases) {
      allocated_[address] = {bytes.value_or(0), on};
    } else if (known != allocated_.end()) {
      bytes = -known->second.bytes;
      on = known->second.agent;
      allocated_.erase(known);
    } else {
      if (address != 0) ++unknown_releases_;
      bytes = -bytes.value_or(0);
    }
  }
  const rocm_files::RocmAgent& of = agent(on);
  (void)session_.write(device_track(Sort::memory, on, allocation), RocmTable::memory, allocation,
                       session_.values.of(allocation, of.is_gpu ? of.number : -1, process_.id, bytes));
}

void RocmProcess::write_call(const RawRecord& raw, const Operation& operation) {
  auto call = begin<rocm_files::RocmOnHost>(raw, operation, Layout::call, sdk::call::thread);
  if (wider(Layout::call) > 0 && raw.get(sdk::kAncestor) != 0) {
    call.parent = static_cast<std::int64_t>(raw.get(sdk::kAncestor));
  }
  const TrackNumber track =
      threads_.row(static_cast<std::uint32_t>(*call.thread), "runtime", 2, session_.schema(RocmTable::call));
  const Row row = session_.write(track, RocmTable::call, call, session_.values.of(call));
  launches_.called(raw.get(sdk::kCorrelation), {row.id(), call.start});
}

void RocmProcess::write_page(const RawRecord& raw, const Operation& operation, bool is_fault) {
  auto event = begin<rocm_files::RocmOnHost>(raw, operation, is_fault ? Layout::fault : Layout::migration, {});
  event.table = RocmHostTable::region;
  std::string how;
  if (is_fault) {
    how = fmt::format("{}, {:#x}", device(raw.get(sdk::fault::agent)), raw.get(sdk::fault::address));
  } else {
    namespace from = sdk::migration;
    how = fmt::format("{} -> {}, {:#x} to {:#x}", device(raw.get(from::source_agent)),
                      device(raw.get(from::target_agent)), raw.get(from::first_address), raw.get(from::last_address));
    if (const auto error = raw.get(from::error); error != 0) how += fmt::format(", error {}", error);
  }
  event.arguments = how;
  (void)session_.write(host_track(pages_track_, "page migration", session_.schema(RocmTable::region)),
                       RocmTable::region, event, session_.values.of(event));
}

const rocm_files::RocmAgent& RocmProcess::agent(std::uint64_t id) {
  static const rocm_files::RocmAgent kUnknown;
  const auto known = agents_.find(id);
  return known == agents_.end() ? kUnknown : known->second;
}

std::string RocmProcess::device(std::uint64_t id) {
  if (!agents_.contains(id)) return fmt::format("agent {}", id);
  const rocm_files::RocmAgent& known = agent(id);
  return known.is_gpu ? sources::tracks::gpu_name(known.number) : fmt::format("CPU {}", known.number);
}

TrackNumber RocmProcess::device_track(Sort sort, std::uint64_t agent_id, const rocm_files::RocmOnDevice& event) {
  struct Rule {
    const char* before;
    const char* kind;
    RocmTable table;
  };
  static constexpr Rule kRules[] = {{"", "stream", RocmTable::kernel},
                                    {"NCCL, ", "collective", RocmTable::kernel},
                                    {"memcpy ", "dma_queue", RocmTable::memcpy},
                                    {"", "memory", RocmTable::memory}};
  const bool is_memory = sort == Sort::memory;
  const bool by_stream = event.stream.has_value();
  const std::int64_t number = is_memory ? 0 : event.stream.value_or(event.queue.value_or(-1));
  const auto [track, is_new] = tracks_.try_emplace({sort, agent_id, by_stream, number}, kNone);
  if (!is_new) return track->second;
  const Rule& rule = kRules[static_cast<std::size_t>(sort)];
  const std::string on = device(agent_id);
  std::string name = is_memory    ? on + " memory"
                     : number < 0 ? std::string("no stream")
                                  : fmt::format("{} {}", by_stream ? "stream" : "queue", number);
  if (process_index_ != 0) name += ", " + title_;
  constexpr std::int64_t kStreams = 1'000'000;
  track->second = session_.writer.add_track(
      {.name = rule.before + name,
       .kind = rule.kind,
       .device = on,
       .schema = session_.schema(rule.table),
       .order = static_cast<std::int64_t>(sort) * kStreams + std::clamp<std::int64_t>(number, 0, kStreams - 1)});
  return track->second;
}

TrackNumber RocmProcess::started_track() {
  return host_track(started_track_, "ROCTX ranges", session_.schema(RocmTable::mark));
}

TrackNumber RocmProcess::marks_track(std::uint32_t thread) {
  return threads_.row(thread, "annotations", 1, session_.schema(RocmTable::mark));
}

std::uint64_t RocmProcess::settle(std::int64_t end_ns) {
  std::uint64_t open = 0;
  for (auto& [thread, ranges] : ranges_) {
    ranges.end_inside(0, [&, id = thread](const OpenRange& range, std::size_t depth, bool) {
      write_mark(marks_track(id), static_cast<std::uint32_t>(depth), range, end_ns, "roctxRangePushA");
      ++open;
    });
  }
  started_.end_all([&](std::uint64_t, const OpenRange& range, std::uint32_t lane) {
    write_mark(started_track(), lane, range, end_ns, "roctxRangeStartA");
    ++open;
  });
  return open;
}

void RocmProcess::tell_own() {
  tell_of_process({{"releases_unknown", unknown_releases_,
                    "memory is released whose allocation is not in the capture, because it began later"}});
}

}  // namespace accelscope::capture::kinds::rocm
