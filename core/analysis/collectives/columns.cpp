#include "core/analysis/collectives/columns.h"

#include <array>
#include <string_view>

namespace accelscope {
namespace {

constexpr std::array<std::string_view, 2> kByteColumns = {"input_size", "output_size"};
constexpr std::array<std::string_view, 2> kElementColumns = {"In msg nelems", "Out msg nelems"};
constexpr std::array<std::string_view, 1> kTypeColumns = {"dtype"};
constexpr std::array<std::string_view, 2> kGroupColumns = {"replica_group", "Process Group Ranks"};
constexpr std::array<std::string_view, 1> kGroupSizeColumns = {"Group size"};
constexpr std::array<std::string_view, 1> kAlgorithmColumns = {"algorithm"};
constexpr std::array<std::string_view, 1> kOperationColumns = {"Collective name"};
constexpr std::array<std::string_view, 2> kIdColumns = {"op_id", "Seq"};

template <std::size_t Size>
[[nodiscard]] std::optional<std::size_t> first_of(const Schema& schema,
                                                  const std::array<std::string_view, Size>& names) {
  for (const std::string_view name : names) {
    if (const auto found = schema.find(name)) return found;
  }
  return std::nullopt;
}

template <std::size_t Size>
[[nodiscard]] std::vector<std::size_t> all_of(const Schema& schema, const std::array<std::string_view, Size>& names) {
  std::vector<std::size_t> columns;
  for (const std::string_view name : names) {
    if (const auto found = schema.find(name)) columns.push_back(*found);
  }
  return columns;
}

}  // namespace

CollectiveColumns::CollectiveColumns(const Schema& schema)
    : wait(schema.find(Role::wait_ns)),
      bytes(all_of(schema, kByteColumns)),
      elements(all_of(schema, kElementColumns)),
      type(first_of(schema, kTypeColumns)),
      group(first_of(schema, kGroupColumns)),
      group_size(first_of(schema, kGroupSizeColumns)),
      algorithm(first_of(schema, kAlgorithmColumns)),
      operation(first_of(schema, kOperationColumns)),
      id(first_of(schema, kIdColumns)) {
  if (!bytes.empty()) elements.clear();
  if (bytes.empty()) {
    if (const auto moved = schema.find(Role::bytes)) bytes.push_back(*moved);
  }
}

}  // namespace accelscope
