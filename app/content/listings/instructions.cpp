#include "app/content/listings/instructions.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/content/selection_terms.h"
#include "core/analysis/source/instructions.h"
#include "core/analysis/source/source_lines.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app {
namespace {

// All events of the row: of its track and place, else of its track and name.
EventFilter events_of(const InstructionCost& row, const Snapshot& snapshot) {
  EventFilter filter;
  filter.tracks = {row.track};
  const TrackSnapshot* track = snapshot.find_track(row.track);
  if (row.place && track != nullptr && track->schema) {
    for (const Vendor& vendor : vendors()) {
      if (track->schema->find(vendor.place_column))
        filter.terms.push_back({fmt::format("{}={}", vendor.place_column, *row.place), false});
    }
  }
  const SummaryRow name{.text = std::string(snapshot.strings->text(row.name))};
  if (filter.terms.empty()) filter.terms.push_back({search_of_name(snapshot, name, {}), false});
  return filter;
}

}  // namespace

Result<Listing> list_instructions(const QueryContext& query, const ListingRequest& request) {
  if (request.by.size() > 1)
    return Error{"--by: one line of source, such as --by kernel.py:33, narrows the listing of instructions"};
  const std::string location = request.by.empty() ? "" : request.by.front();
  const auto found = instruction_listing(query, request.filter.range.value_or(TimeRange{}), location);
  if (!found) return found.error();
  const Snapshot& snapshot = *query.snapshot;
  Listing listing({{"track", "Track", "", "Engine, stream or core that executed it"},
                   {"place", "Place", "", "In the program: the program counter; nothing where a source has none"},
                   {"name", "Instruction", "", "Opcode, kernel or zone", false, false, true},
                   {"count", "Count", "", "How often it was executed"},
                   {"busy_ns", "Busy", "ns", "Time of its executions, without waiting"},
                   {"wait_ns", "Wait", "ns", "Time that it waited, and of executions that do nothing else"},
                   {"bytes", "Bytes", "B", "Read, written or moved"},
                   {"source", "Source", "", "Line that it comes from"},
                   {"operands", "Operands", "", "Of its first execution"},
                   {"event_id", "First event", "", "Its first execution", false, true}});
  const auto text = [&](StringId id) -> SqlValue {
    if (id == 0) return {};
    return std::string(snapshot.strings->text(id));
  };
  for (const InstructionCost& row : found->rows) {
    const TrackSnapshot* track = snapshot.find_track(row.track);
    const std::string operands(trimmed(row.operands));
    listing.add({track == nullptr ? SqlValue() : track->track->name, row.place ? SqlValue(*row.place) : SqlValue(),
                 text(row.name), static_cast<std::int64_t>(row.count), row.busy_ns, row.wait_ns,
                 row.bytes > 0 ? SqlValue(static_cast<std::int64_t>(row.bytes)) : SqlValue(),
                 row.location.empty() ? SqlValue() : SqlValue(row.location), operands.empty() ? SqlValue() : operands,
                 static_cast<std::int64_t>(row.first)},
                events_of(row, snapshot));
  }
  if (!found->counts_all) {
    listing.note = fmt::format(
        "there are more rows than are told apart: these are the {} that cost most among the first that were met",
        format_count(found->rows.size()));
  } else if (found->left_out > 0) {
    listing.note = fmt::format("{} rows that cost least are left out", format_count(found->left_out));
  }
  return listing;
}

Result<Listing> list_lines(const QueryContext& query, const ListingRequest& request) {
  const auto found = source_lines(query, request.filter.range.value_or(TimeRange{}));
  if (!found) return found.error();
  Listing listing({{"source", "Line", "", "File and line"},
                   {"busy_ns", "Busy", "ns", "Of its events, without waiting; of a host's calls their self time"},
                   {"wait_ns", "Wait", "ns", "Of events that wait, and what the others waited before they began"},
                   {"count", "Events", "", "That come from the line"},
                   {"bytes", "Bytes", "B", "Read, written or moved"},
                   {"host_ns", "On the host", "ns", "What of busy and wait is of a host's threads"}});
  std::vector<const SourceLine*> lines;
  for (const SourceLine& each : (*found)->lines) lines.push_back(&each);
  std::stable_sort(lines.begin(), lines.end(), [](const SourceLine* a, const SourceLine* b) {
    return a->busy_ns + a->wait_ns > b->busy_ns + b->wait_ns;
  });
  for (const SourceLine* each : lines) {
    const std::string place = fmt::format("{}:{}", each->path, each->line);
    EventFilter events = request.filter;
    events.terms.push_back({search_of_line(place), false});
    listing.add({place, each->busy_ns, each->wait_ns, static_cast<std::int64_t>(each->event_count),
                 each->bytes > 0 ? SqlValue(static_cast<std::int64_t>(each->bytes)) : SqlValue(), each->host_ns},
                std::move(events));
  }
  if ((*found)->unplaced > 0)
    listing.note = fmt::format("{} events have a location that names no line", format_count((*found)->unplaced));
  return listing;
}

}  // namespace accelscope::app
