#include "core/analysis/neuron/facts/matmul_work.h"

namespace accelscope::neuron {

bool MatmulWork::has_work(const LaneSnapshot& lane) {
  return lane.schema && lane.schema->name == "instruction" &&
         (lane.schema->find("elements") || lane.schema->find("raw_flops"));
}

MatmulWork::MatmulWork(const LaneSnapshot& lane, const ChunkView& view, const StringMap& strings,
                       const StringPool& pool)
    : lane_(lane), view_(view), strings_(strings), matmul_(pool.find("MATMUL")), transpose_(pool.find("TRANSPOSE")) {
  find(elements_, "elements");
  find(raw_flops_, "raw_flops");
  const auto type = lane.schema->find("instruction_type");
  if (type && *type < view.column_count() && lane.schema->columns[*type].type == ColumnType::string) {
    type_column_ = type;
  }
}

void MatmulWork::find(Number& number, std::string_view name) const {
  number.column = lane_.schema->find(name);
  if (number.column) number.type = lane_.schema->columns[*number.column].type;
}

void MatmulWork::read(std::uint32_t block) noexcept {
  view_.names(block, names_);
  for (Number* number : {&elements_, &raw_flops_}) {
    if (number->column) number->values.read(view_, *number->column, number->type, block);
  }
  type_valid_ = type_column_ ? view_.validity(*type_column_, block) : 0;
  if (type_valid_ != 0) view_.values(*type_column_, block, types_);
}

double MatmulWork::operator[](std::uint32_t index) const noexcept {
  if (matmul_ == kNone || strings_[names_[index]] != matmul_) return 0;
  const bool has_type = (type_valid_ >> index & 1) != 0;
  if (transpose_ != kNone && has_type && strings_[types_[index]] == transpose_) return 0;
  const std::int64_t elements = elements_.at(index);
  return static_cast<double>(elements != 0 ? 2 * elements : raw_flops_.at(index));
}

}  // namespace accelscope::neuron
