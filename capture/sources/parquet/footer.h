// What the footer of a Parquet file tells: its columns, as a tree of fields, and where the pages of each column of each
// group of rows lie. Groups are decoded one at a time, for a large file has many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/parquet/bit_runs.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {

namespace format = accelscope::parquet;

// What the values of a column mean beyond their physical type.
enum class Meaning : std::uint8_t {
  number,  // signed, or a truth value
  unsigned_number,
  text,     // and binary values that nothing is said of
  decimal,  // a whole number, to be divided by 10^scale
  time,     // a number of units of Field::unit_ns; read as ns
  date,     // days since 1970; read as "2026-11-30"
  raw,      // bytes that are no text: UUIDs, intervals; read as hexadecimal digits
  float16,
};

// How a group of fields is to be written as JSON.
enum class Shape : std::uint8_t { record, list, map };

struct Field {
  std::string name;
  format::Repetition repetition = format::Repetition::optional;
  bool is_column = false;               // of values; else a group of further fields
  std::vector<std::uint32_t> children;  // in Footer::fields
  Shape shape = Shape::record;
  bool is_wrapper = false;  // a repeated group of lists that stands for its only child
  // Levels: how many optional or repeated fields lie on the way to this one, itself included, and how many repeated.
  int definition = 0;
  int repeated = 0;
  // Of a column of values:
  std::uint32_t leaf = 0;  // which of the columns
  format::PhysicalType type = format::PhysicalType::int32;
  std::uint32_t length = 0;  // of fixed_len_byte_array
  Meaning meaning = Meaning::number;
  int scale = 0;
  std::int64_t unit_ns = 1;
};

struct ColumnChunkPlace {
  format::PhysicalType type = format::PhysicalType::int32;
  format::Codec codec = format::Codec::uncompressed;
  std::uint64_t values = 0;  // nulls included
  std::uint64_t begin = 0;   // of its first page in the file
  std::uint64_t end = 0;
  std::string problem;  // why it cannot be read; empty: it can
};

class Footer {
 public:
  // Fails if the file is no whole Parquet file: the message says why, without the file's name.
  [[nodiscard]] static Result<Footer> read(RandomBytes& bytes);

  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }  // [0] is the whole row
  [[nodiscard]] const Field& root() const noexcept { return fields_.front(); }
  [[nodiscard]] const std::vector<std::uint32_t>& columns() const noexcept { return columns_; }  // in fields(), by leaf
  [[nodiscard]] std::string path_of(std::uint32_t leaf) const { return paths_[leaf]; }           // "a.list.element"
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] const std::string& created_by() const noexcept { return created_by_; }

  [[nodiscard]] std::size_t group_count() const noexcept { return groups_.size(); }
  [[nodiscard]] std::uint64_t rows_of(std::size_t group) const noexcept { return groups_[group].rows; }
  // One place per column. Fails if the group has not as many.
  [[nodiscard]] Result<std::vector<ColumnChunkPlace>> chunks_of(std::size_t group) const;

 private:
  struct Group {
    std::size_t begin = 0;  // in text_
    std::uint64_t rows = 0;
  };
  struct Element;  // of the schema, as it lies in the file
  class Planting;
  [[nodiscard]] Result<void> parse();

  std::string text_;  // the footer as it lies in the file
  std::uint64_t file_bytes_ = 0;
  std::vector<Field> fields_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::string> paths_;
  std::vector<Group> groups_;
  std::uint64_t rows_ = 0;
  std::string created_by_;
};

}  // namespace accelscope::capture::sources::parquet
