// A small Neuron profile as tables of Parquet under schema 7.4.0, and what later schemas may make of it: tables and
// columns under other names, of other types, in other units, nested, packed otherwise, gone or new - with a table
// SchemaFields that says so. Descriptions are the generator's own, so that nothing is recognised by the words of its
// reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/parquet/parquet_writer.h"

namespace accelscope::test {

struct ProfileColumn {
  std::string name;
  std::string type;  // in the words of SchemaFields: "integer", "number", "string", "boolean", "array"
  std::string unit;
  std::string description;
  std::vector<ParquetColumn::Value> values;
  bool required = false;
  std::vector<std::string> choices = {};  // of an enumeration
  std::optional<double> maximum = {};
  std::string record = {};  // it is a member of
  ParquetType stored = kParquetInt64;
  ParquetEncoding encoding = kPlain;
};

struct ProfileTable {
  std::string name;
  std::string description;
  std::vector<ProfileColumn> columns;
  std::size_t parts = 1;

  [[nodiscard]] ProfileColumn* find(const std::string& column);
  [[nodiscard]] bool has(const std::string& column) const;
};

struct Profile {
  std::vector<ProfileTable> tables;
  ParquetLayout layout;

  [[nodiscard]] ProfileTable* find(const std::string& table);
};

// One thing that is not as in 7.4.0. `table` and `column` are the names there; "": all of them, or new ones.
struct SchemaChange {
  std::string kind;  // "column renamed"
  std::string table;
  std::string column;
  std::string now;  // new name, unit or type
};

struct Evolution {
  Profile profile;
  std::vector<SchemaChange> changes;
};

[[nodiscard]] const std::vector<std::string>& kinds_of_change();
[[nodiscard]] Profile profile_of_7_4_0();
// The same seed gives the same one.
[[nodiscard]] Evolution evolved(const Profile& profile, std::uint64_t seed);
void write_profile(const Profile& profile, const std::filesystem::path& folder);

}  // namespace accelscope::test
