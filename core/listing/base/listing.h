// A table that analysis makes of a session's events: what a panel shows and `accelscope view --table`, SQL, reports and
// MCP give, so that all have the same numbers. Which there are says listings.h, how one is written write.h.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/base/format.h"
#include "core/listing/base/rows.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::listing {

struct ListingColumn {
  std::string name;   // for programs, with its unit: "busy_ns", "load_bytes"
  std::string title;  // for people: "Busy"
  std::string unit;  // as in core/base/format.h: "ns", "B", "B/s", "share" (of 1), "FLOP"; "": a plain number or a text
  std::string explanation;  // what it means and how it is computed
  struct Look {
    bool bar = false;    // of shares: a panel draws them as bars
    bool aside = false;  // for programs; a panel hides it at first
    bool names = false;  // of kernels and calls: a panel shortens them to what tells them apart
  };
  Look look = {};
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
  std::vector<std::string> by = {};  // columns or levels that rows are grouped by, where a listing has a choice
  std::string value = {};            // the column that is measured, where a listing has a choice; "": its own
  analysis::PeakEdits peaks = {};    // what the user has entered of devices
  bool all_rows = false;             // also beyond what a panel shows
};

struct ListingKind {
  std::string_view name;     // of the option
  std::string_view summary;  // a sentence for the help
  // The query's mask holds the filter's tracks and terms; its range is left to the function.
  Result<Listing> (*make)(const QueryContext& query, const ListingRequest& request);
  struct Facts {
    bool takes_by = false;
    bool takes_value = false;
    bool has_markers = false;  // it is of markers, which change while a session is open
    bool varies = false;       // further columns are known when it is made
    // Its name in SQL, which no kind of event takes; "": the name above, with _ for -, unless a kind of event has it.
    std::string_view table = {};
    std::string_view by = {};   // what its rows are by in SQL; "": as where nothing is asked for
    std::string_view key = {};  // the id that rows are often looked up by, which queries know as `id`, too
    std::uint32_t rows = 100;   // about so many
  };
  Facts facts = {};
};

// Cells; nothing where nothing is known.

[[nodiscard]] inline SqlValue text_cell(std::string_view text) {
  return text.empty() ? SqlValue() : SqlValue(std::string(text));
}
[[nodiscard]] inline SqlValue event_cell(EventId event) {
  return event == kNoEvent ? SqlValue() : SqlValue(static_cast<std::int64_t>(event));
}
[[nodiscard]] inline SqlValue count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }
[[nodiscard]] inline SqlValue amount_cell(std::uint64_t amount) {  // 0: it was not recorded
  return amount == 0 ? SqlValue() : count_cell(amount);
}
[[nodiscard]] inline SqlValue flag_cell(bool flag) { return std::int64_t{flag ? 1 : 0}; }
[[nodiscard]] inline SqlValue whole_cell(double value) { return static_cast<std::int64_t>(std::llround(value)); }
template <typename Value>
[[nodiscard]] SqlValue known_cell(const std::optional<Value>& value) {
  return value ? SqlValue(*value) : SqlValue();
}
[[nodiscard]] inline SqlValue share_cell(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? SqlValue(static_cast<double>(part) / static_cast<double>(whole)) : SqlValue();
}

}  // namespace accelscope::listing
