#include "core/base/text.h"
#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/tenstorrent/operation_performance.h"
#include "core/base/format.h"
#include "core/listing/terms.h"

namespace accelscope::listing {
namespace {

std::string_view work_text(WorkKind work) noexcept {
  switch (work) {
    case WorkKind::transfer:
      return "transfer";
    case WorkKind::collective:
      return "collective";
    default:
      return "kernel";
  }
}

// For programs: "est. achieved occupancy %" -> "est_achieved_occupancy".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (fits) {
      plain += c;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  while (plain.ends_with('_')) plain.pop_back();
  return plain;
}

std::string launch_column_title(const analysis::LaunchColumn& column) {
  const bool scales =
      column.unit.empty() || column.unit == Unit::bytes || column.unit == Unit::ns || column.unit == Unit::percent;
  return capitalised(scales ? column.title : fmt::format("{}, {}", column.title, column.unit));
}

SqlValue launch_cell(const analysis::LaunchColumn& column, const analysis::LaunchValue& value) {
  if (value.count == 0) return {};
  if (!column.numeric) return value.varies ? value.first + " and others" : value.first;
  const double mean = value.sum / static_cast<double>(value.count);
  if (value.min == value.max && std::trunc(mean) == mean && std::abs(mean) < 1e15)
    return static_cast<std::int64_t>(mean);
  return std::round(mean * 1e4) / 1e4;
}

}  // namespace

Listing hotspots_listing(const analysis::HotspotList& hotspots, const Snapshot& snapshot, const EventFilter& within) {
  std::vector<ListingColumn> columns = {
      {"name",
       "Kernel or operation",
       "",
       "A click selects all its events; a double click opens the line of the longest",
       {.names = true}},
      {"work", "Is a", "", "kernel: work of an engine or stream; transfer; collective"},
      {"count", "Count", "", "Events that share time with the range"},
      {"total_ns", "Total", "ns", "Of whole events; work within work counts in both"},
      {"share", "Share", "share", "Of the totals of all", {.bar = true}},
      {"mean_ns", "⌀", "ns", "Mean"},
      {"min_ns", "Min", "ns", ""},
      {"max_ns", "Max", "ns", ""},
      {"wait_ns", "Stalled", "ns", "That its events waited before they began, added up; where it is recorded"},
      {"bytes", "Bytes", "B", "Read, written or moved; where it is recorded"}};
  const bool tells_work = std::any_of(hotspots.rows.begin(), hotspots.rows.end(), [](const analysis::Hotspot& row) {
    return row.flops > 0 || !row.work_from.empty();
  });
  if (tells_work) {
    for (const ListingColumn& column : std::vector<ListingColumn>{
             {"flops", "Operations", "FLOP", "Where they are recorded, or the operator that launched it tells them"},
             {"flops_per_s", "Achieved", "FLOP/s", "Operations over the time of the events that state some"},
             {"flops_share", "Of peak", "share", "Achieved over the device's peak in that precision", {.bar = true}},
             {"precision", "Precision", "", "The type that it multiplies in; of several kinds none"},
             {"work_from", "Operations from", "",
              "What its operations and bytes rest on; of the first where they differ"}})
      columns.push_back(column);
  }
  for (const analysis::LaunchColumn& column : hotspots.columns) {
    const bool keeps_unit = column.unit == Unit::bytes || column.unit == Unit::ns || column.unit == Unit::percent;
    columns.push_back({plain_name(column.name), launch_column_title(column), keeps_unit ? column.unit : "",
                       column.explanation + (column.numeric ? " The mean where launches differ." : "")});
  }
  columns.push_back({"event_id", "Longest", "", "Its longest event", {.aside = true}});
  Listing listing(std::move(columns));
  for (const analysis::Hotspot& row : hotspots.rows) {
    const std::string name(snapshot.strings->text(row.name));
    const double mean = static_cast<double>(row.total_ns) / static_cast<double>(row.count);
    std::vector<SqlValue> cells = {name,
                                   std::string(work_text(row.work)),
                                   static_cast<std::int64_t>(row.count),
                                   row.total_ns,
                                   share_cell(row.total_ns, hotspots.total_ns),
                                   whole_cell(mean),
                                   row.min_ns,
                                   row.max_ns,
                                   row.has_wait ? SqlValue(row.wait_ns) : SqlValue(),
                                   amount_cell(row.bytes)};
    if (tells_work) {
      const double rate = row.flops_ns > 0 ? row.flops / static_cast<double>(row.flops_ns) * 1e9 : 0;
      cells.push_back(row.flops > 0 ? SqlValue(row.flops) : SqlValue());
      cells.push_back(rate > 0 ? SqlValue(rate) : SqlValue());
      // What is done in fewer operations than were asked for, as by Winograd's algorithm, has no share of a peak.
      const bool below = row.peak && rate <= *row.peak;
      cells.push_back(rate > 0 && below ? SqlValue(rate / *row.peak) : SqlValue());
      cells.push_back(text_cell(row.precision));
      cells.push_back(text_cell(row.work_from));
    }
    for (std::size_t i = 0; i < hotspots.columns.size(); ++i)
      cells.push_back(launch_cell(hotspots.columns[i], row.launch[i]));
    cells.emplace_back(static_cast<std::int64_t>(row.longest));
    EventFilter events = within;
    events.tracks = row.tracks;
    events.terms.push_back({search_of_text("name", name), false});
    listing.add(std::move(cells), std::move(events));
  }
  if (hotspots.waiting_ns > 0)
    listing.note = fmt::format("without {} of events that only wait", format_duration(hotspots.waiting_ns));
  if (hotspots.left_out > 0)
    listing.note += fmt::format("{}{} names of the least time are left out", listing.note.empty() ? "" : "; ",
                                format_count(hotspots.left_out));
  return listing;
}

Result<Listing> list_hotspots(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(analysis::find_hotspots(query, request.filter.range.value_or(TimeRange{}), request.peaks));
  return hotspots_listing(found, *query.snapshot, request.filter);
}

Listing devices_listing(const analysis::RangeActivity& activity, const Snapshot& snapshot) {
  Listing listing(
      {{"device", "Device", "", ""},
       {"span_ns", "First to last activity", "ns",
        "From the begin of its first work or transfer to the end of its last"},
       {"active_ns", "Active", "ns", "Anything of it is under way, each moment once"},
       {"active_share", "Active share", "share", "Of the time from its first to its last activity", {.bar = true}},
       {"compute_ns", "Computes", "ns", "Each moment once"},
       {"transfer_ns", "Moves data", "ns", "Each moment once"},
       {"collective_ns", "Collectives", "ns", "Each moment once"},
       {"transfer_alone_ns", "Moves data alone", "ns", "Nothing else of it is under way meanwhile"},
       {"collective_alone_ns", "Collectives alone", "ns", "Nothing else of it is under way meanwhile"},
       {"idle_ns", "Idle", "ns", "Between its first and its last work nothing of it is under way"},
       {"gap_ns", "Longest gap", "ns", "The longest of these stretches"},
       {"gap_begin_ns", "Its begin", "ns", ""},
       {"before_gap", "Before it", "", "What ended last before the longest gap", {.names = true}}});
  for (const analysis::DeviceActivity& each : activity.devices) {
    const std::int64_t span = each.stretch.length_ns(), active = each.active_ns();
    const bool gap = each.gap.length_ns() > 0;
    listing.add(
        {each.device, span, active, share_cell(active, span), each.active_ns(analysis::WorkUnit::compute),
         each.active_ns(analysis::WorkUnit::transfer), each.active_ns(analysis::WorkUnit::collective),
         each.alone_ns(analysis::WorkUnit::transfer), each.alone_ns(analysis::WorkUnit::collective), span - active,
         gap ? SqlValue(each.gap.length_ns()) : SqlValue(), gap ? SqlValue(each.gap.begin_ns) : SqlValue(),
         gap && each.before_gap != 0 ? SqlValue(std::string(snapshot.strings->text(each.before_gap))) : SqlValue()});
  }
  return listing;
}

Result<Listing> list_devices(const QueryContext& query, const ListingRequest& request) {
  const auto activity = TRY(analysis::range_activity(query, request.filter));
  return devices_listing(*activity, *query.snapshot);
}

Result<Listing> list_tt_perf(const QueryContext& query, const ListingRequest& request) {
  Listing listing({{"id", "ID", "", "GLOBAL CALL COUNT of the operation"},
                   {"share", "Total", "share", "Of the device times and gaps of all", {.bar = true}},
                   {"bound", "Bound", "",
                    "Of matrix multiplications: from 65 % of a peak on DRAM, FLOP or BOTH, else SLOW; HOST runs there"},
                   {"op", "Operation", "", "With M x K x N of matrix multiplications", {.names = true}},
                   {"device", "Device", "", "Number of the device"},
                   {"device_time_ns", "Device time", "ns", "Of the kernels; of operations on the host theirs"},
                   {"gap_ns", "Gap", "ns", "From the end of the operation before on the device"},
                   {"cores", "Cores", "", "That took part"},
                   {"dram_bytes_per_s", "DRAM", "B/s", "Operands in DRAM over the time"},
                   {"dram_share", "DRAM share", "share", "Of the chip's peak", {.bar = true}},
                   {"flops_per_s", "FLOP/s", "FLOP/s", "2 M K N over the time"},
                   {"flops_share", "FLOP share", "share", "Of the peak of its cores at its fidelity", {.bar = true}},
                   {"fidelity", "Fidelity", "", "How many passes a multiplication takes"},
                   {"advice", "Advice", "", "What would help"}});
  const auto& schemas = query.snapshot->schemas;
  if (std::none_of(schemas.begin(), schemas.end(), [](const auto& schema) { return schema->name == "op"; })) {
    listing.note = "the session has no operations of tt-metal; import ops_perf_results_*.csv of the run";
    return listing;
  }
  const auto rows =
      TRY(analysis::tenstorrent::operation_performance(query, request.filter.range.value_or(TimeRange{})));
  for (const analysis::tenstorrent::OperationPerformance& row : rows) {
    listing.add({known_cell(row.id), row.share, text_cell(row.bound), row.name, known_cell(row.device),
                 known_cell(row.time_ns), known_cell(row.gap_ns), known_cell(row.cores),
                 known_cell(row.dram_bytes_per_s), known_cell(row.dram_share), known_cell(row.flops_per_s),
                 known_cell(row.flops_share), text_cell(row.fidelity), text_cell(row.advice)});
  }
  return listing;
}

}  // namespace accelscope::listing
