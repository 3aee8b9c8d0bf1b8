#include "capture/sources/chrome/read/row_reader.h"

#include <algorithm>

#include "capture/json/json_cursor.h"
#include "core/export/traces/chrome_trace.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr char kKeySeparator = '\x1f';

// Numbers and the texts of numbers name the same process; null is no name.
[[nodiscard]] std::string_view identity_text(const json::JsonField* field) noexcept {
  if (field == nullptr || field->kind == json::JsonKind::null) return {};
  return field->text;
}

[[nodiscard]] bool row_reader_takes_columns(char phase) noexcept {
  constexpr std::string_view kPhases = "XBiIRbnSTp";
  return kPhases.find(phase) != std::string_view::npos;
}

[[nodiscard]] bool is_instant(char phase) noexcept {
  constexpr std::string_view kPhases = "iIRnTp";
  return kPhases.find(phase) != std::string_view::npos;
}

enum class Field : std::uint8_t {
  ph,
  name,
  cat,
  pid,
  tid,
  ts,
  dur,
  args,
  id,
  id2,
  scope,
  bp,
  bind_id,
  flow_in,
  flow_out,
  ignored,
  other
};

// What is read of an event beside its args. "s" is the scope of an instant, "cname" a colour.
[[nodiscard]] Field field_of(std::string_view key) noexcept {
  switch (key.size()) {
    case 1:
      return key == "s" ? Field::ignored : Field::other;
    case 2:
      if (key == "ts") return Field::ts;
      if (key == "ph") return Field::ph;
      if (key == "id") return Field::id;
      if (key == "bp") return Field::bp;
      return Field::other;
    case 3:
      if (key == "pid") return Field::pid;
      if (key == "tid") return Field::tid;
      if (key == "dur") return Field::dur;
      if (key == "cat") return Field::cat;
      if (key == "id2") return Field::id2;
      return Field::other;
    case 4:
      if (key == "name") return Field::name;
      if (key == "args") return Field::args;
      return Field::other;
    case 5:
      if (key == "scope") return Field::scope;
      if (key == "cname") return Field::ignored;
      return Field::other;
    case 7:
      if (key == "bind_id") return Field::bind_id;
      if (key == "flow_in") return Field::flow_in;
      return Field::other;
    case 8:
      return key == "flow_out" ? Field::flow_out : Field::other;
    default:
      return Field::other;
  }
}

}  // namespace

std::string thread_key(std::string_view pid, std::string_view tid) {
  std::string key(pid);
  key += kKeySeparator;
  key += tid;
  return key;
}

ThreadName split_thread_key(std::string_view key) {
  const std::size_t middle = key.find(kKeySeparator);
  if (middle == std::string_view::npos) return {std::string(key), {}};
  return {std::string(key.substr(0, middle)), std::string(key.substr(middle + 1))};
}

ChromeRowReader::ChromeRowReader(ChromeVocabulary& vocabulary)
    : vocabulary_(vocabulary), strings_(vocabulary.strings), threads_(vocabulary.threads), binder_(strings_) {}

void ChromeRowReader::read(const json::JsonWindow& window, EventBatch& batch) {
  batch.clear();
  batch.records.reserve(window.rows.size());
  batch_ = &batch;
  binder_.begin_batch();
  parser_.parse(window, *this);
}

void ChromeRowReader::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  if (!is_object) {
    batch_->problems.push_back({"a row is not an object", place.offset});
    return;
  }
  if (fields.empty()) return;  // {} pads the end of some files
  Row row;
  row.record.offset = place.offset;
  beside_.clear();
  for (const json::JsonField& field : fields) take_field(field, row);
  finish_row(row);
}

void ChromeRowReader::take_field(const json::JsonField& field, Row& row) {
  const Field kind = field_of(field.key);
  if (kind != Field::other) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(kind);
    if ((row.seen & bit) != 0) ++batch_->doubled_keys;
    row.seen |= bit;
  }
  switch (kind) {
    case Field::ph:
      // Of a longer word the first letter counts, as it does for Perfetto.
      row.has_phase = field.kind == json::JsonKind::string && !field.text.empty();
      row.record.phase = row.has_phase ? field.text.front() : '?';
      break;
    case Field::name:
      row.name = field.kind == json::JsonKind::null ? std::string_view{} : field.text;
      break;
    case Field::cat:
      row.record.category = field.kind == json::JsonKind::null ? 0 : strings_.intern(field.text);
      break;
    case Field::pid:
      row.pid = &field;
      break;
    case Field::tid:
      row.tid = &field;
      break;
    case Field::ts:
      take_time(field, row, start_, row.has_start);
      break;
    case Field::dur:
      take_time(field, row, duration_, row.record.has_duration);
      break;
    case Field::args:
      row.args = &field;
      break;
    case Field::id:
    case Field::id2:
      take_id(field, row.record);
      break;
    case Field::scope:
      row.record.scope = strings_.intern(field.text);
      break;
    case Field::bp:
      row.record.binds_enclosing = field.text == "e";
      break;
    case Field::bind_id:
      take_bind_id(field, row.record);
      break;
    case Field::flow_in:
      row.record.flow_in = json::to_boolean(field).value_or(false);
      break;
    case Field::flow_out:
      row.record.flow_out = json::to_boolean(field).value_or(false);
      break;
    case Field::ignored:
      break;
    case Field::other:
      beside_.push_back(field);
      break;
  }
}

void ChromeRowReader::take_time(const json::JsonField& field, Row& row, ExactTime& time, bool& has) {
  has = false;
  if (field.kind == json::JsonKind::null) return;
  const bool may_be = field.kind == json::JsonKind::number || field.kind == json::JsonKind::string;
  TimeReading reading = may_be ? read_microseconds(field.text, time) : TimeReading::not_a_number;
  if (reading == TimeReading::out_of_range && &time == &duration_ && !field.text.starts_with('-')) {
    time = {kMaxTimeNs, 0};  // longer than any: its end cannot be true
    reading = TimeReading::ok;
  }
  has = reading == TimeReading::ok;
  if (reading == TimeReading::not_a_number) row.time_problem = "a time is not a number";
  if (reading == TimeReading::out_of_range) row.time_problem = "a time is out of any range";
}

void ChromeRowReader::take_id(const json::JsonField& field, EventRecord& record) {
  if (field.kind == json::JsonKind::object) {  // id2: {"local": ...} or {"global": ...}
    json::JsonCursor cursor(field.text);
    (void)cursor.enter('{');
    if (!cursor.next_element('{')) return;
    const bool local = cursor.key() == "local";
    const json::JsonField inner = cursor.value();
    if (!cursor.ok() || inner.kind == json::JsonKind::object) return;
    take_id(inner, record);
    if (local && record.scope == 0) record.scope = strings_.intern("local");
    return;
  }
  if (field.kind == json::JsonKind::null) return;
  record.has_id = true;
  record.id = identity(field, record.id_is_text);
}

void ChromeRowReader::take_bind_id(const json::JsonField& field, EventRecord& record) {
  if (field.kind == json::JsonKind::null || field.kind == json::JsonKind::object) return;
  record.has_bind_id = true;
  record.bind_id = identity(field, record.bind_id_is_text);
}

std::uint64_t ChromeRowReader::identity(const json::JsonField& field, bool& is_text) {
  is_text = false;
  if (const auto number = json::to_int64(field)) return static_cast<std::uint64_t>(*number);
  if (const auto wide = json::to_uint64(field)) return *wide;
  is_text = true;
  return strings_.intern(field.text);
}

std::uint32_t ChromeRowReader::thread_of(const Row& row) {
  const std::string_view pid = identity_text(row.pid);
  // An event that names no thread happened on the first one of its process, which has the same number.
  const std::string_view tid = row.tid == nullptr ? pid : identity_text(row.tid);
  key_.assign(pid);
  key_ += kKeySeparator;
  key_ += tid;
  return threads_.intern(key_);
}

ChromeTable ChromeRowReader::table_of(const Row& row) {
  const EventRecord& record = row.record;
  if (record.phase == 'T' && record.has_duration) return ChromeTable::thread_state;
  CategoryPlace& place = categories_[record.category % categories_.size()];
  if (place.category != record.category) {
    const std::string_view category = vocabulary_.strings.text(record.category);
    place = {record.category, table_of_category(category), category == kOwnChromeAllocation};
  }
  if (is_instant(record.phase))
    return place.allocation || row.name == "[memory]" ? ChromeTable::memory : ChromeTable::instant;
  return place.table == ChromeTable::event && row.args != nullptr ? table_of_args(row.args->text) : place.table;
}

void ChromeRowReader::finish_row(Row& row) {
  EventRecord& record = row.record;
  if (!row.has_phase) {
    // Some writers leave the phase of complete events out.
    if ((row.seen & (std::uint64_t{1} << static_cast<unsigned>(Field::ph))) == 0 && record.has_duration) {
      record.phase = 'X';
    } else {
      batch_->problems.push_back({"no phase (\"ph\")", record.offset});
      return;
    }
  }
  if (record.phase != 'M') {
    if (!row.has_start) {
      batch_->problems.push_back(
          {row.time_problem.empty() ? "no time stamp (\"ts\")" : row.time_problem, record.offset});
      return;
    }
    record.start = start_.ns;
    if (record.has_duration) record.duration = (start_ + duration_).ns - start_.ns;
  }
  record.thread = thread_of(row);
  record.name = strings_.intern(row.name);
  record.table = table_of(row);
  if (record.table == ChromeTable::thread_state) record.phase = 'X';
  bind_args(row);
  batch_->records.push_back(record);
}

void ChromeRowReader::bind_args(Row& row) {
  EventRecord& record = row.record;
  std::string_view args;
  if (row.args != nullptr && row.args->kind == json::JsonKind::object) {
    args = row.args->text;
  } else if (row.args != nullptr && row.args->kind != json::JsonKind::null) {
    beside_.push_back(*row.args);
  }
  if (row_reader_takes_columns(record.phase)) {
    const TableBinding* binding =
        vocabulary_.bindings[static_cast<std::size_t>(record.table)].load(std::memory_order_acquire);
    if (binding != nullptr) {
      record.values = binder_.bind(*binding, row.name, args, beside_, *batch_);
      record.bound = true;
      return;
    }
  }
  if (beside_.empty()) {
    record.raw_args = batch_->add_text(args);
    return;
  }
  // One object of both, for whoever binds it later.
  key_.assign(args.empty() ? "{" : args.substr(0, args.rfind('}')));
  bool first = key_.find_first_not_of(" \t\r\n{") == std::string::npos;
  for (const json::JsonField& field : beside_) {
    if (!first) key_ += ',';
    json::append_json(key_, field);
    first = false;
  }
  key_ += '}';
  record.raw_args = batch_->add_text(key_);
}

void ChromeRowReader::on_bad_row(std::string_view text, const json::RowPlace& place) {
  (void)text;
  batch_->problems.push_back({"not JSON", place.offset});
}

void ChromeRowReader::on_mended_row(const json::RowPlace& place) {
  (void)place;
  ++batch_->mended_rows;
}

}  // namespace accelscope::capture::sources::chrome
