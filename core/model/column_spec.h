// Schemas as tables of constants: what a source says of its columns, without code.
//
//   using namespace columns;  // kInt, kString ... kTiming, kIds ...
//   constexpr ColumnSpec kCopy[] = {
//       {"bytes", kInt, "B", kMemory, "Bytes", "Bytes moved.", Role::bytes, true},
//       {"device", kInt, "", kIds, "Device", "Number of the device."},
//   };
//   Schema copies = make_schema({"memcpy", EventKind::slice, "operation", "What moves the bytes."}, kCopy);
//   Schema waits = make_schema({"wait", EventKind::slice}, {{"reason", kString, "", kDetails, "Why", "What for."}});
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/model/schema.h"

namespace accelscope {

// The fields of Column, in its order.
struct ColumnSpec {
  std::string_view name;
  ColumnType type = ColumnType::int64;
  Unit unit = Unit::none;
  std::string_view group = {};
  std::string_view title = {};
  std::string_view explanation = {};
  Role role = Role::none;
  bool required = false;
};

struct SchemaSpec {
  std::string_view name;
  EventKind kind = EventKind::slice;
  std::string_view name_column = {};
  std::string_view name_explanation = {};
  std::span<const std::string_view> wait_names = {};
};

[[nodiscard]] Column make_column(const ColumnSpec& spec);
void append_columns(Schema& schema, std::span<const ColumnSpec> columns);
[[nodiscard]] Schema make_schema(const SchemaSpec& spec, std::span<const ColumnSpec> columns = {});
[[nodiscard]] inline Schema make_schema(const SchemaSpec& spec, std::initializer_list<ColumnSpec> columns) {
  return make_schema(spec, std::span(columns.begin(), columns.size()));
}

// What a column of the schema is called in tables of events, which have columns of their own first: "arg_name" where
// the event's own column has the name.
[[nodiscard]] std::string table_column_name(const Schema& schema, std::string_view column);
// What the event's name is called there: the vendor's word, unless it is that of another own column.
[[nodiscard]] std::string table_name_column(const Schema& schema);

// Words of such tables: types, and the headings in Details that sources share.
namespace columns {

inline constexpr auto kInt = ColumnType::int64;
inline constexpr auto kUnsigned = ColumnType::uint64;
inline constexpr auto kReal = ColumnType::float64;
inline constexpr auto kFlag = ColumnType::boolean;
inline constexpr auto kString = ColumnType::string;
inline constexpr auto kText = ColumnType::text;

inline constexpr std::string_view kTiming = "Timing";
inline constexpr std::string_view kOperation = "Operation";
inline constexpr std::string_view kMemory = "Memory";
inline constexpr std::string_view kTransfer = "Transfer";
inline constexpr std::string_view kLaunch = "Launch";
inline constexpr std::string_view kIds = "IDs";
inline constexpr std::string_view kSource = "Source";
inline constexpr std::string_view kLayerAndSource = "Layer & source";
inline constexpr std::string_view kDetails = "Details";

}  // namespace columns
}  // namespace accelscope
