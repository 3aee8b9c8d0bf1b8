#include "core/listing/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/format.h"
#include "core/listing/terms.h"

namespace accelscope::listing {
namespace {

// One figure of a row, as a column has it.
struct RowFigure {
  std::string_view name, title, explanation;
  double analysis::ValueFigures::*value;
  bool in_short = false;  // also where two measures stand side by side
};
constexpr std::array<RowFigure, 8> kRowFigures = {
    {{"total", "Total", "Sum over the events; calls within calls count in both", &analysis::ValueFigures::total, true},
     {"mean", "⌀", "Mean", &analysis::ValueFigures::mean, true},
     {"min", "Min", "Least", &analysis::ValueFigures::min, true},
     {"median", "Median", "Half of them are at most this", &analysis::ValueFigures::median, true},
     {"p90", "p90", "Nine of ten are at most this", &analysis::ValueFigures::p90},
     {"p99", "p99", "99 of 100 are at most this", &analysis::ValueFigures::p99},
     {"max", "Max", "Greatest", &analysis::ValueFigures::max, true},
     {"deviation", "Deviation", "Standard deviation about the mean", &analysis::ValueFigures::deviation}}};

// Of names for programs: "total_ns", "mean_bytes".
std::string unit_suffix(std::string_view unit) {
  if (unit == Unit::bytes) return "_bytes";
  std::string suffix;
  for (const char c : unit) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    suffix += plain ? c : '_';
  }
  return suffix.empty() ? "" : "_" + suffix;
}

// Twelve digits: how sums of many numbers round further on depends on which thread added which of them.
SqlValue number_value(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(value) == value && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  const std::string text = fmt::format("{:.12g}", value);
  double rounded = value;
  (void)std::from_chars(text.data(), text.data() + text.size(), rounded);  // what it cannot hold stays as it was
  return rounded;
}

SqlValue key_value(const FieldValue& key) {
  if (const auto* number = std::get_if<std::int64_t>(&key)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&key)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&key)) return *real;
  if (const auto* flag = std::get_if<bool>(&key)) return std::string(*flag ? "true" : "false");
  if (const auto* text = std::get_if<std::string>(&key)) return *text;
  return std::monostate();
}

const analysis::GroupColumn* described_column(const std::vector<analysis::GroupColumn>& columns,
                                              std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [name](const analysis::GroupColumn& column) {
    return column.name == name ||
           (!column.table.empty() && std::string_view(column.name).substr(column.table.size() + 1) == name);
  });
  return found == columns.end() ? nullptr : &*found;
}

// A name for programs that no other column has.
void add_column(std::vector<ListingColumn>& columns, ListingColumn column) {
  while (
      std::any_of(columns.begin(), columns.end(), [&](const ListingColumn& each) { return each.name == column.name; }))
    column.name += "_2";
  columns.push_back(std::move(column));
}

struct TableShape {
  bool self = false, also_ns = false;
};

std::vector<ListingColumn> columns_of(const Snapshot& snapshot, const analysis::Statistics& statistics,
                                      const TableShape& shape) {
  const analysis::StatisticsQuestion& question = statistics.question;
  const std::vector<analysis::GroupColumn> known = analysis::group_columns(snapshot);
  std::vector<ListingColumn> columns;
  for (const std::string& by : question.by) {
    const analysis::GroupColumn* column = described_column(known, by);
    add_column(columns, {std::string(analysis::column_name(snapshot, by).column),
                         column == nullptr ? by : column->title,
                         "",
                         column == nullptr ? "" : column->explanation,
                         {.names = by == "name"}});
  }
  const std::string& unit = statistics.unit;
  add_column(columns, {"count", "Count", "", "Events that share time with the range and have the value"});
  const auto figure = [&](const RowFigure& each, const std::string& of, std::string_view more) {
    // A unit that numbers are not scaled in stands in the head.
    const bool scales = of == "ns" || of == "s" || of == "B" || of == "B/s" || of == "%";
    const std::string title = fmt::format("{}{}{}", more, of.empty() || scales ? "" : ", ", scales ? "" : of);
    add_column(columns, {std::string(each.name) + unit_suffix(of), fmt::format("{}{}", each.title, title),
                         scales ? of : "", std::string(each.explanation)});
  };
  for (const RowFigure& each : kRowFigures) {
    if (shape.also_ns && !each.in_short) continue;
    figure(each, unit, "");
    if (each.value != &analysis::ValueFigures::total) continue;
    if (shape.self) add_column(columns, {"self_ns", "Self", "ns", "Without the calls within them, within the range"});
    if (!shape.also_ns) add_column(columns, {"share", "Share", "share", "Of the sum of all totals", {.bar = true}});
  }
  for (const RowFigure& each : kRowFigures) {
    if (shape.also_ns && each.in_short) figure(each, "ns", ", time");
  }
  return columns;
}

const analysis::ValueFigures* figures_of(const analysis::Statistics& statistics, const std::vector<FieldValue>& keys,
                                         const std::map<std::vector<FieldValue>, std::size_t>& rows) {
  const auto found = rows.find(keys);
  return found == rows.end() ? nullptr : &statistics.rows[found->second].figures;
}

std::string note_of(const analysis::Statistics& statistics) {
  std::string note;
  if (statistics.has_rest && statistics.counts_all_groups) {
    note = fmt::format("{} groups of the fewest events are added up in the last row",
                       format_count(statistics.left_out_groups));
  } else if (statistics.has_rest) {
    note = fmt::format(
        "there are more groups than are told apart: the rows are the {} of most events among the first that were met, "
        "all others are added up in the last",
        format_count(statistics.rows.size() - 1));
  }
  const bool rough = std::any_of(statistics.rows.begin(), statistics.rows.end(),
                                 [](const analysis::StatisticsRow& row) { return !row.figures.exact; });
  if (rough) note += std::string(note.empty() ? "" : "; ") + "quantiles of groups of many events are within 0.4 %";
  return note;
}

// Whether all lanes tell the key, none of its events.
bool is_of_lanes(const analysis::GroupKeys& keys, std::size_t key) {
  return std::all_of(keys.lanes().begin(), keys.lanes().end(), [&](std::uint32_t lane) {
    return keys.of_lane(lane).keys[key].source == ValuePlace::Source::constant;
  });
}

FilterTerm term_of_key(const std::string& column, const FieldValue& key, bool texts) {
  if (const auto* text = std::get_if<std::string>(&key)) return {search_of_text(column, *text), false};
  if (const auto* number = std::get_if<std::int64_t>(&key)) return {fmt::format("{}={}", column, *number), false};
  if (const auto* number = std::get_if<std::uint64_t>(&key)) return {fmt::format("{}={}", column, *number), false};
  if (const auto* real = std::get_if<double>(&key)) return {fmt::format("{}={:.17g}", column, *real), false};
  if (const auto* flag = std::get_if<bool>(&key))
    return {fmt::format("{}={}", column, *flag ? "true" : "false"), false};
  return {fmt::format("{}{}", column, texts ? "~/^/" : ">=-1e300"), true};  // whatever has no value
}

}  // namespace

std::string key_text(const FieldValue& key) {
  if (const auto* number = std::get_if<std::int64_t>(&key)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&key)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&key)) return fmt::format("{:.6g}", *real);
  if (const auto* flag = std::get_if<bool>(&key)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&key)) return *text;
  return "–";
}

std::string column_title(const Snapshot& snapshot, std::string_view column) {
  for (const std::vector<analysis::GroupColumn>& known :
       {analysis::group_columns(snapshot), analysis::value_columns(snapshot)}) {
    if (const analysis::GroupColumn* found = described_column(known, column); found != nullptr) return found->title;
  }
  return std::string(column);
}

std::vector<StatisticsPreset> statistics_presets(const Snapshot& snapshot) {
  std::vector<StatisticsPreset> presets = {
      {"by-name", "By name", "What took how long", {"name"}},
      {"by-name-and-track", "By name and track", "The same, told apart by rows", {"name", "track"}},
      {"by-source-line", "By source line", "What the lines of the traced source took", {"source"}},
      {"device-stats",
       "Device stats",
       "Zones by core and processor, in cycles and ns",
       {"zone.zone_name", "zone.pcie_slot", "zone.core_x", "zone.core_y", "zone.risc"},
       "zone.cycles",
       true}};
  const std::vector<analysis::GroupColumn> known = analysis::group_columns(snapshot);
  std::erase_if(presets, [&](const StatisticsPreset& preset) {
    return std::any_of(preset.by.begin(), preset.by.end(),
                       [&](const std::string& by) { return described_column(known, by) == nullptr; });
  });
  return presets;
}

RowFilters::RowFilters(const Snapshot& snapshot, const analysis::StatisticsQuestion& question, EventFilter within)
    : snapshot_(snapshot), within_(std::move(within)) {
  const auto found = analysis::GroupKeys::find(snapshot, question.filter, question.by, question.value);
  if (!found || (*found)->lanes().empty()) return;
  keys_ = *found;
  narrows_ = !analysis::column_name(snapshot, question.value).table.empty();
  const std::uint32_t first = keys_->lanes().front();
  for (std::size_t k = 0; k < question.by.size(); ++k) {
    const auto [table, column] = analysis::column_name(snapshot, question.by[k]);
    const ValuePlace& place = keys_->of_lane(first).keys[k];
    Key key{.column = std::string(column),
            .texts = place.type == ColumnType::string || place.type == ColumnType::text,
            .of_lanes = is_of_lanes(*keys_, k)};
    narrows_ = narrows_ || !table.empty() || key.of_lanes;
    if (place.source == ValuePlace::Source::column) {
      const accelscope::Column& own = snapshot.lanes[first].schema->columns[place.column];
      // Searches know lines by their form, whatever their column is called.
      key.lines = own.role == Role::source_location && own.name != column;
    }
    parts_.push_back(std::move(key));
  }
}

std::optional<EventFilter> RowFilters::of(const std::vector<FieldValue>& keys) const {
  if (!keys_ || keys.size() != parts_.size()) return std::nullopt;
  EventFilter filter = within_;
  LaneIndices lanes = keys_->lanes();
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const Key& part = parts_[k];
    const auto* text = std::get_if<std::string>(&keys[k]);
    if (part.of_lanes) {
      std::erase_if(lanes, [&](std::uint32_t lane) {
        return text == nullptr || keys_->text_of(keys_->of_lane(lane).keys[k].constant) != *text;
      });
    } else if (part.lines && text == nullptr) {
      return std::nullopt;
    } else if (part.lines) {
      filter.terms.push_back({search_of_line(*text), false});
    } else {
      filter.terms.push_back(term_of_key(part.column, keys[k], part.texts));
    }
  }
  if (!narrows_) return filter;
  filter.tracks.clear();
  for (const std::uint32_t lane : lanes) filter.tracks.push_back(snapshot_.lanes[lane].track);
  std::sort(filter.tracks.begin(), filter.tracks.end());
  filter.tracks.erase(std::unique(filter.tracks.begin(), filter.tracks.end()), filter.tracks.end());
  return filter.tracks.empty() ? std::nullopt : std::optional(std::move(filter));
}

Result<StatisticsTable> statistics_table(const QueryContext& query, const analysis::StatisticsQuestion& question,
                                         bool also_ns, const std::optional<EventFilter>& within) {
  auto found = TRY(analysis::statistics(query, question));
  const Snapshot& snapshot = *query.snapshot;
  StatisticsTable table{.listing = {}, .statistics = std::move(found)};
  const analysis::Statistics& all = *table.statistics;
  std::shared_ptr<const analysis::Statistics> times;
  std::map<std::vector<FieldValue>, std::size_t> times_rows;
  if (also_ns) {
    analysis::StatisticsQuestion of_time = question;
    of_time.value = "duration";
    auto measured = TRY(analysis::statistics(query, of_time));
    times = std::move(measured);
    for (std::size_t row = 0; row < times->rows.size(); ++row) times_rows.emplace(times->rows[row].keys, row);
  }
  TableShape shape{.also_ns = also_ns};
  for (const analysis::StatisticsRow& row : all.rows) shape.self = shape.self || row.self_ns.has_value();
  table.listing = Listing(columns_of(snapshot, all, shape));
  const RowFilters filters(snapshot, question, within.value_or(question.filter));
  double whole = 0;
  for (const analysis::StatisticsRow& row : all.rows) whole += row.figures.total;
  for (std::size_t index = 0; index < all.rows.size(); ++index) {
    const analysis::StatisticsRow& row = all.rows[index];
    std::vector<SqlValue> cells;
    for (const FieldValue& key : row.keys) cells.push_back(key_value(key));
    cells.emplace_back(static_cast<std::int64_t>(row.figures.count));
    for (const RowFigure& each : kRowFigures) {
      if (also_ns && !each.in_short) continue;
      cells.push_back(number_value(row.figures.*each.value));
      if (each.value != &analysis::ValueFigures::total) continue;
      if (shape.self) cells.push_back(row.self_ns ? SqlValue(*row.self_ns) : SqlValue());
      if (!also_ns) cells.push_back(whole > 0 ? SqlValue(row.figures.total / whole) : SqlValue());
    }
    const analysis::ValueFigures* time = times ? figures_of(*times, row.keys, times_rows) : nullptr;
    for (const RowFigure& each : kRowFigures) {
      if (also_ns && each.in_short) cells.push_back(time == nullptr ? SqlValue() : number_value(time->*each.value));
    }
    const bool is_rest = all.has_rest && index + 1 == all.rows.size();
    std::optional<EventFilter> target;
    if (!is_rest) target = filters.of(row.keys);
    table.listing.add(std::move(cells), target ? ListingTarget(std::move(*target)) : ListingTarget());
  }
  table.listing.note = note_of(all);
  return table;
}

Listing outlier_listing(const analysis::ValueDetails& details) {
  const std::string& unit = details.statistics->unit;
  Listing listing({{"ts_ns", "Time", "ns", "Since the session's start"},
                   {"name", "Name", "", ""},
                   {"value" + unit_suffix(unit), "Value", unit, "What is measured"},
                   {"median" + unit_suffix(unit), "Median", unit, "Of its group"},
                   {"quartile_distances", "Beyond", "",
                    "How far beyond the nearer quartile of its group, in distances of the quartiles"},
                   {"event_id", "Event", "", ""}});
  for (const analysis::ValueOutlier& each : details.outliers) {
    listing.add({each.begin_ns, each.name, number_value(each.value),
                 number_value(details.statistics->rows[each.row].figures.median),
                 std::round(each.quartile_distances * 10) / 10, static_cast<std::int64_t>(each.event)},
                each.event);
  }
  if (details.outlier_count > details.outliers.size())
    listing.note = fmt::format("the {} farthest of {}", details.outliers.size(), format_count(details.outlier_count));
  return listing;
}

Result<Listing> list_statistics(const QueryContext& query, const ListingRequest& request) {
  analysis::StatisticsQuestion question{.filter = request.filter, .by = request.by};
  if (question.by.empty()) question.by = {"name"};
  if (!request.value.empty()) question.value = request.value;
  auto table = TRY(statistics_table(query, question));
  return std::move(table.listing);
}

Result<Listing> list_device_stats(const QueryContext& query, const ListingRequest& request) {
  for (const StatisticsPreset& preset : statistics_presets(*query.snapshot)) {
    if (preset.name != "device-stats") continue;
    auto table = TRY(statistics_table(query, {request.filter, preset.by, preset.value}, preset.also_ns));
    return std::move(table.listing);
  }
  Listing none(std::vector<ListingColumn>{{"zone_name", "Zone", "", ""}, {"count", "Count", "", ""}});
  none.note = "the session has no zones of cores and their processors, as logs of a device profiler have";
  return none;
}

}  // namespace accelscope::listing
