#include "app/view/colour_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/event_labels.h"
#include "app/rows/groups.h"
#include "core/base/text.h"
#include "core/listing/terms.h"

namespace accelscope::app::view {
namespace {

// Fields that sources call so, in the order in which users ask for them.
constexpr std::array<std::string_view, 24> kUsual = {
    "opcode", "engine", "dma_engine", "subgroup", "queue",  "queue_name",     "dma_queue", "queue_type",
    "stream", "device", "variable",   "dtype",    "type",   "transfer_size",  "size",      "bytes",
    "source", "dest",   "op",         "hlo_name", "kernel", "correlation_id", "cat",       "operands"};

// Columns that say more than the names of a table do.
struct TableColour {
  std::string_view table, column;
};
constexpr std::array<TableColour, 1> kTableColours = {{{"zone", "risc"}}};
// In place of names that say nothing: what kind of queue it was, the queue, the stream.
constexpr std::array<std::string_view, 4> kWithoutNames = {"queue_type", "queue", "subgroup", "stream"};

[[nodiscard]] const Schema* find_schema(const Snapshot& snapshot, std::string_view table) {
  for (const auto& schema : snapshot.schemas) {
    if (schema->name == table) return schema.get();
  }
  return nullptr;
}

// Whether most of the events that the totals of the first chunks know are called "unknown" or nothing.
[[nodiscard]] bool mostly_unnamed(const Snapshot& snapshot, std::string_view table) {
  constexpr std::uint32_t kMostChunks = 16;  // of each lane
  std::uint64_t all = 0, unnamed = 0;
  const std::uint32_t unknown = kSlicePalette[palette_slot("unknown")];
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.schema == nullptr || lane.schema->name != table) continue;
    bool totals = false;
    for (std::uint32_t chunk = 0; chunk < std::min(lane.totals.stretches[0], kMostChunks); ++chunk) {
      const NameTotals::Stretch stretch = lane.data->totals.stretch(0, chunk);
      for (std::uint32_t i = 0; stretch.retained && i < stretch.size; ++i) {
        all += stretch.totals[i].count;
        if (content::names_nothing(snapshot.strings->text(stretch.totals[i].name))) unnamed += stretch.totals[i].count;
      }
      totals = totals || stretch.retained;
    }
    // Few events have no totals: the mean colour of what lies together is that of one name, or of several.
    constexpr std::uint32_t kMostLeaves = 64;
    for (std::uint32_t leaf = 0; !totals && leaf < std::min(lane.tree.nodes[0], kMostLeaves); ++leaf) {
      const SliceNode& node = lane.data->slices.node(0, leaf);
      all += node.count;
      if (node.colour == unknown) unnamed += node.count;
    }
  }
  return unnamed * 2 > all;
}

// Lower comes first; those of kUsual.size() and more are not used most.
[[nodiscard]] std::size_t rank(const Column& column) {
  if (column.role == Role::layer || column.role == Role::source_location || column.role == Role::tensor) return 0;
  const auto known = std::ranges::find(kUsual, column.name);
  if (known == kUsual.end() && column.role == Role::bytes) return 1;
  return static_cast<std::size_t>(known - kUsual.begin());
}

[[nodiscard]] std::string number_text(double value) {
  return std::floor(value) == value && std::abs(value) < 1e18 ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

}  // namespace

std::vector<std::string> coloured_tables(const Snapshot& snapshot) {
  struct Table {
    std::string name;
    std::uint64_t on_top = 0;  // events of rows that stand by themselves: those that are seen first
    std::uint64_t events = 0;
  };
  std::vector<Table> tables;
  for (const rows::TrackPlace& place : rows::placed_tracks(snapshot)) {
    const TrackSnapshot& track = *place.track;
    if (track.schema == nullptr || track.schema->kind == EventKind::counter) continue;
    std::uint64_t events = 0;
    for (const std::uint32_t lane : track.lanes) events += snapshot.lanes[lane].event_count;
    if (events == 0) continue;
    auto table = std::ranges::find_if(tables, [&](const Table& each) { return each.name == track.schema->name; });
    if (table == tables.end()) table = tables.insert(tables.end(), {track.schema->name, 0, 0});
    table->events += events;
    if (!rows::belongs_to_track(snapshot, place)) table->on_top += events;
  }
  std::ranges::stable_sort(tables, [](const Table& a, const Table& b) {
    return a.on_top != b.on_top ? a.on_top > b.on_top : a.events > b.events;
  });
  std::vector<std::string> names;
  for (Table& table : tables) names.push_back(std::move(table.name));
  return names;
}

std::vector<ColourColumn> colour_columns(const Snapshot& snapshot, std::string_view table) {
  std::vector<ColourColumn> columns;
  const Schema* schema = find_schema(snapshot, table);
  if (schema == nullptr) return columns;
  columns.push_back(
      {std::string(kByName), capitalised(with_blanks(schema->name_column.empty() ? "name" : schema->name_column)), ""});
  std::vector<const Column*> usual;
  for (const Column& column : schema->columns) {
    if (rank(column) < kUsual.size()) usual.push_back(&column);
  }
  std::ranges::stable_sort(usual, [](const Column* a, const Column* b) { return rank(*a) < rank(*b); });
  const auto title = [](const Column& column) { return column.title.empty() ? column.name : column.title; };
  for (const Column* column : usual) columns.push_back({column->name, title(*column), ""});
  if (!schema->find("duration")) columns.push_back({"duration", "Duration", ""});
  for (const Column& column : schema->columns) {
    if (rank(column) < kUsual.size()) continue;
    columns.push_back({column.name, title(column), column.group.empty() ? "Other" : column.group});
  }
  return columns;
}

std::string usual_colour_column(const Snapshot& snapshot, std::string_view table) {
  const Schema* schema = find_schema(snapshot, table);
  if (schema == nullptr) return std::string(kByName);
  for (const TableColour& usual : kTableColours) {
    if (table == usual.table && schema->find(usual.column)) return std::string(usual.column);
  }
  const auto instead = std::ranges::find_if(
      kWithoutNames, [schema](std::string_view column) { return schema->find(column).has_value(); });
  const bool unnamed = instead != kWithoutNames.end() && mostly_unnamed(snapshot, table);
  return std::string(unnamed ? *instead : kByName);
}

std::string colour_column(const Snapshot& snapshot, const session::ViewChoices& choices, const std::string& table) {
  const auto chosen = choices.colour_by.find(table);
  return chosen == choices.colour_by.end() ? usual_colour_column(snapshot, table) : chosen->second;
}

std::string colour_title(const Snapshot& snapshot, const std::string& table, const std::string& column) {
  for (const ColourColumn& each : colour_columns(snapshot, table)) {
    if (each.column == column) return each.title;
  }
  return column;
}

void choose_colour(session::SessionTab& tab, const std::string& table, const std::string& column) {
  if (colour_column(*tab.snapshot, tab.choices, table) == column) return;
  const bool usual = column == usual_colour_column(*tab.snapshot, table);
  tab.change([&](session::ViewChoices& choices) {
    if (usual) {
      choices.colour_by.erase(table);
    } else {
      choices.colour_by[table] = column;
    }
  });
}

FilterTerm term_of(const colour::ColourTable& table, const colour::ColourValue& value) {
  const std::string& column = table.column;
  if (value.missing) {
    // What has a value, turned round: an event without one matches no search for the column.
    return {column + (table.ordered ? ">=-1e300" : "~/./"), true};
  }
  if (!table.ordered) return {listing::search_of_text(column, value.text), false};
  std::string search;
  if (value.from) search += column + ">=" + number_text(*value.from);
  if (value.below) search += (search.empty() ? "" : " ") + column + "<" + number_text(*value.below);
  if (search.empty()) search = column + ">=-1e300";
  return {search, false};
}

ValueState state_of(const EventFilter& filter, const colour::ColourTable& table, const colour::ColourValue& value) {
  FilterTerm term = term_of(table, value);
  if (std::ranges::find(filter.terms, term) != filter.terms.end()) return ValueState::only;
  term.excluded = !term.excluded;
  const bool hidden = std::ranges::find(filter.terms, term) != filter.terms.end();
  return hidden ? ValueState::hidden : ValueState::plain;
}

void toggle_only(EventFilter& filter, const colour::ColourTable& table, const colour::ColourValue& value) {
  const bool was_only = state_of(filter, table, value) == ValueState::only;
  for (const colour::ColourValue& each : table.values) {
    if (state_of(filter, table, each) == ValueState::only) std::erase(filter.terms, term_of(table, each));
  }
  if (was_only) return;
  if (state_of(filter, table, value) == ValueState::hidden) toggle_hidden(filter, table, value);
  filter.terms.push_back(term_of(table, value));
}

void toggle_hidden(EventFilter& filter, const colour::ColourTable& table, const colour::ColourValue& value) {
  FilterTerm term = term_of(table, value);
  std::erase(filter.terms, term);  // to show only and to hide the same would leave nothing
  term.excluded = !term.excluded;
  if (std::erase(filter.terms, term) == 0) filter.terms.push_back(term);
}

}  // namespace accelscope::app::view
