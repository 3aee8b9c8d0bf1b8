#include "core/export/tables/parquet_file.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace accelscope::exporting {
namespace {

// Numbers of the format's enumerations.
constexpr std::int64_t kBooleanType = 0, kInt64Type = 2, kDoubleType = 5, kByteArrayType = 6;
constexpr std::int64_t kPlain = 0, kRle = 3, kRleDictionary = 8;
constexpr std::int64_t kDataPage = 0, kDictionaryPage = 2;
constexpr std::int64_t kRequired = 0, kOptional = 1;
constexpr std::int64_t kUtf8 = 0, kUint64 = 14, kInt64 = 18;  // converted types
constexpr std::int64_t kZstd = 6;
constexpr int kZstdLevel = 1;

void put_le32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void put_le64(std::string& out, std::uint64_t value) {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xFF);
    value >>= 8;
  }
  out.append(bytes, sizeof bytes);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}

// Thrift's compact protocol: fields of a struct by the difference of their numbers.
class ThriftStruct {
 public:
  void integer(int field, std::int64_t value, bool wide = false) {
    head(field, wide ? 6 : 5);
    zigzag(value);
  }
  void boolean(int field, bool value) { head(field, value ? 1 : 2); }
  void byte(int field, std::uint8_t value) {
    head(field, 3);
    bytes_ += static_cast<char>(value);
  }
  void text(int field, std::string_view value) {
    head(field, 8);
    put_varint(bytes_, value.size());
    bytes_ += value;
  }
  void structure(int field, const ThriftStruct& value) {
    head(field, 12);
    bytes_ += value.finished();
  }
  void structures(int field, const std::vector<ThriftStruct>& values) {
    list(field, values.size(), 12);
    for (const ThriftStruct& value : values) bytes_ += value.finished();
  }
  void integers(int field, const std::vector<std::int64_t>& values) {
    list(field, values.size(), 5);
    for (const std::int64_t value : values) zigzag(value);
  }
  void texts(int field, const std::vector<std::string>& values) {
    list(field, values.size(), 8);
    for (const std::string& value : values) {
      put_varint(bytes_, value.size());
      bytes_ += value;
    }
  }
  [[nodiscard]] std::string finished() const { return bytes_ + '\0'; }

 private:
  void head(int field, int type) {
    bytes_ += static_cast<char>((field - last_) << 4 | type);
    last_ = field;
  }
  void list(int field, std::size_t size, int type) {
    head(field, 9);
    if (size < 15) {
      bytes_ += static_cast<char>(size << 4 | static_cast<std::size_t>(type));
    } else {
      bytes_ += static_cast<char>(0xF0 | type);
      put_varint(bytes_, size);
    }
  }
  void zigzag(std::int64_t value) {
    put_varint(bytes_, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }

  std::string bytes_;
  int last_ = 0;
};

// Numbers of `width` bits in runs of eight, as one bit-packed run.
void put_packed(std::string& out, const std::vector<std::uint32_t>& values, unsigned width) {
  const std::size_t groups = (values.size() + 7) / 8;
  put_varint(out, groups << 1 | 1);
  std::uint64_t bits = 0;
  unsigned held = 0;
  for (std::size_t i = 0; i < groups * 8; ++i) {
    bits |= std::uint64_t{i < values.size() ? values[i] : 0} << held;
    held += width;
    for (; held >= 8; held -= 8) {
      out += static_cast<char>(bits & 0xFF);
      bits >>= 8;
    }
  }
}

struct WrittenPage {
  std::int64_t plain = 0;   // with the header
  std::int64_t packed = 0;  // in the file
};

// A page with its header, compressed.
WrittenPage put_page(std::string& out, std::string_view page, bool dictionary, std::int64_t values,
                     std::int64_t encoding) {
  std::string packed(ZSTD_compressBound(page.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), page.data(), page.size(), kZstdLevel);
  packed.resize(ZSTD_isError(size) != 0 ? 0 : size);  // the bound leaves no room for an error
  ThriftStruct kind;
  kind.integer(1, values);
  kind.integer(2, encoding);
  if (dictionary) {
    kind.boolean(3, false);
  } else {
    kind.integer(3, kRle);
    kind.integer(4, kRle);
  }
  ThriftStruct header;
  header.integer(1, dictionary ? kDictionaryPage : kDataPage);
  header.integer(2, static_cast<std::int64_t>(page.size()));
  header.integer(3, static_cast<std::int64_t>(packed.size()));
  header.structure(dictionary ? 7 : 5, kind);
  const std::string head = header.finished();
  out += head;
  out += packed;
  return {static_cast<std::int64_t>(head.size() + page.size()), static_cast<std::int64_t>(head.size() + packed.size())};
}

[[nodiscard]] std::int64_t physical_type(ParquetType type) noexcept {
  switch (type) {
    case ParquetType::boolean:
      return kBooleanType;
    case ParquetType::real:
      return kDoubleType;
    case ParquetType::text:
      return kByteArrayType;
    case ParquetType::int64:
    case ParquetType::uint64:
      break;
  }
  return kInt64Type;
}

[[nodiscard]] ThriftStruct schema_element(const ParquetField& field) {
  ThriftStruct element;
  element.integer(1, physical_type(field.type));
  element.integer(3, field.optional ? kOptional : kRequired);
  element.text(4, field.name);
  ThriftStruct logical;
  if (field.type == ParquetType::text) {
    element.integer(6, kUtf8);
    logical.structure(1, {});
    element.structure(10, logical);
  } else if (field.type == ParquetType::int64 || field.type == ParquetType::uint64) {
    const bool is_signed = field.type == ParquetType::int64;
    element.integer(6, is_signed ? kInt64 : kUint64);
    ThriftStruct integer;
    integer.byte(1, 64);
    integer.boolean(2, is_signed);
    logical.structure(10, integer);
    element.structure(10, logical);
  }
  return element;
}

[[nodiscard]] ThriftStruct chunk_element(const ParquetField& field, const ParquetChunk& chunk, std::int64_t group) {
  ThriftStruct meta;
  meta.integer(1, physical_type(field.type));
  meta.integers(2, chunk.has_dictionary ? std::vector<std::int64_t>{kPlain, kRle, kRleDictionary}
                                        : std::vector<std::int64_t>{kPlain, kRle});
  meta.texts(3, {field.name});
  meta.integer(4, kZstd);
  meta.integer(5, chunk.values, true);
  meta.integer(6, chunk.plain_bytes, true);
  meta.integer(7, chunk.bytes, true);
  meta.integer(9, group + chunk.data_offset, true);
  if (chunk.has_dictionary) meta.integer(11, group + chunk.dictionary_offset, true);
  ThriftStruct statistics;
  statistics.integer(3, chunk.missing, true);
  if (!chunk.greatest.empty()) {
    statistics.text(5, chunk.greatest);
    statistics.text(6, chunk.least);
  }
  meta.structure(12, statistics);
  ThriftStruct element;
  element.integer(2, 0, true);  // where older readers looked for the metadata
  element.structure(3, meta);
  return element;
}

}  // namespace

void ParquetColumn::put_level(bool has) {
  if (optional_) {
    if (rows_ % 8 == 0) levels_ += '\0';
    if (has) levels_.back() = static_cast<char>(static_cast<unsigned char>(levels_.back()) | 1U << (rows_ % 8));
  }
  ++rows_;
  present_ += has ? 1 : 0;
}

void ParquetColumn::add_word(std::uint64_t value) {
  put_level(true);
  put_le64(plain_, value);
}

void ParquetColumn::add_boolean(bool value) {
  put_level(true);
  if (booleans_ % 8 == 0) plain_ += '\0';
  if (value) plain_.back() = static_cast<char>(static_cast<unsigned char>(plain_.back()) | 1U << (booleans_ % 8));
  ++booleans_;
}

void ParquetColumn::put_text(std::string& to, std::string_view text) {
  put_le32(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

void ParquetColumn::add_text(std::string_view text) {
  if (recurring_) {
    const auto number = static_cast<std::uint32_t>(texts_.size());
    return add_known(texts_.try_emplace(std::string(text), number).first->second, [&] { return text; });
  }
  put_level(true);
  put_text(plain_, text);
}

// One run where all rows are alike, else a bit for each row.
std::string ParquetColumn::levels() const {
  if (!optional_) return {};
  std::string runs;
  if (present_ == rows_ || present_ == 0) {
    put_varint(runs, rows_ << 1);
    runs += present_ == 0 ? '\0' : '\1';
  } else {
    put_varint(runs, levels_.size() << 1 | 1);
    runs += levels_;
  }
  std::string page;
  put_le32(page, static_cast<std::uint32_t>(runs.size()));
  return page + runs;
}

// Long texts are no bounds: cut ones would need a note that they are.
void ParquetColumn::note_bounds(ParquetChunk& chunk) const {
  constexpr std::size_t kLongest = 256;
  if (recurring_) {
    std::string_view least, greatest, rest = dictionary_;
    for (bool first = true; !rest.empty(); first = false) {
      std::uint32_t size = 0;
      std::memcpy(&size, rest.data(), sizeof size);
      const std::string_view text = rest.substr(sizeof size, size);
      if (first || text < least) least = text;
      greatest = std::max(greatest, text);
      rest.remove_prefix(sizeof size + size);
    }
    if (least.size() > kLongest || greatest.size() > kLongest) return;
    chunk.least = least;
    chunk.greatest = greatest;
  } else if ((type_ == ParquetType::int64 || type_ == ParquetType::uint64) && !plain_.empty()) {
    const auto sign = type_ == ParquetType::int64 ? std::uint64_t{1} << 63 : 0;  // flipped, both have one order
    std::uint64_t least = UINT64_MAX, greatest = 0;
    for (std::size_t at = 0; at < plain_.size(); at += sizeof least) {
      std::uint64_t value = 0;
      std::memcpy(&value, plain_.data() + at, sizeof value);
      least = std::min(least, value ^ sign);
      greatest = std::max(greatest, value ^ sign);
    }
    put_le64(chunk.least, least ^ sign);
    put_le64(chunk.greatest, greatest ^ sign);
  }
}

ParquetChunk ParquetColumn::finish(std::string& group) {
  ParquetChunk chunk;
  chunk.values = static_cast<std::int64_t>(rows_);
  chunk.missing = static_cast<std::int64_t>(rows_ - present_);
  note_bounds(chunk);
  chunk.has_dictionary = recurring_;
  std::string page = levels();
  if (recurring_) {
    chunk.dictionary_offset = static_cast<std::int64_t>(group.size());
    const WrittenPage written = put_page(group, dictionary_, true, static_cast<std::int64_t>(entries_.size()), kPlain);
    chunk.bytes += written.packed;
    chunk.plain_bytes += written.plain;
    const auto width = static_cast<unsigned>(
        std::max(1, static_cast<int>(std::bit_width(entries_.empty() ? 0 : entries_.size() - 1))));
    page += static_cast<char>(width);
    put_packed(page, indices_, width);
  } else {
    page += plain_;
  }
  chunk.data_offset = static_cast<std::int64_t>(group.size());
  const WrittenPage written =
      put_page(group, page, false, static_cast<std::int64_t>(rows_), recurring_ ? kRleDictionary : kPlain);
  chunk.bytes += written.packed;
  chunk.plain_bytes += written.plain;
  *this = ParquetColumn(type_, optional_, recurring_);
  return chunk;
}

namespace {

// The end of the file: what is in it, and the magic word.
[[nodiscard]] std::string parquet_footer(const std::vector<ParquetField>& fields,
                                         const std::vector<ParquetGroup>& groups, const ParquetFile::Facts& facts) {
  std::vector<ThriftStruct> schema(1);
  schema.front().text(4, "schema");
  schema.front().integer(5, static_cast<std::int64_t>(fields.size()));
  for (const ParquetField& field : fields) schema.push_back(schema_element(field));
  std::int64_t rows = 0;
  std::vector<ThriftStruct> written;
  for (const ParquetGroup& group : groups) {
    rows += group.rows;
    std::vector<ThriftStruct> columns;
    std::int64_t plain = 0;
    std::int64_t packed = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      columns.push_back(chunk_element(fields[i], group.columns[i], group.offset));
      plain += group.columns[i].plain_bytes;
      packed += group.columns[i].bytes;
    }
    ThriftStruct element;
    element.structures(1, columns);
    element.integer(2, plain, true);
    element.integer(3, group.rows, true);
    element.integer(5, group.offset, true);
    element.integer(6, packed, true);
    written.push_back(std::move(element));
  }
  std::vector<ThriftStruct> pairs;
  for (const auto& [key, value] : facts) {
    ThriftStruct pair;
    pair.text(1, key);
    pair.text(2, value);
    pairs.push_back(std::move(pair));
  }
  ThriftStruct file;
  file.integer(1, 2);
  file.structures(2, schema);
  file.integer(3, rows, true);
  file.structures(4, written);
  if (!pairs.empty()) file.structures(5, pairs);
  file.text(6, "Accelscope");
  ThriftStruct order;  // of bytes in texts, of values in numbers
  order.structure(1, {});
  file.structures(7, std::vector<ThriftStruct>(fields.size(), order));
  std::string footer = file.finished();
  const auto size = static_cast<std::uint32_t>(footer.size());
  put_le32(footer, size);
  footer += kParquetMagic;
  return footer;
}

void add_cell(const listing::SqlValue& cell, ParquetType type, ParquetColumn& values) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  const auto* real = std::get_if<double>(&cell);
  const auto* text = std::get_if<std::string>(&cell);
  if (type == ParquetType::text) {
    if (text != nullptr) return values.add_text(is_well_formed_utf8(*text) ? *text : repaired_utf8(*text));
    if (whole != nullptr) return values.add_text(std::to_string(*whole));
    if (real != nullptr) return values.add_text(std::to_string(*real));
  } else if (type == ParquetType::real) {
    if (real != nullptr) return values.add_word(std::bit_cast<std::uint64_t>(*real));
    if (whole != nullptr) return values.add_word(std::bit_cast<std::uint64_t>(static_cast<double>(*whole)));
  } else if (whole != nullptr) {
    return type == ParquetType::boolean ? values.add_boolean(*whole != 0) : values.add_int64(*whole);
  }
  values.add_null();
}

}  // namespace

ParquetFile::ParquetFile(ExportOutput& output, std::vector<ParquetField> fields, Facts facts)
    : output_(output), fields_(std::move(fields)), facts_(std::move(facts)) {}

Result<void> ParquetFile::put(std::string_view bytes) {
  bytes_ += bytes.size();
  return output_.write(bytes);
}

Result<void> ParquetFile::begin(const std::string& name) {
  TRY(output_.begin_file(name + ".parquet"));
  return put(kParquetMagic);
}

Result<void> ParquetFile::add(ParquetGroup group, std::string_view bytes) {
  if (group.rows == 0) return {};
  group.offset = static_cast<std::int64_t>(bytes_);
  rows_ += static_cast<std::uint64_t>(group.rows);
  groups_.push_back(std::move(group));
  return put(bytes);
}

Result<void> ParquetFile::finish() { return put(parquet_footer(fields_, groups_, facts_)); }

ParquetRows::ParquetRows(ParquetFile& file) : file_(file) {
  for (const ParquetField& field : file.fields()) columns_.emplace_back(field);
}

bool ParquetRows::row(const std::vector<listing::SqlValue>& cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) add_cell(cells[i], file_.fields()[i].type, columns_[i]);
  if (++rows_ >= static_cast<std::int64_t>(kParquetGroupRows)) written_ = flush();
  return written_.ok();
}

Result<void> ParquetRows::flush() {
  std::string bytes;
  ParquetGroup group;
  group.rows = std::exchange(rows_, 0);
  for (ParquetColumn& column : columns_) group.columns.push_back(column.finish(bytes));
  return file_.add(std::move(group), bytes);
}

Result<void> ParquetRows::finish() {
  TRY(std::move(written_));
  TRY(flush());
  return file_.finish();
}

}  // namespace accelscope::exporting
