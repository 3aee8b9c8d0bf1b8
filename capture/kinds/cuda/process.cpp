#include "capture/kinds/cuda/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <utility>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/cuda/words.h"
#include "capture/probe/cuda/cupti_abi.h"
#include "capture/sources/nsys/read/words.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::cuda {
namespace {

using namespace probe::cuda;

constexpr std::size_t kMostRecordings = 64;  // of an event
constexpr TracingLibrary kCuptiWords = {
    "cuda",
    "CUPTI",
    "rows of devices have no time: the driver did not collect it, or the program ended first; they were left out",
    "had no buffer for",
    "records that CUPTI's buffers hold only in part",
    ": CUPTI interpolates the times of the GPU"};

}  // namespace

CudaProcess::CudaProcess(const probes::ProbeProcess& process, CudaSession& session)
    : TracedProcess(process, session.writer, session.flows, kCuptiWords),
      session_(session),
      process_index_(session.new_process()) {}

void CudaProcess::define_own(std::uint32_t type, probe::BodyReader& body) {
  // By DefinitionType from 1.
  constexpr void (CudaProcess::*kDefine[])(probe::BodyReader&) = {
      &CudaProcess::define_collector, &CudaProcess::define_call,           &CudaProcess::define_device,
      &CudaProcess::define_context,   &CudaProcess::define_stream,         &CudaProcess::define_domain,
      &CudaProcess::define_category,  &CudaProcess::define_module,         &CudaProcess::define_stack,
      &CudaProcess::define_resource,  &CudaProcess::define_payload_schema, &CudaProcess::define_payload_words,
  };
  if (type < 1 || type > std::size(kDefine)) {
    ++malformed_;
  } else {
    (this->*kDefine[type - 1])(body);
  }
}

void CudaProcess::define_name(std::uint32_t number, std::string text) {
  Name& name = names_[number];
  name = {};
  name.text = std::move(text);
}

void CudaProcess::define_collector(probe::BodyReader& body) {
  const auto version = body.number<std::uint32_t>();
  const auto driver = body.number<std::uint32_t>();
  const std::string path = body.text();
  owns_clock_ = body.number<std::uint8_t>() != 0;
  const std::string prefix = fmt::format("cuda.{}.", process_.id);
  writer_.set_meta(prefix + "cupti", path);
  session_.use_cupti(path);
  writer_.set_meta(prefix + "cupti_version", std::to_string(version));
  if (driver != 0) {
    writer_.set_meta(prefix + "driver_version", fmt::format("{}.{}", driver / 1000, driver % 1000 / 10));
  }
}

void CudaProcess::define_call(probe::BodyReader& body) {
  const auto domain = body.number<std::uint32_t>();
  const auto number = body.number<std::uint32_t>();
  const std::string text = body.text();
  calls_[domain << 16U | (number & 0xFFFFU)] =
      writer_.intern(text.empty() ? fmt::format("call {}", number) : std::string(sources::nsys::without_version(text)));
}

void CudaProcess::define_device(probe::BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto memory_bytes = body.number<std::uint64_t>();
  const auto bandwidth = body.number<std::uint64_t>();
  const auto multiprocessors = body.number<std::uint32_t>();
  const auto clock_khz = body.number<std::uint32_t>();
  const auto warps = body.number<std::uint32_t>();
  (void)body.number<std::uint32_t>();  // blocks
  const auto registers = body.number<std::uint32_t>();
  const auto shared_bytes = body.number<std::uint32_t>();
  (void)body.number<std::uint32_t>();  // threads of a warp
  const auto cache_bytes = body.number<std::uint32_t>();
  const auto major = body.number<std::uint32_t>();
  const auto minor = body.number<std::uint32_t>();
  std::array<std::uint64_t, 2> uuid{};
  for (std::uint64_t& half : uuid) half = body.number<std::uint64_t>();
  const bool is_mig = body.number<std::uint8_t>() != 0;
  const auto gpu_instance = body.number<std::uint32_t>();
  const auto compute_instance = body.number<std::uint32_t>();
  std::string name = body.text();
  if (!body.ok()) return;
  if (is_mig) name += fmt::format(" MIG {}/{}", gpu_instance, compute_instance);
  const std::uint32_t gpu = session_.gpu(number, uuid);
  gpus_[number] = gpu;
  Gpu& known = session_.at(gpu);
  known.name = name;
  known.multiprocessors = multiprocessors;
  const std::string prefix = fmt::format("device.{}.", gpu);
  writer_.set_meta(prefix + "name", name);
  writer_.set_meta(prefix + "numSms", std::to_string(multiprocessors));
  writer_.set_meta(prefix + "totalGlobalMem", std::to_string(memory_bytes));
  writer_.set_meta(prefix + "computeMajor", std::to_string(major));
  writer_.set_meta(prefix + "computeMinor", std::to_string(minor));
  writer_.set_meta(prefix + "clockRate_kHz", std::to_string(clock_khz));
  writer_.set_meta(prefix + "l2CacheSize", std::to_string(cache_bytes));
  writer_.set_meta(prefix + "maxWarpsPerMultiprocessor", std::to_string(warps));
  writer_.set_meta(prefix + "regsPerMultiprocessor", std::to_string(registers));
  writer_.set_meta(prefix + "sharedMemPerMultiprocessor", std::to_string(shared_bytes));
  writer_.set_meta(fmt::format("capacity.{} memory", known.label), std::to_string(memory_bytes));
  if (bandwidth != 0) {
    writer_.add_metric({.name = "memory_bandwidth",
                        .group = "device",
                        .value = static_cast<double>(bandwidth) * 1000,
                        .unit = "B/s",
                        .device = known.label});
  }
}

void CudaProcess::define_context(probe::BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  Context& context = contexts_[number];
  context.device = body.number<std::uint32_t>();
  (void)body.number<std::uint32_t>();  // the context that it is a part of
  context.is_green = body.number<std::uint8_t>() != 0;
  context.multiprocessors = body.number<std::uint16_t>();
}

void CudaProcess::define_stream(probe::BodyReader& body) {
  const auto context = body.number<std::uint32_t>();
  const auto stream = body.number<std::uint32_t>();
  const auto priority = static_cast<std::int32_t>(body.number<std::uint32_t>());
  (void)body.number<std::uint32_t>();  // flags
  if (priority == 0) return;
  writer_.set_meta(fmt::format("cuda.{}.context.{}.stream.{}.priority", process_.id, context, stream),
                   std::to_string(priority));
}

void CudaProcess::define_domain(probe::BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  domains_[number] = body.text();
}

void CudaProcess::define_category(probe::BodyReader& body) {
  const auto domain = body.number<std::uint32_t>();
  const auto number = body.number<std::uint32_t>();
  categories_[{domain, number}] = body.text();
}

void CudaProcess::define_module(probe::BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  modules_[number] = body.text();
}

void CudaProcess::define_stack(probe::BodyReader& body) {
  constexpr std::uint32_t kMostFrames = 4096;
  Stack& stack = stacks_[body.number<std::uint32_t>()];
  stack = {};
  const auto count = body.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < std::min(count, kMostFrames) && body.ok(); ++i) {
    const auto module = body.number<std::uint32_t>();
    stack.frames.emplace_back(module, body.number<std::uint64_t>());
  }
}

void CudaProcess::define_resource(probe::BodyReader& body) {
  const auto what = body.number<Resource>();
  const auto number = body.number<std::uint32_t>();
  const std::string text = body.text();
  if (!body.ok() || text.empty()) return;
  if (what == Resource::device) return writer_.set_meta(fmt::format("device.{}.program_name", gpu_of(number)), text);
  const bool is_stream = what == Resource::stream;
  (is_stream ? stream_names_ : context_names_)[number] = text;
  writer_.set_meta(fmt::format("cuda.{}.{}.{}.name", process_.id, is_stream ? "stream" : "context", number), text);
}

void CudaProcess::define_payload_schema(probe::BodyReader& body) {
  const auto domain = body.number<std::uint32_t>();
  const sources::nsys::NsysPayloads::LayoutKey key{domain, body.number<std::uint64_t>()};
  const auto alignment = body.number<std::uint64_t>();
  schema_names_[key] = body.text();
  std::vector<sources::nsys::NsysPayloads::Field> fields;
  for (auto left = body.number<std::uint32_t>(); left > 0 && body.ok(); --left) {
    sources::nsys::NsysPayloads::Field& field = fields.emplace_back();
    field.flags = body.number<std::int64_t>();
    field.type = body.number<std::int64_t>();
    field.offset = static_cast<std::size_t>(std::min<std::uint64_t>(body.number<std::uint64_t>(), 1U << 24U));
    field.detail = body.number<std::int64_t>();
    field.name = body.text();
  }
  if (body.ok()) payloads_.add_layout(key, std::move(fields), alignment);
}

void CudaProcess::define_payload_words(probe::BodyReader& body) {
  const auto domain = body.number<std::uint32_t>();
  const sources::nsys::NsysPayloads::LayoutKey key{domain, body.number<std::uint64_t>()};
  const auto bytes = body.number<std::uint64_t>();
  std::map<std::int64_t, std::string> words;
  for (auto left = body.number<std::uint32_t>(); left > 0 && body.ok(); --left) {
    const auto number = body.number<std::int64_t>();
    words[number] = body.text();
  }
  if (body.ok()) payloads_.add_words(key, bytes, std::move(words));
}

template <typename Record>
void CudaProcess::hold_between(probe::RecordHead head, std::span<const std::uint64_t> words,
                               std::uint64_t Record::*start, std::uint64_t Record::*end) {
  Record record{};
  if (!probes::read_record(head, words, record)) {
    ++malformed_;
    return;
  }
  hold(head, words, to_ns(record.*start), to_ns(record.*end));
}

void CudaProcess::record_own(const probes::ProbeThread& thread, probe::RecordHead head,
                             std::span<const std::uint64_t> words) {
  switch (static_cast<RecordType>(head.type)) {
    case RecordType::kernel:
      return hold_between(head, words, &KernelRecord::start, &KernelRecord::end);
    case RecordType::copy:
      return hold_between(head, words, &CopyRecord::start, &CopyRecord::end);
    case RecordType::set:
      return hold_between(head, words, &SetRecord::start, &SetRecord::end);
    case RecordType::call:
      if (CallRecord record{}; !checked_clock_ && probes::read_record(head, words, record)) check_clock(record);
      return hold_between(head, words, &CallRecord::start, &CallRecord::end);
    case RecordType::synchronization:
      return hold_between(head, words, &SynchronizationRecord::start, &SynchronizationRecord::end);
    case RecordType::graph:
      return hold_between(head, words, &GraphRecord::start, &GraphRecord::end);
    case RecordType::jit:
      return hold_between(head, words, &JitRecord::start, &JitRecord::end);
    case RecordType::overhead:
      return hold_between(head, words, &OverheadRecord::start, &OverheadRecord::end);
    case RecordType::unified_memory:
      return hold_between(head, words, &UnifiedMemoryRecord::start, &UnifiedMemoryRecord::end);
    case RecordType::memory:
      return hold_between(head, words, &MemoryRecord::time, &MemoryRecord::time);
    case RecordType::memory_pool:
      return hold_between(head, words, &MemoryPoolRecord::time, &MemoryPoolRecord::time);
    case RecordType::environment:
      return hold_between(head, words, &EnvironmentRecord::time, &EnvironmentRecord::time);
    case RecordType::cuda_event:
      // Waits ask for what was recorded before them, which says no time of the host.
      if (CudaEventRecord record{}; probes::read_record(head, words, record)) {
        const EventRecord recorded{record.stream, record.correlation};
        std::vector<EventRecord>& of_event = recordings_[record.event];
        if (of_event.size() == kMostRecordings) of_event.erase(of_event.begin());
        of_event.push_back(recorded);
        if (record.sync != 0) numbered_recordings_[record.sync] = recorded;
        if (numbered_recordings_.size() > kMostIds) numbered_recordings_.erase(numbered_recordings_.begin());
        return hold_between(head, words, &CudaEventRecord::device_time, &CudaEventRecord::device_time);
      }
      break;
    case RecordType::external_correlation:
      if (ExternalCorrelationRecord record{}; probes::read_record(head, words, record)) {
        return external_ids_.add(record.correlation, record.id);
      }
      break;
    case RecordType::range_push:
    case RecordType::range_start:
    case RecordType::mark:
      if (OpenRange range; probes::read_record(head, words, range.record) && read_data(words, range)) {
        return begin_range(thread, std::move(range));
      }
      break;
    case RecordType::stack:
      if (StackRecord record{}; probes::read_record(head, words, record)) {
        return stack_numbers_.add(record.correlation, head.value);
      }
      break;
    case RecordType::range_pop:
    case RecordType::range_end:
      if (RangeEndRecord record{}; probes::read_record(head, words, record)) {
        return end_range(thread, head.value, record);
      }
      break;
  }
  ++malformed_;
}

// Where CUPTI has taken the clock that it was given, its records are in it, whatever it answers when it is asked for
// the time; else the pairs say how far its clock is away.
void CudaProcess::take_clock(const probe::ClockRecord& record) {
  const std::int64_t before = bounded_ns(record.before);
  const std::int64_t width = bounded_ns(record.after) - before;
  const std::int64_t offset = before + width / 2 - bounded_ns(record.library);
  // How far the clocks ran apart since the last pair counts as well.
  const std::int64_t drift = has_clock_ ? std::abs(offset - pair_offset_) : 0;
  residual_ns_ = std::max(residual_ns_, width / 2 + drift);
  pair_offset_ = offset;
  has_clock_ = true;
  if (!owns_clock_) clock_offset_ = offset;
}

// A call that is hours away from when it was told is in another clock than the one that CUPTI was given.
void CudaProcess::check_clock(const CallRecord& record) {
  constexpr std::int64_t kPlausibleNs = 3'600'000'000'000;
  checked_clock_ = true;
  if (!owns_clock_ || std::abs(to_ns(record.end) - turn_ns_) < kPlausibleNs) return;
  owns_clock_ = false;
  clock_offset_ = pair_offset_;
}

void CudaProcess::read_until(std::int64_t now_ns) {
  TracedProcess::read_until(now_ns);
  session_.write_counters();
}

void CudaProcess::write(probe::RecordHead head, const std::uint64_t* words) {
  const auto as = [&]<typename Record>(Record record) {
    std::memcpy(&record, words, sizeof record);
    return record;
  };
  switch (static_cast<RecordType>(head.type)) {
    case RecordType::kernel:
      return write_kernel(as(KernelRecord{}));
    case RecordType::copy:
      return write_copy(as(CopyRecord{}));
    case RecordType::set:
      return write_set(as(SetRecord{}));
    case RecordType::call:
      return write_call(as(CallRecord{}));
    case RecordType::synchronization:
      return write_synchronization(as(SynchronizationRecord{}));
    case RecordType::graph:
      return write_graph(as(GraphRecord{}));
    case RecordType::jit:
      return write_jit(as(JitRecord{}));
    case RecordType::overhead:
      return write_overhead(as(OverheadRecord{}));
    case RecordType::unified_memory:
      return write_unified_memory(as(UnifiedMemoryRecord{}));
    case RecordType::memory:
      return write_memory(as(MemoryRecord{}));
    case RecordType::memory_pool:
      return write_memory_pool(as(MemoryPoolRecord{}));
    case RecordType::cuda_event:
      return write_cuda_event(as(CudaEventRecord{}));
    case RecordType::environment:
      return write_environment(as(EnvironmentRecord{}));
    default:
      ++malformed_;
  }
}

CudaProcess::Name& CudaProcess::name(std::uint32_t number) {
  Name& name = names_[number];
  if (name.id == 0 && !name.text.empty()) name.id = writer_.intern(name.text);
  return name;
}

CudaProcess::Name& CudaProcess::kernel_name(std::uint32_t number) {
  Name& name = names_[number];
  if (name.kernel != 0) return name;
  const std::string shown = name.text.empty() ? "unnamed kernel" : demangled(name.text);
  name.kernel = writer_.intern(shown);
  const std::string alone = short_name(shown);
  name.short_name = writer_.intern(alone);
  name.is_collective = sources::nsys::is_collective_kernel_name(alone);
  return name;
}

std::uint32_t CudaProcess::gpu_of(std::uint32_t device) {
  const auto [known, is_new] = gpus_.try_emplace(device, 0);
  if (is_new) known->second = session_.gpu(device, {});
  return known->second;
}

std::uint32_t CudaProcess::device_of(std::uint32_t context) const {
  const auto known = contexts_.find(context);
  return known == contexts_.end() ? 0 : known->second.device;
}

bool CudaProcess::is_green(std::uint32_t context) const {
  const auto known = contexts_.find(context);
  return known != contexts_.end() && known->second.is_green;
}

TrackNumber CudaProcess::stream_track(StreamRow row, const Work& work) {
  struct Rule {
    const char* before;
    const char* kind;
    CudaTable CudaTables::*table;
  };
  static constexpr Rule kRules[] = {
      {"", "stream", &CudaTables::kernel},           {"graphs ", "stream", &CudaTables::graph},
      {"NCCL, ", "collective", &CudaTables::kernel}, {"memcpy ", "dma_queue", &CudaTables::copy},
      {"memset ", "dma_queue", &CudaTables::set},    {"sync ", "barrier", &CudaTables::sync},
      {"events ", "barrier", &CudaTables::event},
  };
  const std::uint32_t gpu = gpu_of(work.device);
  const auto [track, is_new] =
      streams_.try_emplace({static_cast<std::uint32_t>(row), gpu, work.context, work.stream}, kNone);
  if (!is_new) return track->second;
  const Rule& rule = kRules[static_cast<std::size_t>(row)];
  const bool has_stream = work.stream != cupti::kNone;
  const std::uint32_t first = first_contexts_.try_emplace({gpu, work.stream}, work.context).first->second;
  std::string name = has_stream ? fmt::format("stream {}", work.stream) : fmt::format("context {}", work.context);
  const auto& given_names = has_stream ? stream_names_ : context_names_;
  if (const auto given = given_names.find(has_stream ? work.stream : work.context); given != given_names.end()) {
    name += fmt::format(" ({})", given->second);
  }
  if (process_index_ != 0) name += ", " + title_;
  if (has_stream && is_green(work.context)) {
    name += fmt::format(", green context {} of {} SMs", work.context, contexts_.at(work.context).multiprocessors);
  } else if (has_stream && first != work.context) {
    name += fmt::format(", context {}", work.context);
  }
  constexpr std::int64_t kStreams = 1'000'000;
  track->second = writer_.add_track(
      {.name = rule.before + name,
       .kind = rule.kind,
       .device = session_.at(gpu).label,
       .schema = (session_.tables.*rule.table).number(),
       .order = static_cast<std::int64_t>(row) * kStreams + std::min<std::int64_t>(work.stream, kStreams - 1)});
  return track->second;
}

TrackNumber CudaProcess::ranges_track(std::uint32_t thread) {
  return threads_.row(thread, "annotations", 1, session_.tables.nvtx.number());
}

TrackNumber CudaProcess::started_track() {
  return host_track(started_track_, "NVTX ranges", session_.tables.nvtx.number());
}

std::uint64_t CudaProcess::settle(std::int64_t end_ns) {
  session_.settle_counters();
  if (owns_clock_) residual_ns_ = 0;
  std::uint64_t open = 0;
  for (auto& [thread, ranges] : ranges_) {
    for (auto& [domain, stack] : ranges.open) {
      for (auto at = stack.rbegin(); at != stack.rend(); ++at, ++open) {
        write_range(ranges_track(thread), *at, end_ns, "push/pop");
      }
    }
  }
  for (const auto& [number, started] : started_) {
    write_range(started_track(), started, end_ns, "start/end");
    ++open;
  }
  return open;
}

void CudaProcess::tell_own() {
  tell_of_process({{"values_left_out", cut_stacks_,
                    "the outer frames of call stacks were left out: their texts are longer than is kept"},
                   {"values_left_out", not_described_,
                    "data of NVTX ranges have a layout that the program did not describe, or of other types than "
                    "numbers and texts"}});
}

}  // namespace accelscope::capture::kinds::cuda
