#include "core/analysis/neuron/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/analysis/neuron/intervals.h"
#include "core/query/column_values.h"

namespace accelscope::neuron {
namespace {

// Sums of instruction columns, under the same name in the vendor's summary.
constexpr std::array<std::string_view, 11> kInstructionSums = {"hbm_read_bytes",
                                                               "hbm_write_bytes",
                                                               "sbuf_read_bytes",
                                                               "sbuf_write_bytes",
                                                               "psum_read_bytes",
                                                               "psum_write_bytes",
                                                               "psum_read_sbuf_write_bytes",
                                                               "spill_save_bytes",
                                                               "spill_reload_bytes",
                                                               "weight_queue_bytes",
                                                               "input_queue_bytes"};

// What one worker has seen. Intervals and sums by the name of the figure they end up in.
struct Tally {
  std::map<std::string, Intervals, std::less<>> intervals;
  std::map<std::string, double, std::less<>> sums;
  std::map<std::uint32_t, std::string> engines;  // session string of the subgroup -> "tensor"

  void add(std::string_view figure, double amount) {
    const auto place = sums.find(figure);
    if (place == sums.end()) {
      sums.emplace(figure, amount);
    } else {
      place->second += amount;
    }
  }
  Intervals& interval(std::string_view figure) {
    const auto place = intervals.find(figure);
    return place == intervals.end() ? intervals[std::string(figure)] : place->second;
  }
};

// A schema column as whole numbers or strings; reads as nothing where the schema has no such column.
class ColumnReader {
 public:
  ColumnReader(const ScannedChunk& chunk, std::string_view name) : chunk_(chunk) {
    const auto index = chunk.lane.schema->find(name);
    if (index && *index < chunk.view.column_count()) column_ = *index;
  }
  [[nodiscard]] bool found() const noexcept { return column_.has_value(); }
  [[nodiscard]] double number(std::uint32_t row) const {
    if (!column_) return 0;
    const auto value = number_at(chunk_.view, *column_, chunk_.lane.schema->columns[*column_].type, row);
    return value ? static_cast<double>(*value) : 0;
  }
  [[nodiscard]] StringId string(std::uint32_t row) const {
    if (!column_ || chunk_.lane.schema->columns[*column_].type != ColumnType::string) return 0;
    return chunk_.view.has_value(*column_, row) ? chunk_.session_string(chunk_.view.stored(*column_, row)) : 0;
  }

 private:
  const ScannedChunk& chunk_;
  std::optional<std::size_t> column_;
};

// Names that the formulas ask for, as session-wide ids.
struct KnownNames {
  explicit KnownNames(const StringPool& pool)
      : wait(pool.find("EVENT_SEMAPHORE")),
        matmul(pool.find("MATMUL")),
        activate(pool.find("ACTIVATE")),
        transpose(pool.find("TRANSPOSE")),
        software_dynamic(pool.find("software_dynamic")),
        hardware_dynamic(pool.find("hardware_dynamic")) {}
  StringId wait, matmul, activate, transpose, software_dynamic, hardware_dynamic;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// The times of an event in session ns, clipped to the range.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] double length() const noexcept { return static_cast<double>(end - begin); }
};

template <typename Body>
void for_each_event(const ScannedChunk& chunk, const TimeRange& range, Body body) {
  std::vector<std::uint64_t> names(kBlockEvents);
  chunk.for_each_block([&](const ScannedBlock& block) {
    chunk.view.names(block.block, names.data());
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const Span span{std::max(range.begin_ns, chunk.lane.clock->to_ns(block.times.begins[i])),
                      std::min(range.end_ns, chunk.lane.clock->to_ns(block.times.ends[i]))};
      body(block.first_row + i, chunk.session_string(names[i]), span);
    }
  });
}

// Counts and times of instructions. A semaphore wait lies inside its instruction's duration, so that waiting
// instructions have no part in times: active time is the union of the others.
void tally_instructions(const ScannedChunk& chunk, const TimeRange& range, const KnownNames& known,
                        const StringPool& pool, Tally& tally) {
  std::vector<ColumnReader> sums;
  for (const std::string_view name : kInstructionSums) sums.emplace_back(chunk, name);
  const ColumnReader engine(chunk, "subgroup");
  const ColumnReader elements(chunk, "elements");
  const ColumnReader type(chunk, "instruction_type");
  const ColumnReader drains(chunk, "is_psum_read_sbuf_write");
  Intervals& active = tally.interval("total_active_time");
  for_each_event(chunk, range, [&](std::uint32_t row, StringId name, const Span& span) {
    const StringId engine_id = engine.string(row);
    std::string& prefix = tally.engines[engine_id];
    if (prefix.empty()) prefix = lower(pool.text(engine_id)) + "_engine_";
    tally.add(prefix + "instruction_count", 1);
    if (name != known.wait) {
      tally.add(prefix + "instruction_time", span.length() / 1e9);
      tally.interval(prefix + "active_time").add(span.begin, span.end);
      active.add(span.begin, span.end);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i].found()) tally.add(kInstructionSums[i], sums[i].number(row));
    }
    if (drains.number(row) != 0) tally.add("psum_read_sbuf_write_count", 1);
    if (name == known.activate) {
      tally.add("activate_instruction_count", 1);
      tally.add("activate_instruction_time", span.length() / 1e9);
    }
    if (name != known.matmul) return;
    // hardware_flops = sum of 2 * elements over MATMUL; transposes are the same with that type.
    const double flops = 2 * elements.number(row);
    tally.add("matmul_instruction_count", 1);
    tally.add("hardware_flops", flops);
    if (known.transpose != kNone && type.string(row) == known.transpose) tally.add("transpose_flops", flops);
  });
}

// Packets by the kind of their queue; active time is the union of all packets' intervals.
void tally_packets(const ScannedChunk& chunk, const TimeRange& range, const KnownNames& known, Tally& tally) {
  const ColumnReader queue_type(chunk, "queue_type");
  const ColumnReader size(chunk, "transfer_size");
  Intervals& active = tally.interval("dma_active_time");
  Intervals& total = tally.interval("total_active_time");
  for_each_event(chunk, range, [&](std::uint32_t row, StringId, const Span& span) {
    const StringId type = queue_type.string(row);
    const std::string_view kind = type == known.software_dynamic   ? "software_dynamic"
                                  : type == known.hardware_dynamic ? "hardware_dynamic"
                                                                   : "static";
    active.add(span.begin, span.end);
    total.add(span.begin, span.end);
    tally.interval(fmt::format("{}_dma_active_time", kind)).add(span.begin, span.end);
    tally.add("dma_packet_time", span.length() / 1e9);
    tally.add(fmt::format("{}_dma_packet_count", kind), 1);
    tally.add(fmt::format("{}_dma_size", kind), size.number(row));
  });
}

void tally_transfers(const ScannedChunk& chunk, const TimeRange& range, Tally& tally) {
  const ColumnReader size(chunk, "transfer_size");
  for_each_event(chunk, range, [&](std::uint32_t row, StringId, const Span& span) {
    tally.add("dma_transfer_count", 1);
    tally.add("dma_transfer_time", span.length() / 1e9);
    tally.add("dma_transfer_total_bytes", size.number(row));
  });
}

// Inputs, weights and outputs by the tensors' own sizes.
void tally_tensors(const ScannedChunk& chunk, const StringPool& pool, Tally& tally) {
  const ColumnReader type(chunk, "type");
  const ColumnReader size(chunk, "size");
  for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
    const std::string_view kind = pool.text(type.string(row));
    const double bytes = size.number(row);
    if (kind == "WEIGHT") tally.add("weight_size_bytes", bytes);
    if (kind == "WEIGHT" || kind == "IN") tally.add("inputs_and_weights_size_bytes", bytes);
    if (kind == "WEIGHT" || kind == "IN" || kind == "OUT") tally.add("inputs_outputs_weights_size_bytes", bytes);
  }
}

void tally_collectives(const ScannedChunk& chunk, const TimeRange& range, std::string_view prefix, Tally& tally) {
  Intervals& active = tally.interval(fmt::format("{}_active_time", prefix));
  Intervals& total = tally.interval("total_active_time");
  for_each_event(chunk, range, [&](std::uint32_t, StringId, const Span& span) {
    tally.add(fmt::format("{}_count", prefix), 1);
    tally.add(fmt::format("{}_time", prefix), span.length() / 1e9);
    active.add(span.begin, span.end);
    if (prefix == "cc_op") total.add(span.begin, span.end);
  });
}

// Lanes of the first device with instructions, and the tables of tensors.
LaneIndices lanes_of_first_device(const Snapshot& snapshot) {
  const std::string* device = nullptr;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema && track.schema->name == "instruction") {
      device = &track.track->device;
      break;
    }
  }
  LaneIndices lanes;
  if (device == nullptr) return lanes;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (!track.schema || track.track->device != *device) continue;
    lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
  }
  return lanes;
}

std::optional<double> meta_number(const Snapshot& snapshot, std::string_view key) {
  for (const std::string& name : {fmt::format("metadata.{}", key), std::string(key)}) {
    const std::string_view text = snapshot.meta_value(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return value;
  }
  return std::nullopt;
}

std::optional<double> vendor_number(const Snapshot& snapshot, std::string_view name) {
  for (const Metric& metric : snapshot.metrics) {
    if (metric.name == name && metric.text.empty()) return metric.value;
  }
  return std::nullopt;
}

// Figures made of other figures.
void add_derived(const Snapshot& snapshot, Figures& figures) {
  const auto get = [&](std::string_view name) {
    const auto place = figures.find(name);
    return place == figures.end() ? 0.0 : place->second;
  };
  const double total = get("total_time");
  if (total <= 0) return;
  // *_active_time_percent = *_active_time / total_time; of the kinds of DMA: share of the DMA's own.
  const Figures before = figures;
  for (const auto& [name, value] : before) {
    if (!name.ends_with("_active_time")) continue;
    const bool part_of_dma = name.ends_with("_dma_active_time");
    const double whole = part_of_dma ? get("dma_active_time") : total;
    if (whole > 0) figures[name + "_percent"] = value / whole;
  }
  const double transfers = get("dma_transfer_count");
  if (transfers > 0) figures["dma_transfer_average_bytes"] = get("dma_transfer_total_bytes") / transfers;

  // neuroncore_cycle_count = total_time * pe_clock_others (GHz)
  if (const auto clock = meta_number(snapshot, "pe_clock_others"))
    figures["neuroncore_cycle_count"] = total * *clock * 1e9;

  const double hardware = get("hardware_flops");
  const double useful = hardware - get("transpose_flops");
  const double model = vendor_number(snapshot, "model_flops").value_or(useful);
  const double hbm_bytes = get("hbm_read_bytes") + get("hbm_write_bytes");
  const auto bandwidth = meta_number(snapshot, "hbm_ddr_bandwidth");
  // mm_arithmetic_intensity = (hardware_flops - transpose_flops) / (hbm_read + hbm_write)
  if (hbm_bytes > 0) figures["mm_arithmetic_intensity"] = useful / hbm_bytes;
  // mbu = (hbm_read + hbm_write) / total_time / hbm_ddr_bandwidth; the least read once is inputs and weights
  if (bandwidth && *bandwidth > 0) {
    figures["mbu_estimated_percent"] = hbm_bytes / total / *bandwidth;
    figures["mbu_min_read_util_percent"] = get("inputs_and_weights_size_bytes") / total / *bandwidth;
  }
  // peak_flops = 2 * pe_rows * pe_cols * pe_clock (GHz) * num_physical_cores
  const auto clock = meta_number(snapshot, "pe_clock_freq");
  const double rows = meta_number(snapshot, "pe_num_rows").value_or(128);
  const double columns = meta_number(snapshot, "pe_num_cols").value_or(128);
  const double cores = meta_number(snapshot, "num_physical_cores").value_or(1);
  if (!clock || *clock <= 0) return;
  const double peak = 2 * rows * columns * *clock * 1e9 * cores;
  // mfu = model_flops / (total_time * peak_flops), hfu the same with hardware_flops
  figures["mfu_estimated_percent"] = model / (total * peak);
  figures["hfu_estimated_percent"] = hardware / (total * peak);
  if (bandwidth && *bandwidth > 0) {
    figures["peak_flops_bandwidth_ratio"] = peak / *bandwidth;
    // mfu_max_achievable = model_flops / hbm bytes / ratio
    if (hbm_bytes > 0) figures["mfu_max_achievable_estimated_percent"] = model / hbm_bytes / (peak / *bandwidth);
  }
}

}  // namespace

Result<Figures> summary(const QueryContext& query, const TimeRange& range) {
  const LaneIndices lanes = lanes_of_first_device(*query.snapshot);
  if (lanes.empty()) return Figures{};
  const KnownNames known(*query.snapshot->strings);
  const StringPool& pool = *query.snapshot->strings;
  std::vector<Tally> tallies(query.pool.concurrency());
  const Result<void> scanned = scan_chunks(query, lanes, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    Tally& tally = tallies[worker];
    const std::string& schema = chunk.lane.schema->name;
    if (schema == "instruction") tally_instructions(chunk, range, known, pool, tally);
    if (schema == "dma") tally_packets(chunk, range, known, tally);
    if (schema == "dma_transfer") tally_transfers(chunk, range, tally);
    if (schema == "neff_node") tally_tensors(chunk, pool, tally);
    if (schema == "cc_op") tally_collectives(chunk, range, "cc_op", tally);
    if (schema == "cc_instruction") tally_collectives(chunk, range, "cc_cores_instruction", tally);
  });
  if (!scanned) return scanned.error();

  Figures figures;
  std::map<std::string, Intervals, std::less<>> intervals;
  for (Tally& tally : tallies) {
    for (const auto& [name, amount] : tally.sums) figures[name] += amount;
    for (auto& [name, part] : tally.intervals) intervals[name].add(std::move(part));
  }
  for (auto& [name, whole] : intervals) figures[name] = static_cast<double>(whole.covered()) / 1e9;
  figures.try_emplace("transpose_flops", 0);
  figures["dma_active_time"] += 0;
  // last_hw_timestamp = the end of the last event; total_time is measured from the start of the session
  const std::int64_t begin = std::max(range.begin_ns, std::min<std::int64_t>(0, query.snapshot->begin_ns));
  figures["total_time"] = static_cast<double>(std::min(range.end_ns, query.snapshot->end_ns) - begin) / 1e9;
  add_derived(*query.snapshot, figures);
  return figures;
}

FigureInfo figure_info(std::string_view name) noexcept {
  struct Rule {
    std::string_view part;
    std::string_view group;
  };
  static constexpr std::array<Rule, 9> kGroups = {{{"software_dynamic_dma", "software_data_movement"},
                                                   {"hardware_dynamic_dma", "hardware_data_movement"},
                                                   {"tensor_engine", "tensor"},
                                                   {"vector_engine", "vector"},
                                                   {"scalar_engine", "scalar"},
                                                   {"sync_engine", "sync"},
                                                   {"gpsimd_engine", "gpsimd"},
                                                   {"cc_", "cc_engine"},
                                                   {"dma", "data_movement"}}};
  struct UnitRule {
    std::string_view ending;
    std::string_view unit;
  };
  static constexpr std::array<UnitRule, 7> kUnits = {{{"_percent", "share"},
                                                      {"_time", "s"},
                                                      {"_bytes", "B"},
                                                      {"_size", "B"},
                                                      {"_flops", "flop"},
                                                      {"_cycle_count", "cycles"},
                                                      {"_intensity", "flop/B"}}};
  FigureInfo info{"overall_stats", ""};
  for (const Rule& rule : kGroups) {
    if (name.find(rule.part) == std::string_view::npos) continue;
    info.group = rule.group;
    break;
  }
  for (const UnitRule& rule : kUnits) {
    if (!name.ends_with(rule.ending)) continue;
    info.unit = rule.unit;
    break;
  }
  return info;
}

}  // namespace accelscope::neuron
