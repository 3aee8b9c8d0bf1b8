// What the visible range holds, in five columns that never mix: device work, transfers, waits by cause, lines or the
// host, memory. Texts and figures without drawing; the Selection panel shows them while nothing is selected.
//
// Device work and transfers are shares of the range in which at least one device is at it, each moment once; the names
// below them are unions too, so none is longer than the range. Bandwidth is bytes over the time in which data moves;
// what only fills memory moves none. A wait is in no other column. Time of the host is
// self time: nested calls are counted once. Memory is what was in use at the peak within the range.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/figures/range_report.h"
#include "core/analysis/selection/summary.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope::app::content {

inline constexpr const char* kStillCounted = "Being added up.";  // of a column that has no rows yet

struct VisibleRow {
  std::string text;                       // where there is room for it
  std::vector<std::string> shorter = {};  // forms of the text, longest first; none reads like another row's
  std::string detail;                     // after it where there is room: the code of a line
  std::string value;                      // never cut
  std::string exact;                      // of both, for the hover and the clipboard
  double bar = -1;                        // 0 to 1; below: none
  int slot = -1;                          // of the slice palette; below: none
  std::string search;                     // that selects its events; "": nothing does
};
struct VisibleColumn {
  enum class Kind : std::uint8_t { work, transfers, waits, host, memory };
  Kind kind = Kind::work;
  std::string title;  // "Device work, union"
  std::string value;  // of all of it: "87.2 %"; "..." while it is computed
  std::string exact;
  std::vector<VisibleRow> rows;
  std::string empty;  // a sentence where there are no rows
};
using VisibleColumns = std::array<VisibleColumn, 5>;

// What all columns of a session rest on, whatever is in view; `snapshot` must outlive it.
struct VisibleFacts {
  explicit VisibleFacts(const Snapshot& snapshot) : kinds(snapshot), devices(snapshot) {}
  analysis::WorkKinds kinds;
  analysis::TrackDevices devices;
};

// `report` may be null, or of another range while the one that is wanted is computed; what is not known yet says "...".
[[nodiscard]] VisibleColumns visible_columns(const Snapshot& snapshot, const VisibleFacts& facts,
                                             const analysis::SelectionSummary& summary,
                                             const analysis::RangeReport* report);

// All of it as text, one figure a line: column, name, ns or bytes.
[[nodiscard]] std::string columns_text(const VisibleColumns& columns, char separator);

}  // namespace accelscope::app::content
