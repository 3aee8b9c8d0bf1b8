#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/evidence.h"
#include "core/analysis/collectives/report.h"
#include "core/analysis/compilation/compilations.h"
#include "core/analysis/core_grid/grid_frames.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/hierarchy/hierarchy.h"
#include "core/analysis/hotspots/hotspots.h"
#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/roofline/roofline.h"
#include "core/listing/base/listing.h"

namespace accelscope::listing {

// Collective operations, their instances and the ranks that take part, as tables.

[[nodiscard]] Result<Listing> list_collectives(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_collective_instances(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_ranks(const QueryContext& query, const ListingRequest& request);

// The same of what is known already. The range of the targets is the request's, or the session's.
[[nodiscard]] Listing collectives_listing(const analysis::CollectivesReport& report, const Snapshot& snapshot);
[[nodiscard]] Listing ranks_listing(const analysis::CollectivesReport& report);

// "AllReduce 4 MiB"
[[nodiscard]] std::string collective_title(const analysis::CollectiveKind& kind);
// All parts of an instance: its tracks, from the first arrival to the end, as the timeline shows them.
[[nodiscard]] EventFilter instance_events(const analysis::Collectives& all,
                                          const analysis::CollectiveInstance& instance);
// What a filter keeps out, though the times of the others are told by it; "": nothing.
[[nodiscard]] std::string hidden_text(const analysis::Collectives& all);
// What the numbers lack: ranks, or an order to match by, or what a filter hides; "": nothing.
[[nodiscard]] std::string lacking_text(const analysis::CollectivesReport& report);
// What the clocks allow: "Clocks set by 48 collectives; residual ø 420 ns, at most 1.31 µs (rank 58)".
[[nodiscard]] std::string clocks_text(const analysis::Collectives& all);

// Compilations and cache hits, and what the calls of recurring functions cost, as tables.

[[nodiscard]] Result<Listing> list_compilations(const QueryContext& query, const ListingRequest& request);
// --by function: a row for each function; else one for each call.
[[nodiscard]] Result<Listing> list_calls(const QueryContext& query, const ListingRequest& request);

// The same of what is known already, of a range.
[[nodiscard]] Listing compilations_listing(const analysis::Compilations& all, const Snapshot& snapshot,
                                           const TimeRange& range);
[[nodiscard]] Listing calls_listing(const analysis::Compilations& all, const Snapshot& snapshot,
                                    const std::vector<analysis::CallRow>& rows);
// The share is of the range's part of the session; `within` is what rows select their calls of.
[[nodiscard]] Listing functions_listing(const analysis::Compilations& all, const Snapshot& snapshot,
                                        const std::vector<analysis::CallRow>& rows,
                                        const std::vector<analysis::CallFunctionRow>& functions, const TimeRange& range,
                                        const EventFilter& within);

// "12 compilations take 3.4 s, 12 % of 28 s; 4 of what had been compiled before; 96 cache hits".
[[nodiscard]] std::string compile_text(const analysis::CompileSummary& summary, std::int64_t range_ns);
// The part of the session that a range holds, in ns.
[[nodiscard]] std::int64_t session_part_ns(const Snapshot& snapshot, const TimeRange& range);

// A measure of every core as a table: the most and the least loaded core and those far from the others first.

[[nodiscard]] Result<Listing> list_core_grid(const QueryContext& query, const ListingRequest& request);

// The measure of a stretch of frames [first, last) by cell; nothing of a core that lacks the processor which is
// measured.
struct CoreValues {
  std::vector<std::optional<double>> cells;
  analysis::CoreSpread spread;  // over those that have one; its indices are cells
  std::size_t measured = 0;     // how many have one
};
[[nodiscard]] CoreValues core_grid_values(const analysis::GridFrames& frames, std::size_t first, std::size_t last);
// Times as shares of the stretch.
[[nodiscard]] CoreValues core_grid_shares(const analysis::GridFrames& frames, std::size_t first, std::size_t last);

// Cells in the order of such a table: most, least, far from the others, then by falling value, those without one last.
[[nodiscard]] std::vector<std::size_t> core_grid_order(const CoreValues& values);
// The rows of a stretch of frames.
[[nodiscard]] Listing core_grid_listing(const analysis::GridFrames& frames, const Snapshot& snapshot, std::size_t first,
                                        std::size_t last, std::span<const std::size_t> order);

// Kernels and operations of the devices by total time, and how the devices used their time, as tables.

[[nodiscard]] Result<Listing> list_hotspots(const QueryContext& query, const ListingRequest& request);
// The same of what is known already; each row speaks of all events of its name on its tracks, `within` what is given.
[[nodiscard]] Listing hotspots_listing(const analysis::HotspotList& hotspots, const Snapshot& snapshot,
                                       const EventFilter& within);

// How long each device computed, moved data, took part in collectives and idled.
[[nodiscard]] Result<Listing> list_devices(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Listing devices_listing(const analysis::RangeActivity& activity, const Snapshot& snapshot);

// Operations of a report of tt-metal in the style that its users know.
[[nodiscard]] Result<Listing> list_tt_perf(const QueryContext& query, const ListingRequest& request);

// The instruction listing as a table: of all, or of one line of source; and what the lines themselves cost.

// request.by: none, or one source location, "kernel.py:33".
[[nodiscard]] Result<Listing> list_instructions(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_lines(const QueryContext& query, const ListingRequest& request);

// The tree of layers, operators, host stacks or zones as a table, a row each node, and what a node selects.

[[nodiscard]] Result<Listing> list_layers(const QueryContext& query, const ListingRequest& request);

// What is not in it, as a sentence; "": nothing. Of an empty tree what would fill it.
[[nodiscard]] std::string hierarchy_note(const analysis::Hierarchy& tree, const analysis::HierarchyQuestion& question);

// "layer", "3" -> a kind of path and a depth, each at most once.
[[nodiscard]] Result<analysis::HierarchyQuestion> hierarchy_question(const std::vector<std::string>& by);

// Whether the name of a call tells it from the same name elsewhere in a tree of calls or zones: a search finds names,
// no stacks.
enum class NameUse : std::uint8_t {
  alone,   // nothing else in the tree is called so
  apart,   // nothing else is while its events run: the name and their stretch of time tell it
  shared,  // others are at the same time
};

// By node; empty for trees that are of no calls. O(n log n): on a worker.
[[nodiscard]] std::vector<NameUse> name_uses(const analysis::Hierarchy& tree);

// All events of the node and below, of a tree of calls its own calls, as far as a search can say it; else the longest
// of them.
struct NodeTarget {
  ListingTarget events;
  std::string besides;  // what a click selects that is not exactly this, as a sentence; "": it selects exactly it
};
// `names`: name_uses() of the tree.
[[nodiscard]] NodeTarget target_of_node(const Snapshot& snapshot, const analysis::Hierarchy& tree,
                                        const std::vector<NameUse>& names, std::size_t node);
// The events of several nodes; nothing where one search cannot tell them: nodes of layers, or of one level of a column.
[[nodiscard]] std::optional<EventFilter> filter_of_nodes(const Snapshot& snapshot, const analysis::Hierarchy& tree,
                                                         std::span<const std::uint32_t> nodes);

// The segments that allocators hold, and who holds what in them, as tables. Both are of one instant: the end of the
// range, or of the session.

[[nodiscard]] Result<Listing> list_segments(const QueryContext& query, const ListingRequest& request);
// Allocations that are alive, together by tensor, size, line or stack.
[[nodiscard]] Result<Listing> list_alive(const QueryContext& query, const ListingRequest& request);

// The memory hierarchy, the roofline and the peaks of the session's devices as tables; the panel draws from the same
// analysis.

[[nodiscard]] Result<Listing> list_memory_levels(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_roofline(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_peaks(const QueryContext& query, const ListingRequest& request);

// The events of a point within the filter that its roofline is of.
[[nodiscard]] EventFilter events_of_point(const Snapshot& snapshot, analysis::RoofGrouping grouping,
                                          const analysis::RoofPoint& point, const EventFilter& within);

// What costs time that could be saved, ranked, as a table; of every error what ran around it; and errors, throttling
// and warnings that have a time.

[[nodiscard]] Result<Listing> list_warnings(const QueryContext& query, const ListingRequest& request);
// The same rows of what is known already.
[[nodiscard]] Listing warnings_listing(const analysis::Advice& advice);

[[nodiscard]] Result<Listing> list_errors(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Listing errors_listing(const Snapshot& snapshot, const analysis::ErrorReport& report);

[[nodiscard]] Result<Listing> list_incidents(const QueryContext& query, const ListingRequest& request);

}  // namespace accelscope::listing
