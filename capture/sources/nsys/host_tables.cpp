// What threads did: calls of CUDA, of the system, of libraries; what the profiler itself took.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "capture/sources/nsys/importer.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {
namespace {

using tracks::RuntimeColumns;

// Tables that tell of others, or that are read elsewhere, though they look like those of a library.
constexpr std::string_view kNotLibraries[] = {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                              "NVTX_EVENTS", "OSRT_API", "PROFILER_OVERHEAD"};
constexpr std::size_t kMostLibraryColumns = 60;

// "mpi_p2p" of "MPI_P2P_EVENTS": a name for a table of the session.
[[nodiscard]] std::string library_name(std::string_view table) {
  std::string name = lower_case(table);
  for (const std::string_view ending : {"_events", "_api"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_digit(c) && (c < 'a' || c > 'z'); }, '_');
  return name;
}

[[nodiscard]] bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) noexcept {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

void NsysImporter::read_calls() {
  enum : std::size_t { kStart, kEnd, kClass, kThread, kCorrelation, kName, kStack, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"start",         "end",    "eventClass", "globalTid",
                                                            "correlationId", "nameId", "callchainId"};
  if (Result<void> done = stacks_.open(file_, "CUDA_CALLCHAINS"); !done) {
    session_.report().note("unreadable", done.message());
  }
  each_row("CUPTI_ACTIVITY_KIND_RUNTIME", NsysTable::runtime_call, kFields, [&](const Row& row) {
    const auto start = row.number(kStart);
    const auto end = row.number(kEnd);
    if (!start || !end) {
      ++counts_.missing_times;
      return;
    }
    any_call_ = true;
    values_.clear();
    const std::int64_t thread = row.integer(kThread);
    const std::int64_t correlation = row.integer(kCorrelation);
    values_.integer(RuntimeColumns::correlation, correlation);
    if (row.has(kClass)) set_word(RuntimeColumns::kind, NsysEnum::event_class, row.integer(kClass));
    if (stacks_.any() && row.integer(kStack) != 0) {
      const NsysStacks::Stack stack = stacks_.stack(row.integer(kStack));
      if (stack.frames != 0) values_.string(RuntimeOwnColumns::stack, stack.frames);
    }
    set_further(NsysTable::runtime_call, row, kCount);
    saw(*end);
    const StringId name = strings_.intern(row.integer(kName), NsysNameForm::function);
    const tracks::WrittenEvent event = session_.write(rows_.thread(ThreadRow::runtime, thread), *start,
                                                      capped_difference(*end, *start), name, values_);
    const std::uint64_t key = launch_key(process_key_of(thread), correlation);
    if (correlation != 0 && may_launch_[key & (may_launch_.size() - 1)]) {
      session_.add_flow(tracks::FlowSide::source, key, static_cast<std::uint64_t>(correlation), event);
    }
  });
  if (stacks_.any()) read_tables_["CUDA_CALLCHAINS"] += stacks_.frames_read();
}

void NsysImporter::read_system_calls() {
  enum : std::size_t { kStart, kEnd, kClass, kThread, kName, kStack, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"start",     "end",    "eventClass",
                                                            "globalTid", "nameId", "callchainId"};
  if (Result<void> done = stacks_.open(file_, "OSRT_CALLCHAINS"); !done) {
    session_.report().note("unreadable", done.message());
  }
  const std::uint64_t frames = stacks_.frames_read();
  each_row("OSRT_API", NsysTable::osrt_call, kFields, [&](const Row& row) {
    const auto start = row.number(kStart);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    const std::int64_t end = row.number(kEnd).value_or(*start);
    if (row.has(kClass)) set_word(OsrtColumns::kind, NsysEnum::event_class, row.integer(kClass));
    if (row.integer(kStack) != 0) {
      const NsysStacks::Stack stack = stacks_.stack(row.integer(kStack));
      if (stack.frames != 0) values_.string(OsrtColumns::stack, stack.frames);
    }
    set_further(NsysTable::osrt_call, row, kCount);
    saw(end);
    session_.write(rows_.thread(ThreadRow::system, row.integer(kThread)), *start, capped_difference(end, *start),
                   strings_.intern(row.integer(kName), NsysNameForm::function), values_);
  });
  if (stacks_.any()) read_tables_["OSRT_CALLCHAINS"] += stacks_.frames_read() - frames;
}

void NsysImporter::read_overhead() {
  enum : std::size_t { kStart, kEnd, kThread, kName, kType, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"start", "end", "globalTid", "nameId", "overheadType"};
  for (const std::string_view table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) {
    each_row(table, NsysTable::overhead, kFields, [&](const Row& row) {
      const auto start = row.number(kStart);
      if (!start) {
        ++counts_.missing_times;
        return;
      }
      values_.clear();
      const std::int64_t end = row.number(kEnd).value_or(*start);
      if (row.has(kType)) set_word(OverheadColumns::kind, NsysEnum::overhead, row.integer(kType));
      set_further(NsysTable::overhead, row, kCount);
      const std::string_view type = words_.word(NsysEnum::overhead, row.integer(kType));
      const StringId name = row.has(kName) ? strings_.intern(row.integer(kName)) : session_.intern(type);
      session_.write(rows_.overhead(row.integer(kThread)), *start, capped_difference(end, *start), name, values_);
    });
  }
}

// Whatever else has a begin, an end, a thread and a name: MPI, cuBLAS, cuDNN, OpenMP, OpenACC, UCX, graphs' making ...
void NsysImporter::read_libraries() {
  for (const std::string& table : file_.tables()) {
    if (std::find(std::begin(kNotLibraries), std::end(kNotLibraries), table) != std::end(kNotLibraries)) continue;
    const std::vector<std::string> columns = file_.columns(table);
    const auto has = [&](std::string_view name) {
      return std::find(columns.begin(), columns.end(), name) != columns.end();
    };
    if (has("start") && has("end") && has("globalTid") && (has("nameId") || has("textId")) &&
        columns.size() <= kMostLibraryColumns) {
      read_library(table, columns);
    }
  }
}

void NsysImporter::read_library(const std::string& table, std::span<const std::string> columns) {
  std::vector<std::string_view> fields = {"start", "end", "globalTid", "nameId", "textId", "text", "eventClass"};
  const std::size_t fixed = fields.size();
  Schema schema = make_schema({library_name(table), EventKind::slice, "name", "What was called."},
                              {{"class", ColumnType::string, "", columns::kOperation, "", "What nsys calls it."}});
  constexpr std::size_t kOwn = 1;
  for (const std::string& column : columns) {
    if (is_any_of(column, {"start", "end", "globalTid", "nameId", "textId", "text", "eventClass"})) continue;
    fields.push_back(column);
    schema.columns.push_back(make_column({column, ColumnType::text, "", columns::kDetails, "", ""}));
  }
  // A column's type is that of its first value.
  Result<sqlite::ForeignRows> first = file_.rows(table, fields, " LIMIT 1000");
  std::vector<bool> numbers(fields.size(), false);
  while (first && first->next()) {
    for (std::size_t i = fixed; i < fields.size(); ++i) numbers[i] = numbers[i] || first->number(i).has_value();
  }
  for (std::size_t i = fixed; i < fields.size(); ++i) {
    if (numbers[i]) schema.columns[kOwn + i - fixed].type = ColumnType::int64;
  }
  const std::string name = schema.name;
  std::uint32_t number = kNone;
  each_row(table, name, fields, [&](const Row& row) {
    const auto start = row.number(0);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    if (number == kNone) number = session_.add_table(std::move(schema));
    values_.clear();
    const std::int64_t end = row.number(1).value_or(*start);
    if (row.has(6)) set_word(0, NsysEnum::event_class, row.integer(6));
    for (std::size_t i = fixed; i < fields.size(); ++i) {
      const std::size_t column = kOwn + i - fixed;
      if (numbers[i]) {
        set_number(column, row, i);
      } else if (row.has(i)) {
        values_.text(column, row.text(i));
      }
    }
    saw(end);
    const bool text = row.has(5) && !row.text(5).empty();
    const StringId called =
        text ? session_.intern(row.text(5)) : strings_.intern(row.integer(row.has(3) ? 3 : 4), NsysNameForm::function);
    session_.write(rows_.thread(ThreadRow::library, row.integer(2), name, number), *start,
                   capped_difference(end, *start), called, values_);
  });
}

// What is sampled: functions of threads, who has a CPU, metrics of devices; and what the profiler says.

namespace {

constexpr std::int64_t kWarning = 2, kError = 3;
constexpr std::size_t kMostMessageCharacters = 400;

}  // namespace

void NsysImporter::read_cpu_samples() {
  enum : std::size_t { kId, kStart, kThread, kState, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"id", "start", "globalTid", "threadState"};
  if (Result<void> done = stacks_.open(file_, "SAMPLING_CALLCHAINS"); !done) {
    session_.report().note("unreadable", done.message());
  }
  const std::uint64_t frames = stacks_.frames_read();
  const StringId unknown = session_.intern("sample");
  each_row("COMPOSITE_EVENTS", NsysTable::cpu_sample, kFields, [&](const Row& row) {
    const auto start = row.number(kStart);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    const NsysStacks::Stack stack = stacks_.stack(row.integer(kId));
    if (stack.frames != 0) values_.string(SampleColumns::stack, stack.frames);
    if (row.has(kState)) set_word(SampleColumns::state, NsysEnum::thread_state, row.integer(kState));
    set_further(NsysTable::cpu_sample, row, kCount);
    saw(*start);
    session_.write(rows_.thread(ThreadRow::samples, row.integer(kThread)), *start, 0,
                   stack.innermost != 0 ? stack.innermost : unknown, values_);
  });
  if (stacks_.any()) read_tables_["SAMPLING_CALLCHAINS"] += stacks_.frames_read() - frames;
}

// A thread gets a CPU and loses it: between these it runs, and else it waits.
void NsysImporter::read_thread_states() {
  enum : std::size_t { kStart, kCpu, kIn, kThread, kState, kBlock, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"start",     "cpu",         "isSchedIn",
                                                            "globalTid", "threadState", "threadBlock"};
  struct State {
    std::int64_t since = 0;
    std::int64_t cpu = 0;
    bool running = false;
    StringId name = 0;    // of the wait
    StringId reason = 0;  // of the wait; 0: not known
  };
  std::unordered_map<std::int64_t, State> threads;
  const StringId running = session_.intern("Running");
  const auto write = [&](std::int64_t thread, const State& state, std::int64_t until) {
    values_.clear();
    if (state.running) values_.integer(StateColumns::cpu, state.cpu);
    if (state.reason != 0) values_.string(StateColumns::reason, state.reason);
    session_.write(rows_.thread(ThreadRow::states, thread), state.since, capped_difference(until, state.since),
                   state.running ? running : state.name, values_);
  };
  each_row(
      "SCHED_EVENTS", "SCHED_EVENTS", kFields,
      [&](const Row& row) {
        const auto start = row.number(kStart);
        if (!start) {
          ++counts_.missing_times;
          return;
        }
        const std::int64_t thread = row.integer(kThread);
        const bool in = row.integer(kIn) != 0;
        const auto [known, first] = threads.try_emplace(thread);
        // The same said twice: something between got lost.
        if (!first && known->second.running == in) {
          ++counts_.unknown_states;
        } else if (!first) {
          write(thread, known->second, *start);
        } else if (!in) {
          ++counts_.unknown_states;
        }
        State& state = known->second;
        state = {*start, row.integer(kCpu), in, 0, 0};
        saw(*start);
        if (in) return;
        const std::string_view word = words_.word(NsysEnum::thread_state, row.integer(kState));
        state.name = session_.intern(row.integer(kState) == 0 || word.empty() ? "Not running" : word);
        if (row.has(kBlock)) {
          const std::string_view block = words_.word(NsysEnum::thread_block, row.integer(kBlock));
          if (!block.empty()) state.reason = session_.intern(block);
        }
      },
      " ORDER BY \"start\"");
  counts_.open_states += static_cast<std::uint64_t>(
      std::count_if(threads.begin(), threads.end(), [](const auto& each) { return each.second.running; }));
}

void NsysImporter::read_metrics() {
  constexpr std::array<std::string_view, 4> kFields = {"timestamp", "typeId", "metricId", "value"};
  each_row("GPU_METRICS", "counter", kFields, [&](const Row& row) {
    const auto time = row.number(0);
    if (!time) {
      ++counts_.missing_times;
      return;
    }
    if (*time < 0) {
      ++counts_.before_session;
      return;
    }
    saw(*time);
    session_.sample(rows_.metric(row.integer(1), row.integer(2)), *time, row.real(3));
  });
}

void NsysImporter::read_messages() {
  constexpr std::array<std::string_view, 4> kFields = {"timestamp", "severity", "source", "text"};
  each_row("DIAGNOSTIC_EVENT", "diagnostic", kFields, [&](const Row& row) {
    const std::string text(row.text(3));
    const std::int64_t severity = row.integer(1);
    if (severity == kWarning || severity == kError) {
      session_.report().note("profiler_message", fmt::format("nsys says: {}", text.substr(0, kMostMessageCharacters)));
    }
    values_.clear();
    set_word(DiagnosticColumns::severity, NsysEnum::severity, severity);
    set_word(DiagnosticColumns::source, NsysEnum::message_source, row.integer(2));
    values_.integer(DiagnosticColumns::timestamp, row.integer(0));
    // What was said before the session began would put an empty stretch before it.
    const std::int64_t time = std::clamp<std::int64_t>(row.integer(0), 0, std::max<std::int64_t>(last_, 0));
    session_.write(rows_.messages(), time, 0, session_.intern(text), values_);
  });
}

// NVTX: ranges that are pushed and popped lie on their thread, those that are started and ended on a row of their
// process, since they need not nest.

namespace {

using tracks::NvtxColumns;

enum RangeField : std::size_t {
  kRangeStart,
  kRangeEnd,
  kRangeType,
  kRangeThread,
  kRangeText,
  kRangeTextId,
  kRangeDomain,
  kRangeCategory,
  kRangeUnsigned64,
  kRangeSigned64,
  kRangeDouble,
  kRangeUnsigned32,
  kRangeSigned32,
  kRangeFloat,
  kRangeJsonId,
  kRangeJson,
  kRangeBinary,
  kRangeFields
};
constexpr std::array<std::string_view, kRangeFields> kRangeFieldNames = {
    "start",      "end",        "eventType",   "globalTid",  "text",        "textId",
    "domainId",   "category",   "uint64Value", "int64Value", "doubleValue", "uint32Value",
    "int32Value", "floatValue", "jsonTextId",  "jsonText",   "binaryData"};

// What rows of NVTX are, by their type.
enum class RangeSort : std::uint8_t { nested, free, mark, naming, unknown };
struct RangeType {
  std::int64_t type;
  RangeSort sort;
  std::string_view word;
};
constexpr RangeType kRangeTypes[] = {
    {59, RangeSort::nested, "push/pop"}, {60, RangeSort::free, "start/end"}, {34, RangeSort::mark, "mark"},
    {70, RangeSort::nested, "push/pop"}, {71, RangeSort::free, "start/end"}, {65, RangeSort::mark, "mark"},
    {33, RangeSort::naming, "category"}, {39, RangeSort::naming, "thread"},  {64, RangeSort::naming, "category"},
    {72, RangeSort::naming, "thread"},   {73, RangeSort::naming, "process"}, {74, RangeSort::naming, "file"},
    {75, RangeSort::naming, "domain"},   {76, RangeSort::naming, "domain"},  {97, RangeSort::naming, "device"},
    {98, RangeSort::naming, "context"},  {99, RangeSort::naming, "stream"},
};

[[nodiscard]] RangeType range_type(std::int64_t type) noexcept {
  for (const RangeType& each : kRangeTypes) {
    if (each.type == type) return each;
  }
  return {type, RangeSort::unknown, ""};
}

}  // namespace

void NsysImporter::read_ranges() {
  each_row("NVTX_EVENTS", NsysTable::nvtx, kRangeFieldNames, [&](const Row& row) { write_range(row); });
}

void NsysImporter::write_range(const Row& row) {
  const RangeType type = range_type(row.integer(kRangeType));
  if (type.sort == RangeSort::naming || type.sort == RangeSort::unknown) {
    ++(type.sort == RangeSort::naming ? counts_.naming_ranges : counts_.unknown_ranges);
    return;
  }
  const auto start = row.number(kRangeStart);
  if (!start) {
    ++counts_.missing_times;
    return;
  }
  const std::int64_t thread = row.integer(kRangeThread);
  const std::int64_t domain = row.integer(kRangeDomain);
  values_.clear();
  StringId name = 0;
  const std::string_view text = row.text(kRangeText);
  if (!text.empty() || !row.has(kRangeTextId)) {
    const std::string_view shown = name_in_form(text, NsysNameForm::range);
    name = session_.intern(shown);
    if (shown.size() < text.size()) values_.text(NvtxOwnColumns::message, text);
  } else {
    const std::string_view registered = strings_.text(row.integer(kRangeTextId));
    const std::string_view shown = name_in_form(registered, NsysNameForm::range);
    name = session_.intern(shown);
    if (shown.size() < registered.size()) values_.text(NvtxOwnColumns::message, registered);
  }
  if (const std::string_view of = facts_.domain(thread, domain); !of.empty()) {
    values_.string(NvtxColumns::domain, session_.intern(of));
  }
  if (row.has(kRangeCategory) && row.integer(kRangeCategory) != 0) {
    const std::string_view known = facts_.category(thread, domain, row.integer(kRangeCategory));
    values_.string(NvtxColumns::category,
                   session_.intern(known.empty() ? std::to_string(row.integer(kRangeCategory)) : std::string(known)));
  }
  set_payload(row);
  values_.string(NvtxColumns::kind, session_.intern(type.word));
  set_further(NsysTable::nvtx, row, kRangeFields);
  const std::uint32_t to = type.sort == RangeSort::free ? rows_.ranges(process_key_of(thread))
                                                        : rows_.thread(ThreadRow::annotations, thread);
  const auto end = row.number(kRangeEnd);
  if (!end && type.sort != RangeSort::mark) {
    ++counts_.open_ranges;
    open_ranges_.push_back({to, *start, name, values_});
    return;
  }
  saw(end.value_or(*start));
  session_.write(to, *start, end ? capped_difference(*end, *start) : 0, name, values_);
}

// One of a union's members.
void NsysImporter::set_payload(const Row& row) {
  if (row.has(kRangeJson)) return values_.text(NvtxColumns::payload, row.text(kRangeJson));
  if (row.has(kRangeJsonId)) return values_.text(NvtxColumns::payload, strings_.text(row.integer(kRangeJsonId)));
  if (row.has(kRangeBinary)) {
    const auto payload = payloads_.decoded(row.blob(kRangeBinary));
    if (!payload) {
      ++counts_.unread_payloads;
      return;
    }
    values_.text(NvtxColumns::payload, payload->text);
    if (payload->message_bytes) values_.integer(NvtxOwnColumns::bytes, *payload->message_bytes);
    return;
  }
  for (const std::size_t field : {kRangeUnsigned64, kRangeSigned64, kRangeUnsigned32, kRangeSigned32}) {
    if (!row.has(field)) continue;
    const std::int64_t value = row.integer(field);
    return values_.text(NvtxColumns::payload, field == kRangeUnsigned64
                                                  ? std::to_string(static_cast<std::uint64_t>(value))
                                                  : std::to_string(value));
  }
  for (const std::size_t field : {kRangeDouble, kRangeFloat}) {
    if (row.has(field)) return values_.text(NvtxColumns::payload, fmt::format("{}", row.real(field)));
  }
}

void NsysImporter::close_ranges() {
  for (const OpenRange& range : open_ranges_) {
    session_.write(range.row, range.start, std::max<std::int64_t>(capped_difference(last_, range.start), 0), range.name,
                   range.values);
  }
  open_ranges_ = {};
}

}  // namespace accelscope::capture::sources::nsys
