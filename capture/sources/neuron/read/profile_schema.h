// What the tables and columns of a profile are: as the profile says itself in its table SchemaFields, and as schema
// 7.4.0 has them, whose names are those that the rules for rows know (table_rules.h). Which of the one is which of the
// other: recognition.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources::neuron {

enum class ValueKind : std::uint8_t { unknown, integer, real, text, truth, nested };

struct FieldFacts {
  std::string name;
  std::string record;  // the column of records that it is a member of; "": it is a column
  ValueKind kind = ValueKind::unknown;
  std::string unit;  // as stated: "nanoseconds"; "": none
  bool required = false;
  std::string description;
  std::optional<double> maximum;
  std::vector<std::string> values;  // of an enumeration, in its order
  bool is_itself = false;           // it is what it is called, and nothing else is guessed of it
};

struct TableFacts {
  std::string name;
  std::string description;
  std::vector<FieldFacts> fields;

  [[nodiscard]] const FieldFacts* find(std::string_view field) const noexcept;
};

// Of a list of tables; nothing if it is not among them.
[[nodiscard]] const TableFacts* find_table(std::span<const TableFacts> tables, std::string_view name) noexcept;

// Schema 7.4.0: every table that an export may hold. Descriptions are those of table_rules.h, where a column has one.
[[nodiscard]] const std::vector<TableFacts>& known_schema();
inline constexpr std::string_view kKnownSchemaVersion = "7.4.0";
inline constexpr std::string_view kSchemaTable = "SchemaFields";

// The tables that rows of SchemaFields describe.
class StatedSchema {
 public:
  void add(std::span<const json::JsonField> row);
  [[nodiscard]] const std::vector<TableFacts>& tables() const noexcept { return tables_; }

 private:
  std::vector<TableFacts> tables_;
};

// A unit as a quantity and how much of its base one is: "milliseconds" is time and 1e6, for times are ns here.
struct UnitFacts {
  enum class Quantity : std::uint8_t { none, time, bytes, rate, frequency, share } quantity = Quantity::none;
  double factor = 1;  // ns, bytes, bytes per second, Hz, one
};
// Of "nanoseconds", "us", "MiB", "bytes_per_second", "gigahertz", "percent" ...; none if it is not one of these.
[[nodiscard]] UnitFacts unit_facts(std::string_view unit);

}  // namespace accelscope::capture::sources::neuron
