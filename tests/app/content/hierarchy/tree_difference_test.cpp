#include "app/content/hierarchy/tree_difference.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/app/program_run.h"
#include "tests/support/simulated_session.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::app::content;

namespace {

struct Made {
  analysis::Hierarchy tree;
  explicit Made(std::int64_t busy_ns) {
    tree.labels = {""};
    tree.nodes.emplace_back().cover.busy_ns = busy_ns;
  }
  // The children of a node, all at once.
  void add(std::uint32_t parent, const std::vector<std::pair<std::string, std::int64_t>>& children) {
    tree.nodes[parent].first_child = static_cast<std::uint32_t>(tree.nodes.size());
    tree.nodes[parent].child_count = static_cast<std::uint32_t>(children.size());
    for (const auto& [name, busy_ns] : children) {
      analysis::HierarchyNode node;
      node.parent = parent;
      node.label = static_cast<std::uint32_t>(tree.labels.size());
      node.depth = static_cast<std::uint16_t>(tree.nodes[parent].depth + 1);
      node.cover.busy_ns = node.cover.self_ns = busy_ns;
      node.totals.events = 1;
      tree.labels.push_back(name);
      tree.nodes.push_back(node);
    }
  }
};

std::size_t node_of(const TreeDifference& found, const NodeName& name) {
  const auto node = find_node(found.tree, name);
  REQUIRE(node.has_value());
  return *node;
}

}  // namespace

TEST_CASE("tree difference: paths are matched by name, then without their numbers, and what one has alone is marked") {
  Made base(1000), other(1400);
  base.add(0, {{"mlp", 600}, {"fusion.12", 300}, {"old", 100}});
  base.add(1, {{"gelu", 200}});
  other.add(0, {{"fusion.14", 400}, {"mlp", 606}, {"new", 394}});
  const TreeDifference found = laid_over(base.tree, other.tree);
  const std::size_t mlp = node_of(found, {"mlp"}), fusion = node_of(found, {"fusion.14"}),
                    old = node_of(found, {"old"}), added = node_of(found, {"new"}),
                    gelu = node_of(found, {"mlp", "gelu"});
  CHECK(found.change(mlp) == NodeChange::same);  // 1 % is within the noise
  CHECK(difference_text(found.nodes[mlp], found.change(mlp)) == "the same");
  CHECK(found.change(fusion) == NodeChange::more);
  CHECK(found.nodes[fusion].match == analysis::MatchKind::by_form);
  CHECK(difference_text(found.nodes[fusion], found.change(fusion)) == "+100 ns, 1.33×");
  CHECK(found.change(old) == NodeChange::less);
  CHECK(difference_text(found.nodes[old], found.change(old)) == "A alone");
  CHECK(difference_text(found.nodes[added], found.change(added)) == "B alone");
  CHECK(found.nodes[gelu].base_ns == 200);
  CHECK_FALSE(found.nodes[gelu].in_other);
  CHECK(found.matched == 2);
  CHECK(found.base_alone == 2);
  CHECK(found.other_alone == 1);
  CHECK(found.by_base->value(static_cast<std::uint32_t>(added)) == 0);
  CHECK(found.by_other->value(static_cast<std::uint32_t>(added)) == 394);
  const std::string folded = folded_difference(found);
  CHECK(folded.find("mlp;gelu 200 0\n") != std::string::npos);
  CHECK(folded.find("fusion.14 300 400\n") != std::string::npos);
  const listing::Listing listing = difference_listing(found);
  CHECK(listing.rows.row_count() == 5);
  CHECK(std::get<std::string>(listing.rows.at(0, 0)) == "new");  // the largest difference first
}

TEST_CASE("tree difference: compare --flame prints it, folds it, and says what the sessions do not share") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.accel");
  REQUIRE(test::simulated_session()->save(path).ok());
  const auto table = test::run({"compare", path, path, "--flame", "--by", "layer"});
  CHECK(table.code == terminal::kExitDone);
  CHECK(test::holds(table.out, "layers.0/mlp"));
  CHECK(test::holds(table.err, "A alone has 0, B alone 0"));
  const auto folded = test::run({"compare", path, path, "--flame", "--by", "layer", "--format", "folded"});
  CHECK(folded.code == terminal::kExitDone);
  CHECK(test::holds(folded.out, "layers.0;mlp"));
  CHECK(test::holds(test::run({"compare", path, path, "--flame", "--by", "host"}).err, "not both sessions have it"));
  CHECK(test::run({"compare", path, path, "--format", "folded"}).code == terminal::kExitUsage);
}
