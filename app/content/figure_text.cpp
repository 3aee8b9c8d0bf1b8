#include "app/content/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/terms.h"
#include "core/model/column_spec.h"
#include "core/names/short_names.h"

namespace accelscope::app::content {
namespace {

FigureMark mark_of(const analysis::SessionMetric& metric) {
  if (analysis::is_flagged(metric)) return FigureMark::flagged;
  const auto difference = analysis::relative_difference(metric);
  return difference && std::abs(*difference) > analysis::kExactMargin ? FigureMark::close : FigureMark::none;
}

double value_of(const FigureRow& row) { return analysis::shown_value(*row.metric).value_or(0); }

// Figures that cannot be compared come last.
double distance_of(const FigureRow& row) {
  const auto difference = analysis::relative_difference(*row.metric);
  if (difference) return std::abs(*difference);
  return analysis::is_flagged(*row.metric) ? HUGE_VAL : -1;
}

}  // namespace

std::string amount_per_second(double amount, double ns, Unit unit) {
  return format_value(ns > 0 ? amount / ns * 1e9 : 0, unit);
}

std::string difference_text(const analysis::SessionMetric& metric) {
  if (!metric.value || !metric.vendor) return "";
  const auto relative = analysis::relative_difference(metric);
  if (!relative) return "the file says 0";
  std::string text = fmt::format("{:+.2f} %", *relative * 100);
  if (text == "-0.00 %") text = "+0.00 %";
  if (metric.margin > analysis::kExactMargin) text += fmt::format(" (±{:.2g} %)", metric.margin * 100);
  return text;
}

std::vector<FigureRow> figure_rows(const std::vector<analysis::SessionMetric>& metrics, const std::string& filter,
                                   FigureOrder order, bool descending) {
  std::set<std::string_view> devices;
  for (const analysis::SessionMetric& metric : metrics) {
    if (!metric.device.empty()) devices.insert(metric.device);
  }
  std::vector<FigureRow> rows;
  for (const analysis::SessionMetric& metric : metrics) {
    const std::string title = figure_title(metric.name);
    if (!matches_words(fmt::format("{} {} {} {}", metric.device, metric.group, metric.name, title), filter)) continue;
    FigureRow& row = rows.emplace_back();
    row.metric = &metric;
    row.title = title;
    row.group = with_blanks(key_place(metric.name) ? "key_figures" : metric.group);
    if (devices.size() > 1)
      row.group = fmt::format("{} · {}", metric.device.empty() ? "all" : metric.device, row.group);
    row.stated = metric.vendor ? format_value(*metric.vendor, metric.unit) : metric.vendor_text;
    if (metric.value) row.computed = format_value(*metric.value, metric.unit);
    const std::optional<double> shown = analysis::shown_value(metric);
    row.shown = shown ? format_value(*shown, metric.unit) : row.stated;
    row.difference = difference_text(metric);
    row.mark = mark_of(metric);
  }
  if (order == FigureOrder::as_given) {
    constexpr std::size_t kOthers = ~std::size_t{0};
    std::map<std::string_view, std::size_t> places;  // of devices, in the order of their first figures
    for (const analysis::SessionMetric& metric : metrics) {
      if (!metric.device.empty()) places.try_emplace(metric.device, places.size());
    }
    places.try_emplace("", places.size());  // what is of the whole session says less
    const auto place = [&](const FigureRow& row) {
      const std::size_t key = key_place(row.metric->name).value_or(kOthers);
      return std::pair(key == kOthers ? kOthers : places[row.metric->device], key);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const FigureRow& a, const FigureRow& b) { return place(a) < place(b); });
    return rows;
  }
  std::stable_sort(rows.begin(), rows.end(), [order](const FigureRow& a, const FigureRow& b) {
    if (order == FigureOrder::by_name) return a.title != b.title ? a.title < b.title : a.metric->name < b.metric->name;
    if (order == FigureOrder::by_value) return value_of(a) < value_of(b);
    return distance_of(a) < distance_of(b);
  });
  if (descending) std::reverse(rows.begin(), rows.end());
  return rows;
}

namespace {

constexpr std::string_view kMeta = "meta";

[[nodiscard]] std::string quoted_identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

}  // namespace

std::vector<FactTable> fact_tables(const Snapshot& snapshot) {
  std::map<std::string_view, std::uint64_t> rows;  // by schema: several may have one name
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.schema->kind == EventKind::table) rows[lane.schema->name] += lane.event_count;
  }
  std::vector<FactTable> tables;
  for (const auto& schema : snapshot.schemas) {
    const auto found = rows.find(schema->name);
    if (found == rows.end() || found->second == 0) continue;
    tables.push_back({schema->name, table_title(schema->name), std::exchange(found->second, 0)});
  }
  if (!snapshot.meta.empty()) tables.push_back({std::string(kMeta), "Facts", snapshot.meta.size()});
  return tables;
}

std::string sql_of_table(const Snapshot& snapshot, std::string_view table) {
  if (table == kMeta) return "SELECT key, value FROM meta ORDER BY key";
  std::vector<std::string> columns;  // of several schemas of one name, as of several files: all
  const auto add = [&](const std::string& name) {
    const std::string column = quoted_identifier(name);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
  };
  for (const auto& schema : snapshot.schemas) {
    if (schema->name != table || schema->kind != EventKind::table) continue;
    add(table_name_column(*schema));
    for (const Column& column : schema->columns) add(table_column_name(*schema, column.name));
  }
  return fmt::format("SELECT {} FROM {}", columns.empty() ? "*" : fmt::format("{}", fmt::join(columns, ", ")),
                     quoted_identifier(table));
}

std::optional<EventFilter> events_of_row(const Snapshot& snapshot, std::string_view name) {
  if (name.empty()) return std::nullopt;
  EventFilter filter;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr || track.schema->kind == EventKind::table || track.lanes.empty()) continue;
    const std::string_view called = track.track->name;
    const bool is_ring = called.starts_with(name) && called.size() > name.size() && called[name.size()] == '-';
    if (called == name || is_ring) filter.tracks.push_back(track.track->number);
  }
  if (filter.tracks.empty())
    filter.terms.push_back({listing::search_of_name(snapshot, {.text = std::string(name), .kind = {}}, {})});
  return filter;
}

namespace {

struct Titled {
  std::string_view name, title;
};

// In the order in which they come first in a table.
constexpr std::array<Titled, 14> kKeyFigures = {{
    {"mfu_estimated_percent", "Model FLOPs utilisation (MFU)"},
    {"hfu_estimated_percent", "Hardware FLOPs utilisation (HFU)"},
    {"total_time", "Time of the run"},
    {"total_active_time", "Active time"},
    {"total_active_time_percent", "Active, share of the run"},
    {"session_time", "Time of the session"},
    {"kernel_busy_time", "Kernels, at least one runs"},
    {"kernel_busy_share", "Kernels, share of the span"},
    {"mbu_estimated_percent", "Memory bandwidth utilisation (MBU)"},
    {"dma_active_time_percent", "DMA active, share of the run"},
    {"hbm_read_bytes", "HBM read"},
    {"hbm_write_bytes", "HBM written"},
    {"memcpy_moved_bytes", "Bytes copied"},
    {"tensor_engine_active_time_percent", "Tensor engine active, share of the run"},
}};

constexpr std::array<Titled, 25> kTitles = {{
    {"stated_total_time", "Total time as the file states it"},
    {"work_time", "First to last work"},
    {"active_time", "Active"},
    {"idle_time", "Idle"},
    {"span_time", "Span of the shares"},
    {"input_reads", "HBM reads per byte of input"},
    {"dma_event_count", "DMAs"},
    {"dma_moved_bytes", "Moved by DMA"},
    {"sbuf_peak_bytes", "SBUF peak"},
    {"psum_peak_bytes", "PSUM peak"},
    {"kernel_event_count", "Kernels"},
    {"spill_save_bytes", "Spilled"},
    {"spill_reload_bytes", "Reloaded after spilling"},
    {"mfu_max_achievable_estimated_percent", "MFU that memory allows at most"},
    {"mbu_min_read_util_percent", "MBU if inputs were read once"},
    {"mm_arithmetic_intensity", "Arithmetic intensity of matrix products"},
    {"peak_flops_bandwidth_ratio", "FLOPs per byte at the roofline's knee"},
    {"total_exec_time", "First to last instruction that works"},
    {"neuroncore_cycle_count", "Core cycles of the run"},
    {"event_count", "Events reported by the hardware"},
    {"trace_count", "Records written by the hardware"},
    {"model_flops", "FLOPs of the model"},
    {"hardware_flops", "FLOPs carried out"},
    {"transpose_flops", "FLOPs of transposes"},
    {"session_event_count", "Events of the session"},
}};

// How words of names are written; "percent" is said by the value.
constexpr std::array<Titled, 27> kWords = {{
    {"dma", "DMA"},
    {"hbm", "HBM"},
    {"sbuf", "SBUF"},
    {"psum", "PSUM"},
    {"mfu", "MFU"},
    {"hfu", "HFU"},
    {"mbu", "MBU"},
    {"hlo", "HLO"},
    {"cc", "CC"},
    {"gpsimd", "GpSimd"},
    {"nc0", "NC0"},
    {"nc1", "NC1"},
    {"flops", "FLOPs"},
    {"util", "utilisation"},
    {"avg", "average"},
    {"op", "operation"},
    {"ops", "operations"},
    {"inst", "instruction"},
    {"mm", "matrix product"},
    {"kv", "KV"},
    {"cpu", "CPU"},
    {"gpu", "GPU"},
    {"hw", "hardware"},
    {"sw", "software"},
    {"num", "number of"},
    {"neuroncore", "NeuronCore"},
    {"id", "id"},
}};

template <std::size_t N>
const Titled* find_titled(const std::array<Titled, N>& table, std::string_view name) noexcept {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const Titled& each) { return each.name == name; });
  return found == table.end() ? nullptr : found;
}

std::string spelt(std::string_view word) {
  const Titled* known = find_titled(kWords, word);
  return std::string(known != nullptr ? known->title : word);
}

}  // namespace

std::string figure_title(std::string_view name) {
  if (const Titled* key = find_titled(kKeyFigures, name)) return std::string(key->title);
  if (const Titled* known = find_titled(kTitles, name)) return std::string(known->title);
  constexpr std::string_view kShare = "_time_percent", kPercent = "_percent", kEstimated = "_estimated";
  const bool share = name.ends_with(kShare);
  if (share) {
    name.remove_suffix(kShare.size());
  } else if (name.ends_with(kPercent)) {
    name.remove_suffix(kPercent.size());
  }
  if (name.ends_with(kEstimated)) name.remove_suffix(kEstimated.size());
  std::string title;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    if (end > at) title += (title.empty() ? "" : " ") + spelt(name.substr(at, end - at));
    at = end + 1;
  }
  title = capitalised(std::move(title));
  return share ? title + ", share of time" : title;
}

std::optional<std::size_t> key_place(std::string_view name) noexcept {
  const Titled* key = find_titled(kKeyFigures, name);
  return key == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(key - kKeyFigures.data()));
}

}  // namespace accelscope::app::content
