#include "app/content/listings/hotspots.h"

#include <fmt/format.h>

#include <cmath>

#include "app/content/selection_terms.h"
#include "core/base/format.h"

namespace accelscope::app {
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

std::string column_title(const LaunchColumn& column) {
  const bool scales = column.unit.empty() || column.unit == "B" || column.unit == "ns" || column.unit == "%";
  std::string title = scales ? column.title : fmt::format("{}, {}", column.title, column.unit);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

SqlValue launch_cell(const LaunchColumn& column, const LaunchValue& value) {
  if (value.count == 0) return {};
  if (!column.numeric) return value.varies ? value.first + " and others" : value.first;
  const double mean = value.sum / static_cast<double>(value.count);
  if (value.min == value.max && std::trunc(mean) == mean && std::abs(mean) < 1e15)
    return static_cast<std::int64_t>(mean);
  return std::round(mean * 1e4) / 1e4;
}

}  // namespace

Listing hotspots_listing(const HotspotList& hotspots, const Snapshot& snapshot, const EventFilter& within) {
  std::vector<ListingColumn> columns = {
      {"name", "Kernel or operation", "",
       "A click selects all its events; a double click opens the line of the longest", false, false, true},
      {"work", "Is a", "", "kernel: work of an engine or stream; transfer; collective"},
      {"count", "Count", "", "Events that share time with the range"},
      {"total_ns", "Total", "ns", "Of whole events; work within work counts in both"},
      {"share", "Share", "share", "Of the totals of all", true},
      {"mean_ns", "⌀", "ns", "Mean"},
      {"min_ns", "Min", "ns", ""},
      {"max_ns", "Max", "ns", ""},
      {"wait_ns", "Stalled", "ns", "That its events waited before they began, added up; where it is recorded"},
      {"bytes", "Bytes", "B", "Read, written or moved; where it is recorded"}};
  for (const LaunchColumn& column : hotspots.columns) {
    const bool keeps_unit = column.unit == "B" || column.unit == "ns" || column.unit == "%";
    columns.push_back({plain_name(column.name), column_title(column), keeps_unit ? column.unit : "",
                       column.explanation + (column.numeric ? " The mean where launches differ." : "")});
  }
  columns.push_back({"event_id", "Longest", "", "Its longest event", false, true});
  Listing listing(std::move(columns));
  for (const Hotspot& row : hotspots.rows) {
    const std::string name(snapshot.strings->text(row.name));
    const double mean = static_cast<double>(row.total_ns) / static_cast<double>(row.count);
    std::vector<SqlValue> cells = {
        name,
        std::string(work_text(row.work)),
        static_cast<std::int64_t>(row.count),
        row.total_ns,
        hotspots.total_ns > 0 ? SqlValue(static_cast<double>(row.total_ns) / static_cast<double>(hotspots.total_ns))
                              : SqlValue(),
        static_cast<std::int64_t>(std::llround(mean)),
        row.min_ns,
        row.max_ns,
        row.has_wait ? SqlValue(row.wait_ns) : SqlValue(),
        row.bytes > 0 ? SqlValue(static_cast<std::int64_t>(row.bytes)) : SqlValue()};
    for (std::size_t i = 0; i < hotspots.columns.size(); ++i)
      cells.push_back(launch_cell(hotspots.columns[i], row.launch[i]));
    cells.emplace_back(static_cast<std::int64_t>(row.longest));
    EventFilter events = within;
    events.tracks = row.tracks;
    events.terms.push_back({search_of_text("name", name), false});
    listing.add(std::move(cells), std::move(events));
  }
  if (hotspots.waiting_ns > 0)
    listing.note =
        fmt::format("without {} of events that only wait", format_duration(static_cast<double>(hotspots.waiting_ns)));
  if (hotspots.left_out > 0)
    listing.note += fmt::format("{}{} names of the least time are left out", listing.note.empty() ? "" : "; ",
                                format_count(hotspots.left_out));
  return listing;
}

Result<Listing> list_hotspots(const QueryContext& query, const ListingRequest& request) {
  const auto found = find_hotspots(query, request.filter.range.value_or(TimeRange{}));
  if (!found) return found.error();
  return hotspots_listing(*found, *query.snapshot, request.filter);
}

}  // namespace accelscope::app
