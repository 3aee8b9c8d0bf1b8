// The rows of a table, read on a thread of their own while those before them are used: half of the work of an import of
// a database is reading it. Otherwise as ForeignRows.
//
//   RowsAhead rows(file, "GPU_METRICS", columns);
//   while (const BatchedRow* row = rows.next()) { row->integer(0) ... }
//   if (!rows.status()) ...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/batches_ahead.h"
#include "capture/sources/sqlite/id_rows.h"

namespace accelscope::capture::sources::sqlite {

struct BatchedValue {
  std::uint64_t number = 0;  // an integer, the bits of a real number, or where the text or blob begins in the batch
  std::uint32_t size = 0;
  SqlType type = SqlType::null;
};

struct RowBatch {
  std::vector<BatchedValue> values;  // a row after the other
  std::string bytes;
  std::size_t rows = 0;
};

// As ForeignRows has them.
class BatchedRow {
 public:
  [[nodiscard]] bool has(std::size_t column) const noexcept { return values_[column].type != SqlType::null; }
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t column) const noexcept {
    if (values_[column].type != SqlType::integer) return std::nullopt;
    return static_cast<std::int64_t>(values_[column].number);
  }
  [[nodiscard]] std::int64_t integer(std::size_t column) const;
  [[nodiscard]] double real(std::size_t column) const;
  [[nodiscard]] std::string_view text(std::size_t column) const noexcept;  // "" of numbers
  [[nodiscard]] ByteView blob(std::size_t column) const noexcept;
  [[nodiscard]] bool has_column(std::size_t column) const noexcept { return present_[column]; }

 private:
  friend class RowsAhead;
  const BatchedValue* values_ = nullptr;
  const RowBatch* batch_ = nullptr;
  std::vector<bool> present_;
};

class RowsAhead {
 public:
  // Nobody else may use the connection while the object lives.
  RowsAhead(const ForeignDatabase& file, std::string_view table, std::span<const std::string_view> columns,
            std::string_view further = {});
  // Those of an IdRows, over damaged pages too.
  RowsAhead(std::unique_ptr<IdRows> rows, std::size_t columns);

  // Until the next call. Null at the end, and where reading fails: see status().
  [[nodiscard]] const BatchedRow* next();
  [[nodiscard]] const Result<void>& status() const noexcept { return status_; }
  // Once next() has given null: what the IdRows say of damaged pages.
  [[nodiscard]] const IdRows& id_rows() const noexcept { return *ids_; }

 private:
  void begin();
  [[nodiscard]] const ForeignRows& rows() const { return ids_ != nullptr ? ids_->rows() : *source_; }
  [[nodiscard]] bool advance() { return ids_ != nullptr ? ids_->next() : source_->next(); }
  [[nodiscard]] bool fill(RowBatch& batch);
  void take_row(const ForeignRows& rows, RowBatch& batch);

  std::size_t columns_;
  std::unique_ptr<IdRows> ids_;  // null: source_ has the rows
  Result<ForeignRows> source_;
  Result<void> status_;  // once the reader has ended
  const RowBatch* current_ = nullptr;
  std::size_t place_ = 0;
  BatchedRow row_;
  std::string repaired_;
  std::unique_ptr<BatchesAhead<RowBatch>> batches_;  // null: there is nothing to read
};

}  // namespace accelscope::capture::sources::sqlite
