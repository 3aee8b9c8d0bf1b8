// What threads did: calls of CUDA, of the system, of libraries; what the profiler itself took.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/sources/nsys/importer.h"
#include "capture/sources/tracks/gpu_tables.h"
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
    const tracks::WrittenEvent event =
        session_.write(rows_.thread(ThreadRow::runtime, thread), *start, *end - *start, name, values_);
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
    session_.write(rows_.thread(ThreadRow::system, row.integer(kThread)), *start, end - *start,
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
      session_.write(rows_.overhead(row.integer(kThread)), *start, end - *start, name, values_);
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
    session_.write(rows_.thread(ThreadRow::library, row.integer(2), name, number), *start, end - *start, called,
                   values_);
  });
}

}  // namespace accelscope::capture::sources::nsys
