// Turns the events of one chunk into rows of JSON. One writer per worker; used by json_tables.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/export/base/event_cells.h"
#include "core/export/json_tables.h"

namespace accelscope::exporting {

// What is known of a table's rows before the first one is read.
struct RowPlan {
  struct Field {
    std::size_t column = 0;
    ColumnType type = ColumnType::int64;
    JsonForm form = JsonForm::plain;
    bool always = false;
    std::string key;       // "\"pc\":"
    std::string last_key;  // of an extent
    std::size_t size_column = 0;
  };
  const Schema* schema = nullptr;
  TableJson form;
  bool has_form = false;
  std::string table;
  std::string name_key;  // "\"opcode\":"; empty: not written
  JsonForm name_form = JsonForm::plain;
  bool name_always = false;
  std::vector<Field> fields;
  std::optional<std::size_t> spliced;
  std::optional<std::size_t> end_column;  // the end as the source stated it, written in place of the event's
  bool timed = true;
  bool has_duration = true;
};

[[nodiscard]] RowPlan make_row_plan(const Schema& schema, const JsonForms& forms, std::string_view table);

// For every row, the events that it depends on.
using RowFlows = std::unordered_map<std::uint32_t, std::vector<std::pair<std::uint64_t, StringId>>>;

class RowWriter {
 public:
  RowWriter(const StringPool& strings, const JsonForms& forms) : strings_(strings), quoted_(strings), forms_(forms) {}

  // Appends the chunk's rows of its range to `out`, each followed by ",\n"; returns how many.
  // `place`: fields that all rows of the lane have, such as "\"track\":\"Tensor\",".
  std::uint64_t write(const ScannedChunk& chunk, const RowPlan& plan, const std::string& place, const RowFlows& flows,
                      std::string& out);
  [[nodiscard]] std::uint64_t flows() const noexcept { return flows_written_; }

 private:
  void write_row(const ScannedChunk& chunk, const RowPlan& plan, const ScannedBlock& block, std::uint32_t index,
                 std::string& out);
  void write_times(const ScannedChunk& chunk, const RowPlan& plan, const ScannedBlock& block, std::uint32_t index,
                   std::string& out);
  // A column's values of one block.
  struct Unpacked {
    std::uint64_t valid = 0;
    std::array<std::uint64_t, kBlockEvents> stored{};
  };
  void unpack(const ScannedChunk& chunk, const RowPlan& plan, std::uint32_t block);
  void write_field(const ScannedChunk& chunk, const RowPlan::Field& field, const Unpacked& unpacked, std::uint32_t row,
                   std::string& out);
  void write_extent(const ScannedChunk& chunk, const RowPlan::Field& field, std::uint32_t row, std::string& out) const;
  void write_text(std::string& out, std::string_view text, JsonForm form);

  const StringPool& strings_;
  JsonStrings quoted_;
  const JsonForms& forms_;
  std::vector<Unpacked> unpacked_;  // by the plan's fields
  std::uint64_t flows_written_ = 0;
};

}  // namespace accelscope::exporting
