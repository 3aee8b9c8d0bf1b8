// A table that analysis makes of a session's events: what a panel shows and `accelscope view --table` prints, so that
// both have the same numbers. Which there are says listings.h.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"
#include "core/sql/base/sql.h"

namespace accelscope::app {

struct ListingColumn {
  std::string name;   // for programs, with its unit: "busy_ns", "load_bytes"
  std::string title;  // for people: "Busy"
  std::string unit;   // as in figure_text.h: "ns", "B", "B/s", "share" (of 1), "FLOP"; "": a plain number or a text
  std::string explanation;  // what it means and how it is computed
  bool bar = false;         // of shares: a panel draws them as bars
  bool aside = false;       // for programs; a panel shows it on wish only
  bool names = false;       // of kernels and calls: a panel shortens them to what tells them apart
};

// What a row speaks of: nothing that can be selected, an event, or all events that pass a filter.
using ListingTarget = std::variant<std::monostate, EventId, EventFilter>;

struct Listing {
  std::vector<ListingColumn> columns;
  SqlResult rows;                      // under the names of the columns
  std::vector<ListingTarget> targets;  // of each row; empty: none has one
  std::string note;                    // what is missing, estimated or cut; "": nothing

  Listing() = default;
  explicit Listing(std::vector<ListingColumn> all);
  void add(std::vector<SqlValue> cells, ListingTarget target = {});  // as many as there are columns
};

struct ListingRequest {
  EventFilter filter;
  std::vector<std::string> by;  // columns or levels that rows are grouped by, where a listing has a choice
  std::string value = {};       // the column that is measured, where a listing has a choice; "": its own
  PeakEdits peaks = {};         // what the user has entered of devices
};

struct ListingKind {
  std::string_view name;     // of the option
  std::string_view summary;  // a sentence for the help
  // The query's mask holds the filter's tracks and terms; its range is left to the function.
  Result<Listing> (*make)(const QueryContext& query, const ListingRequest& request);
  bool takes_by = false;
  bool takes_value = false;
};

}  // namespace accelscope::app
