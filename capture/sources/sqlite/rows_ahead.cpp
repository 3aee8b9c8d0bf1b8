#include "capture/sources/sqlite/rows_ahead.h"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace accelscope::capture::sources::sqlite {
namespace {

constexpr std::size_t kBatchRows = 2048;
constexpr std::size_t kBatchBytes = 1U << 20;  // of texts and blobs

}  // namespace

std::int64_t BatchedRow::integer(std::size_t column) const {
  const BatchedValue& value = values_[column];
  if (value.type == SqlType::integer) return static_cast<std::int64_t>(value.number);
  if (value.type == SqlType::real) {
    const double number = std::bit_cast<double>(value.number);
    constexpr double kLimit = 9.2e18;
    return number > -kLimit && number < kLimit ? static_cast<std::int64_t>(number) : 0;
  }
  const std::string_view digits = text(column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

double BatchedRow::real(std::size_t column) const {
  const BatchedValue& value = values_[column];
  if (value.type == SqlType::real) return std::bit_cast<double>(value.number);
  if (value.type == SqlType::integer) return static_cast<double>(static_cast<std::int64_t>(value.number));
  return std::strtod(std::string(text(column)).c_str(), nullptr);
}

std::string_view BatchedRow::text(std::size_t column) const noexcept {
  const BatchedValue& value = values_[column];
  if (value.type != SqlType::text && value.type != SqlType::blob) return {};
  return std::string_view(batch_->bytes).substr(value.number, value.size);
}

ByteView BatchedRow::blob(std::size_t column) const noexcept {
  const std::string_view bytes = text(column);
  return std::as_bytes(std::span(bytes));
}

RowsAhead::RowsAhead(const ForeignDatabase& file, std::string_view table, std::span<const std::string_view> columns,
                     std::string_view further)
    : columns_(columns.size()), source_(file.rows(table, columns, further)) {
  if (!source_) {
    status_ = source_.error();
    return;
  }
  begin();
}

RowsAhead::RowsAhead(std::unique_ptr<IdRows> rows, std::size_t columns)
    : columns_(columns), ids_(std::move(rows)), source_(ForeignRows()) {
  begin();
}

void RowsAhead::begin() {
  for (std::size_t i = 0; i < columns_; ++i) row_.present_.push_back(rows().has_column(i));
  batches_ = std::make_unique<BatchesAhead<RowBatch>>([this](RowBatch& batch) { return fill(batch); });
}

void RowsAhead::take_row(const ForeignRows& rows, RowBatch& batch) {
  for (std::size_t i = 0; i < columns_; ++i) {
    const StatementValue read = rows.value(i);
    BatchedValue& value = batch.values.emplace_back();
    value.type = read.type;
    if (read.type == SqlType::integer) {
      value.number = static_cast<std::uint64_t>(read.integer);
    } else if (read.type == SqlType::real) {
      value.number = std::bit_cast<std::uint64_t>(read.real);
    } else if (read.type != SqlType::null) {
      const std::string_view bytes = read.type == SqlType::text ? valid_text(read.bytes, repaired_) : read.bytes;
      value.number = batch.bytes.size();
      value.size = static_cast<std::uint32_t>(bytes.size());
      batch.bytes.append(bytes);
    }
  }
  ++batch.rows;
}

bool RowsAhead::fill(RowBatch& batch) {
  batch.values.clear();
  batch.bytes.clear();
  batch.rows = 0;
  while (batch.rows < kBatchRows && batch.bytes.size() < kBatchBytes) {
    if (!advance()) {
      status_ = rows().status();
      return false;
    }
    take_row(rows(), batch);
  }
  return true;
}

const BatchedRow* RowsAhead::next() {
  while (current_ == nullptr || place_ == current_->rows) {
    current_ = batches_ == nullptr ? nullptr : batches_->next();
    if (current_ == nullptr) return nullptr;
    place_ = 0;
    row_.batch_ = current_;
  }
  row_.values_ = current_->values.data() + place_++ * columns_;
  return &row_;
}

}  // namespace accelscope::capture::sources::sqlite
