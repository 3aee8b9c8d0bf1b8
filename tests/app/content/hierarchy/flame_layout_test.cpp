#include "app/content/hierarchy/tree_rows.h"

#include <doctest/doctest.h>

#include <map>

using namespace accelscope;
using namespace accelscope::app::content;
using namespace accelscope::app;

namespace {

// all 100 > a 60 (x 60, y 30), b 30, c 10: x and y ran at once.
std::shared_ptr<analysis::Hierarchy> small_tree() {
  auto tree = std::make_shared<analysis::Hierarchy>();
  tree->kind = analysis::find_path_kind("layer");
  tree->labels = {"", "a", "b", "c", "x", "y"};
  const auto node = [&](std::uint32_t parent, std::uint32_t label, std::uint16_t depth, std::int64_t busy,
                        std::uint32_t first, std::uint32_t count) {
    analysis::HierarchyNode made;
    made.parent = parent;
    made.label = label;
    made.depth = depth;
    made.cover.busy_ns = busy;
    made.totals.events = label;
    made.first_child = first;
    made.child_count = count;
    tree->nodes.push_back(made);
  };
  node(0, 0, 0, 100, 1, 3);
  node(0, 1, 1, 60, 4, 2);
  node(0, 2, 1, 30, 6, 0);
  node(0, 3, 1, 10, 6, 0);
  node(1, 4, 2, 60, 6, 0);
  node(1, 5, 2, 30, 6, 0);
  return tree;
}

// A root with so many children of 1 ns each.
analysis::Hierarchy wide_tree(std::uint32_t children) {
  analysis::Hierarchy tree;
  tree.labels = {"", "leaf"};
  tree.nodes.resize(children + 1);
  tree.nodes[0].first_child = 1;
  tree.nodes[0].child_count = children;
  tree.nodes[0].cover.busy_ns = children;
  for (std::uint32_t i = 1; i <= children; ++i) {
    tree.nodes[i].label = 1;
    tree.nodes[i].depth = 1;
    tree.nodes[i].cover.busy_ns = 1;
  }
  return tree;
}

}  // namespace

TEST_CASE("flame layout: boxes are as wide as their share, and children that ran at once share their parent's width") {
  const auto tree = small_tree();
  const FlameLayout layout(*tree, LayerMeasure::busy);
  std::vector<FlameBox> boxes;
  layout.boxes(*tree, 0, 1000, 8, boxes);
  std::map<std::uint32_t, FlameBox> by_node;
  for (const FlameBox& box : boxes) by_node[box.node] = box;
  REQUIRE(by_node.size() == 6);
  CHECK(by_node[1].x1 - by_node[1].x0 == doctest::Approx(600));
  CHECK(by_node[2].x0 == doctest::Approx(600));
  CHECK(by_node[3].x1 == doctest::Approx(1000));
  CHECK(by_node[4].x1 - by_node[4].x0 == doctest::Approx(400));
  CHECK(by_node[5].x1 == doctest::Approx(600));
  CHECK(by_node[5].row == 2);
}

TEST_CASE("flame layout: what is zoomed to and all above it take the whole width") {
  const auto tree = small_tree();
  const FlameLayout layout(*tree, LayerMeasure::busy);
  std::vector<FlameBox> boxes;
  layout.boxes(*tree, 1, 300, 8, boxes);
  REQUIRE(boxes.size() == 4);
  CHECK(boxes[0].above);
  CHECK(boxes[1].node == 1);
  CHECK_FALSE(boxes[1].above);
  for (int i = 0; i < 2; ++i) CHECK(boxes[static_cast<std::size_t>(i)].x1 == doctest::Approx(300));
  CHECK(boxes[2].x1 - boxes[2].x0 == doctest::Approx(200));
  layout.boxes(*tree, 0, 300, 2, boxes);
  for (const FlameBox& box : boxes) CHECK(box.row < 2);
}

TEST_CASE("flame layout: of a million siblings there are no more boxes than pixels, and none is left out") {
  const analysis::Hierarchy tree = wide_tree(1'000'000);
  const FlameLayout layout(tree, LayerMeasure::busy);
  std::vector<FlameBox> boxes;
  layout.boxes(tree, 0, 600, 8, boxes);
  CHECK(boxes.size() <= 601);
  std::uint64_t stands_for = 0;
  for (const FlameBox& box : boxes) stands_for += box.row == 1 ? box.count : 0;
  CHECK(stands_for == 1'000'000);
  CHECK(boxes.back().x1 == doctest::Approx(600).epsilon(0.01));
}

TEST_CASE("tree rows: what is open stays so in the next tree, and a search opens what it found") {
  TreeRows rows;
  auto tree = small_tree();
  const auto show = [&](const TreeOrder& order = {}, const std::string& text = "") {
    const auto view = std::make_shared<const TreeView>(tree, LayerMeasure::busy, order, text);
    rows.update(view);
    return view;
  };
  (void)show();
  REQUIRE(rows.rows().size() == 5);  // there is room for all
  const std::uint64_t path = rows.rows()[3].path;
  CHECK(rows.row_of_path(path) == 3);
  rows.toggle(0);
  (void)show();
  CHECK(rows.rows().size() == 3);
  tree = small_tree();
  (void)show();
  CHECK(rows.rows().size() == 3);
  const auto found = show({}, "Y");
  CHECK(found->hits.count == 1);
  CHECK(rows.rows().size() == 5);
  // The same search in a new tree: what was closed among its hits stays closed.
  rows.toggle(0);
  tree = small_tree();
  (void)show({}, "Y");
  CHECK(rows.rows().size() == 3);
  (void)show({std::nullopt, false});
  REQUIRE(rows.rows().size() == 3);
  CHECK(tree->text(rows.rows()[0].node) == "a");
  (void)show({LayerMeasure::events, true});
  CHECK(tree->text(rows.rows()[0].node) == "c");
  rows.open_to({"a", "y"});
  (void)show();
  CHECK(rows.rows().size() == 5);
}
