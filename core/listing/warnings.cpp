#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include "core/analysis/figures/incidents.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::listing {
namespace {

std::string_view word_of(Alert alert) {
  return alert == Alert::error ? "error" : alert == Alert::throttling ? "throttling" : "warning";
}

}  // namespace

Listing warnings_listing(const analysis::Advice& advice) {
  Listing listing(
      {{"rule", "Rule", "", "Which rule found it", {.aside = true}},
       {"device", "Device", "", "", {.aside = true}},
       {"headline", "What", "", ""},
       {"line", "Line", "", "The line that it costs most"},
       {"count", "Count", "", "Events or gaps that it rests on"},
       {"saving_ns", "Saves up to", "ns", "What mending this alone would save at most"},
       {"least_ns", "Saves at least", "ns", "What mending this alone would save at least", {.aside = true}},
       {"share", "Share", "share",
        "Of the device's active time in the work; of gaps: of the time from its first to its last work"},
       {"remedy", "What to try", "", "", {.aside = true}},
       {"evidence", "Evidence", "", "What shows it beside its events, such as a wait", {.aside = true}},
       {"same_time", "Same time as", "", "Findings above it that mend the same time", {.aside = true}},
       {"what_if", "What-if", "", "The change that mends it, for what-if", {.aside = true}},
       {"ts_ns", "Begin", "ns", "Of where it is seen, or of the longest gap", {.aside = true}},
       {"end_ns", "End", "ns", "", {.aside = true}},
       {"event_id", "First event", "", "", {.aside = true}},
       {"replayed", "Replayed", "", "1: the savings are by a replay of the session without it", {.aside = true}}});
  for (const analysis::Finding& each : advice.findings) {
    const TimeRange range = each.events.range.value_or(each.places.front().range);
    // An error and held memory cost no time that could be saved.
    const auto saving = [&](std::int64_t ns) { return each.saving_ns > 0 ? SqlValue(ns) : SqlValue(); };
    listing.add({std::string(each.rule->name), text_cell(each.device), each.headline, text_cell(each.source),
                 static_cast<std::int64_t>(each.count), saving(each.saving_ns), saving(each.least_ns),
                 each.saving_ns > 0 ? SqlValue(each.share) : SqlValue(), each.remedy, text_cell(each.evidence),
                 text_cell(fmt::format("{}", fmt::join(each.same_as, "; "))), text_cell(each.change), range.begin_ns,
                 range.end_ns, event_cell(each.first), flag_cell(each.is_replayed)},
                each.events);
  }
  const std::string unjudged = analysis::unjudged_text(advice);
  listing.note = analysis::judged_text(advice) + "; savings do not add up" + (unjudged.empty() ? "" : "; " + unjudged);
  return listing;
}

Result<Listing> list_warnings(const QueryContext& query, const ListingRequest& request) {
  const auto advice = TRY(analysis::find_advice(query, request.filter));
  return warnings_listing(*advice);
}

Listing errors_listing(const Snapshot& snapshot, const analysis::ErrorReport& report) {
  Listing listing({{"ts_ns", "Time", "ns", "When the error was reported"},
                   {"error", "Error", "", "As the device or the source calls it"},
                   {"details", "Details", "", "What was reported with it"},
                   {"error_id", "Error event", "", ""},
                   {"track", "Where", "", "An engine, a queue or a stream of the device"},
                   {"state", "State", "", "under way when the error was reported, or the last before it"},
                   {"name", "Ran", "", "", {.names = true}},
                   {"since_ns", "Since", "ns", "From its begin to the error"},
                   {"operands", "Operands", "", ""},
                   {"line", "Line", "", "Its line, else the error's own"},
                   {"event_id", "Event", "", ""}});
  for (const analysis::ReportedError& error : report.errors) {
    const std::int64_t at = error.incident.begin_ns;
    const auto error_id = static_cast<std::int64_t>(error.incident.event);
    if (error.around.empty()) {
      listing.add({at, error.name, text_cell(error.details), error_id, SqlValue(), SqlValue(), SqlValue(), SqlValue(),
                   SqlValue(), text_cell(error.source), SqlValue()},
                  error.incident.event);
    }
    for (const analysis::RanAround& ran : error.around) {
      const TrackSnapshot* track = snapshot.find_track(ran.track);
      listing.add(
          {at, error.name, text_cell(error.details), error_id, track == nullptr ? std::string() : track->track->name,
           std::string(ran.under_way ? "under way" : "last before"), ran.name, at - ran.begin_ns,
           text_cell(ran.operands), text_cell(ran.source.empty() ? error.source : ran.source), event_cell(ran.event)},
          ran.event);
    }
  }
  if (report.left_out > 0) listing.note = fmt::format("{} later errors are left out", format_count(report.left_out));
  return listing;
}

Result<Listing> list_errors(const QueryContext& query, const ListingRequest& request) {
  const auto report = TRY(analysis::report_errors(query, request.filter));
  return errors_listing(*query.snapshot, *report);
}

Result<Listing> list_incidents(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(analysis::find_incidents(query));
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  Listing listing({{"ts_ns", "Time", "ns", "Since the session's start"},
                   {"dur_ns", "Duration", "ns", ""},
                   {"severity", "Severity", "", "error, throttling or warning"},
                   {"name", "What", "", "As the device or the source calls it"},
                   {"track", "Track", "", ""},
                   {"event_id", "Event", "", "", {.aside = true}}});
  for (const analysis::Incident& each : found->list) {
    if (!range.holds(each.begin_ns, each.end_ns)) continue;
    if (query.mask && !query.mask->passes(snapshot, each.event)) continue;
    const LaneSnapshot* lane = snapshot.find_lane(lane_of(each.event));
    const TrackSnapshot* track = lane == nullptr ? nullptr : snapshot.find_track(lane->track);
    listing.add({each.begin_ns, each.end_ns - each.begin_ns, std::string(word_of(each.alert)),
                 std::string(snapshot.strings->text(each.name)), track == nullptr ? std::string() : track->track->name,
                 static_cast<std::int64_t>(each.event)},
                each.event);
  }
  if (found->left_out > 0) listing.note = fmt::format("{} less grave ones are left out", format_count(found->left_out));
  return listing;
}

}  // namespace accelscope::listing
