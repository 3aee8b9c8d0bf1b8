#include "core/sql/planned/scope.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace accelscope::sql {
namespace {

// Words that may follow a table's name and are not its alias.
bool ends_table(const Token& token) {
  constexpr std::array<std::string_view, 13> kWords{"join",    "inner", "left",  "right",   "full", "outer", "cross",
                                                    "natural", "on",    "using", "indexed", "not",  "where"};
  return token.kind == TokenKind::word && std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

ValueKind kind_of(const EventColumn& column) {
  switch (column.field) {
    case EventField::name:
    case EventField::category:
    case EventField::schema:
      return ValueKind::string;
    case EventField::column:
      break;
    default:
      return ValueKind::integer;
  }
  switch (column.type) {
    case ColumnType::uint64:
      return ValueKind::unsigned_integer;
    case ColumnType::float64:
      return ValueKind::real;
    case ColumnType::string:
      return ValueKind::string;
    case ColumnType::text:
      return ValueKind::text;
    default:
      return ValueKind::integer;
  }
}

}  // namespace

bool PlannedScope::read_from(std::size_t begin, std::size_t end) {
  std::size_t at = begin;
  if (!read_table(at, end)) return false;
  if (at < end) {
    if (tokens_[at].is_word("inner")) ++at;
    if (at >= end || !tokens_[at].is_word("join")) return false;
    ++at;
    if (!read_table(at, end) || query_.table == nullptr || track_alias_.empty()) return false;
    if (!read_join_condition(at, end)) return false;
    query_.joins_tracks = true;
  }
  return at == end && query_.table != nullptr;
}

// One table of events and the table of tracks, in either order.
bool PlannedScope::read_table(std::size_t& at, std::size_t end) {
  if (at >= end || !tokens_[at].is_name()) return false;
  const std::string name = lower_case(tokens_[at++].text);
  std::string alias = name;
  if (at < end && tokens_[at].is_word("as")) {
    if (++at >= end || !tokens_[at].is_name()) return false;
    alias = lower_case(tokens_[at++].text);
  } else if (at < end && tokens_[at].is_name() && !ends_table(tokens_[at])) {
    alias = lower_case(tokens_[at++].text);
  }
  if (name == tables_.track.name) {
    if (!track_alias_.empty()) return false;
    track_alias_ = alias;
    return true;
  }
  const auto found = std::find_if(tables_.events.begin(), tables_.events.end(),
                                  [&](const EventTableSpec& spec) { return lower_case(spec.name) == name; });
  if (found == tables_.events.end() || query_.table != nullptr) return false;
  query_.table = &*found;
  events_alias_ = alias;
  return true;
}

bool PlannedScope::read_join_condition(std::size_t& at, std::size_t end) {
  if (at >= end || !tokens_[at].is_word("on")) return false;
  const auto left = column(at + 1, end);
  if (!left || left->next >= end) return false;
  const Token& equals = tokens_[left->next];
  if (!equals.is_mark("=") && !equals.is_mark("==")) return false;
  const auto right = column(left->next + 1, end);
  if (!right) return false;
  const auto is_event_side = [&](const Input& input) { return !input.of_track && input.field == EventField::track_id; };
  const auto is_track_side = [&](const Input& input) {
    return input.of_track && tables_.track.columns[input.column].name == "id";
  };
  const Input& a = query_.inputs[left->input];
  const Input& b = query_.inputs[right->input];
  at = right->next;
  return (is_event_side(a) && is_track_side(b)) || (is_event_side(b) && is_track_side(a));
}

std::optional<Input> PlannedScope::event_column(std::size_t column) const {
  const EventColumn& spec = query_.table->columns[column];
  if (spec.mixed) return std::nullopt;
  return Input{kind_of(spec), spec.field, column, false, std::string(sql_type(spec))};
}

std::optional<Input> PlannedScope::find_event_column(const std::string& name) const {
  for (std::size_t i = 0; query_.table != nullptr && i < query_.table->columns.size(); ++i) {
    if (lower_case(query_.table->columns[i].name) == name) return event_column(i);
  }
  return std::nullopt;
}

std::optional<Input> PlannedScope::find_track_column(const std::string& name) const {
  for (std::size_t i = 0; !track_alias_.empty() && i < tables_.track.columns.size(); ++i) {
    const RowColumn& column = tables_.track.columns[i];
    if (column.name != name) continue;
    const ValueKind kind = column.type == "INTEGER" ? ValueKind::integer : ValueKind::string;
    return Input{kind, EventField::column, i, true, column.type};
  }
  return std::nullopt;
}

bool PlannedScope::names_column(const Token& token) const {
  const std::string name = lower_case(token.text);
  const bool of_events = std::any_of(query_.table->columns.begin(), query_.table->columns.end(),
                                     [&](const EventColumn& column) { return lower_case(column.name) == name; });
  return of_events || find_track_column(name).has_value();
}

std::size_t PlannedScope::add(const Input& input) {
  const auto known = std::find_if(query_.inputs.begin(), query_.inputs.end(),
                                  [&](const Input& other) { return other.same_column(input); });
  if (known != query_.inputs.end()) return static_cast<std::size_t>(known - query_.inputs.begin());
  query_.inputs.push_back(input);
  return query_.inputs.size() - 1;
}

std::optional<PlannedScope::Found> PlannedScope::column(std::size_t at, std::size_t end) {
  if (at >= end || !tokens_[at].is_name()) return std::nullopt;
  std::string name = lower_case(tokens_[at].text);
  std::size_t next = at + 1;
  std::string table;
  if (at + 2 < end && tokens_[at + 1].is_mark(".") && tokens_[at + 2].is_name()) {
    table = std::move(name);
    name = lower_case(tokens_[at + 2].text);
    next = at + 3;
  }
  std::optional<Input> found;
  if (table.empty() || table == events_alias_) found = find_event_column(name);
  if (!found && (table.empty() || table == track_alias_)) found = find_track_column(name);
  if (!found) return std::nullopt;
  return Found{add(*found), next};
}

std::optional<std::size_t> PlannedScope::input_of_field(EventField field) {
  for (std::size_t i = 0; i < query_.table->columns.size(); ++i) {
    if (query_.table->columns[i].field != field) continue;
    if (const auto input = event_column(i)) return add(*input);
  }
  return std::nullopt;
}

std::optional<PlannedScope::Found> PlannedScope::operand(std::size_t at, std::size_t end) {
  if (at < end && tokens_[at].is_mark("(")) {
    const auto inner = operand(at + 1, end);
    if (!inner || inner->next >= end || !tokens_[inner->next].is_mark(")")) return std::nullopt;
    return Found{inner->input, inner->next + 1};
  }
  const auto left = column(at, end);
  if (!left || left->next >= end) return left;
  const bool sum = tokens_[left->next].is_mark("+");
  if (!sum && !tokens_[left->next].is_mark("-")) return left;
  const auto right = column(left->next + 1, end);
  if (!right) return std::nullopt;
  const auto field_of = [&](std::size_t input) {
    return query_.inputs[input].of_track ? EventField::column : query_.inputs[input].field;
  };
  const EventField a = field_of(left->input);
  const EventField b = field_of(right->input);
  std::optional<std::size_t> result;
  if (sum &&
      ((a == EventField::ts_ns && b == EventField::dur_ns) || (a == EventField::dur_ns && b == EventField::ts_ns)))
    result = input_of_field(EventField::end_ns);
  if (!sum && a == EventField::end_ns && b == EventField::ts_ns) result = input_of_field(EventField::dur_ns);
  if (!result) return std::nullopt;
  return Found{*result, right->next};
}

std::optional<std::vector<std::size_t>> PlannedScope::all_columns() {
  if (!track_alias_.empty()) return std::nullopt;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < query_.table->columns.size(); ++i) {
    if (query_.table->columns[i].hidden) continue;
    const auto input = event_column(i);
    if (!input) return std::nullopt;
    all.push_back(add(*input));
  }
  return all;
}

}  // namespace accelscope::sql
