#include "capture/sources/rocm/results_json/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <unordered_map>

#include "capture/json/json_cursor.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::rocm {
namespace {

constexpr std::size_t kFlatBytes = 256U << 10;
constexpr std::size_t kLongestKey = 128;
constexpr std::string_view kRootKey = "rocprofiler-sdk-tool";

[[nodiscard]] bool holds_tables(std::string_view key) { return key == "callback_records" || key == "buffer_records"; }

}  // namespace

bool FlatResults::fill() {
  if (ended_) return false;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(released_));
  scanned_ -= released_;
  key_at_ -= std::min(key_at_, released_);
  released_ = 0;
  const std::size_t before = bytes_.size();
  bytes_.resize(before + kFlatBytes);
  const Result<std::size_t> count = source_->read(std::span(bytes_).subspan(before));
  bytes_.resize(before + (count ? *count : 0));
  if (!count) failure_ = count;
  ended_ = !count || *count == 0;
  while (scanned_ < bytes_.size()) {
    take(bytes_[scanned_], scanned_);
    ++scanned_;
  }
  return true;
}

Result<std::size_t> FlatResults::read(std::span<char> out) {
  for (;;) {
    // A key may yet turn out to enclose tables.
    const bool after_key = await_ == Await::colon || (await_ == Await::value && levels_.back() != Level::list);
    const bool undecided = !ended_ && depth_ == 0 && !in_scalar_ && levels_.size() > 1 &&
                           (after_key || (in_string_ && await_ == Await::key)) && key_at_ >= released_ &&
                           scanned_ - key_at_ < kFlatBytes;
    const std::size_t ready = (undecided ? key_at_ : scanned_) - released_;
    if (ready > 0) {
      const std::size_t count = std::min(ready, out.size());
      std::memcpy(out.data(), bytes_.data() + released_, count);
      released_ += count;
      return count;
    }
    if (!fill()) {
      if (released_ < scanned_) {
        key_at_ = scanned_;
        await_ = Await::end;
        in_string_ = false;
        continue;
      }
      return failure_;
    }
  }
}

void FlatResults::blank(std::size_t from, std::size_t to) {
  for (std::size_t at = std::max(from, released_); at < to; ++at) {
    if (!is_blank(bytes_[at])) bytes_[at] = ' ';
  }
}

void FlatResults::take(char& character, std::size_t place) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (character == '\\') {
      escaped_ = true;
    } else if (character == '"') {
      in_string_ = false;
      if (depth_ == 0 && await_ == Await::key) await_ = Await::colon;
      return;
    }
    if (depth_ == 0 && await_ == Await::key && key_.size() < kLongestKey) key_ += character;
    return;
  }
  if (depth_ > 0) {
    if (character == '"') {
      in_string_ = true;
    } else if (character == '{' || character == '[') {
      ++depth_;
    } else if (character == '}' || character == ']') {
      if (--depth_ == 0) await_ = Await::end;
    }
    return;
  }
  if (!is_blank(character)) take_structure(character, place);
}

void FlatResults::take_structure(char& character, std::size_t place) {
  const Level level = levels_.back();
  if (in_scalar_ && (character == ',' || character == '}' || character == ']')) {
    in_scalar_ = false;
    await_ = Await::end;
  }
  switch (character) {
    case ',':
      // One comma between two tables, whatever closed between them.
      if (level == Level::root || !any_since_comma_) character = ' ';
      any_since_comma_ = false;
      await_ = level == Level::list ? Await::value : Await::key;
      return;
    case '}':
    case ']':
      if (levels_.size() > 1) levels_.pop_back();
      if (levels_.back() != Level::outside) character = ' ';
      await_ = Await::end;
      return;
    case '"':
      if (await_ == Await::key) {
        key_.clear();
        key_at_ = place;
        in_string_ = true;
        return;
      }
      break;
    case ':':
      if (await_ == Await::colon) {
        await_ = Await::value;
        return;
      }
      break;
    default:
      break;
  }
  if (await_ == Await::value) begin_value(character, place);
}

void FlatResults::begin_value(char& character, std::size_t place) {
  const Level level = levels_.back();
  const bool object = character == '{';
  const bool list = character == '[';
  if (level == Level::outside && object) {
    levels_.push_back(Level::root);
    await_ = Await::key;
    return;
  }
  const bool encloses = (level == Level::root && list && key_ == kRootKey) || (level == Level::list && object) ||
                        (level == Level::process && object && holds_tables(key_));
  if (encloses) {
    if (level != Level::list) blank(key_at_, place);
    character = ' ';
    levels_.push_back(level == Level::root ? Level::list : level == Level::list ? Level::process : Level::records);
    await_ = list ? Await::value : Await::key;
    return;
  }
  any_since_comma_ = true;
  if (object || list) {
    depth_ = 1;
  } else if (character == '"') {
    in_string_ = true;
    in_scalar_ = true;
  } else {
    in_scalar_ = true;
  }
}

namespace {

struct RecordPath {
  std::string_view path;  // without what dispatches of counters have around it
  RecordField field;
};

constexpr RecordPath kRecordPaths[] = {
    {"kind", RecordField::kind},
    {"operation", RecordField::operation},
    {"thread_id", RecordField::thread},
    {"correlation_id.internal", RecordField::internal},
    {"correlation_id.external", RecordField::external},
    {"correlation_id.external.value", RecordField::external},
    {"correlation_id.ancestor", RecordField::ancestor},
    {"start_timestamp", RecordField::start},
    {"end_timestamp", RecordField::end},
    {"agent_id.handle", RecordField::agent},
    {"queue_id.handle", RecordField::queue},
    {"stream_id.handle", RecordField::stream},
    {"dispatch_info.agent_id.handle", RecordField::agent},
    {"dispatch_info.queue_id.handle", RecordField::queue},
    {"dispatch_info.kernel_id", RecordField::kernel},
    {"dispatch_info.dispatch_id", RecordField::dispatch},
    {"dispatch_info.private_segment_size", RecordField::private_segment},
    {"dispatch_info.group_segment_size", RecordField::group_segment},
    {"dispatch_info.workgroup_size.x", RecordField::workgroup_x},
    {"dispatch_info.workgroup_size.y", RecordField::workgroup_y},
    {"dispatch_info.workgroup_size.z", RecordField::workgroup_z},
    {"dispatch_info.grid_size.x", RecordField::grid_x},
    {"dispatch_info.grid_size.y", RecordField::grid_y},
    {"dispatch_info.grid_size.z", RecordField::grid_z},
    {"dispatch_info.graph_exec_id", RecordField::graph_exec},
    {"dispatch_info.graph_node_id", RecordField::graph_node},
    {"graph_exec_id", RecordField::graph_exec},
    {"graph_node_id", RecordField::graph_node},
    {"src_agent_id.handle", RecordField::source_agent},
    {"dst_agent_id.handle", RecordField::destination_agent},
    {"src_address", RecordField::source_address},
    {"src_address.handle", RecordField::source_address},
    {"src_address.value", RecordField::source_address},
    {"dst_address", RecordField::destination_address},
    {"dst_address.handle", RecordField::destination_address},
    {"dst_address.value", RecordField::destination_address},
    {"bytes", RecordField::bytes},
    {"address", RecordField::address},
    {"address.handle", RecordField::address},
    {"address.value", RecordField::address},
    {"allocation_size", RecordField::allocation_size},
    {"flags", RecordField::flags},
    {"arch_vgpr_count", RecordField::vgprs},
    {"accum_vgpr_count", RecordField::accum_vgprs},
    {"sgpr_count", RecordField::sgprs},
};

[[nodiscard]] const std::unordered_map<std::string_view, RecordField>& record_paths() {
  static const auto paths = [] {
    std::unordered_map<std::string_view, RecordField> map;
    for (const RecordPath& row : kRecordPaths) map.emplace(row.path, row.field);
    return map;
  }();
  return paths;
}

}  // namespace

void RecordFields::add(const json::JsonField& field) {
  path_.clear();
  add(path_, field, 0);
}

void RecordFields::add_unread(std::string_view path) {
  constexpr std::size_t kMostUnread = 1'000;
  if (unread_.size() < kMostUnread && !unread_.contains(path)) unread_.emplace(path);
}

void RecordFields::add(std::string& path, const json::JsonField& field, unsigned depth) {
  constexpr unsigned kDeepest = 4;
  constexpr std::string_view kAround = "dispatch_data";
  const std::size_t before = path.size();
  if (depth > 0 || field.key != kAround) {
    if (!path.empty()) path += '.';
    path += field.key;
  }
  if (field.kind == json::JsonKind::object && path == "args") {
    arguments_ = field.text == "{}" ? std::string_view{} : field.text;
  } else if (field.kind == json::JsonKind::object && depth < kDeepest) {
    const unsigned deeper = path.empty() ? 0 : depth + 1;
    (void)json::each_member(field.text, [&](const json::JsonField& inner) {
      add(path, inner, deeper);
      return true;
    });
  } else if (field.kind == json::JsonKind::number || field.kind == json::JsonKind::string) {
    const auto known = record_paths().find(path);
    if (known != record_paths().end()) {
      MaybeNumber number = json::to_int64(field);
      if (!number) {
        if (const auto bits = json::to_uint64(field)) number = static_cast<std::int64_t>(*bits);  // addresses
      }
      numbers_[static_cast<std::size_t>(known->second)] = number;
    } else {
      add_unread(path);
    }
  }
  path.resize(before);
}

namespace {

using json::JsonField;
using json::JsonKind;

constexpr std::size_t kLongestValue = 128U << 20;  // the texts of a file with samples of instructions are long

[[nodiscard]] std::string_view text_of(std::span<const JsonField> fields, std::string_view key) {
  for (const JsonField& field : fields) {
    if (field.key == key) return field.text;
  }
  return {};
}

[[nodiscard]] MaybeNumber number_of(std::span<const JsonField> fields, std::string_view key) {
  for (const JsonField& field : fields) {
    if (field.key == key) return json::to_int64(field);
  }
  return {};
}

// "handle" of {"handle": 37946}.
[[nodiscard]] MaybeNumber handle_in(std::string_view object) {
  MaybeNumber handle;
  (void)json::each_member(object, [&](const JsonField& field) {
    if (field.key == "handle") handle = json::to_int64(field);
    return true;
  });
  return handle;
}

}  // namespace

ResultsReader::Table ResultsReader::table_of(std::string_view name) {
  struct Row {
    std::string_view name;
    Table table;
  };
  constexpr std::array kTables = {
      Row{"metadata", Table::facts},
      Row{"agents", Table::agents},
      Row{"counters", Table::counters},
      Row{"strings", Table::facts},
      Row{"code_objects", Table::facts},
      Row{"kernel_symbols", Table::kernel_symbols},
      Row{"host_functions", Table::facts},
      Row{"summary", Table::facts},
      Row{"counter_collection", Table::dispatches_with_counters},
      Row{"kernel_dispatch", Table::dispatches},
      Row{"hip_api", Table::calls},
      Row{"hsa_api", Table::calls},
      Row{"rccl_api", Table::calls},
      Row{"rocdecode_api", Table::calls},
      Row{"rocjpeg_api", Table::calls},
      Row{"hipfile_api", Table::calls},
      Row{"rocshmem_api", Table::calls},
      Row{"ompt", Table::calls},
      Row{"marker_api", Table::marks},
      Row{"memory_copy", Table::copies},
      Row{"memory_allocation", Table::allocations},
      Row{"scratch_memory", Table::allocations},
  };
  const auto row = std::find_if(kTables.begin(), kTables.end(), [&](const Row& each) { return each.name == name; });
  return row == kTables.end() ? Table::unknown : row->table;
}

Result<void> ResultsReader::read(std::unique_ptr<json::ByteSource> source,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  json::JsonTableReader::Options options;
  options.max_row_bytes = kLongestValue;
  json::JsonTableReader reader(std::make_unique<FlatResults>(std::move(source)), options);
  json::JsonRowParser parser;
  json::JsonWindow window;
  while (reader.next(window)) {
    begin_table(window);
    if (table_ == Table::facts) continue;
    if (window.in_array) parser.parse(window, *this);
    if (progress) progress(reader.source().file_bytes_read(), reader.source().file_bytes());
    if (run_.session().cancelled() || !run_.session().status()) break;
  }
  ImportReport& report = run_.report();
  for (const json::JsonProblem& problem : reader.problems()) report.add(problem);
  if (!any_process_ && events_ == 0) {
    return Error{
        fmt::format("{}: no result of rocprofv3 can be read from this file{}; record it again with rocprofv3 "
                    "--output-format json",
                    name_, reader.is_json() ? "" : ", which is no JSON")};
  }
  report.note("rows_skipped", "records are no JSON that can be read, and were left out", bad_rows_);
  report.note("rows_mended", "records could be read only after mending (commas, characters that are no UTF-8)",
              repaired_rows_);
  report.note("rows_skipped", "records have no begin and end, and were left out", without_time_);
  report.note("duplicate_events", "launches are listed twice, by the trace and with their counters; shown once",
              twice_);
  report.note_unread("records", {fields_.unread().begin(), fields_.unread().end()});
  for (const auto& [table, rows] : not_read_) {
    report.note("rows_left_out", fmt::format("records of \"{}\" are not read", table), rows);
  }
  return {};
}

// A record of the table at hand that would have become an event.
void ResultsReader::count_skipped() {
  switch (table_) {
    case Table::dispatches:
    case Table::dispatches_with_counters:
      return run_.count_skipped(RocmTable::kernel);
    case Table::calls:
      return run_.count_skipped(RocmTable::call);
    case Table::marks:
      return run_.count_skipped(RocmTable::mark);
    case Table::copies:
      return run_.count_skipped(RocmTable::memcpy);
    case Table::allocations:
      return run_.count_skipped(RocmTable::memory);
    default:
      return;
  }
}

// Facts are single values, and come before the tables that need them.
void ResultsReader::begin_table(const json::JsonWindow& window) {
  table_ = table_of(window.table);
  table_name_ = window.table;
  if (window.in_array) {
    if (table_ == Table::dispatches_with_counters && !counters_chosen_) choose_counters(window);
    return;
  }
  const std::string_view value = window.rows.empty() ? std::string_view{} : window.row(0);
  if (window.table == "metadata") take_metadata(value);
  if (window.table == "strings") take_strings(value);
}

void ResultsReader::take_metadata(std::string_view object) {
  RocmProcess process;
  (void)json::each_member(object, [&](const JsonField& field) {
    if (field.key == "pid") process.pid = json::to_int64(field);
    if (field.key == "node") {
      (void)json::each_member(field.text, [&](const JsonField& node) {
        if (node.key == "hostname") process.host = node.text;
        if (node.key == "machine_id") process.machine = node.text;
        return true;
      });
    }
    if (field.key == "command") {
      (void)json::each_element(field.text, [&](const JsonField& word) {
        process.command += (process.command.empty() ? "" : " ") + std::string(word.text);
        return true;
      });
    }
    return true;
  });
  process_ = run_.add_process(std::move(process));
  any_process_ = true;
  symbols_.clear();
  kinds_.clear();
  marks_.clear();
  regions_.clear();
  with_counters_ = {};
}

void ResultsReader::take_strings(std::string_view object) {
  (void)json::each_member(object, [&](const JsonField& field) {
    if (field.key == "buffer_records") take_kinds(field.text);
    if (field.key == "marker_api") take_texts(field.text, marks_);
    if (field.key == "correlation_id") {
      (void)json::each_member(field.text, [&](const JsonField& inner) {
        if (inner.key == "external") take_texts(inner.text, regions_);
        return true;
      });
    }
    return true;
  });
}

void ResultsReader::take_kinds(std::string_view list) {
  kinds_.clear();
  (void)json::each_element(list, [&](const JsonField& entry) {
    KindNames kind;
    (void)json::each_member(entry.text, [&](const JsonField& field) {
      if (field.key == "kind") kind.name = run_.intern(field.text);
      if (field.key == "operations") {
        (void)json::each_element(field.text, [&](const JsonField& operation) {
          kind.operations.push_back({run_.intern(operation.text), std::string(operation.text)});
          return true;
        });
      }
      return true;
    });
    kinds_.push_back(std::move(kind));
    return true;
  });
}

// [{"key": 3, "value": "step"}, ...]
void ResultsReader::take_texts(std::string_view list, std::unordered_map<std::int64_t, std::string>& texts) {
  (void)json::each_element(list, [&](const JsonField& entry) {
    MaybeNumber key;
    std::string value;
    (void)json::each_member(entry.text, [&](const JsonField& field) {
      if (field.key == "key") key = json::to_int64(field);
      if (field.key == "value") value = field.text;
      return true;
    });
    if (key) texts[*key] = std::move(value);
    return true;
  });
}

void ResultsReader::on_row(std::span<const JsonField> fields, bool is_object, const json::RowPlace& /*place*/) {
  if (table_ == Table::unknown) {
    ++not_read_[table_name_];
    return;
  }
  if (!is_object) return on_bad_row({}, {});
  if (!any_process_) {
    process_ = run_.add_process({});
    any_process_ = true;
  }
  if (table_ == Table::agents) return take_agent(fields);
  if (table_ == Table::counters) return take_counter(fields);
  if (table_ == Table::kernel_symbols) return take_symbol(fields);
  fields_.clear();
  for (const JsonField& field : fields) {
    if (field.kind != JsonKind::array) {
      fields_.add(field);
    } else if (field.key != "records" || table_ != Table::dispatches_with_counters) {
      fields_.add_unread(field.key);
    }
  }
  switch (table_) {
    case Table::dispatches_with_counters:
      counted_ = text_of(fields, "records");
      return write_dispatch(true);
    case Table::dispatches:
      return write_dispatch(false);
    case Table::calls:
    case Table::marks:
      return write_call(table_ == Table::marks);
    case Table::copies:
      return write_copy();
    default:
      return write_allocation();
  }
}

void ResultsReader::on_bad_row(std::string_view /*text*/, const json::RowPlace& /*place*/) {
  ++bad_rows_;
  count_skipped();
}
void ResultsReader::on_repaired_row(const json::RowPlace& /*place*/) { ++repaired_rows_; }

void ResultsReader::take_agent(std::span<const JsonField> fields) {
  constexpr std::int64_t kGpu = 2;
  RocmAgent agent;
  agent.is_gpu = number_of(fields, "type") == kGpu;
  agent.number = number_of(fields, "logical_node_type_id").value_or(number_of(fields, "node_id").value_or(0));
  agent.name = text_of(fields, "name");
  agent.product = text_of(fields, "product_name");
  for (const JsonField& field : fields) add_agent_field(field, agent);
  const MaybeNumber id = handle_in(text_of(fields, "id"));
  if (id) run_.add_agent(process_, *id, std::move(agent));
}

void ResultsReader::add_unread(std::span<const JsonField> fields, std::initializer_list<std::string_view> known) {
  for (const JsonField& field : fields) {
    if (std::find(known.begin(), known.end(), field.key) == known.end())
      fields_.add_unread(fmt::format("{}.{}", table_name_, field.key));
  }
}

void ResultsReader::take_counter(std::span<const JsonField> fields) {
  const MaybeNumber id = handle_in(text_of(fields, "id"));
  if (!id) return;
  add_unread(fields, {"id", "name", "description"});
  counters_[*id] = {std::string(text_of(fields, "name")), {}, std::string(text_of(fields, "description"))};
}

void ResultsReader::take_symbol(std::span<const JsonField> fields) {
  const MaybeNumber id = number_of(fields, "kernel_id");
  if (!id) return;
  add_unread(fields, {"kernel_id", "formatted_kernel_name", "demangled_kernel_name", "kernel_name", "arch_vgpr_count",
                      "accum_vgpr_count", "sgpr_count"});
  Symbol symbol;
  for (const std::string_view key : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"}) {
    if (symbol.text.empty()) symbol.text = text_of(fields, key);
  }
  symbol.vgprs = number_of(fields, "arch_vgpr_count");
  symbol.accum_vgprs = number_of(fields, "accum_vgpr_count");
  symbol.sgprs = number_of(fields, "sgpr_count");
  symbols_[*id] = std::move(symbol);
}

// The columns of kernels are those counters that the first launches have; what later ones have beyond is kept as text,
// and so are all of them where launches without counters came before.
void ResultsReader::choose_counters(const json::JsonWindow& window) {
  if (keep_counters_) {
    counters_chosen_ = true;
    for (std::uint32_t place = 0; place < run_.counters().size(); ++place) {
      for (const auto& [id, counter] : counters_) {
        if (counter.name == run_.counters()[place].name) counter_places_[id] = place;
      }
    }
    return;
  }
  if (run_.has_kernels()) {
    counters_chosen_ = true;
    return;
  }
  std::set<std::string> names;
  for (std::size_t row = 0; row < window.rows.size(); ++row) {
    (void)json::each_member(window.row(row), [&](const JsonField& field) {
      if (field.key != "records") return true;
      (void)json::each_element(field.text, [&](const JsonField& value) {
        (void)json::each_member(value.text, [&](const JsonField& inner) {
          const auto known =
              inner.key == "counter_id" ? counters_.find(handle_in(inner.text).value_or(-1)) : counters_.end();
          if (known != counters_.end()) names.insert(known->second.name);
          return true;
        });
        return true;
      });
      return true;
    });
  }
  if (names.empty()) return;
  counters_chosen_ = true;
  std::vector<RocmCounter> chosen;
  for (const std::string& name : names) {
    for (const auto& [id, counter] : counters_) {
      if (counter.name != name) continue;
      if (chosen.empty() || chosen.back().name != name) chosen.push_back(counter);
      counter_places_[id] = static_cast<std::uint32_t>(chosen.size() - 1);
    }
  }
  run_.set_counters(std::move(chosen));
}

const ResultsReader::KindNames& ResultsReader::kind_of(MaybeNumber kind) {
  static const KindNames none;
  const auto place = static_cast<std::size_t>(kind.value_or(-1));
  return place < kinds_.size() ? kinds_[place] : none;
}

const ResultsReader::Operation& ResultsReader::operation_of(MaybeNumber kind, MaybeNumber operation) {
  const KindNames& names = kind_of(kind);
  const auto place = static_cast<std::size_t>(operation.value_or(-1));
  if (place < names.operations.size()) return names.operations[place];
  unknown_operation_.text = fmt::format("{} {}", table_name_, operation.value_or(-1));
  unknown_operation_.name = run_.intern(unknown_operation_.text);
  return unknown_operation_;
}

bool ResultsReader::place(RocmRecord& record) {
  if (!fields_[RecordField::start] || !fields_[RecordField::end]) {
    ++without_time_;
    count_skipped();
    return false;
  }
  ++events_;
  record.process = process_;
  record.start = *fields_[RecordField::start];
  record.end = *fields_[RecordField::end];
  record.category = kind_of(fields_[RecordField::kind]).name;
  record.correlation = fields_[RecordField::internal];
  record.external = fields_[RecordField::external];
  record.thread = fields_[RecordField::thread];
  return true;
}

void ResultsReader::place_on_device(RocmOnDevice& event) {
  event.agent = fields_[RecordField::agent];
  event.queue = fields_[RecordField::queue];
  event.stream = fields_[RecordField::stream];
  if (fields_.integer(RecordField::graph_exec) != 0) {
    event.graph_exec = fields_[RecordField::graph_exec];
    event.graph_node = fields_[RecordField::graph_node];
  }
}

ResultsReader::Symbol& ResultsReader::symbol_of(MaybeNumber id) {
  Symbol& symbol = symbols_[id.value_or(0)];
  if (symbol.name == 0) {
    if (symbol.text.empty()) symbol.text = id ? fmt::format("kernel {}", *id) : std::string("kernel");
    symbol.name = run_.intern_kernel(symbol.text);
  }
  return symbol;
}

void ResultsReader::write_dispatch(bool with_counters) {
  const MaybeNumber id = fields_[RecordField::dispatch];
  if (with_counters && id) {
    with_counters_.insert(*id);
  } else if (id && with_counters_.contains(*id)) {
    ++twice_;
    return;
  }
  RocmDispatch dispatch;
  if (!place(dispatch)) return;
  place_on_device(dispatch);
  const Symbol& symbol = symbol_of(fields_[RecordField::kernel]);
  dispatch.name = symbol.name;
  dispatch.vgprs = symbol.vgprs ? symbol.vgprs : fields_[RecordField::vgprs];
  dispatch.accum_vgprs = symbol.accum_vgprs ? symbol.accum_vgprs : fields_[RecordField::accum_vgprs];
  dispatch.sgprs = symbol.sgprs ? symbol.sgprs : fields_[RecordField::sgprs];
  dispatch.kernel_id = fields_[RecordField::kernel];
  dispatch.dispatch_id = id;
  dispatch.scratch_bytes = fields_[RecordField::private_segment];
  dispatch.shared_bytes = fields_[RecordField::group_segment];
  dispatch.work_items = {fields_.integer(RecordField::grid_x), fields_.integer(RecordField::grid_y),
                         fields_.integer(RecordField::grid_z)};
  dispatch.workgroup = {fields_.integer(RecordField::workgroup_x), fields_.integer(RecordField::workgroup_y),
                        fields_.integer(RecordField::workgroup_z)};
  const auto region = regions_.find(dispatch.external.value_or(0));
  if (region != regions_.end()) dispatch.region = run_.intern(region->second);
  std::vector<CounterValue> values;
  std::map<std::string, double> others;
  if (with_counters) {
    // An entry for each place of the device that counts: the launch has their sum.
    (void)json::each_element(counted_, [&](const JsonField& entry) {
      MaybeNumber counter;
      double value = 0;
      (void)json::each_member(entry.text, [&](const JsonField& field) {
        if (field.key == "counter_id") counter = handle_in(field.text);
        if (field.key == "value") value = json::to_double(field).value_or(0);
        return true;
      });
      const auto column = counter_places_.find(counter.value_or(-1));
      if (column == counter_places_.end()) {
        const auto known = counters_.find(counter.value_or(-1));
        others[known == counters_.end() ? fmt::format("counter {}", counter.value_or(-1)) : known->second.name] +=
            value;
        return true;
      }
      const auto known = std::find_if(values.begin(), values.end(),
                                      [&](const CounterValue& each) { return each.counter == column->second; });
      if (known == values.end()) {
        values.push_back({column->second, value});
      } else {
        known->value += value;
      }
      return true;
    });
  }
  std::string further;
  for (const auto& [name, value] : others) further += fmt::format("{}{}={}", further.empty() ? "" : ", ", name, value);
  dispatch.further_counters = further;
  run_.write(dispatch, values);
}

void ResultsReader::write_call(bool mark) {
  RocmOnHost call;
  if (!place(call)) return;
  call.parent = fields_[RecordField::ancestor];
  call.name = operation_of(fields_[RecordField::kind], fields_[RecordField::operation]).name;
  call.arguments = fields_.arguments();
  if (mark) {
    call.table = RocmHostTable::mark;
    call.mark_kind = call.name;
    const auto text = marks_.find(call.correlation.value_or(-1));
    if (text != marks_.end()) call.name = run_.intern(text->second);
  }
  run_.write(call);
}

void ResultsReader::write_copy() {
  RocmCopy copy;
  if (!place(copy)) return;
  place_on_device(copy);
  copy.name = operation_of(fields_[RecordField::kind], fields_[RecordField::operation]).name;
  copy.source = fields_[RecordField::source_agent];
  copy.destination = fields_[RecordField::destination_agent];
  copy.bytes = fields_[RecordField::bytes];
  const auto address = [&](RecordField field) -> std::optional<std::uint64_t> {
    if (!fields_[field]) return std::nullopt;
    return static_cast<std::uint64_t>(*fields_[field]);
  };
  copy.source_address = address(RecordField::source_address);
  copy.destination_address = address(RecordField::destination_address);
  run_.write(copy);
}

void ResultsReader::write_allocation() {
  RocmAllocation allocation;
  if (!place(allocation)) return;
  place_on_device(allocation);
  const Operation& of = operation_of(fields_[RecordField::kind], fields_[RecordField::operation]);
  allocation.name = of.name;
  set_allocation_kind(allocation, of.text, table_name_ == "scratch_memory",
                      [this](std::string_view text) { return run_.intern(text); });
  if (const MaybeNumber& address = fields_[RecordField::address]) {
    allocation.address = static_cast<std::uint64_t>(*address);
  }
  allocation.bytes = fields_[RecordField::allocation_size];
  if (fields_[RecordField::flags]) allocation.flags = run_.intern(std::to_string(*fields_[RecordField::flags]));
  run_.write(allocation);
}

}  // namespace accelscope::capture::sources::rocm
