// What waits were for, and what the length of a session or range was made of, as tables.
#pragma once

#include <memory>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/critical_path/work_graph.h"
#include "core/listing/base/listing.h"

namespace accelscope::listing {

[[nodiscard]] Result<Listing> list_critical_path(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_path_shares(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_waits(const QueryContext& query, const ListingRequest& request);
// What an event had to wait for step by step, and what then waited for it: --by its id.
[[nodiscard]] Result<Listing> list_dependency_chain(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_wait_causes(const QueryContext& query, const ListingRequest& request);

// Bounds of the range, and gaps of its path by what closing them would save.
[[nodiscard]] Result<Listing> list_bounds(const QueryContext& query, const ListingRequest& request);
[[nodiscard]] Result<Listing> list_path_gaps(const QueryContext& query, const ListingRequest& request);
// By how much each event of the range that passes could end later without moving the end of the session.
[[nodiscard]] Result<Listing> list_slack(const QueryContext& query, const ListingRequest& request);

[[nodiscard]] Result<Listing> gaps_listing(const QueryContext& query, const analysis::WorkGraph& graph,
                                           const analysis::CriticalPath& path);
[[nodiscard]] Result<Listing> causes_listing(const QueryContext& query, const analysis::WorkGraph& graph,
                                             const EventFilter& filter, analysis::WaitsBy by);
// What tables say of a node, empty of none: its name, its line, the event that a user knows it as.
[[nodiscard]] SqlValue path_name_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node);
[[nodiscard]] SqlValue path_line_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node);
[[nodiscard]] SqlValue path_event_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node);
[[nodiscard]] Listing path_listing(const analysis::WorkGraph& graph, const analysis::CriticalPath& path);
[[nodiscard]] Listing shares_listing(const analysis::WorkGraph& graph, const analysis::CriticalPath& path,
                                     analysis::PathBy by);

// The table of gaps: when each device had nothing to do, what its host did meanwhile, what ended it and what closing it
// would save.

[[nodiscard]] Result<Listing> list_idle(const QueryContext& query, const ListingRequest& request);
// The longest ones first; no more than `most` of them, as the note says then. Of the range, the whole session's where
// it is empty.
[[nodiscard]] Result<Listing> idle_listing(const QueryContext& query, const analysis::WorkGraph& graph,
                                           const TimeRange& range, std::size_t most);

}  // namespace accelscope::listing
