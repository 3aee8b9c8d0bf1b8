#include "app/content/sql/console.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "app/session/analysis.h"
#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

constexpr std::array<std::string_view, 34> kSqlTextKeywords = {
    "SELECT",    "FROM", "WHERE", "GROUP BY",  "ORDER BY", "LIMIT",  "OFFSET", "HAVING",  "JOIN",
    "LEFT JOIN", "ON",   "AS",    "AND",       "OR",       "NOT",    "IN",     "IS NULL", "IS NOT NULL",
    "BETWEEN",   "LIKE", "GLOB",  "REGEXP",    "DISTINCT", "CASE",   "WHEN",   "THEN",    "ELSE",
    "END",       "DESC", "ASC",   "UNION ALL", "WITH",     "EXISTS", "OVER"};
constexpr std::array<std::string_view, 16> kFunctions = {
    "count",  "sum",   "avg",   "min",    "max",    "total",    "round",        "abs",
    "length", "lower", "upper", "substr", "printf", "coalesce", "group_concat", "json_extract"};
constexpr std::array<std::string_view, 3> kParameters = {":begin", ":end", ":selected"};
constexpr std::size_t kMostCandidates = 60;

// As SQL compares it.
std::string name_of(const SqlToken& token) { return lower_case(token.text); }

const sql::ListedTable* find_table(std::span<const sql::ListedTable> tables, const std::string& lower_name) {
  for (const sql::ListedTable& table : tables) {
    if (lower_case(table.name) == lower_name) return &table;
  }
  return nullptr;
}

// The table behind a name in front of a dot: a table, or an alias ("slice s", "slice AS s").
const sql::ListedTable* table_or_alias(std::span<const SqlToken> tokens, std::span<const sql::ListedTable> tables,
                                       const std::string& lower_name) {
  if (const sql::ListedTable* table = find_table(tables, lower_name)) return table;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const sql::ListedTable* table = find_table(tables, name_of(tokens[i]));
    if (table == nullptr) continue;
    std::size_t alias = i + 1;
    if (name_of(tokens[alias]) == "as" && alias + 1 < tokens.size()) ++alias;
    if (name_of(tokens[alias]) == lower_name) return table;
  }
  return nullptr;
}

// Names that are no plain words need quotes.
std::string as_name(const std::string& name) {
  const std::vector<SqlToken> tokens = sql::all_tokens(name);
  const bool plain = tokens.size() == 1 && tokens[0].kind == SqlTokenKind::word && tokens[0].end == name.size();
  return plain ? name : '"' + name + '"';
}

class Candidates {
 public:
  explicit Candidates(std::string_view prefix) : prefix_(lower_case(prefix)) {}

  void offer(const std::string& name, std::string text, std::string detail) {
    const std::string lower = lower_case(name);
    if (lower == prefix_) return;  // nothing is left to be typed
    const bool begins = lower.starts_with(prefix_);
    if (!begins && (prefix_.size() < 2 || lower.find(prefix_) == std::string::npos)) return;
    auto& list = begins ? first_ : later_;
    for (const SqlCandidate& known : list) {
      if (known.text == text) return;
    }
    list.push_back({std::move(text), std::move(detail)});
  }
  void offer_columns(const sql::ListedTable& table) {
    for (const auto* columns : {&table.columns, &table.hidden_columns}) {
      for (const std::string& column : *columns) offer(column, as_name(column), "column of " + table.name);
    }
  }
  void offer_tables(std::span<const sql::ListedTable> tables) {
    for (const sql::ListedTable& table : tables) offer(table.name, as_name(table.name), "table");
  }
  [[nodiscard]] std::vector<SqlCandidate> take() {
    first_.insert(first_.end(), std::make_move_iterator(later_.begin()), std::make_move_iterator(later_.end()));
    if (first_.size() > kMostCandidates) first_.resize(kMostCandidates);
    return std::move(first_);
  }

 private:
  std::string prefix_;
  std::vector<SqlCandidate> first_;
  std::vector<SqlCandidate> later_;
};

// Whether the caret stands in a comment, where nothing is completed.
bool in_comment(std::string_view sql, std::size_t caret) {
  const std::vector<SqlToken> tokens = sql::all_tokens(sql);
  return std::any_of(tokens.begin(), tokens.end(), [&](const SqlToken& token) {
    if (token.kind != SqlTokenKind::comment || caret <= token.begin) return false;
    return caret < token.end || (caret == token.end && sql[token.end - 1] != '/');
  });
}

}  // namespace

std::vector<SqlToken> sql_tokens(std::string_view sql) {
  std::vector<SqlToken> tokens = sql::all_tokens(sql);
  std::erase_if(tokens, [](const SqlToken& token) { return token.kind == SqlTokenKind::comment; });
  return tokens;
}

std::vector<std::string> named_tables(std::string_view sql, std::span<const sql::ListedTable> tables) {
  const std::vector<SqlToken> tokens = sql_tokens(sql);
  std::vector<std::string> found;
  for (const sql::ListedTable& table : tables) {
    const std::string lower = lower_case(table.name);
    const bool named = std::any_of(tokens.begin(), tokens.end(),
                                   [&](const SqlToken& token) { return token.is_name() && name_of(token) == lower; });
    if (named) found.push_back(table.name);
  }
  return found;
}

SqlCompletion complete_sql(std::string_view sql, std::size_t caret, std::span<const sql::ListedTable> tables) {
  caret = std::min(caret, sql.size());
  SqlCompletion completion{caret, caret, {}};
  if (in_comment(sql, caret)) return completion;
  const std::vector<SqlToken> tokens = sql_tokens(sql);
  std::size_t before = 0;  // tokens that end before the word at the caret
  while (before < tokens.size() && tokens[before].end < caret) ++before;
  if (before < tokens.size() && tokens[before].begin < caret) {
    const SqlToken& token = tokens[before];
    const bool in_quotes = token.kind == SqlTokenKind::quoted || token.kind == SqlTokenKind::text;
    if (in_quotes && caret < token.end) return completion;
    if (token.kind == SqlTokenKind::number) return completion;
    if (token.kind == SqlTokenKind::word || token.kind == SqlTokenKind::parameter) {
      completion.begin = token.begin;
      completion.end = token.end;
    } else {
      ++before;  // a symbol right in front of the caret
    }
  }
  const std::string_view prefix = sql.substr(completion.begin, caret - completion.begin);
  const std::span<const SqlToken> earlier(tokens.data(), before);
  Candidates candidates(prefix);
  const std::string last = earlier.empty() ? "" : name_of(earlier.back());
  if (last == "." && earlier.size() >= 2) {
    if (const sql::ListedTable* table = table_or_alias(tokens, tables, name_of(earlier[earlier.size() - 2]))) {
      candidates.offer_columns(*table);
    }
  } else if (last == "from" || last == "join") {
    candidates.offer_tables(tables);
  } else if (!prefix.empty() && prefix.front() == ':') {
    for (const std::string_view name : kParameters) {
      candidates.offer(std::string(name), std::string(name), "of the view");
    }
  } else {
    for (const std::string& name : named_tables(sql, tables)) {
      candidates.offer_columns(*find_table(tables, lower_case(name)));
    }
    if (!prefix.empty()) {
      for (const std::string_view name : kFunctions) {
        candidates.offer(std::string(name), std::string(name) + "(", "function");
      }
      for (const std::string_view word : kSqlTextKeywords) candidates.offer(std::string(word), std::string(word), "");
      candidates.offer_tables(tables);
    } else if (tokens.empty()) {
      candidates.offer("SELECT", "SELECT", "");
    }
  }
  completion.candidates = candidates.take();
  return completion;
}

std::string with_parameters(std::string_view sql, const SqlParameters& parameters) {
  std::string result;
  std::size_t copied = 0;
  for (const SqlToken& token : sql_tokens(sql)) {
    if (token.kind != SqlTokenKind::parameter) continue;
    const std::string& name = token.text;
    std::string value;
    if (name == ":begin") value = std::to_string(parameters.begin_ns);
    if (name == ":end") value = std::to_string(parameters.end_ns);
    if (name == ":selected") value = parameters.selected ? std::to_string(*parameters.selected) : "NULL";
    if (value.empty()) continue;
    result += sql.substr(copied, token.begin - copied);
    result += value;
    copied = token.end;
  }
  result += sql.substr(copied);
  return result;
}

namespace {

std::optional<std::size_t> find_column(const listing::SqlResult& result, std::string_view name) {
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    if (result.columns[i] == name) return i;
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_in(const listing::SqlResult& result, std::size_t row, std::string_view column) {
  const auto index = find_column(result, column);
  if (!index) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&result.at(row, *index));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// Whether the query names a table whose ids are not those of events.
bool names_other_ids(std::string_view sql) {
  static const std::array<sql::ListedTable, 2> others = {sql::ListedTable{"track", {}, {}, 0},
                                                         sql::ListedTable{"marker", {}, {}, 0}};
  return !named_tables(sql, others).empty();
}

// The event of the track, in the sub-lane if it is given, that begins at the time.
std::optional<EventId> event_of_track(EventReader& reader, std::int64_t track, std::optional<std::int64_t> depth,
                                      std::int64_t begin_ns) {
  const TrackSnapshot* found =
      track < 0 || track > kNone ? nullptr : reader.snapshot().find_track(static_cast<TrackNumber>(track));
  if (found == nullptr) return std::nullopt;
  for (const std::uint32_t index : found->lanes) {
    const LaneSnapshot& lane = reader.snapshot().lanes[index];
    if (depth && *depth != lane.data->lane.depth) continue;
    const auto first = reader.first_from(lane, begin_ns);
    if (!first || !*first) continue;
    const auto event = reader.read(**first);
    if (event && event->begin_ns == begin_ns) return **first;
  }
  return std::nullopt;
}

std::shared_ptr<const SqlAnswer> answer_query(const Store& store, const std::shared_ptr<const Snapshot>& snapshot,
                                              WorkerPool& pool, std::string typed, const std::string& sql,
                                              const EventFilter& filter, const std::shared_ptr<const EventMask>& known,
                                              TaskControl& control) {
  const auto begin = std::chrono::steady_clock::now();
  auto answer = std::make_shared<SqlAnswer>();
  answer->sql = std::move(typed);
  answer->snapshot_version = snapshot->version;
  answer->filter = filter;
  auto mask = search::filter_mask({store, snapshot, pool, control}, filter, known);
  if (mask) {
    answer->seen = count_passing(*snapshot, mask->get());
    answer->events = count_passing(*snapshot, nullptr);
    sql::Session session(store, snapshot, pool, std::move(*mask));
    auto result = session.run(sql, SqlConsole::kLimits, control);
    if (result) {
      answer->result = std::move(*result);
    } else {
      answer->error = result.message();
    }
  } else {
    answer->error = "The filter: " + mask.message();
  }
  answer->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

}  // namespace

SqlRowPlace place_of_row(const SqlAnswer& answer, std::size_t row, EventReader& reader) {
  const listing::SqlResult& result = answer.result;
  SqlRowPlace place;
  place.begin_ns = integer_in(result, row, "ts_ns");
  if (place.begin_ns) {
    place.end_ns = integer_in(result, row, "end_ns");
    const auto duration = integer_in(result, row, "dur_ns");
    if (!place.end_ns && duration) place.end_ns = *place.begin_ns + *duration;
  }
  for (const std::string_view column : {"event_id", "id", "src_id", "dst_id"}) {
    const auto number = integer_in(result, row, column);
    if (!number || *number < 0) continue;
    if (column == "id" && !place.begin_ns && names_other_ids(answer.sql)) continue;
    const auto id = static_cast<EventId>(*number);
    const LaneSnapshot* lane = reader.snapshot().find_lane(lane_of(id));
    if (lane == nullptr || lane->chunk_of_ordinal(ordinal_of(id)) >= lane->chunk_count) continue;
    const auto event = reader.read(id);
    const bool other_time = column == "id" && place.begin_ns && event && event->begin_ns != *place.begin_ns;
    if (!event || other_time) continue;
    place.event = id;
    return place;
  }
  const auto track = integer_in(result, row, "track_id");
  if (place.begin_ns && track) {
    place.event = event_of_track(reader, *track, integer_in(result, row, "lane"), *place.begin_ns);
  }
  return place;
}

bool SqlConsole::update(const session::SessionTab& tab) {
  if (tables_task_.ready()) tables_ = tables_task_.take();
  if (!tables_task_.valid() && tables_of_tracks_ != tab.snapshot->tracks.size()) {
    tables_of_tracks_ = tab.snapshot->tracks.size();
    tables_task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, &pool = pool_](TaskControl&) {
      const sql::Session session(*store, snapshot, pool);
      return session.tables();
    });
  }
  if (!task_.ready()) return false;
  answer_ = task_.take();
  return true;
}

void SqlConsole::run(const session::SessionTab& tab, std::string sql, const EventFilter& filter) {
  const SqlParameters parameters{whole_time(tab.view.begin_ns), whole_time(tab.view.end_ns), tab.selected};
  std::string bound = with_parameters(sql, parameters);
  task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, &pool = pool_, typed = std::move(sql),
                       bound = std::move(bound), filter,
                       known = tab.analysis->known_mask(filter)](TaskControl& control) mutable {
    return answer_query(*store, snapshot, pool, std::move(typed), bound, filter, known, control);
  });
}

void SqlConsole::cancel() { task_ = {}; }

double SqlConsole::share() const noexcept {
  const std::uint64_t total = task_.total();
  return total == 0 ? -1 : static_cast<double>(task_.done()) / static_cast<double>(total);
}

}  // namespace accelscope::app::content
