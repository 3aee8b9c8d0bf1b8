#include "core/analysis/neuron/facts/matmul_work.h"

namespace accelscope::neuron {

bool MatmulWork::has_work(const LaneSnapshot& lane) {
  return lane.schema && lane.schema->name == "instruction" &&
         (lane.schema->find("elements") || lane.schema->find("raw_flops"));
}

MatmulWork::MatmulWork(const LaneSnapshot& lane, const StringPool& pool)
    : matmul_(pool.find("MATMUL")), transpose_(pool.find("TRANSPOSE")) {
  const Schema& schema = *lane.schema;
  const auto find = [&](Number& number, std::string_view name) {
    number.column = schema.find(name);
    if (number.column) number.type = schema.columns[*number.column].type;
  };
  find(elements_, "elements");
  find(raw_flops_, "raw_flops");
  const auto type = schema.find("instruction_type");
  if (type && schema.columns[*type].type == ColumnType::string) type_column_ = type;
}

void MatmulWork::read(BlockReader& reader) {
  names_ = reader.names();
  for (Number* number : {&elements_, &raw_flops_}) {
    if (number->column) number->values.read(reader, *number->column, number->type);
  }
  types_ = type_column_ ? reader.column(*type_column_, ColumnType::string) : BlockValues{};
}

bool MatmulWork::transposes(std::uint32_t index) const noexcept {
  if (transpose_ == kNone) return false;
  if (names_[index] == transpose_) return true;
  return matmul_ != kNone && names_[index] == matmul_ && types_.has(index) && types_.values[index] == transpose_;
}

double MatmulWork::operator[](std::uint32_t index) const noexcept {
  if (matmul_ == kNone || names_[index] != matmul_) return 0;
  if (transpose_ != kNone && types_.has(index) && types_.values[index] == transpose_) return 0;
  const std::int64_t elements = elements_.at(index);
  return static_cast<double>(elements != 0 ? 2 * elements : raw_flops_.at(index));
}

}  // namespace accelscope::neuron
