#include "core/listing/listings.h"

#include <algorithm>
#include <array>

#include "core/listing/analysis_listings.h"
#include "core/listing/critical_path.h"
#include "core/listing/iterations.h"
#include "core/listing/statistics.h"

namespace accelscope::listing {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"layers",
     "Layers, operators, host stacks or zones as a tree; --by KIND,DEPTH",
     list_layers,
     {.takes_by = true, .varies = true}},
    {"statistics",
     "Count, total, mean and quantiles of events by the columns of --by, of the value of --value",
     list_statistics,
     {.takes_by = true, .takes_value = true, .varies = true}},
    {"device-stats", "Zones by core and processor, in cycles and ns", list_device_stats, {.varies = true}},
    {"tt-perf", "Operations of tt-metal: share, bound, device time, gap, cores, DRAM and FLOP/s, advice", list_tt_perf},
    {"hotspots",
     "Kernels and operations by total time, with work sizes, resources, occupancy and stalls",
     list_hotspots,
     {.varies = true}},
    {"devices", "How long each device computed, moved data, took part in collectives and idled", list_devices},
    {"idle",
     "Every gap of a device: what the host did, what ended it, what closing it saves; --by device, host or line",
     list_idle,
     {.takes_by = true}},
    {"lines", "What every line of the traced source cost: events, busy and waiting time, bytes", list_lines},
    {"warnings",
     "What costs time that could be saved, ranked by what mending it would save at most",
     list_warnings,
     {.table = "finding"}},
    {"critical-path",
     "What the length of the session or range was made of, event by event",
     list_critical_path,
     {.table = "critical_path", .key = "event_id", .rows = 10'000}},
    {"path-shares",
     "The critical path by --by resource, line, name or kind; it adds up to the whole",
     list_path_shares,
     {.takes_by = true}},
    {"bounds",
     "What bounds the range: memory, compute, issue, dependency, host, imbalance; the ideal time of each",
     list_bounds,
     {.table = "bound"}},
    {"path-gaps",
     "Gaps of the critical path by what closing them would save, with the line",
     list_path_gaps,
     {.table = "path_gap"}},
    {"slack",
     "By how much each event could end later without moving the end",
     list_slack,
     {.key = "event_id", .rows = 10'000}},
    {"waits",
     "What every wait was for: cause, semaphore and who ended it",
     list_waits,
     {.table = "wait", .key = "event_id", .rows = 10'000}},
    {"dependency-chain",
     "What an event had to wait for step by step, and what then waited for it; --by ID of the event",
     list_dependency_chain,
     {.takes_by = true}},
    {"wait-causes", "Waits added up by --by cause, signaller or line", list_wait_causes, {.takes_by = true}},
    {"errors", "Of every reported error what ran around it on each engine, queue and stream", list_errors},
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
    {"loops",
     "What repeats: how often, how long, how it spreads, first against steady; --by NAME or marker",
     list_loops,
     {.takes_by = true, .table = "loop", .key = "loop_id"}},
    {"iterations",
     "Steps, tiles and loops that repeat, an iteration a row; --by NAME or marker says where they begin",
     list_iterations,
     {.takes_by = true, .table = "iteration", .rows = 1'000}},
    {"iteration-body",
     "The operations of these, folded: median, spread, first, outliers; --by as above",
     list_iteration_body,
     {.takes_by = true, .table = "loop_operation", .rows = 1'000}},
    {"regions",
     "Lengths by --by collective, layer, layer,DEPTH, function, annotation, marker or NAME; up to three of its names "
     "behind it are compared",
     list_regions,
     {.takes_by = true, .has_markers = true, .table = "named_region", .by = "*"}},
    {"instructions",
     "What each place of a program cost, in its order; --by kernel.py:33 of one line",
     list_instructions,
     {.takes_by = true, .rows = 10'000}},
    {"compilations", "What was compiled when, and what a cache had, by lines of output, names and lengths of calls",
     list_compilations},
    {"calls",
     "Host, compile, dispatch and kernel time of every call of recurring functions; --by function of each",
     list_calls,
     {.takes_by = true}},
    {"collectives", "What ranks do together: time, bandwidth and outliers of each operation", list_collectives},
    {"collective-instances", "Every instance of these, with the rank that came last", list_collective_instances},
    {"ranks", "How late each rank came to them, and how long others waited for it", list_ranks},
    {"roofline",
     "Operations against bytes by --by name, layer or line, with what the device allows",
     list_roofline,
     {.takes_by = true}},
    {"memory-levels", "What went from memory to memory, how fast, of what peak, and which path limits",
     list_memory_levels},
    {"segments",
     "Memory that allocators hold, at the end of the range: what of each segment is in use, free, and in how many "
     "pieces",
     list_segments},
    {"alive",
     "What is in memory at the end of the range, by tensor, or --by size, line or stack",
     list_alive,
     {.takes_by = true}},
    {"peaks", "What the devices can do at most, where that comes from, and what was entered", list_peaks},
    {"core-grid",
     "The cores of the devices by their places, with a measure of each: --by busy, wait, events, zone:NAME, "
     "part:NAME "
     "or TABLE.COLUMN",
     list_core_grid,
     {.takes_by = true, .varies = true}},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

std::string table_name(const ListingKind& kind) {
  std::string name(kind.facts.table.empty() ? kind.name : kind.facts.table);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const std::vector<std::vector<ListingColumn>>& listing_columns() {
  static const auto all = [] {
    std::vector<std::vector<ListingColumn>> columns;
    const auto store = Store::create();
    WorkerPool pool(1);
    TaskControl control;
    for (const ListingKind& kind : kListings) {
      columns.emplace_back();
      if (!store) continue;
      if (auto none = kind.make({**store, (*store)->snapshot(), pool, control}, {}); none)
        columns.back() = std::move(none->columns);
    }
    return columns;
  }();
  return all;
}

}  // namespace accelscope::listing
