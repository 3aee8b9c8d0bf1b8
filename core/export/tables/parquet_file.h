// The Parquet file format, as much of it as writing flat tables needs: row groups of column chunks, each with a
// dictionary page where the values are texts that recur, one data page of plain values or dictionary indices,
// definition levels for columns in which a value may be missing, zstd around the pages, the least and greatest value of
// whole numbers and recurring texts, by which readers pass over groups, and the footer in Thrift's compact protocol. By
// the format's specification (github.com/apache/parquet-format, version 2.10).
//
//   ParquetColumn column(ParquetType::int64, true);     // one for each column of a row group
//   column.add_int64(7); column.add_null(); ...
//   ParquetChunk chunk = column.finish(bytes);           // appends its pages
//   ParquetFile file(output, fields, facts); file.begin("track"); file.add(group, bytes); file.finish();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/export/base/export_format.h"
#include "core/listing/base/rows.h"

namespace accelscope::exporting {

inline constexpr std::string_view kParquetMagic = "PAR1";

enum class ParquetType : std::uint8_t { boolean, int64, uint64, real, text };

// A column of the table, as the footer describes it.
struct ParquetField {
  std::string name;
  ParquetType type = ParquetType::int64;
  bool optional = true;
  bool recurring = false;  // texts that come again and again: they are written as numbers of a dictionary
};

// Where a column's part of a row group lies; offsets count from the group's first byte.
struct ParquetChunk {
  std::int64_t dictionary_offset = -1;  // -1: it has none
  std::int64_t data_offset = 0;
  std::int64_t bytes = 0;  // in the file, with the pages' headers
  std::int64_t plain_bytes = 0;
  std::int64_t values = 0;  // missing ones too
  std::int64_t missing = 0;
  std::string least, greatest;  // as plain values, by the column's order; both "" where they are not told
  bool has_dictionary = false;
};

struct ParquetGroup {
  std::vector<ParquetChunk> columns;
  std::int64_t rows = 0;
  std::int64_t offset = 0;  // of its first byte in the file
};

// The values of one column of a row group.
class ParquetColumn {
 public:
  explicit ParquetColumn(const ParquetField& field) : ParquetColumn(field.type, field.optional, field.recurring) {}
  // `recurring`: as a field has it.
  ParquetColumn(ParquetType type, bool optional, bool recurring)
      : type_(type), optional_(optional), recurring_(recurring) {}

  void add_null() { put_level(false); }
  void add_int64(std::int64_t value) { add_word(static_cast<std::uint64_t>(value)); }
  void add_word(std::uint64_t value);  // an unsigned number, the bits of a double
  void add_boolean(bool value);
  void add_text(std::string_view text);
  // A text of a recurring column by its number anywhere: `text` is read when the number comes for the first time.
  template <typename Text>
  void add_known(std::uint32_t number, Text&& text) {
    put_level(true);
    const auto [place, added] = entries_.try_emplace(number, static_cast<std::uint32_t>(entries_.size()));
    if (added) put_text(dictionary_, text());
    indices_.push_back(place->second);
  }

  // Appends the pages to the row group, and is empty again.
  [[nodiscard]] ParquetChunk finish(std::string& group);

 private:
  void put_level(bool has);
  static void put_text(std::string& to, std::string_view text);
  [[nodiscard]] std::string levels() const;
  void note_bounds(ParquetChunk& chunk) const;

  ParquetType type_;
  bool optional_;
  bool recurring_;
  std::uint64_t rows_ = 0;
  std::uint64_t present_ = 0;
  std::string levels_;  // a bit for each row
  std::string plain_;
  std::uint64_t booleans_ = 0;
  std::string dictionary_;
  std::unordered_map<std::uint32_t, std::uint32_t> entries_;
  std::unordered_map<std::string, std::uint32_t> texts_;  // of a recurring column, where they have no numbers
  std::vector<std::uint32_t> indices_;
};

// A file, group by group, as an export's output takes it.
class ParquetFile {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;
  // `facts`: its metadata, by key.
  ParquetFile(ExportOutput& output, std::vector<ParquetField> fields, Facts facts);

  Result<void> begin(const std::string& name);                   // without the suffix, which it appends
  Result<void> add(ParquetGroup group, std::string_view bytes);  // a group without rows is left out
  Result<void> finish();
  [[nodiscard]] const std::vector<ParquetField>& fields() const noexcept { return fields_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  Result<void> put(std::string_view bytes);

  ExportOutput& output_;
  std::vector<ParquetField> fields_;
  Facts facts_;
  std::vector<ParquetGroup> groups_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

inline constexpr std::uint64_t kParquetGroupRows = 64U << 10;

// Rows of values for a file that was begun, as they come: a group of them is in memory. A value of another type than
// its column's is written as that type has it, as a text or as null.
class ParquetRows final : public listing::SqlRowVisitor {
 public:
  explicit ParquetRows(ParquetFile& file);
  bool columns(const std::vector<std::string>&) override { return true; }
  bool row(const std::vector<listing::SqlValue>& cells) override;  // false: the output cannot be written
  Result<void> finish();                                           // and the file with it

 private:
  Result<void> flush();

  ParquetFile& file_;
  std::vector<ParquetColumn> columns_;
  std::int64_t rows_ = 0;
  Result<void> written_;
};

}  // namespace accelscope::exporting
