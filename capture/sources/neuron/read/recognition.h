// Which tables and columns of a Parquet export are those that the rules know. What has its name of schema 7.4.0 is
// that; of the others, a table is recognised by its columns, and a column by what the profile says of it (its
// description, unit and values), its name's words, its type and its neighbours. Each guess has its reason. What is like
// two known ones alike is neither: it stays what it is called.
//
//   const ExportReading reading(stated, tables_in_files);
//   const TableReading* table = reading.find("EngineInstruction");  // table->known is "Instruction"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/neuron/read/profile_schema.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

// How one column is read.
struct FieldReading {
  FieldFacts facts;        // of the file, and what the profile says of it
  bool described = false;  // the profile says something of it
  std::string known;       // what the rules call it; its own name where they do not know it
  std::string reason;      // why it is that; "": it has its name
  double factor = 1;       // brings values to the known unit
  // A share that the profile calls percent without saying up to what: 7.4.0 has fractions of one there, and values that
  // no fraction has say otherwise.
  bool may_be_percent = false;
  bool is_percent_by_values = false;
  bool is_single = false;  // the known column holds no lists
  bool is_number = false;  // the known column holds numbers ...
  bool is_whole = false;   // ... without a fraction
  bool by_place = false;   // its numbers are places in facts.values
  bool opened = false;     // a record, of which members are known
};

struct TableReading {
  std::string name;    // of the files
  std::string known;   // what the rules call it; its own name where they do not know it
  std::string reason;  // why it is that; "": it has its name
  std::string description;
  std::vector<FieldReading> fields;
  std::vector<std::string> lacks;  // what makes events of rows, each with its known column: "begin (start_ts)"
  std::vector<std::string> gone;   // other known columns

  [[nodiscard]] bool is_known() const noexcept;
  [[nodiscard]] bool can_be_events() const noexcept { return lacks.empty(); }
};

class ExportReading {
 public:
  ExportReading() = default;
  ExportReading(const StatedSchema& stated, std::vector<TableFacts> in_files);

  [[nodiscard]] const TableReading* find(std::string_view table) const noexcept;        // by its name in the files
  [[nodiscard]] const TableReading* find_known(std::string_view table) const noexcept;  // by its known one
  [[nodiscard]] const std::vector<TableReading>& tables() const noexcept { return tables_; }
  // The shares of the table that may be percent are percent.
  void read_as_percent(std::string_view table);
  // "instruction" for "engine_instruction", as dependencies name tables, where that table was recognised as another.
  [[nodiscard]] std::string known_word(std::string_view table) const;

 private:
  std::vector<TableReading> tables_;
};

// Columns that the profile describes and `schema` has not, for `table`: typed, with their unit and description.
[[nodiscard]] std::vector<Column> described_columns(const TableReading& table);

}  // namespace accelscope::capture::sources::neuron
