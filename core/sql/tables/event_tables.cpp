#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/model/column_spec.h"
#include "core/sql/base/context.h"
#include "core/sql/tables/tables.h"

namespace accelscope::sql {
namespace {

EventColumn end_expression() {
  return {std::string(kEndExpression), EventField::end_ns, ColumnType::int64, true, false, true};
}

std::vector<EventColumn> slice_columns() {
  return {{"id", EventField::id},
          {"track_id", EventField::track_id},
          {"lane", EventField::lane},
          {"ts_ns", EventField::ts_ns},
          {"dur_ns", EventField::dur_ns},
          {"name", EventField::name},
          {"category", EventField::category, ColumnType::string},
          {"schema", EventField::schema},
          {"end_ns", EventField::end_ns, ColumnType::int64, true},
          end_expression()};
}

std::vector<EventColumn> counter_columns() {
  return {{"track_id", EventField::track_id},
          {"ts_ns", EventField::ts_ns},
          {"value", EventField::column, ColumnType::float64},
          {"id", EventField::id, ColumnType::int64, true}};
}

// The first lane of a schema decides which of its columns a table column shows.
template <typename Choose>
void map_schema(EventTableSpec& spec, const Schema& schema, Choose choose) {
  const auto [place, added] = spec.schema_columns.try_emplace(&schema);
  if (!added) return;
  for (const EventColumn& column : spec.columns) {
    const std::optional<std::size_t> index = choose(column);
    place->second.push_back(index ? static_cast<int>(*index) : -1);
  }
}

void add_lane(EventTableSpec& spec, const LaneSnapshot& lane, std::uint32_t lane_index) {
  spec.lanes.push_back(lane_index);
  spec.event_count += lane.event_count;
}

// The vendors' own words for the category of an event, where it has one.
std::optional<std::size_t> category_column(const Schema& schema) {
  for (const std::string_view name : {"category", "cat"}) {
    const std::optional<std::size_t> index = schema.find(name);
    if (index && schema.columns[*index].type == ColumnType::string) return index;
  }
  return std::nullopt;
}

EventTableSpec slice_table(const Snapshot& snapshot) {
  EventTableSpec spec{"slice", slice_columns(), {}, {}, 0};
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.schema->kind != EventKind::slice && lane.schema->kind != EventKind::instant) continue;
    add_lane(spec, lane, i);
    map_schema(spec, *lane.schema, [&](const EventColumn& column) {
      return column.field == EventField::category ? category_column(*lane.schema) : std::nullopt;
    });
  }
  return spec;
}

EventTableSpec counter_table(const Snapshot& snapshot) {
  EventTableSpec spec{"counter", counter_columns(), {}, {}, 0};
  EventColumn& value = spec.columns[2];
  bool first = true;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.schema->kind != EventKind::counter) continue;
    add_lane(spec, lane, i);
    const std::optional<std::size_t> index = lane.schema->find(Role::value);
    map_schema(spec, *lane.schema,
               [&](const EventColumn& column) { return column.field == EventField::column ? index : std::nullopt; });
    if (!index) continue;
    const ColumnType type = lane.schema->columns[*index].type;
    if (!first && type != value.type) value.mixed = true;
    value.type = type;
    first = false;
  }
  return spec;
}

// Columns of a table of schemas. `taken` holds the names in lower case, as
// SQLite compares them.
void add_column(EventTableSpec& spec, std::set<std::string>& taken, EventColumn column) {
  if (taken.insert(lower_case(column.name)).second) spec.columns.push_back(std::move(column));
}

void add_vendor_columns(EventTableSpec& spec, std::set<std::string>& taken, const Schema& schema) {
  for (const Column& column : schema.columns) {
    const std::string name = table_column_name(schema, column.name);
    const auto known = std::find_if(spec.columns.begin(), spec.columns.end(), [&](const EventColumn& other) {
      return lower_case(other.name) == lower_case(name);
    });
    if (known == spec.columns.end()) {
      add_column(spec, taken, {name, EventField::column, column.type});
    } else if (known->field == EventField::column && known->type != column.type) {
      known->mixed = true;
    }
  }
}

// Hidden, and called event_<name> where the vendor has a column of that name.
void add_hidden(EventTableSpec& spec, std::set<std::string>& taken, std::string name, EventField field) {
  if (taken.contains(lower_case(name))) name = "event_" + name;
  add_column(spec, taken, {std::move(name), field, ColumnType::int64, true});
}

// SQLite allows no more.
constexpr std::size_t kMaxColumns = 2000;

EventTableSpec schema_table(const std::string& name, const std::vector<std::shared_ptr<const Schema>>& schemas) {
  EventTableSpec spec;
  spec.name = name;
  std::set<std::string> taken;
  for (const auto& schema : schemas) add_vendor_columns(spec, taken, *schema);
  std::vector<EventColumn> vendor = std::move(spec.columns);
  spec.columns.clear();
  for (const auto& [own, field] : {std::pair{"id", EventField::id},
                                   {"track_id", EventField::track_id},
                                   {"lane", EventField::lane},
                                   {"ts_ns", EventField::ts_ns},
                                   {"dur_ns", EventField::dur_ns}}) {
    spec.columns.push_back({own, field});
    taken.insert(own);
  }
  std::string name_column = table_name_column(*schemas.front());
  // Another schema of that name may have a column of its own that is called so.
  if (!taken.insert(lower_case(name_column)).second) name_column = "name";
  spec.columns.push_back({name_column, EventField::name});
  if (lower_case(name_column) != "name") add_hidden(spec, taken, "name", EventField::name);
  if (!taken.contains("event_id")) add_hidden(spec, taken, "event_id", EventField::id);
  add_hidden(spec, taken, "end_ns", EventField::end_ns);
  if (!taken.contains(std::string(kEndExpression))) spec.columns.push_back(end_expression());
  spec.columns.insert(spec.columns.end(), std::make_move_iterator(vendor.begin()),
                      std::make_move_iterator(vendor.end()));
  if (spec.columns.size() > kMaxColumns) spec.columns.resize(kMaxColumns);
  return spec;
}

// Any name will do in quotes, but for an empty one and for those that SQLite
// keeps to itself.
std::string allowed_name(const std::string& name) {
  const std::string text = shown_name(name);
  return text.empty() || lower_case(text).starts_with("sqlite_") ? "event_" + text : text;
}

std::optional<std::size_t> find_table_column(const Schema& schema, const std::string& name) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (lower_case(table_column_name(schema, schema.columns[i].name)) == lower_case(name)) return i;
  }
  return std::nullopt;
}

// Tables that have two names: those that were renamed, so that scripts that know the old name go on working and new
// ones read old sessions, and Tracy's zones, which are zones like others.
struct FormerName {
  std::string_view name, former;
  std::string_view column;  // that the former table had: others of that name are something else
};
constexpr std::array kFormerNames = {FormerName{"memcpy", "transfer", "direction"},
                                     FormerName{"zone", "tracy_zone", "zone_text"}};

[[nodiscard]] const EventTableSpec* find_table(const std::vector<EventTableSpec>& tables, std::string_view name) {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [name](const auto& table) { return lower_case(table.name) == name; });
  return found == tables.end() ? nullptr : &*found;
}

[[nodiscard]] bool has_column(const EventTableSpec& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [name](const EventColumn& column) { return column.name == name; });
}

// The same rows under the other name.
void add_former_names(std::vector<EventTableSpec>& tables, const std::set<std::string>& taken) {
  for (const FormerName& row : kFormerNames) {
    for (const auto& [from, to] : {std::pair{row.name, row.former}, {row.former, row.name}}) {
      const EventTableSpec* table = find_table(tables, from);
      if (table == nullptr || taken.contains(std::string(to)) || !has_column(*table, row.column)) continue;
      EventTableSpec view = *table;
      view.name = to;
      tables.push_back(std::move(view));
      break;
    }
  }
}

}  // namespace

std::vector<EventTableSpec> event_tables(const Snapshot& snapshot, const std::vector<RowTableSpec>& others) {
  std::vector<EventTableSpec> tables;
  tables.push_back(slice_table(snapshot));
  tables.push_back(counter_table(snapshot));
  std::set<std::string> taken{"slice", "counter"};
  for (const RowTableSpec& other : others) {
    if (!other.on_demand) taken.insert(other.name);
  }

  std::vector<std::string> names;  // in the order of their definition
  std::map<std::string, std::vector<std::shared_ptr<const Schema>>> by_name;
  for (const auto& schema : snapshot.schemas) {
    auto& schemas = by_name[lower_case(schema->name)];
    if (schemas.empty()) names.push_back(schema->name);
    schemas.push_back(schema);
  }
  for (const std::string& name : names) {
    std::string table_name = allowed_name(name);
    while (!taken.insert(lower_case(table_name)).second) table_name += "_event";
    EventTableSpec spec = schema_table(table_name, by_name[lower_case(name)]);
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot.lanes[i];
      if (lower_case(lane.schema->name) != lower_case(name)) continue;
      add_lane(spec, lane, i);
      map_schema(spec, *lane.schema, [&](const EventColumn& column) {
        return column.field == EventField::column ? find_table_column(*lane.schema, column.name) : std::nullopt;
      });
    }
    tables.push_back(std::move(spec));
  }
  add_former_names(tables, taken);
  for (EventTableSpec& table : tables) {
    std::sort(table.lanes.begin(), table.lanes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return snapshot.lanes[a].number() < snapshot.lanes[b].number();
    });
  }
  return tables;
}

}  // namespace accelscope::sql
