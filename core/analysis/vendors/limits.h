// What a table of throttling says of its events: the share of cycles in which engines may work. An event that leaves
// all of them, 8 of 8, is no limit, whatever it is called.
#pragma once

#include <algorithm>
#include <optional>

#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"

namespace accelscope {

class LimitBlock {
 public:
  LimitBlock(const Schema& schema, const StringPool& strings) : strings_(strings) {
    for (const Vendor& vendor : vendors()) {
      column_ = vendor.limit_column.empty() ? std::nullopt : schema.find(vendor.limit_column);
      if (column_ && is_text(schema.columns[*column_].type)) column_.reset();
      if (!column_) continue;
      type_ = schema.columns[*column_].type;
      vendor_ = &vendor;
      return;
    }
  }
  [[nodiscard]] bool is_known() const noexcept { return column_.has_value(); }
  void read(BlockReader& reader) { values_ = reader.column(*column_, type_); }
  // 1: none is in force.
  [[nodiscard]] double at(std::uint32_t index, StringId name) const {
    if (!values_.has(index) || is_one_of(name, vendor_->no_limits)) return 1;
    return std::clamp(real_number(type_, values_.values[index]), 0.0, 1.0);
  }
  // It lasts until the engine has been busy for a while, and comes back after a pause.
  [[nodiscard]] bool warms_up(StringId name) const { return is_one_of(name, vendor_->warm_up_limits); }

 private:
  [[nodiscard]] bool is_one_of(StringId name, std::span<const std::string_view> names) const {
    return std::find(names.begin(), names.end(), strings_.text(name)) != names.end();
  }

  const StringPool& strings_;
  const Vendor* vendor_ = nullptr;
  std::optional<std::size_t> column_;
  ColumnType type_{};
  BlockValues values_;
};

}  // namespace accelscope
