// What a tree of a session must be, added up with nothing but lists.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/hierarchy/hierarchy.h"
#include "core/analysis/hierarchy/hierarchy_index.h"
#include "tests/core/random_session.h"
#include "tests/core/union_length.h"

namespace accelscope::test {

// What a node adds up to, path by path, with nothing but lists.
struct ExpectedNode {
  std::uint64_t events = 0;
  std::int64_t wait_ns = 0;
  std::int64_t launched_ns = 0;
  Intervals busy, self;
};
using ExpectedTree = std::map<std::vector<std::string>, ExpectedNode>;
using Path = std::vector<std::string>;

inline void each_level(ExpectedTree& tree, const Path& path, const std::function<void(ExpectedNode&)>& add) {
  for (std::size_t levels = 0; levels <= path.size(); ++levels) {
    add(tree[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(levels))]);
  }
}

inline Path path_of(const Hierarchy& tree, std::size_t node) {
  Path path;
  for (std::size_t at = node; at != 0; at = tree.nodes[at].parent) path.insert(path.begin(), tree.text(at));
  return path;
}

inline void check_tree(const Hierarchy& tree, const ExpectedTree& expected) {
  REQUIRE(tree.nodes.size() == expected.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const HierarchyNode& node = tree.nodes[i];
    const auto found = expected.find(path_of(tree, i));
    CAPTURE(tree.path(i));
    REQUIRE(found != expected.end());
    CHECK(node.totals.events == found->second.events);
    CHECK(node.totals.wait_ns == found->second.wait_ns);
    CHECK(node.totals.launched_ns == found->second.launched_ns);
    CHECK(node.cover.busy_ns == length_of_union(found->second.busy));
    CHECK(node.cover.self_ns == length_of_union(found->second.self));
    std::uint64_t units = 0;
    for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
      units += tree.unit_events[i * tree.units.size() + unit];
      CHECK(tree.unit_busy_ns[i * tree.units.size() + unit] <= node.cover.busy_ns);
    }
    CHECK(units == node.totals.events);
    std::int64_t below = 0, longest = INT64_MAX;
    for (std::uint32_t child = node.first_child; child < node.first_child + node.child_count; ++child) {
      CHECK(tree.nodes[child].parent == i);
      CHECK(tree.nodes[child].cover.busy_ns <= longest);  // the longest first
      longest = tree.nodes[child].cover.busy_ns;
      below += longest;
    }
    CHECK(node.cover.busy_ns <= below + node.cover.self_ns);
  }
}

inline Hierarchy hierarchy_of(const QueryContext& query, const HierarchyQuestion& question, const TimeRange& range = {},
                              const HierarchyInput& input = {}) {
  const auto tree = session_hierarchy(query, question, range, input);
  REQUIRE_MESSAGE(tree.ok(), tree.message());
  return **tree;
}

inline ExpectedTree expected_lines(const RandomSession& session, const TimeRange& range,
                                   const std::string& wanted_name) {
  ExpectedTree tree;
  tree[{}];
  for (const PlainEvent& event : session.events) {
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    if (!tick_range(lane, range).holds(event.begin_ticks, event.end_ticks)) continue;
    if (!wanted_name.empty() && event.name_text != wanted_name) continue;
    Path path = {"(no line)"};
    if (!event.location.empty()) path = {"dir/kernel.py", event.location};
    const std::pair part(std::max(event.begin_ns, range.begin_ns), std::min(event.end_ns, range.end_ns));
    const bool any = part.first < part.second;
    each_level(tree, path, [&](ExpectedNode& node) {
      ++node.events;
      if (event.waits && any) node.wait_ns += part.second - part.first;
      if (!event.waits && any) node.busy.push_back(part);
    });
    if (!event.waits && any) tree[path].self.push_back(part);
  }
  return tree;
}

inline void check_same(const Hierarchy& tree, const Hierarchy& expected) {
  REQUIRE(tree.nodes.size() == expected.nodes.size());
  CHECK(tree.cut_events == expected.cut_events);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const HierarchyNode& node = tree.nodes[i];
    const HierarchyNode& wanted = expected.nodes[i];
    CAPTURE(expected.path(i));
    REQUIRE(tree.path(i) == expected.path(i));
    CHECK(node.totals.events == wanted.totals.events);
    CHECK(node.totals.sum_ns == wanted.totals.sum_ns);
    CHECK(node.totals.wait_ns == wanted.totals.wait_ns);
    CHECK(node.totals.bytes == wanted.totals.bytes);
    CHECK(node.totals.flops == doctest::Approx(wanted.totals.flops));
    CHECK(node.totals.launched_events == wanted.totals.launched_events);
    CHECK(node.totals.launched_ns == wanted.totals.launched_ns);
    CHECK(node.totals.devices == wanted.totals.devices);
    CHECK(node.totals.longest == wanted.totals.longest);
    CHECK(node.totals.stretch == wanted.totals.stretch);
    CHECK(node.cover.busy_ns == wanted.cover.busy_ns);
    CHECK(node.cover.self_ns == wanted.cover.self_ns);
  }
  CHECK(tree.unit_events == expected.unit_events);
  CHECK(tree.unit_busy_ns == expected.unit_busy_ns);
}

inline std::shared_ptr<const HierarchyIndex> index_of(const QueryContext& query, const std::string& kind,
                                                      std::uint64_t window_events,
                                                      const std::shared_ptr<const HierarchyIndex>& previous = nullptr) {
  const auto index = HierarchyIndex::build(query, kind, previous, window_events);
  REQUIRE_MESSAGE(index.ok(), index.message());
  REQUIRE(*index != nullptr);
  return *index;
}

inline std::size_t pieces_in(const HierarchyIndex& index, const QueryContext& query) {
  return index.pieces_of(*query.snapshot, PathSubject(*query.snapshot, index.kind())).size();
}

}  // namespace accelscope::test
