// What kernels compute, by the operators that launched them.
#include <algorithm>
#include <bit>
#include <cmath>

#include "capture/sources/chrome/importer.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/names/collective_words.h"

namespace accelscope::capture::sources::chrome {
namespace {

using tracks::KernelColumns;
using tracks::KernelPart;

// Of collective_columns().
enum CollectiveColumn : std::uint32_t { kInElements = 1, kOutElements = 2, kElementType = 4 };

[[nodiscard]] std::uint64_t value_in(std::span<const BoundValue> values, std::optional<std::uint32_t> column) noexcept {
  if (!column) return 0;
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const BoundValue& value) { return value.column == *column; });
  return found == values.end() ? 0 : found->value;
}

// "all_reduce" of "nccl:all_reduce fp32 [1000], ...": kernels of one name carry several operations out.
[[nodiscard]] std::string_view operation_of(std::string_view basis) noexcept {
  constexpr std::string_view kCollective = "nccl:";
  if (!basis.starts_with(kCollective)) return {};
  basis.remove_prefix(kCollective.size());
  return basis.substr(0, basis.find(' '));
}

}  // namespace

void ChromeImporter::note_work(const EventRecord& record, std::uint32_t track, std::int64_t duration,
                               std::vector<BoundValue>& values) {
  switch (record.table) {
    case ChromeTable::cpu_op:
    case ChromeTable::user_annotation:
      return note_operator(record, duration, values);
    case ChromeTable::runtime_call: {
      const std::uint64_t correlation = value_in(values, tracks::RuntimeColumns::correlation);
      if (correlation != 0) work_.add_call(correlation, record.thread, record.start);
      return;
    }
    case ChromeTable::kernel:
      break;
    default:
      return;
  }
  if (value_in(values, KernelColumns::flops) != 0 || value_in(values, KernelColumns::bytes) != 0) return;  // stated
  const std::string_view name = vocabulary_.strings.text(record.name);
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  const bool is_collective = tracks::is_collective_kernel(name);
  if (is_collective) {
    const auto fact = [&](CollectiveColumn which) { return value_in(values, binding.collective + which); };
    const std::uint64_t elements = std::max(fact(kInElements), fact(kOutElements));
    const std::uint64_t size = element_bytes(vocabulary_.strings.text(static_cast<StringId>(fact(kElementType))));
    constexpr std::uint64_t kMostElements = std::uint64_t{1} << 50;
    if (elements > 0 && elements < kMostElements && size > 0) {
      values.push_back({KernelColumns::bytes, 0, elements * size});
      return;
    }
  }
  const auto [known, is_new] = parts_.try_emplace(record.name, KernelPart::main);
  if (is_new && !is_collective) known->second = tracks::part_of_kernel(name);
  if (known->second == KernelPart::helper) return;
  if (std::find(kernel_tracks_.rbegin(), kernel_tracks_.rend(), track) == kernel_tracks_.rend())
    kernel_tracks_.push_back(track);
  const auto told = work_.add_kernel({.track = track,
                                      .begin = record.start,
                                      .duration = duration,
                                      .name = record.name,
                                      .grid = static_cast<StringId>(value_in(values, KernelColumns::grid)),
                                      .block = static_cast<StringId>(value_in(values, KernelColumns::block)),
                                      .correlation = value_in(values, KernelColumns::correlation),
                                      .external_id = value_in(values, KernelColumns::external_id),
                                      .part = known->second});
  if (!told) return;
  if (told->flops > 0) values.push_back({KernelColumns::flops, 0, std::bit_cast<std::uint64_t>(told->flops)});
  if (told->bytes > 0)
    values.push_back({KernelColumns::bytes, 0, static_cast<std::uint64_t>(std::llround(told->bytes))});
  if (told->type != 0) values.push_back({KernelColumns::precision, 0, told->type});
  values.push_back({KernelColumns::work_from, 0, told->basis});
  if (const std::string_view operation = operation_of(vocabulary_.strings.text(told->basis)); !operation.empty())
    values.push_back({binding.collective, 0, vocabulary_.strings.intern(operation).id});
}

void ChromeImporter::note_operator(const EventRecord& record, std::int64_t duration,
                                   std::span<const BoundValue> values) {
  const auto [known, is_new] = may_have_work_.try_emplace(record.name, false);
  if (is_new) known->second = tracks::may_have_work(vocabulary_.strings.text(record.name));
  if (!known->second) return;
  const TableBinding& binding = *bindings_[static_cast<std::size_t>(record.table)];
  const tracks::KernelWork::Operator* work = work_of(binding, record, values);
  if (work == nullptr) return;
  tracks::KernelWork::Operator made = *work;
  made.thread = record.thread;
  made.begin = record.start;
  made.end = record.start + duration;
  made.external_id = value_in(values, binding.column_of("External id"));
  work_.add_operator(made);
}

// Operators of one name, shapes and types are read once. Null: they do not tell.
const tracks::KernelWork::Operator* ChromeImporter::work_of(const TableBinding& binding, const EventRecord& record,
                                                            std::span<const BoundValue> values) {
  const auto text = [&](std::string_view column) {
    const std::optional<std::uint32_t> place = binding.column_of(column);
    const bool is_string = place && binding.schema().columns[*place].type == ColumnType::string;
    return is_string ? static_cast<StringId>(value_in(values, place)) : StringId{0};
  };
  const std::array<StringId, 4> key = {record.name, text("Input Dims"), text("Input type"), text("Concrete Inputs")};
  if (key[1] == 0) return nullptr;
  const auto [known, is_new] = works_.try_emplace(key);
  if (is_new) {
    const SharedStrings& strings = vocabulary_.strings;
    if (const auto work = tracks::operator_work(strings.text(key[0]), strings.text(key[1]), strings.text(key[2]),
                                                strings.text(key[3]))) {
      tracks::KernelWork::Operator& made = known->second;
      made.kind = work->kind;
      made.flops = work->flops;
      made.bytes = work->bytes;
      if (!work->type.empty()) made.type = vocabulary_.strings.intern(work->type).id;
      made.basis = vocabulary_.strings.intern(work->basis).id;
    }
  }
  return known->second.basis == 0 ? nullptr : &known->second;
}

void ChromeImporter::amend_kernels() {
  work_.join();
  for (const std::uint32_t track : kernel_tracks_) {
    if (!work_.has(track)) continue;
    events_.amend(track, [this, track](std::int64_t start, StringId name, Row& row) {
      const tracks::KernelWork::Found* work = work_.find(track, start, name);
      if (work == nullptr) return;
      if (work->flops > 0) row.real(KernelColumns::flops, work->flops);
      if (work->bytes > 0) row.integer(KernelColumns::bytes, std::llround(work->bytes));
      if (work->type != 0) row.unsigned_integer(KernelColumns::precision, work->type);
      row.unsigned_integer(KernelColumns::work_from, work->basis);
      if (const std::string_view operation = operation_of(vocabulary_.strings.text(work->basis)); !operation.empty())
        row.unsigned_integer(bindings_[static_cast<std::size_t>(ChromeTable::kernel)]->collective,
                             vocabulary_.strings.intern(operation).id);
    });
  }
}

}  // namespace accelscope::capture::sources::chrome
