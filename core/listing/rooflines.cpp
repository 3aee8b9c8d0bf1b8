#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/analysis/roofline/event_amounts.h"
#include "core/base/format.h"
#include "core/listing/terms.h"

namespace accelscope::listing {
namespace {

constexpr std::array<std::pair<std::string_view, analysis::RoofGrouping>, 3> kGroupings = {
    {{"name", analysis::RoofGrouping::name},
     {"layer", analysis::RoofGrouping::layer},
     {"line", analysis::RoofGrouping::line}}};

[[nodiscard]] Result<analysis::RoofGrouping> grouping_of(const Snapshot& snapshot, const std::vector<std::string>& by) {
  if (by.empty()) return analysis::usual_grouping(snapshot);
  const auto found =
      std::find_if(kGroupings.begin(), kGroupings.end(), [&](const auto& each) { return each.first == by.front(); });
  if (by.size() > 1 || found == kGroupings.end())
    return Error{fmt::format("--by {}: a roofline is by name, layer or line", fmt::join(by, ","))};
  return found->second;
}

[[nodiscard]] std::string_view origin_text(analysis::PeakOrigin origin) noexcept {
  constexpr std::array<std::string_view, 4> kTexts = {"", "profile", "table", "entered"};
  return kTexts[static_cast<std::size_t>(origin)];
}

void add_level_path(Listing& listing, const analysis::DeviceLevels& levels, const analysis::LevelPath& path) {
  const auto busy = known_cell(path.busy_ns);
  const bool has_busy = path.busy_ns && *path.busy_ns > 0;
  listing.add({levels.device, fmt::format("{} to {}", path.from, path.to), path.bytes, busy, known_cell(path.bandwidth),
               has_busy ? SqlValue(path.bytes / static_cast<double>(*path.busy_ns) * 1e9) : SqlValue(),
               known_cell(path.peak_value), SqlValue(), SqlValue(), known_cell(path.share), known_cell(path.ideal_ns),
               std::string(path.limiting ? "yes" : ""), path.limiting ? levels.reason : std::string()});
}

void add_compute(Listing& listing, const analysis::DeviceLevels& levels) {
  const analysis::Peak* compute = levels.peaks.best_compute();
  if (levels.flops <= 0) return;
  const auto active = static_cast<double>(levels.active_ns);
  const double* peak = compute != nullptr && compute->value ? &*compute->value : nullptr;
  listing.add({levels.device, compute == nullptr ? std::string("Compute") : compute->title, SqlValue(),
               levels.active_ns, SqlValue(), SqlValue(), SqlValue(),
               active > 0 ? SqlValue(levels.flops / active * 1e9) : SqlValue(),
               peak != nullptr ? SqlValue(*peak) : SqlValue(), known_cell(levels.compute_share),
               peak != nullptr ? SqlValue(levels.flops / *peak * 1e9) : SqlValue(),
               std::string(levels.compute_limits ? "yes" : ""), levels.compute_limits ? levels.reason : std::string()});
}

// Within the range and before the first device: nothing that anybody would want to add up.
[[nodiscard]] std::string unplaced_text(const analysis::Roofline& line) {
  const analysis::Roofline::Unplaced rest = line.unplaced(0);
  std::vector<std::string> parts;
  if (line.is_sampled) parts.push_back("operations and bytes of kernels are sampled, and shared out by time");
  if (rest.without_flops > 0)
    parts.push_back(
        fmt::format("{} without operations, such as {}", format_count(rest.without_flops), rest.flops_example));
  if (rest.without_bytes > 0)
    parts.push_back(fmt::format("{} without bytes of {}, such as {}", format_count(rest.without_bytes),
                                line.memories.front().name, rest.bytes_example));
  if (line.without_key > 0) parts.push_back(fmt::format("{} events belong to none", format_count(line.without_key)));
  if (line.left_out > 0) parts.push_back(fmt::format("{} less busy ones are left out", format_count(line.left_out)));
  return parts.empty() ? "" : fmt::format("{}: {}", line.device, fmt::join(parts, "; "));
}

void add_note(std::string& note, const std::string& text) {
  if (text.empty()) return;
  if (!note.empty()) note += "; ";
  note += text;
}

}  // namespace

EventFilter events_of_point(const Snapshot& snapshot, analysis::RoofGrouping grouping, const analysis::RoofPoint& point,
                            const EventFilter& within) {
  EventFilter events = within;
  std::string search;
  if (grouping == analysis::RoofGrouping::name) search = search_of_name(snapshot, {.text = point.text, .kind = {}}, {});
  if (grouping == analysis::RoofGrouping::line) search = search_of_line(point.text);
  if (grouping == analysis::RoofGrouping::layer)
    search = search_of_layer(snapshot, point.text).value_or("layer=\"" + point.text + "\"");
  events.terms.push_back({search, false});
  return events;
}

Result<Listing> list_memory_levels(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(analysis::memory_levels(query, request.filter.range.value_or(TimeRange{}), request.peaks));
  Listing listing(
      {{"device", "Device", "", ""},
       {"path", "Path", "", "From one memory or engine to another; the last row of a device is compute"},
       {"bytes", "Bytes", "B", "Moved on the path; events that the range cuts count in proportion"},
       {"busy_ns", "Busy", "ns", "Time in which something moves on it, a union; of compute the device's active time"},
       {"bandwidth", "Bandwidth", "B/s", "Bytes over the time in which the device is active"},
       {"busy_bandwidth", "While busy", "B/s", "Bytes over the time in which something moves"},
       {"peak", "Peak", "B/s", "What the path can do at most"},
       {"achieved", "Achieved", "FLOP/s", "Of compute: operations over the time in which the device is active"},
       {"peak_compute", "Peak of compute", "FLOP/s", "What compute can do at most"},
       {"share", "Share of peak", "share", "Bandwidth or achieved over its peak"},
       {"ideal_ns", "Ideal", "ns", "How long it would take at its peak"},
       {"limiting", "Limits", "", "It bounds the work"},
       {"reason", "Reason", "", ""}});
  for (const analysis::DeviceLevels& levels : found->devices) {
    for (const analysis::LevelPath& path : levels.paths) add_level_path(listing, levels, path);
    add_compute(listing, levels);
    const bool any_limit =
        levels.compute_limits || std::any_of(levels.paths.begin(), levels.paths.end(),
                                             [](const analysis::LevelPath& path) { return path.limiting; });
    if (!any_limit && !levels.reason.empty()) add_note(listing.note, levels.device + ": " + levels.reason);
    if (!levels.note.empty()) add_note(listing.note, levels.device + ": " + levels.note);
  }
  if (listing.rows.row_count() == 0) listing.note = "no event of a device says how many bytes it moved";
  return listing;
}

Result<Listing> list_roofline(const QueryContext& query, const ListingRequest& request) {
  const auto grouping = TRY(grouping_of(*query.snapshot, request.by));
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  const auto found = TRY(analysis::device_rooflines(query, range, grouping));
  Listing listing(
      {{"device", "Device", "", ""},
       {"name", "Name", "", "The name, layer or source line", {.names = grouping == analysis::RoofGrouping::name}},
       {"memory", "Bytes of", "", "Whose bytes the intensity is of"},
       {"count", "Events", "", ""},
       {"busy_ns", "Busy", "ns", "Time in which at least one of its events is under way"},
       {"flops", "Operations", "FLOP", ""},
       {"bytes", "Bytes", "B", "From and to the memory"},
       {"intensity", "Intensity", "FLOP/B", "Operations over bytes"},
       {"rate", "Achieved", "FLOP/s", "Operations over busy time"},
       {"roof", "Roof here", "FLOP/s", "What the device allows at this intensity"},
       {"share", "Of its roof", "share", "Achieved over roof"}});
  for (const analysis::Roofline& line : found->devices) {
    const analysis::PeakList peaks = analysis::peaks_of_device(*query.snapshot, line.device, request.peaks);
    for (std::size_t memory = 0; memory < line.memories.size(); ++memory) {
      const auto ceilings = analysis::roof_ceilings(peaks, line.memories[memory], {});
      for (const analysis::RoofPoint& point : line.points) {
        if (!point.is_placed(memory)) continue;
        const auto roof = analysis::roof_at(ceilings, point.intensity(memory));
        listing.add({line.device, point.text, line.memories[memory].name, static_cast<std::int64_t>(point.count),
                     point.busy_ns, point.flops, point.bytes[memory], point.intensity(memory), point.rate(),
                     known_cell(roof), roof ? SqlValue(point.rate() / *roof) : SqlValue()},
                    events_of_point(*query.snapshot, grouping, point, request.filter));
      }
    }
    add_note(listing.note, unplaced_text(line));
  }
  if (listing.rows.row_count() == 0)
    add_note(listing.note, "no event of a device states both its operations and its bytes");
  return listing;
}

Result<Listing> list_peaks(const QueryContext& query, const ListingRequest& request) {
  Listing listing({{"device", "Device", "", ""},
                   {"model", "Model", "", "What was entered holds for all devices of this name"},
                   {"what", "What", "", "As the file of entered peaks names it"},
                   {"title", "Peak", "", ""},
                   {"value", "Value", "", "In B/s or FLOP/s; nothing where nobody knows"},
                   {"unit", "Unit", "", ""},
                   {"origin", "From", "", "profile, table or entered"},
                   {"source", "Source", "", ""},
                   {"built_in", "Built in", "", "What it is without what was entered"}});
  const analysis::DeviceLanes lanes(*query.snapshot);
  for (std::size_t device = 0; device < lanes.device_count(); ++device) {
    const analysis::PeakList peaks = analysis::peaks_of_device(*query.snapshot, lanes.name(device), request.peaks);
    for (const analysis::Peak& peak : peaks.all) {
      listing.add({peaks.device, peaks.model, peak.what, peak.title, known_cell(peak.value),
                   std::string(peak.unit.name()), std::string(origin_text(peak.origin)), peak.source,
                   known_cell(peak.built_in)});
    }
  }
  if (listing.rows.row_count() == 0) listing.note = "the session has no device that works";
  return listing;
}

}  // namespace accelscope::listing
