// The tree of layers, operators, host stacks or zones as a table, a row each node, and what a node selects.
#pragma once

#include <string>
#include <vector>

#include "app/content/hierarchy/name_uses.h"
#include "app/content/listings/base/listing.h"
#include "core/analysis/hierarchy/hierarchy.h"

namespace accelscope::app {

[[nodiscard]] Result<Listing> list_layers(const QueryContext& query, const ListingRequest& request);

// What is not in it, as a sentence; "": nothing. Of an empty tree what would fill it.
[[nodiscard]] std::string hierarchy_note(const Hierarchy& tree, const HierarchyQuestion& question);

// "layer", "3" -> a kind of path and a depth, each at most once.
[[nodiscard]] Result<HierarchyQuestion> hierarchy_question(const std::vector<std::string>& by);

// All events of the node and below, of a tree of calls its own calls, as far as a search can say it; else the longest
// of them.
struct NodeTarget {
  ListingTarget events;
  std::string besides;  // what a click selects that is not exactly this, as a sentence; "": it selects exactly it
};
// `names`: name_uses() of the tree.
[[nodiscard]] NodeTarget target_of_node(const Snapshot& snapshot, const Hierarchy& tree,
                                        const std::vector<NameUse>& names, std::size_t node);

}  // namespace accelscope::app
