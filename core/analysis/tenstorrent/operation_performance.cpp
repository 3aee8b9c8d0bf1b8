#include "core/analysis/tenstorrent/operation_performance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/base/capped.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis::tenstorrent {
namespace {

constexpr double kBound = 0.65;
constexpr double kLongGapNs = 6'500;

constexpr std::string_view kOperations = "op";

// The values of an operation by the names of their columns.
class OperationCells {
 public:
  explicit OperationCells(const EventRecord& record) : record_(record) {}
  [[nodiscard]] std::string_view name() const noexcept { return record_.name_text; }
  [[nodiscard]] std::string text(std::string_view column) const {
    const FieldValue* value = field(column);
    const auto* found = value == nullptr ? nullptr : std::get_if<std::string>(value);
    if (found != nullptr) return *found;
    const auto whole = integer(column);
    return whole ? fmt::format("{}", *whole) : std::string();
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view column) const {
    const FieldValue* value = field(column);
    if (value == nullptr) return std::nullopt;
    if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<std::int64_t>(*number);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> real(std::string_view column) const {
    const FieldValue* value = field(column);
    const auto* number = value == nullptr ? nullptr : std::get_if<double>(value);
    if (number != nullptr) return *number;
    const auto whole = integer(column);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
  }

 private:
  [[nodiscard]] const FieldValue* field(std::string_view column) const {
    const auto place = record_.lane->schema->find(column);
    return place && *place < record_.fields.size() ? &record_.fields[*place] : nullptr;
  }
  const EventRecord& record_;
};

struct ChipRow {
  std::string_view arch;
  ChipPeaks peaks;
};
// Wormhole: 262 TFLOP/s of LoFi over 72 cores; blackhole: 4096 operations a cycle and core at 1.35 GHz.
constexpr std::array kChips = {
    ChipRow{"wormhole", {288e9, 262e12 / 72}},
    ChipRow{"blackhole", {512e9, 4096 * 1.35e9}},
};

struct DataSize {
  std::string_view type;
  double bytes;
};
// Block formats share an exponent among 16 numbers, which the makers' tool does not count.
constexpr std::array kDataSizes = {DataSize{"BFLOAT16", 2}, DataSize{"BFLOAT8_B", 1}, DataSize{"BFLOAT4_B", 0.5},
                                   DataSize{"FLOAT32", 4},  DataSize{"UINT32", 4},    DataSize{"INT32", 4},
                                   DataSize{"UINT16", 2},   DataSize{"UINT8", 1}};

[[nodiscard]] double bytes_of_type(std::string_view type) noexcept {
  const auto found = std::ranges::find_if(kDataSizes, [&](const DataSize& size) { return size.type == type; });
  return found == kDataSizes.end() ? 0 : found->bytes;
}

// 32 of "32[19]": the padded extent, which is what is computed.
[[nodiscard]] std::int64_t extent(const OperationCells& op, std::string_view tensor, char axis) {
  for (const char* suffix : {"_PAD[LOGICAL]", ""}) {
    const std::string text = op.text(fmt::format("{}_{}{}", tensor, axis, suffix));
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() && value > 0) return value;
  }
  return 0;
}

[[nodiscard]] double dram_bytes(const OperationCells& op, std::string_view tensor) {
  if (op.text(fmt::format("{}_MEMORY", tensor)).find("DRAM") == std::string::npos) return 0;
  double bytes = bytes_of_type(op.text(fmt::format("{}_DATATYPE", tensor)));
  for (const char axis : {'W', 'Z', 'Y', 'X'}) bytes *= static_cast<double>(extent(op, tensor, axis));
  return bytes;
}

[[nodiscard]] std::optional<MatmulWork> matmul_of(const OperationCells& op) {
  if (op.name().find("Matmul") == std::string_view::npos) return std::nullopt;
  MatmulWork work;
  work.batch = capped_product(std::max<std::int64_t>(1, extent(op, "INPUT_0", 'W')),
                              std::max<std::int64_t>(1, extent(op, "INPUT_0", 'Z')));
  work.m = extent(op, "INPUT_0", 'Y');
  work.k = extent(op, "INPUT_0", 'X');
  work.n = extent(op, "INPUT_1", 'X');
  if (work.m == 0 || work.k == 0 || work.n == 0) return std::nullopt;
  work.dram_bytes = dram_bytes(op, "INPUT_0") + dram_bytes(op, "INPUT_1") + dram_bytes(op, "OUTPUT_0");
  return work;
}

void add_advice(std::string& advice, std::string_view words) {
  advice += (advice.empty() ? "" : "; ") + std::string(words);
}

void judge_matmul(const OperationCells& op, const MatmulWork& work, double seconds, OperationPerformance& row) {
  row.name += fmt::format(" {} x {} x {}", work.m, work.k, work.n);
  row.dram_bytes_per_s = work.dram_bytes / seconds;
  row.flops_per_s = work.flops() / seconds;
  const std::optional<ChipPeaks> chip = chip_peaks(op.text("DEVICE ARCH"));
  const int passes = passes_of_fidelity(row.fidelity);
  if (!chip || passes == 0 || !row.cores || *row.cores <= 0) return;
  row.dram_share = *row.dram_bytes_per_s / chip->dram_bytes_per_s;
  row.flops_share = *row.flops_per_s / (chip->lofi_flops_per_core / passes * static_cast<double>(*row.cores));
  row.bound = bound_of(*row.dram_share, *row.flops_share);
  if (row.bound == "SLOW")
    add_advice(row.advice, "neither DRAM nor arithmetic is busy: try larger blocks or another program configuration");
  if (row.bound == "DRAM") add_advice(row.advice, "keep an operand in L1, or a smaller data type");
  if (row.bound == "FLOP" && passes > 1) add_advice(row.advice, "a lower math fidelity takes fewer passes");
}

[[nodiscard]] OperationPerformance row_of(const OperationCells& op, std::int64_t begin_ns) {
  OperationPerformance row;
  row.id = op.integer("GLOBAL CALL COUNT");
  row.name = op.name();
  row.cores = op.integer("CORE COUNT");
  row.fidelity = op.text("MATH FIDELITY");
  row.order = op.integer("HOST START TS").value_or(begin_ns);
  if (op.text("OP TYPE") == "python_fallback" || row.name.find("(torch)") != std::string::npos) {
    row.bound = "HOST";
    row.time_ns = op.real("HOST DURATION [ns]");
    add_advice(row.advice, "runs on the host: its tensors go there and back");
    return row;
  }
  row.device = op.integer("DEVICE ID");
  row.time_ns = op.real("DEVICE KERNEL DURATION [ns]");
  row.gap_ns = op.real("OP TO OP LATENCY [ns]");
  const std::optional<MatmulWork> work = matmul_of(op);
  if (work && row.time_ns && *row.time_ns > 0) judge_matmul(op, *work, *row.time_ns * 1e-9, row);
  if (row.gap_ns.value_or(0) > kLongGapNs)
    add_advice(row.advice, "a long gap before it: record a trace, or let the host run ahead");
  if (row.cores.value_or(kFewCores) < kFewCores) add_advice(row.advice, "few cores: a larger grid or another sharding");
  return row;
}

}  // namespace

std::optional<ChipPeaks> chip_peaks(std::string_view arch) noexcept {
  const auto chip = std::ranges::find_if(kChips, [&](const ChipRow& row) { return arch.starts_with(row.arch); });
  return chip == kChips.end() ? std::nullopt : std::optional(chip->peaks);
}

int passes_of_fidelity(std::string_view fidelity) noexcept {
  constexpr std::array<std::string_view, 5> kFidelities = {"", "LoFi", "HiFi2", "HiFi3", "HiFi4"};
  for (std::size_t i = 1; i < kFidelities.size(); ++i) {
    if (fidelity.ends_with(kFidelities[i])) return static_cast<int>(i);
  }
  return 0;
}

std::string_view bound_of(double dram_share, double flops_share) noexcept {
  const bool dram = dram_share >= kBound;
  const bool flops = flops_share >= kBound;
  return dram && flops ? "BOTH" : dram ? "DRAM" : flops ? "FLOP" : "SLOW";
}

Result<std::vector<OperationPerformance>> operation_performance(const QueryContext& query, const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (snapshot.lanes[lane].schema && snapshot.lanes[lane].schema->name == kOperations) lanes.push_back(lane);
  }
  std::vector<OperationPerformance> rows;
  if (lanes.empty()) return rows;
  auto events = gather(query, lanes, range, std::vector<EventId>(), [&](const ScannedChunk& chunk, auto& found) {
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) { found.push_back(block.id(i)); });
  });
  if (!events) return events.error();
  std::ranges::sort(*events);
  const TrackDevices devices(snapshot);
  EventReader reader(query.store, query.snapshot);
  for (const EventId event : *events) {
    if (query.control.cancelled()) return cancelled_error();
    const auto record = TRY(reader.read(event));
    OperationPerformance& row = rows.emplace_back(row_of(OperationCells(record), record.begin_ns));
    row.event = event;
    row.device_label = devices.label(devices.of_lane(static_cast<std::size_t>(record.lane - snapshot.lanes.data())));
  }
  std::ranges::stable_sort(rows, {}, [](const auto& each) { return each.order; });
  const auto own = [](const OperationPerformance& row) { return row.time_ns.value_or(0) + row.gap_ns.value_or(0); };
  double total = 0;
  for (const OperationPerformance& row : rows) total += own(row);
  for (OperationPerformance& row : rows) row.share = total > 0 ? own(row) / total : 0;
  return rows;
}

}  // namespace accelscope::analysis::tenstorrent
