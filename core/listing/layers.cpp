#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/terms.h"
#include "core/names/short_names.h"

namespace accelscope::listing {
namespace {

std::vector<ListingColumn> layer_columns(const analysis::Hierarchy& tree) {
  const std::string level(tree.kind == nullptr ? "Path" : tree.kind->level);
  std::vector<ListingColumn> columns = {
      {"path", level, "", "From the outermost level on"},
      {"depth", "Depth", "", "Level of the path, from 1"},
      {"events", "Events", "", "Of it and of all below"},
      {"busy_ns", "Busy", "ns", "Time in which at least one of them was under way: a union, not a sum"},
      {"self_ns", "Self", "ns", "The same of its own events, without what lies below"},
      {"wait_ns", "Wait", "ns", "What waiting events waited, and what the others waited before they began, added up"},
      {"share", "Share", "share", "Busy time over that of the whole tree"},
      {"flops", "FLOPs", "FLOP", "Useful floating point operations"},
      {"bytes", "Bytes", "B", "Bytes moved"},
      {"flops_per_s", "Achieved", "FLOP/s", "FLOPs over busy time"},
      {"mfu", "MFU", "share", "Achieved over what the devices that computed it can do"},
      {"launched_ns", "Device time", "ns", "Time of the device's work that these calls launched, added up"},
  };
  for (std::size_t i = 0; i < tree.units.size(); ++i) {
    const std::string& unit = tree.units[i].name;
    std::string name = lower_case(unit);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return (c < 'a' || c > 'z') && (c < '0' || c > '9'); }, '_');
    columns.push_back({name + "_events", unit, "", "Events on " + unit});
    columns.push_back({name + "_busy_ns", unit + " busy", "ns", "Time in which at least one ran on " + unit});
  }
  return columns;
}

std::vector<SqlValue> layer_cells(const analysis::Hierarchy& tree, std::size_t at) {
  const analysis::HierarchyNode& node = tree.nodes[at];
  std::vector<SqlValue> cells = {tree.path(at),
                                 std::int64_t{node.depth},
                                 count_cell(node.totals.events),
                                 node.cover.busy_ns,
                                 node.cover.self_ns,
                                 node.totals.wait_ns,
                                 tree.share(at),
                                 node.totals.flops > 0 ? SqlValue{node.totals.flops} : SqlValue{},
                                 amount_cell(node.totals.bytes),
                                 known_cell(tree.achieved_flops(at)),
                                 known_cell(tree.mfu(at)),
                                 node.totals.launched_events == 0 ? SqlValue{} : SqlValue{node.totals.launched_ns}};
  for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
    cells.push_back(count_cell(tree.unit_events[at * tree.units.size() + unit]));
    cells.push_back(tree.unit_busy_ns[at * tree.units.size() + unit]);
  }
  return cells;
}

EventFilter of_search(std::string search) { return {.range = {}, .tracks = {}, .terms = {{std::move(search), false}}}; }

NodeTarget longest_event(const analysis::HierarchyNode& node) {
  if (node.totals.longest == kNoEvent) return {};
  return {node.totals.longest, node.totals.events == 1 ? "" : "Selects the longest of its events"};
}

// The column that all events of the session have such paths in; nothing where they call it differently.
std::optional<std::string> column_of_paths(const Snapshot& snapshot, const analysis::PathKind& kind) {
  std::optional<std::string> column;
  const Schema* last = nullptr;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0 || lane.schema.get() == last) continue;
    last = lane.schema.get();
    const auto found = analysis::path_column(kind, *last);
    if (!found) continue;
    if (column && *column != last->columns[*found].name) return std::nullopt;
    column = last->columns[*found].name;
  }
  return column;
}

// A function is all of its lines; nothing where they are not in the tree, or too many to be named.
std::optional<std::string> search_of_lines_below(std::string_view column, const analysis::Hierarchy& tree,
                                                 std::size_t at) {
  constexpr std::size_t kMostLines = 200;
  const analysis::HierarchyNode& node = tree.nodes[at];
  if (node.child_count == 0 || node.child_count > kMostLines) return std::nullopt;
  std::vector<std::string_view> lines;
  for (std::uint32_t i = 0; i < node.child_count; ++i) lines.push_back(tree.text(node.first_child + i));
  return one_of_term(column, lines);
}

// Of a level of the compiler: all that is named from the outermost level to it. Nothing where it has no name itself.
std::optional<std::string> search_of_levels(const analysis::Hierarchy& tree, std::size_t at) {
  const analysis::PathKind& kind = *tree.kind;
  if (tree.text(at) == kind.missing) return std::nullopt;
  std::string search;
  for (std::size_t node = at; node != 0; node = tree.nodes[node].parent) {
    const std::size_t depth = tree.nodes[node].depth;
    const std::string_view column = depth <= kind.columns.size() ? kind.columns[depth - 1] : "name";
    if (tree.text(node) == kind.missing) continue;
    search = search_of_text(column, tree.text(node)) + (search.empty() ? "" : " ") + search;
  }
  return search;
}

// The search for a level that is the value of a column, or the part of it up to there.
std::optional<std::string> search_of_level(const Snapshot& snapshot, const analysis::Hierarchy& tree, std::size_t at) {
  const analysis::PathKind& kind = *tree.kind;
  if (kind.role == Role::layer) return search_of_layers_below(snapshot, tree.path(at));
  if (kind.split == analysis::PathSplit::levels) return search_of_levels(tree, at);
  const std::string& text = tree.text(at);
  if (kind.split == analysis::PathSplit::line && tree.nodes[at].depth > 1) return search_of_line(text);
  const auto column = column_of_paths(snapshot, kind);
  if (!column) return std::nullopt;
  if (kind.split == analysis::PathSplit::whole) return search_of_text(*column, text);
  if (kind.split == analysis::PathSplit::line) return beginning_term(*column, text + ":");
  if (kind.split == analysis::PathSplit::function) return search_of_lines_below(*column, tree, at);
  // A recorded stack has its outermost frame last.
  std::vector<std::string_view> frames;
  for (std::size_t node = at; node != 0; node = tree.nodes[node].parent) frames.push_back(tree.text(node));
  return ending_lines_term(*column, frames);
}

// Calls of one name, as far as tracks and time tell them from others of the name.
NodeTarget calls_of_node(const Snapshot& snapshot, const analysis::Hierarchy& tree, const std::vector<NameUse>& names,
                         std::size_t at) {
  const analysis::HierarchyNode& node = tree.nodes[at];
  std::uint64_t own = node.totals.events;
  bool longest_is_own = true;
  for (std::uint32_t i = node.first_child; i < node.first_child + node.child_count; ++i) {
    own -= tree.nodes[i].totals.events;
    longest_is_own = longest_is_own && tree.nodes[i].totals.longest_ns < node.totals.longest_ns;
  }
  if (own == 1 && longest_is_own) return {node.totals.longest, ""};
  EventFilter filter = of_search(search_of_text("name", tree.text(at)));
  for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
    if (tree.unit_events[at * tree.units.size() + unit] == 0) continue;
    filter.tracks.insert(filter.tracks.end(), tree.units[unit].tracks.begin(), tree.units[unit].tracks.end());
  }
  if (names.size() <= at || names[at] == NameUse::shared) {
    return {filter, "Selects all calls of this name: others run at the same time, and a filter knows no stacks"};
  }
  // Of a part of the session nothing is known of the name elsewhere. Calls of no length at its end lie inside, too.
  const bool is_part = tree.range.begin_ns > snapshot.begin_ns || tree.range.end_ns < snapshot.end_ns;
  if (is_part || names[at] == NameUse::apart) {
    filter.range = TimeRange{node.totals.stretch.begin_ns, node.totals.stretch.end_ns + 1};
  }
  return {filter, ""};
}

// What of transfers is charged to the instruction that set them off.
std::string borrowing_note(const analysis::Hierarchy& tree) {
  std::vector<std::string> units;
  std::uint64_t events = 0;
  for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
    if ((tree.borrowing >> unit & 1U) == 0) continue;
    units.push_back(tree.units[unit].name == "Other" ? "other" : tree.units[unit].name);
    events += tree.unit_events[unit];
  }
  return fmt::format("{} of {} {} events of the session are charged to what set them off", format_count(events),
                     format_count(tree.borrowing_events), fmt::join(units, ", "));
}

bool has_borrowed(const analysis::Hierarchy& tree, std::size_t at) {
  for (std::size_t unit = 0; unit < tree.units.size(); ++unit) {
    if ((tree.borrowing >> unit & 1U) != 0 && tree.unit_events[at * tree.units.size() + unit] > 0) return true;
  }
  return false;
}

}  // namespace

Result<analysis::HierarchyQuestion> hierarchy_question(const std::vector<std::string>& by) {
  analysis::HierarchyQuestion question;
  for (const std::string& word : by) {
    std::size_t depth = 0;
    if (read_number(word, depth) && depth > 0) {
      question.depth = std::min(depth, analysis::HierarchyQuestion::kMostDepth);
    } else if (analysis::find_path_kind(word) != nullptr && question.kind.empty()) {
      question.kind = word;
    } else {
      std::vector<std::string_view> names;
      for (const analysis::PathKind& kind : analysis::path_kinds()) names.push_back(kind.name);
      return Error{
          fmt::format("{}: layers are grouped by one of {}, and a depth from 1", word, fmt::join(names, ", "))};
    }
  }
  return question;
}

std::vector<NameUse> name_uses(const analysis::Hierarchy& tree) {
  if (tree.kind == nullptr || !tree.kind->is_nested()) return {};
  std::vector<NameUse> uses(tree.nodes.size(), NameUse::alone);
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node) order.push_back(node);
  const auto stretch = [&](std::uint32_t node) -> const TimeRange& { return tree.nodes[node].totals.stretch; };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (tree.nodes[a].label != tree.nodes[b].label) return tree.nodes[a].label < tree.nodes[b].label;
    return stretch(a).begin_ns < stretch(b).begin_ns;
  });
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && tree.nodes[order[last]].label == tree.nodes[order[first]].label) ++last;
    std::int64_t reached = INT64_MIN;  // the end of all before
    for (std::size_t i = first; last - first > 1 && i < last; ++i) {
      const bool after = i == first || reached < stretch(order[i]).begin_ns;
      reached = std::max(reached, stretch(order[i]).end_ns);
      const bool before = i + 1 == last || reached < stretch(order[i + 1]).begin_ns;
      uses[order[i]] = after && before ? NameUse::apart : NameUse::shared;
    }
    first = last;
  }
  return uses;
}

NodeTarget target_of_node(const Snapshot& snapshot, const analysis::Hierarchy& tree, const std::vector<NameUse>& names,
                          std::size_t at) {
  const analysis::HierarchyNode& node = tree.nodes[at];
  if (at == 0 || tree.kind == nullptr || node.missing) return longest_event(node);
  if (tree.kind->is_nested()) return calls_of_node(snapshot, tree, names, at);
  if (node.detail) {
    EventFilter line = of_search(search_of_line(tree.text(at)));
    const std::string beyond = "Selects all events of this line, of other paths, too";
    if (tree.nodes[node.parent].missing) return {line, beyond};
    const NodeTarget above = target_of_node(snapshot, tree, names, node.parent);
    const auto* filter = std::get_if<EventFilter>(&above.events);
    return filter == nullptr ? NodeTarget{line, beyond}
                             : NodeTarget{both(*filter, line), ""};  // nothing that borrows has lines
  }
  if (tree.kind->source == analysis::PathSource::unit) {
    EventFilter filter;
    const std::string& unit = tree.text(node.depth == 1 ? at : node.parent);
    for (const analysis::HierarchyUnit& each : tree.units) {
      if (each.name == unit) filter.tracks = each.tracks;
    }
    if (node.depth > 1) filter.terms.push_back({search_of_text("name", tree.text(at)), false});
    return {filter, ""};
  }
  const auto search = search_of_level(snapshot, tree, at);
  if (!search) return longest_event(node);
  return {of_search(*search),
          has_borrowed(tree, at) ? "Selects what names it itself: transfers that it set off do not" : ""};
}

std::optional<EventFilter> filter_of_nodes(const Snapshot& snapshot, const analysis::Hierarchy& tree,
                                           std::span<const std::uint32_t> nodes) {
  if (tree.kind == nullptr || nodes.empty()) return std::nullopt;
  const analysis::PathKind& kind = *tree.kind;
  const bool is_layer = kind.role == Role::layer, has_levels = kind.split == analysis::PathSplit::levels;
  if (!is_layer && !has_levels && kind.split != analysis::PathSplit::whole) return std::nullopt;
  const std::size_t depth = tree.nodes[nodes.front()].depth;
  std::vector<std::string> texts;
  for (const std::uint32_t each : nodes) {
    const analysis::HierarchyNode& node = tree.nodes[each];
    if (each == 0 || node.missing || node.detail || (!is_layer && node.depth != depth)) return std::nullopt;
    if (has_levels && tree.text(each) == kind.missing) return std::nullopt;
    texts.push_back(is_layer ? tree.path(each) : tree.text(each));
  }
  if (is_layer) return of_search(search_of_any_layer(texts));
  if (has_levels)
    return of_search(search_of_texts(depth <= kind.columns.size() ? kind.columns[depth - 1] : "name", texts));
  const auto column = column_of_paths(snapshot, kind);
  return column ? std::optional(of_search(search_of_texts(*column, texts))) : std::nullopt;
}

Result<Listing> list_layers(const QueryContext& query, const ListingRequest& request) {
  const auto question = TRY(hierarchy_question(request.by));
  const auto tree = TRY(analysis::session_hierarchy(query, question, request.filter.range.value_or(TimeRange{})));
  const std::vector<NameUse> names = name_uses(*tree);
  Listing listing(layer_columns(*tree));
  // As the tree is read: below each node what it consists of.
  std::vector<std::uint32_t> open;
  const auto push_children = [&](const analysis::HierarchyNode& node) {
    for (std::uint32_t i = node.child_count; i-- > 0;) open.push_back(node.first_child + i);
  };
  push_children(tree->nodes[0]);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    listing.add(layer_cells(*tree, at), target_of_node(*query.snapshot, *tree, names, at).events);
    push_children(tree->nodes[at]);
  }
  listing.note = hierarchy_note(*tree, question);
  return listing;
}

std::string hierarchy_note(const analysis::Hierarchy& tree, const analysis::HierarchyQuestion& question) {
  std::vector<std::string> parts;
  if (tree.kind == nullptr) {
    // Who asked for no kind is not told how to record one that is not of this session.
    const analysis::PathKind* wanted =
        question.kind.empty() ? &analysis::path_kinds().back() : analysis::find_path_kind(question.kind);
    return std::string(wanted->empty_advice);
  }
  if (!tree.without.empty()) {
    std::vector<std::string> titles;
    for (const std::string& table : tree.without) titles.push_back(table_title(table));
    parts.push_back(fmt::format("without {}, which names none", fmt::join(titles, ", ")));
  }
  if (tree.borrowing != 0) parts.push_back(borrowing_note(tree));
  if (tree.cut_events > 0)
    parts.push_back(fmt::format("{} events lie deeper and are counted above", format_count(tree.cut_events)));
  if (tree.is_full)
    parts.push_back(
        fmt::format("of more than {} paths the rest is counted above", format_count(analysis::PathTree::kMostNodes)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace accelscope::listing
