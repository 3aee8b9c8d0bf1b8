#include "app/content/hierarchy/tree_difference.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

namespace accelscope::app::content {
namespace {

// A node of the tree that is made, with where it comes from.
struct Origin {
  std::optional<std::uint32_t> base, other;
};

std::vector<std::string> child_names(const analysis::Hierarchy& tree, std::optional<std::uint32_t> node) {
  std::vector<std::string> names;
  if (!node) return names;
  const analysis::HierarchyNode& of = tree.nodes[*node];
  for (std::uint32_t child = of.first_child; child < of.first_child + of.child_count; ++child)
    names.push_back(tree.text(child));
  return names;
}

class Overlay {
 public:
  Overlay(const analysis::Hierarchy& base, const analysis::Hierarchy& other) : base_(base), other_(other) {}

  TreeDifference run() && {
    out_.tree.kind = base_.kind;
    add({0U, 0U}, 0, 0, analysis::MatchKind::exact, "");
    for (std::uint32_t node = 0; node < out_.tree.nodes.size(); ++node) add_children(node);
    std::vector<double> base, other;
    for (const NodeDifference& node : out_.nodes) {
      base.push_back(static_cast<double>(node.base_ns));
      other.push_back(static_cast<double>(node.other_ns));
    }
    out_.by_base = std::make_unique<FlameLayout>(out_.tree, std::move(base));
    out_.by_other = std::make_unique<FlameLayout>(out_.tree, std::move(other));
    return std::move(out_);
  }

 private:
  void add(const Origin& origin, std::uint32_t parent, std::uint16_t depth, analysis::MatchKind match,
           const std::string& name) {
    NodeDifference node;
    node.match = match;
    analysis::HierarchyNode made;
    made.parent = parent;
    made.depth = depth;
    made.label = static_cast<std::uint32_t>(out_.tree.labels.size());
    if (origin.base) {
      const analysis::HierarchyNode& from = base_.nodes[*origin.base];
      node.in_base = true;
      node.base_ns = from.cover.busy_ns;
      node.base_self_ns = from.cover.self_ns;
      node.base_events = from.totals.events;
      node.base_longest = from.totals.longest;
      made.detail = from.detail;
      made.missing = from.missing;
    }
    if (origin.other) {
      const analysis::HierarchyNode& from = other_.nodes[*origin.other];
      node.in_other = true;
      node.other_ns = from.cover.busy_ns;
      node.other_self_ns = from.cover.self_ns;
      node.other_events = from.totals.events;
      node.other_longest = from.totals.longest;
      made.detail = from.detail;
      made.missing = from.missing;
    }
    if (depth > 0) ++(node.in_base && node.in_other ? out_.matched : node.in_base ? out_.base_alone : out_.other_alone);
    made.totals.events = std::max(node.base_events, node.other_events);
    made.cover.busy_ns = std::max(node.base_ns, node.other_ns);
    out_.tree.labels.push_back(name);
    out_.tree.nodes.push_back(made);
    out_.nodes.push_back(node);
    origins_.push_back(origin);
  }

  void add_children(std::uint32_t node) {
    const Origin origin = origins_[node];
    struct Child {
      Origin origin;
      analysis::MatchKind match;
      std::string name;
      std::int64_t longest;
    };
    std::vector<Child> children;
    const auto busy = [](const analysis::Hierarchy& tree, std::optional<std::uint32_t> of) {
      return of ? tree.nodes[*of].cover.busy_ns : 0;
    };
    const auto rows = analysis::match_names({child_names(base_, origin.base), child_names(other_, origin.other)},
                                            analysis::name_form);
    for (const analysis::MatchedName& row : rows) {
      // Of several that are alike but for numbers in them, those in the same place are one.
      const std::size_t several = std::max(row.places[0].size(), row.places[1].size());
      for (std::size_t i = 0; i < several; ++i) {
        const auto child_of = [&](std::size_t side, const analysis::Hierarchy& tree, std::optional<std::uint32_t> of) {
          return i < row.places[side].size()
                     ? std::optional(tree.nodes[*of].first_child + static_cast<std::uint32_t>(row.places[side][i]))
                     : std::nullopt;
        };
        const Origin child{child_of(0, base_, origin.base), child_of(1, other_, origin.other)};
        const std::string& name = child.other ? other_.text(*child.other) : base_.text(*child.base);
        const bool both = child.base && child.other;
        children.push_back({child, both ? row.kind : analysis::MatchKind::exact, name,
                            std::max(busy(base_, child.base), busy(other_, child.other))});
      }
    }
    std::ranges::stable_sort(children, [](const Child& a, const Child& b) { return a.longest > b.longest; });
    out_.tree.nodes[node].first_child = static_cast<std::uint32_t>(out_.tree.nodes.size());
    out_.tree.nodes[node].child_count = static_cast<std::uint32_t>(children.size());
    const auto depth = static_cast<std::uint16_t>(out_.tree.nodes[node].depth + 1);
    for (const Child& each : children) add(each.origin, node, depth, each.match, each.name);
  }

  const analysis::Hierarchy& base_;
  const analysis::Hierarchy& other_;
  TreeDifference out_;
  std::vector<Origin> origins_;
};

}  // namespace

NodeChange TreeDifference::change(std::size_t node) const noexcept {
  if (strength(node) == 0) return NodeChange::same;
  return nodes[node].difference_ns() > 0 ? NodeChange::more : NodeChange::less;
}

double TreeDifference::strength(std::size_t node) const noexcept {
  const auto longer = static_cast<double>(std::max(nodes[node].base_ns, nodes[node].other_ns));
  const double share = longer > 0 ? std::abs(static_cast<double>(nodes[node].difference_ns())) / longer : 0;
  return share <= kSameWithin ? 0 : share;
}

TreeDifference laid_over(const analysis::Hierarchy& base, const analysis::Hierarchy& other) {
  return Overlay(base, other).run();
}

Result<std::shared_ptr<const TreeDifference>> tree_difference(const QueryContext& base, const QueryContext& other,
                                                              const std::string& kind) {
  auto kinds = TRY(analysis::kinds_of_session(base));
  const auto kinds_of_other = TRY(analysis::kinds_of_session(other));
  std::erase_if(kinds,
                [&](const auto* each) { return std::ranges::find(kinds_of_other, each) == kinds_of_other.end(); });
  std::string names;
  for (const analysis::PathKind* each : kinds) names += (names.empty() ? "" : ", ") + std::string(each->name);
  if (kinds.empty()) return Error{"the sessions have no layers, stacks or lines in common"};
  const auto wanted = std::ranges::find_if(kinds, [&](const auto* each) { return each->name == kind; });
  if (!kind.empty() && wanted == kinds.end())
    return Error{fmt::format("{}: not both sessions have it; they have {}", kind, names)};
  const analysis::HierarchyQuestion question{.kind = std::string((kind.empty() ? kinds.front() : *wanted)->name)};
  const auto of_base = TRY(analysis::session_hierarchy(base, question));
  const auto of_other = TRY(analysis::session_hierarchy(other, question));
  TreeDifference found = laid_over(*of_base, *of_other);
  found.kinds = std::move(kinds);
  return std::make_shared<const TreeDifference>(std::move(found));
}

std::string_view difference_sign(NodeChange change) noexcept {
  if (change == NodeChange::same) return "";
  return change == NodeChange::more ? "+" : "\u2212";
}

std::string difference_text(const NodeDifference& node, NodeChange change) {
  if (!node.in_base || !node.in_other) return node.in_base ? "A alone" : "B alone";
  if (change == NodeChange::same) return "the same";
  std::string text = std::string(difference_sign(change)) + format_duration(std::abs(node.difference_ns()));
  if (node.base_ns > 0)
    text += fmt::format(", {:.2f}×", static_cast<double>(node.other_ns) / static_cast<double>(node.base_ns));
  return text;
}

listing::Listing difference_listing(const TreeDifference& difference) {
  const analysis::Hierarchy& tree = difference.tree;
  listing::Listing listing(
      {{"path", std::string(tree.kind == nullptr ? "Path" : tree.kind->title), "", "Outermost level first"},
       {"base_ns", "A", "ns", "Busy time in A, the base: a union, not a sum"},
       {"other_ns", "B", "ns", "Busy time in B"},
       {"difference_ns", "Difference", "ns", "B less A"},
       {"ratio", "Ratio B : A", "", "Below 1: B takes less"},
       {"base_events", "Events of A", "", ""},
       {"other_events", "Events of B", "", ""},
       {"match", "Matched", "", "By the whole name, or without the numbers in it"}});
  std::vector<std::size_t> order(tree.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size_of = [&](std::size_t node) { return std::abs(difference.nodes[node].difference_ns()); };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size_of(a) > size_of(b); });
  for (const std::size_t at : order) {
    if (at == 0) continue;
    const NodeDifference& node = difference.nodes[at];
    const auto known = [](bool is_there, std::int64_t value) {
      return is_there ? listing::SqlValue(value) : listing::SqlValue();
    };
    const std::string_view match = !node.in_base                                ? "B alone"
                                   : !node.in_other                             ? "A alone"
                                   : node.match == analysis::MatchKind::by_form ? "without numbers"
                                                                                : "";
    listing.add({tree.path(at), known(node.in_base, node.base_ns), known(node.in_other, node.other_ns),
                 node.difference_ns(),
                 node.in_base && node.in_other && node.base_ns > 0
                     ? listing::SqlValue(static_cast<double>(node.other_ns) / static_cast<double>(node.base_ns))
                     : listing::SqlValue(),
                 known(node.in_base, static_cast<std::int64_t>(node.base_events)),
                 known(node.in_other, static_cast<std::int64_t>(node.other_events)), listing::text_cell(match)});
  }
  listing.note =
      fmt::format("{} matched, A alone has {}, B alone {}; differences of {:.0f} % and less are taken as noise",
                  difference.matched, difference.base_alone, difference.other_alone, 100 * TreeDifference::kSameWithin);
  return listing;
}

std::string folded_difference(const TreeDifference& difference) {
  std::string out;
  for (std::size_t at = 1; at < difference.nodes.size(); ++at) {
    const NodeDifference& node = difference.nodes[at];
    if (node.base_self_ns <= 0 && node.other_self_ns <= 0) continue;
    std::string path;
    for (std::string frame : name_of_node(difference.tree, at)) {
      for (char& c : frame) {
        if (c == ';') c = ':';
        if (c == '\n' || c == '\r' || c == '\t') c = ' ';
      }
      path += (path.empty() ? "" : ";") + frame;
    }
    out += fmt::format("{} {} {}\n", path, node.base_self_ns, node.other_self_ns);
  }
  return out;
}

}  // namespace accelscope::app::content
