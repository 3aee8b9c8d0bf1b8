#include "core/sql/virtual/row_table.h"

#include <algorithm>
#include <map>
#include <utility>

namespace accelscope::sql {
namespace {

using KeyIndex = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // key and row, sorted

// Either all rows, or those of a range of an index.
class RowCursor final : public VirtualCursor {
 public:
  explicit RowCursor(class RowTable& table) : table_(table) {}
  int filter(int key_column, const char* plan, std::span<sqlite3_value*> values) override;
  int next() override {
    ++position_;
    return SQLITE_OK;
  }
  [[nodiscard]] bool at_end() const override { return position_ >= end_; }
  void column(sqlite3_context* context, int column) override {
    rows_->result(context, row(), static_cast<std::size_t>(column));
  }
  int row_id(sqlite3_int64& id) override {
    id = static_cast<sqlite3_int64>(row());
    return SQLITE_OK;
  }

 private:
  [[nodiscard]] std::size_t row() const { return index_ == nullptr ? position_ : (*index_)[position_].second; }
  RowTable& table_;
  std::shared_ptr<const Rows> rows_;
  const KeyIndex* index_ = nullptr;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
};

class RowTable final : public VirtualTable {
 public:
  RowTable(Context& context, const RowTableSpec& spec, std::shared_ptr<const Rows> rows)
      : context_(context), spec_(spec), columns_(rows ? rows->columns() : spec.columns), rows_(std::move(rows)) {}
  [[nodiscard]] std::string declaration() const override {
    Declaration declaration;
    for (const RowColumn& column : columns_) declaration.add(column.name, column.type, column.hidden);
    return declaration.text();
  }
  // idxNum: the key column plus one whose value is given, or 0.
  int best_index(sqlite3_index_info& info) override {
    const auto rows = static_cast<double>(spec_.row_estimate + 1);
    info.estimatedCost = rows + 10;
    info.estimatedRows = static_cast<sqlite3_int64>(rows);
    for (int i = 0; i < info.nConstraint && info.idxNum == 0; ++i) {
      const auto& constraint = info.aConstraint[i];
      if (constraint.usable == 0 || constraint.iColumn < 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (!columns_[static_cast<std::size_t>(constraint.iColumn)].key) continue;
      info.aConstraintUsage[i].argvIndex = 1;
      info.idxNum = constraint.iColumn + 1;
      info.estimatedCost = 10;
      info.estimatedRows = 2;
    }
    return SQLITE_OK;
  }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override { return std::make_unique<RowCursor>(*this); }
  [[nodiscard]] std::string failure() const override { return context_.failure; }

  // Makes the rows if there are none yet.
  int load(std::shared_ptr<const Rows>& rows) {
    if (rows_ == nullptr || spec_.changes) {
      auto made = spec_.make(context_);
      if (!made) return context_.fail(made.message());
      rows_ = std::move(*made);
      indexes_.clear();
    }
    rows = rows_;
    return SQLITE_OK;
  }
  const KeyIndex& index(std::size_t column) {
    const auto [place, added] = indexes_.try_emplace(column);
    if (added) {
      place->second.reserve(rows_->size());
      for (std::size_t row = 0; row < rows_->size(); ++row) {
        place->second.emplace_back(rows_->key(row, column), static_cast<std::uint32_t>(row));
      }
      std::sort(place->second.begin(), place->second.end());
    }
    return place->second;
  }

 private:
  Context& context_;
  const RowTableSpec& spec_;
  std::vector<RowColumn> columns_;
  std::shared_ptr<const Rows> rows_;
  std::map<std::size_t, KeyIndex> indexes_;
};

int RowCursor::filter(int key_column, const char*, std::span<sqlite3_value*> values) {
  if (const int code = table_.load(rows_); code != SQLITE_OK) return code;
  index_ = nullptr;
  position_ = 0;
  end_ = rows_->size();
  if (key_column == 0) return SQLITE_OK;
  if (sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER) {
    index_ = &table_.index(static_cast<std::size_t>(key_column - 1));
    const std::int64_t key = sqlite3_value_int64(values[0]);
    const auto first = std::lower_bound(index_->begin(), index_->end(), std::pair(key, std::uint32_t{0}));
    const auto last = std::upper_bound(first, index_->end(), std::pair(key, ~std::uint32_t{0}));
    position_ = static_cast<std::size_t>(first - index_->begin());
    end_ = static_cast<std::size_t>(last - index_->begin());
  } else if (sqlite3_value_type(values[0]) != SQLITE_FLOAT) {  // rare: SQLite compares each row
    end_ = 0;
  }
  return SQLITE_OK;
}

}  // namespace

void ValueRows::result(sqlite3_context* context, std::size_t row, std::size_t column) const {
  const listing::SqlValue& value = cells_[row * columns_ + column];
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return sqlite3_result_int64(context, *integer);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_result_double(context, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return result_text(context, *text);
  sqlite3_result_null(context);
}

std::int64_t ValueRows::key(std::size_t row, std::size_t column) const {
  const auto* integer = std::get_if<std::int64_t>(&cells_[row * columns_ + column]);
  return integer == nullptr ? 0 : *integer;
}

Result<std::unique_ptr<VirtualTable>> make_row_table(Context& context, const RowTableSpec& spec) {
  std::shared_ptr<const Rows> rows;
  if (spec.varies) {
    auto made = TRY(spec.make(context));
    rows = std::move(made);
  }
  return std::unique_ptr<VirtualTable>(std::make_unique<RowTable>(context, spec, std::move(rows)));
}

}  // namespace accelscope::sql
