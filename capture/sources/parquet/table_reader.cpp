#include "capture/sources/parquet/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "capture/json/json_cursor.h"
#include "core/base/json.h"

namespace accelscope::capture::sources::parquet {
namespace {

using json::JsonField;
using json::JsonKind;

template <typename Number>
[[nodiscard]] JsonField number_text(Number number, ValueText& room) {
  const auto end = fmt::format_to_n(room.digits, sizeof room.digits, "{}", number);
  return {{}, {room.digits, std::min(end.size, sizeof room.digits)}, JsonKind::number};
}

template <typename Real>
[[nodiscard]] JsonField real_text(Real real, ValueText& room) {
  if (std::isnan(real)) return {{}, "NaN", JsonKind::not_finite};
  if (std::isinf(real)) return {{}, real < 0 ? "-Infinity" : "Infinity", JsonKind::not_finite};
  return number_text(real, room);
}

[[nodiscard]] double from_half(unsigned bits) noexcept {
  constexpr unsigned kMantissaBits = 10;
  const unsigned exponent = bits >> kMantissaBits & 0x1fU;
  const double mantissa = bits & 0x3ffU;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 0x1f) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, static_cast<int>(exponent) - 25);
}

[[nodiscard]] JsonField hexadecimal(std::string_view bytes, ValueText& room) {
  room.longer.clear();
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(room.longer), "{:02x}", static_cast<unsigned char>(byte));
  return {{}, room.longer, JsonKind::string};
}

// A whole number less its last `scale` digits, and these behind a point.
[[nodiscard]] JsonField decimal_text(__int128 whole, int scale, ValueText& room) {
  const bool negative = whole < 0;
  unsigned __int128 rest = negative ? -static_cast<unsigned __int128>(whole) : static_cast<unsigned __int128>(whole);
  std::string reversed;
  for (int place = 0; place <= scale || rest > 0; ++place) {
    if (place == scale && scale > 0) reversed += '.';
    reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (negative) reversed += '-';
  room.longer.assign(reversed.rbegin(), reversed.rend());
  return {{}, room.longer, JsonKind::number};
}

[[nodiscard]] JsonField decimal(const Field& field, const PlainValue& value, ValueText& room) {
  const bool bytes =
      field.type == format::PhysicalType::byte_array || field.type == format::PhysicalType::fixed_len_byte_array;
  if (!bytes) return decimal_text(static_cast<std::int64_t>(value.bits), field.scale, room);
  constexpr std::size_t kMost = 16;
  if (value.bytes.empty() || value.bytes.size() > kMost) return hexadecimal(value.bytes, room);
  unsigned __int128 whole = (value.bytes.front() & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (const char byte : value.bytes) whole = whole << 8 | static_cast<unsigned char>(byte);
  return decimal_text(static_cast<__int128>(whole), field.scale, room);
}

[[nodiscard]] JsonField unix_time(std::string_view int96, ValueText& room) {
  std::int64_t ns_of_day = 0;
  std::int32_t julian_day = 0;
  std::memcpy(&ns_of_day, int96.data(), sizeof ns_of_day);
  std::memcpy(&julian_day, int96.data() + sizeof ns_of_day, sizeof julian_day);
  constexpr __int128 kDayNs = 86'400'000'000'000;
  constexpr std::int64_t kJulianDayOf1970 = 2'440'588;
  return decimal_text((julian_day - kJulianDayOf1970) * kDayNs + ns_of_day, 0, room);
}

[[nodiscard]] JsonField text(std::string_view bytes, ValueText& room) {
  const bool plain = std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (plain || json::is_utf8(bytes)) return {{}, bytes, JsonKind::string};
  room.longer = json::repair_utf8(bytes);
  room.repaired = true;
  return {{}, room.longer, JsonKind::string};
}

[[nodiscard]] JsonField whole_number(const Field& field, std::uint64_t bits, ValueText& room) {
  const auto number = static_cast<std::int64_t>(bits);
  if (field.meaning == Meaning::unsigned_number) {
    return number_text(field.type == format::PhysicalType::int32 ? static_cast<std::uint32_t>(bits) : bits, room);
  }
  if (field.meaning == Meaning::date) {
    const std::chrono::year_month_day date(std::chrono::sys_days(std::chrono::days(static_cast<std::int32_t>(bits))));
    room.longer = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                              static_cast<unsigned>(date.day()));
    return {{}, room.longer, JsonKind::string};
  }
  std::int64_t ns = number;
  if (field.meaning == Meaning::time && !__builtin_mul_overflow(number, field.unit_ns, &ns)) {
    return number_text(ns, room);
  }
  return number_text(number, room);
}

}  // namespace

JsonField field_of(const Field& field, const PlainValue& value, ValueText& room) {
  if (field.meaning == Meaning::decimal) return decimal(field, value, room);
  switch (field.type) {
    case format::PhysicalType::boolean:
      return {{}, value.bits != 0 ? "true" : "false", JsonKind::boolean};
    case format::PhysicalType::int32:
    case format::PhysicalType::int64:
      return whole_number(field, value.bits, room);
    case format::PhysicalType::int96:
      return unix_time(value.bytes, room);
    case format::PhysicalType::float32:
      return real_text(std::bit_cast<float>(static_cast<std::uint32_t>(value.bits)), room);
    case format::PhysicalType::float64:
      return real_text(std::bit_cast<double>(value.bits), room);
    default:
      break;
  }
  if (field.meaning == Meaning::float16 && value.bytes.size() == 2) {
    const auto low = static_cast<unsigned char>(value.bytes[0]);
    const auto high = static_cast<unsigned char>(value.bytes[1]);
    return real_text(from_half(static_cast<unsigned>(high << 8 | low)), room);
  }
  return field.meaning == Meaning::text ? text(value.bytes, room) : hexadecimal(value.bytes, room);
}

bool NestedText::append_row(std::uint32_t field, std::string& out, std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  room_.repaired = false;
  return append(field, out);
}

ColumnReader& NestedText::first_column(std::uint32_t field) {
  while (!fields_[field].is_column) field = fields_[field].children.front();
  return columns_[fields_[field].leaf];
}

bool NestedText::fail(std::uint32_t field, std::string why) {
  ColumnReader& column = first_column(field);
  if (!column.failed()) column.fail(std::move(why));
  return false;
}

bool NestedText::take(std::uint32_t field, ColumnEntry& entry) {
  ColumnReader& column = columns_[fields_[field].leaf];
  if (column.next(entry)) return true;
  return fail(field, "ends within a row");
}

// Optional and repeated fields need not be; entries below tell how far down the row goes.
bool NestedText::is_there(std::uint32_t field) {
  return first_column(field).next_definition() >= fields_[field].definition;
}

// What is not there has an entry in each column below all the same.
bool NestedText::drop(std::uint32_t field) {
  if (fields_[field].is_column) {
    ColumnEntry nothing;
    return take(field, nothing);
  }
  const std::vector<std::uint32_t>& children = fields_[field].children;
  return std::all_of(children.begin(), children.end(), [&](std::uint32_t child) { return drop(child); });
}

bool NestedText::append(std::uint32_t field, std::string& out) {
  if (fields_[field].repetition == format::Repetition::repeated) return append_elements(field, out, false);
  if (fields_[field].repetition == format::Repetition::optional && !is_there(field)) {
    out += "null";
    return drop(field);
  }
  return append_content(field, out);
}

bool NestedText::append_content(std::uint32_t field, std::string& out) {
  const Field& here = fields_[field];
  if (here.is_column) {
    ColumnEntry entry;
    return take(field, entry) && append_value(here, entry, out);
  }
  if (here.shape != Shape::record) return append_elements(here.children.front(), out, here.shape == Shape::map);
  out += '{';
  for (const std::uint32_t child : here.children) {
    if (out.back() != '{') out += ',';
    append_json_quoted(out, fields_[child].name);
    out += ':';
    if (!append(child, out)) return false;
  }
  out += '}';
  return true;
}

bool NestedText::append_elements(std::uint32_t field, std::string& out, bool as_map) {
  const Field& here = fields_[field];
  if (!is_there(field)) {
    out += as_map ? "{}" : "[]";
    return drop(field);
  }
  out += as_map ? '{' : '[';
  for (bool first = true; first || first_column(field).next_repetition() == here.repeated; first = false) {
    if (!first) out += ',';
    if (out.size() > most_bytes_) return fail(field, fmt::format("has a row of more than {} bytes", most_bytes_));
    const bool done = as_map            ? append_key(here.children.front(), out) && append(here.children.back(), out)
                      : here.is_wrapper ? append(here.children.front(), out)
                                        : append_content(field, out);
    if (!done) return false;
  }
  out += as_map ? '}' : ']';
  return true;
}

// JSON knows keys of text only.
bool NestedText::append_key(std::uint32_t field, std::string& out) {
  std::string key;
  if (!append(field, key)) return false;
  if (key.starts_with('"')) {
    out += key;
  } else {
    append_json_quoted(out, key);
  }
  out += ':';
  return true;
}

bool NestedText::append_value(const Field& field, const ColumnEntry& entry, std::string& out) {
  if (entry.definition < field.definition) {
    out += "null";
    return true;
  }
  const JsonField value = field_of(field, entry.value, room_);
  if (value.kind == JsonKind::string) {
    append_json_quoted(out, value.text);
  } else {
    out += value.kind == JsonKind::not_finite ? "null" : value.text;
  }
  return true;
}

namespace {

constexpr std::size_t kMostNestedBytes = 16U << 20;  // as rows of JSON may have
constexpr std::size_t kMostProblems = 1000;
// Texts that repeat pack well, but not without end: a damaged file must not become memory without end.
constexpr std::uint64_t kTextPerByte = 4096;
constexpr std::uint64_t kTextOfAnyFile = 256U << 20;
// Pages that lie unpacked at a time, one of each column, and dictionaries: a small part of what a file unpacks to.
constexpr std::uint64_t kPagesPerByte = 64;
constexpr std::uint64_t kPagesOfAnyFile = 1U << 30;

}  // namespace

Result<std::unique_ptr<TableReader>> TableReader::open(std::unique_ptr<RandomBytes> bytes) {
  Footer footer = TRY(Footer::read(*bytes));
  return std::make_unique<TableReader>(std::move(bytes), std::move(footer));
}

TableReader::TableReader(std::unique_ptr<RandomBytes> bytes, Footer footer)
    : bytes_(std::move(bytes)),
      footer_(std::move(footer)),
      nested_(footer_.fields(), columns_),
      text_left_(kTextOfAnyFile + kTextPerByte * bytes_->size()) {
  room_.most_bytes = kPagesOfAnyFile + kPagesPerByte * bytes_->size();
  for (const std::uint32_t column : footer_.columns()) {
    columns_.emplace_back(*bytes_, footer_.fields()[column], room_);
  }
  for (const std::uint32_t field : footer_.root().children) {
    tops_.emplace_back().number = field;
    tops_.back().name = footer_.fields()[field].name;
  }
}

namespace {

[[nodiscard]] bool is_record(const Field& field) noexcept {
  return !field.is_column && field.repetition != format::Repetition::repeated && field.shape == Shape::record;
}

[[nodiscard]] json::JsonField sample_of(const Field& field) {
  const bool real = field.type == format::PhysicalType::float32 || field.type == format::PhysicalType::float64 ||
                    field.meaning == Meaning::decimal || field.meaning == Meaning::float16;
  if (is_record(field)) return {field.name, "{}", json::JsonKind::object};
  if (!field.is_column || field.repetition == format::Repetition::repeated) {
    return {field.name, "[]", json::JsonKind::array};
  }
  if (field.type == format::PhysicalType::boolean) return {field.name, "true", json::JsonKind::boolean};
  if (real) return {field.name, "0.5", json::JsonKind::number};
  if (field.meaning == Meaning::unsigned_number && field.type == format::PhysicalType::int64) {
    return {field.name, "18446744073709551615", json::JsonKind::number};
  }
  if (field.meaning == Meaning::text || field.meaning == Meaning::raw || field.meaning == Meaning::date) {
    return {field.name, "text", json::JsonKind::string};
  }
  return {field.name, "0", json::JsonKind::number};
}

}  // namespace

std::vector<TableReader::ColumnSample> TableReader::samples() const {
  std::vector<ColumnSample> samples;
  const auto add = [&](const Field& field, std::string_view record) {
    samples.push_back({sample_of(field), field.is_column && field.meaning == Meaning::time, record});
  };
  for (const TopField& top : tops_) {
    const Field& field = footer_.fields()[top.number];
    add(field, {});
    if (!is_record(field)) continue;
    for (const std::uint32_t child : field.children) add(footer_.fields()[child], field.name);
  }
  return samples;
}

void TableReader::rename(std::string_view column, std::string_view name) {
  for (TopField& top : tops_) {
    if (footer_.fields()[top.number].name == column) top.name = name;
  }
}

bool TableReader::begin_group() {
  while (next_group_ < footer_.group_count()) {
    group_rows_ = footer_.rows_of(next_group_);
    row_in_group_ = 0;
    const Result<std::vector<ColumnChunkPlace>> chunks = footer_.chunks_of(next_group_);
    ++next_group_;
    if (!chunks) {
      lose_rest(chunks.message());
      continue;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].begin((*chunks)[i]);
    for (TopField& top : tops_) {
      top.lost = false;
      const Field& field = footer_.fields()[top.number];
      const bool flat = field.is_column && field.repeated == 0;
      if (flat && !columns_[field.leaf].failed() && (*chunks)[field.leaf].values > group_rows_) {
        problems_.push_back({field.name,
                             fmt::format("states {} values for {} rows; those beyond were not read",
                                         (*chunks)[field.leaf].values, group_rows_),
                             next_group_ - 1, 0});
      }
    }
    if (group_rows_ > 0) return true;
  }
  return false;
}

bool TableReader::next() {
  while (!finished_) {
    if (row_in_group_ == group_rows_ && !begin_group()) break;
    row_.clear();
    bool any_left = false;
    for (TopField& top : tops_) {
      if (top.lost) continue;
      json::JsonField field;
      if (read_field(top, field)) row_.push_back(field);
      any_left = any_left || !top.lost;
    }
    if (!any_left) {
      rows_done_ += group_rows_ - row_in_group_;
      row_in_group_ = group_rows_;
      continue;
    }
    ++row_in_group_;
    ++rows_done_;
    for (const json::JsonField& field : row_) {
      if (field.text.size() <= text_left_) {
        text_left_ -= field.text.size();
        continue;
      }
      finished_ = true;
      lose_rest(fmt::format("unpacks to more than {} times its size; what follows was not read", kTextPerByte));
    }
    return true;
  }
  return false;
}

// False: it is null, or lost.
bool TableReader::read_field(TopField& top, json::JsonField& field) {
  const Field& here = footer_.fields()[top.number];
  if (!here.is_column || here.repeated > 0) return read_nested(top, field);
  ColumnReader& column = columns_[here.leaf];
  ColumnEntry entry;
  if (!column.next(entry)) {
    lose(top);
    return false;
  }
  if (entry.definition < here.definition) return false;
  top.room.repaired = false;
  field = field_of(here, entry.value, top.room);
  field.key = top.name;
  repaired_values_ += top.room.repaired ? 1 : 0;
  return true;
}

bool TableReader::read_nested(TopField& top, json::JsonField& field) {
  top.nested.clear();
  // Levels of 0 begin a row in every column of the field, or they have come apart.
  std::vector<std::uint32_t> below = {top.number};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const Field& part = footer_.fields()[below[i]];
    below.insert(below.end(), part.children.begin(), part.children.end());
    if (!part.is_column || columns_[part.leaf].next_repetition() == 0) continue;
    if (!columns_[part.leaf].failed()) columns_[part.leaf].fail("does not end where its rows do");
    lose(top);
    return false;
  }
  const bool whole = nested_.append_row(top.number, top.nested, kMostNestedBytes);
  repaired_values_ += nested_.repaired() ? 1 : 0;
  if (!whole) {
    lose(top);
    return false;
  }
  if (top.nested == "null") return false;
  field = {top.name, top.nested, top.nested.front() == '{' ? json::JsonKind::object : json::JsonKind::array};
  return true;
}

// The first of the columns below that failed knows why.
std::string TableReader::failure_of(std::uint32_t number) const {
  const Field& field = footer_.fields()[number];
  if (field.is_column) {
    const ColumnReader& column = columns_[field.leaf];
    return column.failed() ? column.problem() : std::string{};
  }
  for (const std::uint32_t child : field.children) {
    if (std::string why = failure_of(child); !why.empty()) return why;
  }
  return {};
}

void TableReader::lose(TopField& top) {
  top.lost = true;
  std::string why = failure_of(top.number);
  if (why.empty()) why = fmt::format("ends after {} of {} rows", row_in_group_, group_rows_);
  if (problems_.size() >= kMostProblems) return;
  problems_.push_back(
      {footer_.fields()[top.number].name, std::move(why), next_group_ - 1, group_rows_ - row_in_group_});
}

void TableReader::lose_rest(std::string what) {
  const std::uint64_t lost = group_rows_ - row_in_group_;
  if (problems_.size() < kMostProblems) problems_.push_back({"", std::move(what), next_group_ - 1, lost});
  rows_done_ += lost;
  row_in_group_ = group_rows_;
}

}  // namespace accelscope::capture::sources::parquet
