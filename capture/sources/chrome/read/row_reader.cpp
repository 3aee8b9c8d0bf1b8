#include "capture/sources/chrome/read/row_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "capture/json/json_cursor.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/kernel_work.h"
#include "core/base/checksum.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/chunk/session_writer.h"
#include "core/export/base/writers.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr std::string_view kOverflowString = "(more names than can be kept apart)";
constexpr std::size_t kBatchStrings = 65536;

}  // namespace

SharedStrings::Known SharedStrings::intern(std::string_view text) {
  if (text.empty()) return {};
  const std::scoped_lock lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, found->first};
  if (strings_.size() >= SessionWriter::kMaxStrings) {
    ++overflowing_;
    text = kOverflowString;
    if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, found->first};
  }
  const std::string_view retained = strings_.emplace_back(text);
  const auto id = static_cast<StringId>(strings_.size());
  ids_.emplace(retained, id);
  return {id, retained};
}

std::string_view SharedStrings::text(StringId id) const {
  const std::scoped_lock lock(mutex_);
  return id == 0 ? std::string_view{} : std::string_view(strings_[id - 1]);
}

Result<void> SharedStrings::define_all(EventSink& sink) const {
  const std::scoped_lock lock(mutex_);
  StringBatch batch;
  for (std::size_t first = 0; first < strings_.size(); first += kBatchStrings) {
    const std::size_t end = std::min(first + kBatchStrings, strings_.size());
    batch.first_id = static_cast<StringId>(first + 1);
    batch.strings.assign(strings_.begin() + static_cast<std::ptrdiff_t>(first),
                         strings_.begin() + static_cast<std::ptrdiff_t>(end));
    if (Result<void> done = sink.define(batch); !done) return done;
  }
  return {};
}

StringId LocalStrings::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint64_t hash = checksum(std::as_bytes(std::span(text)));
  SharedStrings::Known& place = places_[hash & (kPlaces - 1)];
  if (place.text != text) place = shared_.intern(text);
  // Past the dictionary's limit the shared text is another one; the place then misses every time.
  return place.id;
}

namespace {

// The framework's numbers of kinds of devices; 0 is the host, the others are as its users call them.
[[nodiscard]] std::string pool_name(std::int64_t type, std::int64_t device) {
  constexpr std::int64_t kHost = 0;
  constexpr std::int64_t kCuda = 1;
  constexpr std::int64_t kHip = 6;
  constexpr std::int64_t kXpu = 12;
  if (type == kHost) return "CPU memory";
  if (type == kCuda || type == kHip || type == kXpu) return tracks::gpu_name(device) + " memory";
  return fmt::format("device {} memory (type {})", device, type);
}

}  // namespace

bool ArgsBinder::worth_a_lookup(Usefulness& use) const noexcept {
  constexpr std::uint32_t kTrial = 2048;
  constexpr std::uint32_t kPause = 32 * kTrial;
  if (use.pause > 0) {
    --use.pause;
    return false;
  }
  if (++use.lookups == kTrial) {
    if (use.hits < kTrial / 8) use.pause = kPause;
    use.lookups = 0;
    use.hits = 0;
  }
  return true;
}

ValueRange ArgsBinder::bind(const TableBinding& binding, std::string_view name, std::string_view args,
                            std::span<const json::JsonField> beside, EventBatch& batch) {
  Usefulness& use = use_[static_cast<std::size_t>(binding.table())];
  const bool of_args_alone = binding.table() != ChromeTable::python_function;
  const bool cached =
      of_args_alone && beside.empty() && !args.empty() && args.size() <= kMaxCachedBytes && worth_a_lookup(use);
  CacheEntry* entry = nullptr;
  if (cached) {
    entry = &cache_[checksum(std::as_bytes(std::span(args))) & (kCacheEntries - 1)];
    if (entry->binding == &binding && entry->args == args) {
      ++use.hits;
      if (entry->batch_number != batch_number_) {
        entry->batch_number = batch_number_;
        entry->range.first = static_cast<std::uint32_t>(batch.values.size());
        batch.values.insert(batch.values.end(), entry->values.begin(), entry->values.end());
      }
      return entry->range;
    }
  }
  const std::size_t first = batch.values.size();
  first_ = first;
  const std::size_t text_before = batch.text.size();
  rest_.clear();
  next_guess_ = 0;
  bind_object(binding, args, batch);
  for (const json::JsonField& field : beside) bind_field(binding, field, batch);
  if (binding.location != TableBinding::kNoColumn) add_location(binding, name, batch);
  if (binding.pool != TableBinding::kNoColumn) add_pool(binding, batch);
  if (binding.layer != TableBinding::kNoColumn && value_of(batch, binding.layer) == nullptr) {
    const std::string_view module = string_at(binding, batch, binding.module);
    if (!module.empty()) batch.values.push_back({binding.layer, 0, strings_.intern(layer_path(module))});
  }
  if (binding.grid != TableBinding::kNoColumn) add_launch(binding, batch);
  if (binding.transfer_details != TableBinding::kNoColumn) add_transfer(binding, batch);
  if (!rest_.empty()) {
    rest_ += '}';
    const TextRange range = batch.add_text(rest_);
    batch.values.push_back({binding.rest, range.size, range.first});
  }
  const ValueRange range{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(batch.values.size() - first)};
  // Texts lie in this batch, so that their values cannot be used again in another one.
  if (entry != nullptr && batch.text.size() == text_before) {
    entry->args = args;
    entry->binding = &binding;
    entry->values.assign(batch.values.begin() + static_cast<std::ptrdiff_t>(first), batch.values.end());
    entry->batch_number = batch_number_;
    entry->range = range;
  }
  return range;
}

void ArgsBinder::bind_object(const TableBinding& binding, std::string_view args, EventBatch& batch) {
  const bool whole = json::each_member(args, [&](const json::JsonField& field) {
    bind_field(binding, field, batch);
    return true;
  });
  if (!whole && !args.empty()) ++batch.broken_args;
}

std::uint32_t ArgsBinder::column_of(const TableBinding& binding, std::string_view key) {
  constexpr std::size_t kMostGuesses = 128;
  if (next_guess_ == kMostGuesses) return binding.column_of(key).value_or(TableBinding::kNoColumn);
  std::vector<Guess>& guesses = guesses_[static_cast<std::size_t>(binding.table())];
  if (next_guess_ == guesses.size()) guesses.emplace_back();
  Guess& guess = guesses[next_guess_++];
  if (guess.key != key || key.empty())
    guess = {std::string(key), binding.column_of(key).value_or(TableBinding::kNoColumn)};
  return guess.column;
}

// Stacks get a line per frame; lists lose the blanks that some writers indent them with.
std::string_view ArgsBinder::text_of(const json::JsonField& field, Role role) {
  if (role == Role::stack) {
    scratch_ = stack_lines(field.text);
    return scratch_;
  }
  const bool nested = field.kind == json::JsonKind::array || field.kind == json::JsonKind::object;
  if (!nested || field.text.find_first_of(" \n\t\r") == std::string_view::npos) return field.text;
  scratch_.clear();
  bool in_string = false;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    const char c = field.text[i];
    if (in_string && c == '\\' && i + 1 < field.text.size()) {
      scratch_ += c;
      scratch_ += field.text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (in_string || !blank) scratch_ += c;
  }
  return scratch_;
}

// "[8, 1, 1]" of "[8,1,1]", as every other source writes it.
std::string_view ArgsBinder::spaced(std::string_view list) {
  if (list.find(' ') != std::string_view::npos) return list;
  spaced_.clear();
  for (const char c : list) {
    spaced_ += c;
    if (c == ',') spaced_ += ' ';
  }
  return spaced_;
}

void ArgsBinder::bind_field(const TableBinding& binding, const json::JsonField& field, EventBatch& batch) {
  if (field.kind == json::JsonKind::null) return;
  if (const std::uint32_t column = column_of(binding, field.key); column != TableBinding::kNoColumn) {
    const Column& target = binding.schema().columns[column];
    const std::string_view text = text_of(field, target.role);
    if (target.type == ColumnType::string) {
      if (column == binding.grid || column == binding.block) {
        batch.values.push_back({column, 0, strings_.intern(spaced(text))});
        return;
      }
      if (target.role == Role::stack && text.empty()) return;
      batch.values.push_back({column, 0, strings_.intern(text)});
      return;
    }
    if (target.type == ColumnType::text) {
      const TextRange range = batch.add_text(text);
      const auto bound = std::find_if(batch.values.begin() + static_cast<std::ptrdiff_t>(first_), batch.values.end(),
                                      [&](const BoundValue& value) { return value.column == column; });
      if (bound != batch.values.end()) batch.values.erase(bound);  // a key that comes twice: the last one counts
      batch.values.push_back({column, range.size, range.first});
      return;
    }
    if (const auto value = to_bits(target.type, field)) {
      batch.values.push_back({column, 0, *value});
      return;
    }
  }
  rest_ += rest_.empty() ? '{' : ',';
  json::append_json(rest_, field);
}

const BoundValue* ArgsBinder::value_of(const EventBatch& batch, std::uint32_t column) const noexcept {
  for (std::size_t i = batch.values.size(); i > first_; --i) {
    if (batch.values[i - 1].column == column) return &batch.values[i - 1];
  }
  return nullptr;
}

void ArgsBinder::add_location(const TableBinding& binding, std::string_view name, EventBatch& batch) {
  if (value_of(batch, binding.location) != nullptr) return;  // stated
  if (binding.table() == ChromeTable::python_function) {
    const auto place = parse_code_place(name);
    if (!place) return;
    scratch_.assign(place->file).append(":").append(place->line);
  } else {
    const BoundValue* file = value_of(batch, binding.file);
    const BoundValue* line = value_of(batch, binding.line);
    const std::vector<Column>& columns = binding.schema().columns;
    if (file == nullptr || line == nullptr || columns[binding.file].type != ColumnType::string ||
        columns[binding.line].type != ColumnType::int64) {
      return;
    }
    scratch_ =
        fmt::format("{}:{}", strings_.text(static_cast<StringId>(file->value)), static_cast<std::int64_t>(line->value));
  }
  batch.values.push_back({binding.location, 0, strings_.intern(scratch_)});
}

std::string_view ArgsBinder::string_at(const TableBinding& binding, const EventBatch& batch,
                                       std::uint32_t column) const {
  const BoundValue* value = column == TableBinding::kNoColumn ? nullptr : value_of(batch, column);
  if (value == nullptr || binding.schema().columns[column].type != ColumnType::string) return {};
  return strings_.text(static_cast<StringId>(value->value));
}

// A grid and a block that the event tells by other words than the columns'.
void ArgsBinder::add_launch(const TableBinding& binding, EventBatch& batch) {
  const auto put = [&](std::uint32_t column, std::string_view text) {
    if (column == TableBinding::kNoColumn || text.empty() || value_of(batch, column) != nullptr) return;
    batch.values.push_back({column, 0, strings_.intern(text)});
  };
  const auto joined = [&](const std::array<std::uint32_t, 3>& parts) {
    std::string all = "[";
    for (const std::uint32_t part : parts) {
      const BoundValue* value = part == TableBinding::kNoColumn ? nullptr : value_of(batch, part);
      if (value == nullptr) return std::string();
      if (all.size() > 1) all += ", ";
      const ColumnType type = binding.schema().columns[part].type;
      if (type != ColumnType::string && type != ColumnType::int64) return std::string();
      all += type == ColumnType::string ? std::string(string_at(binding, batch, part))
                                        : std::to_string(static_cast<std::int64_t>(value->value));
    }
    return all + "]";
  };
  if (binding.grid_parts.front() != TableBinding::kNoColumn) put(binding.grid, joined(binding.grid_parts));
  if (binding.block_parts.front() != TableBinding::kNoColumn) put(binding.block, joined(binding.block_parts));
  const std::string_view text = string_at(binding, batch, binding.kernel_details);
  if (text.empty() || binding.table() != ChromeTable::kernel) return;
  using Columns = tracks::KernelColumns;  // the table's first columns
  const tracks::KernelDetails details = tracks::read_kernel_details(text);
  put(binding.grid, details.grid);
  put(binding.block, details.block);
  const auto number = [&](std::size_t column, std::optional<std::int64_t> value) {
    const auto place = static_cast<std::uint32_t>(column);
    if (value && value_of(batch, place) == nullptr)
      batch.values.push_back({place, 0, static_cast<std::uint64_t>(*value)});
  };
  number(Columns::registers, details.registers);
  number(Columns::shared_memory, details.shared_memory);
  if (details.occupancy) {
    batch.values.push_back(
        {static_cast<std::uint32_t>(Columns::occupancy), 0, std::bit_cast<std::uint64_t>(*details.occupancy)});
  }
}

void ArgsBinder::add_transfer(const TableBinding& binding, EventBatch& batch) {
  if (rule_of(binding.table()).place != TablePlace::dma_queue) return;
  using Columns = tracks::TransferColumns;
  const tracks::TransferDetails details =
      tracks::read_transfer_details(string_at(binding, batch, binding.transfer_details));
  const auto bytes = static_cast<std::uint32_t>(Columns::bytes);
  if (details.bytes && value_of(batch, bytes) == nullptr)
    batch.values.push_back({bytes, 0, static_cast<std::uint64_t>(*details.bytes)});
  const auto kind = static_cast<std::uint32_t>(Columns::kind);
  if (!details.kind.empty() && value_of(batch, kind) == nullptr)
    batch.values.push_back({kind, 0, strings_.intern(details.kind)});
}

void ArgsBinder::add_pool(const TableBinding& binding, EventBatch& batch) {
  if (value_of(batch, binding.pool) != nullptr) return;
  const auto number = [&](std::uint32_t column) {
    const BoundValue* value = value_of(batch, column);
    return value == nullptr ? 0 : static_cast<std::int64_t>(value->value);
  };
  scratch_ = pool_name(number(binding.device_type), number(binding.device_id));
  batch.values.push_back({binding.pool, 0, strings_.intern(scratch_)});
}

namespace {

constexpr int kNsShift = 3;     // a microsecond is 10^3 ns
constexpr int kPartDigits = 9;  // kept behind the ns

// A number as its digits and the place of its point among them.
struct Decimal {
  std::string_view whole;     // digits before the point
  std::string_view fraction;  // and after it
  long exponent = 0;

  [[nodiscard]] long digits() const noexcept { return static_cast<long>(whole.size() + fraction.size()); }
  // 0 outside of the digits that were written.
  [[nodiscard]] unsigned digit(long index) const noexcept {
    if (index < 0 || index >= digits()) return 0;
    const auto at = static_cast<std::size_t>(index);
    return static_cast<unsigned>((at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0');
  }
};

[[nodiscard]] std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

[[nodiscard]] bool split(std::string_view text, Decimal& number) noexcept {
  number.whole = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
  }
  if (number.digits() == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view exponent = take_digits(text);
    if (exponent.empty()) return false;
    constexpr long kEnough = 100'000;  // beyond it every time is 0 or out of range
    for (const char c : exponent) {
      if (number.exponent < kEnough) number.exponent = number.exponent * 10 + (c - '0');
    }
    if (negative) number.exponent = -number.exponent;
  }
  return text.empty();
}

[[nodiscard]] TimeReading to_time(const Decimal& number, ExactTime& time) noexcept {
  long first = 0;  // that is not 0
  while (first < number.digits() && number.digit(first) == 0) ++first;
  if (first == number.digits()) {
    time = {};
    return TimeReading::ok;
  }
  const long end = static_cast<long>(number.whole.size()) + number.exponent + kNsShift;  // of the whole ns
  constexpr long kMostDigits = 19;                                                       // of kMaxTimeNs
  if (end - first > kMostDigits) return TimeReading::out_of_range;
  std::uint64_t ns = 0;
  for (long i = first; i < end; ++i) ns = ns * 10 + number.digit(i);
  if (ns > static_cast<std::uint64_t>(kMaxTimeNs)) return TimeReading::out_of_range;
  std::uint32_t part = 0;
  for (long i = end; i < end + kPartDigits; ++i) part = part * 10 + number.digit(i);
  time = {static_cast<std::int64_t>(ns), part};
  return TimeReading::ok;
}

// Up to 15 digits, a point and 3 more: nearly every time there is.
[[nodiscard]] bool read_short(std::string_view text, ExactTime& time) noexcept {
  constexpr std::size_t kMostDigits = 18;
  std::int64_t value = 0;
  std::size_t at = 0;
  while (at < text.size() && at < kMostDigits && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
  if (at == 0 || at > kMostDigits - kNsShift) return false;
  int missing = kNsShift;
  if (at < text.size() && text[at] == '.') {
    ++at;
    for (; missing > 0 && at < text.size() && is_digit(text[at]); --missing) value = value * 10 + (text[at++] - '0');
  }
  if (at != text.size()) return false;
  for (; missing > 0; --missing) value *= 10;
  time = {value, 0};
  return true;
}

}  // namespace

TimeReading read_microseconds(std::string_view text, ExactTime& time) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.size() < 20 && read_short(text, time)) return TimeReading::ok;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Decimal number;
  if (!split(text, number)) return TimeReading::not_a_number;
  const TimeReading reading = to_time(number, time);
  if (negative && reading == TimeReading::ok) {
    constexpr std::uint32_t kWhole = 1'000'000'000;
    time = time.part == 0 ? ExactTime{-time.ns, 0} : ExactTime{-time.ns - 1, kWhole - time.part};
  }
  return reading;
}

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
    place = {record.category, table_of_category(category), category == exporting::kOwnChromeAllocation};
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

void ChromeRowReader::on_repaired_row(const json::RowPlace& place) {
  (void)place;
  ++batch_->repaired_rows;
}

}  // namespace accelscope::capture::sources::chrome
