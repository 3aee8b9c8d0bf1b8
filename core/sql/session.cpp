#include "core/sql/base/sql.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/sql/base/functions.h"
#include "core/sql/base/tokens.h"
#include "core/sql/end_column.h"
#include "core/sql/planned/reader.h"
#include "core/sql/planned/rows.h"
#include "core/sql/tables/tables.h"

namespace accelscope::sql {
namespace {

constexpr int kStepsBetweenChecks = 20'000;  // of SQLite's virtual machine: well below a millisecond

// Queries read the session's tables and compute; everything else is refused.
int authorise(void*, int action, const char* subject, const char* detail, const char*, const char*) {
  switch (action) {
    case SQLITE_UPDATE:  // how SQLite declares a table on demand; it lets no statement change this one
      return std::string_view(subject) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return detail != nullptr && sqlite3_stricmp(detail, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

int check_progress(void* context) { return static_cast<Context*>(context)->cancelled() ? 1 : 0; }

// One look-up for type and value, which may only be asked together because no other thread has this connection.
listing::SqlValue cell(sqlite3_stmt* statement, int column) {
  sqlite3_value* value = sqlite3_column_value(statement, column);
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      return std::string(text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return listing::SqlBlob{bytes == nullptr ? std::string() : std::string(bytes, size)};
    }
    default:
      return std::monostate();
  }
}

// Collects rows until a limit is reached.
class ResultCollector final : public listing::SqlRowVisitor {
 public:
  ResultCollector(listing::SqlResult& result, const QueryLimits& limits) : result_(result), limits_(limits) {}
  bool columns(const std::vector<std::string>& names) override {
    result_.columns = names;
    return true;
  }
  bool row(const std::vector<listing::SqlValue>& values) override {
    if (result_.row_count() >= limits_.max_rows || bytes_ > limits_.max_bytes) {
      result_.truncated = true;
      return false;
    }
    for (const listing::SqlValue& value : values) {
      bytes_ += sizeof value;
      if (const auto* text = std::get_if<std::string>(&value)) bytes_ += text->size();
      if (const auto* blob = std::get_if<listing::SqlBlob>(&value)) bytes_ += blob->bytes.size();
      result_.cells.push_back(value);
    }
    return true;
  }

 private:
  listing::SqlResult& result_;
  const QueryLimits& limits_;
  std::uint64_t bytes_ = 0;
};

struct StatementDeleter {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using PreparedStatement = std::unique_ptr<sqlite3_stmt, StatementDeleter>;

std::vector<std::string> column_names(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) names.emplace_back(sqlite3_column_name(statement, i));
  return names;
}

bool only_blanks(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == std::string_view::npos; }

}  // namespace

struct Session::Implementation {
  Implementation(const Store& store, std::shared_ptr<const Snapshot> snapshot, WorkerPool& pool,
                 std::shared_ptr<const EventMask> mask)
      : context{.store = store, .snapshot = std::move(snapshot), .pool = pool, .mask = std::move(mask)} {}
  ~Implementation() { sqlite3_close(database); }

  void open();
  // create() passes the number of a table; a query that names the module itself passes nothing.
  template <typename Specs, typename Make>
  [[nodiscard]] MakeTable maker(const Specs& specs, Make make) {
    return [this, &specs, make](std::span<const char* const> arguments) -> Result<std::unique_ptr<VirtualTable>> {
      if (arguments.empty()) return Error{"it is no table"};
      return make(context, specs[std::strtoul(arguments.front(), nullptr, 10)]);
    };
  }
  Result<void> create(const std::string& table, std::string_view module, std::size_t index);
  void create_or_leave_out(const std::string& table, std::string_view module, std::size_t index);
  [[nodiscard]] std::string note() const;
  void list_tables();
  Error error_of(std::string_view sql);
  Result<PreparedStatement> prepare(std::string_view sql);
  PreparedStatement improved(PreparedStatement statement, std::string_view sql);
  Result<void> step_through(sqlite3_stmt* statement, std::string_view sql, listing::SqlRowVisitor& visitor);
  Constant evaluate(std::string_view expression);
  Result<bool> answer_planned(std::string_view sql, std::size_t columns, listing::SqlRowVisitor& visitor);
  Result<bool> query_made_table(const PlannedQuery& query, std::shared_ptr<const Rows> rows, std::size_t columns,
                                listing::SqlRowVisitor& visitor);

  Context context;
  std::vector<RowTableSpec> row_specs;
  std::vector<EventTableSpec> event_specs;
  std::vector<ListedTable> tables;
  sqlite3* database = nullptr;
  std::string open_failure;
  std::string left_out;  // tables that cannot be made, and why
  bool planned = true;
  std::uint64_t planned_answers = 0;
};

void Session::Implementation::open() {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &database, kFlags, nullptr) != SQLITE_OK) {
    open_failure = "SQLite could not open a connection";
    return;
  }
  // Sorting keeps this much in memory and goes on in a temporary file, however many rows there are.
  sqlite3_exec(database, "PRAGMA cache_size = -131072", nullptr, nullptr, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 256 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  row_specs = row_tables(*context.snapshot);
  event_specs = event_tables(*context.snapshot, row_specs);
  list_tables();
  row_specs.push_back({.name = std::string(kMadeTable), .changes = true});  // filled and created when it is used
  register_functions(database);
  register_tables(database, "accelscope_events", maker(event_specs, make_event_table));
  register_tables(database, "accelscope_rows", maker(row_specs, make_row_table));
  for (std::size_t i = 0; i < event_specs.size(); ++i) create_or_leave_out(event_specs[i].name, "accelscope_events", i);
  for (std::size_t i = 0; i + 1 < row_specs.size(); ++i) {
    const RowTableSpec& spec = row_specs[i];
    if (!spec.on_demand) create_or_leave_out(spec.name, "accelscope_rows", i);
    // The name of a module is a table's, too.
    if (spec.on_demand)
      register_tables(database, spec.name.c_str(), [this, &spec](auto) { return make_row_table(context, spec); });
  }
  sqlite3_set_authorizer(database, authorise, nullptr);
  sqlite3_progress_handler(database, kStepsBetweenChecks, check_progress, &context);
}

Result<void> Session::Implementation::create(const std::string& table, std::string_view module, std::size_t index) {
  const std::string statement = fmt::format("CREATE VIRTUAL TABLE {} USING {}({})", quoted_name(table), module, index);
  if (sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return Error{fmt::format("the table {} cannot be made: {}", shown_name(table), sqlite3_errmsg(database))};
}

// What a session names its columns may be refused by SQLite; then the other tables are there all the same.
void Session::Implementation::create_or_leave_out(const std::string& table, std::string_view module,
                                                  std::size_t index) {
  const Result<void> made = create(table, module, index);
  if (made) return;
  left_out += (left_out.empty() ? "" : "; ") + made.message();
  std::erase_if(tables, [&](const ListedTable& listed) { return listed.name == shown_name(table); });
}

// What the last run had to leave out, and what every run does.
std::string Session::Implementation::note() const {
  const std::string skipped = context.report.sentence();
  return skipped.empty() || left_out.empty() ? skipped + left_out : skipped + "; " + left_out;
}

void Session::Implementation::list_tables() {
  for (const EventTableSpec& spec : event_specs) {
    ListedTable& table = tables.emplace_back();
    table.name = shown_name(spec.name);
    table.row_estimate = spec.event_count;
    for (const EventColumn& column : spec.columns) {
      if (column.expression) continue;
      (column.hidden ? table.hidden_columns : table.columns).push_back(shown_name(column.name));
    }
  }
  for (const RowTableSpec& spec : row_specs) {
    if (std::any_of(tables.begin(), tables.end(),
                    [&](const ListedTable& each) { return lower_case(each.name) == spec.name; }))
      continue;
    ListedTable& table = tables.emplace_back();
    table.name = spec.name;
    table.row_estimate = spec.row_estimate;
    for (const RowColumn& column : spec.columns)
      (column.hidden ? table.hidden_columns : table.columns).push_back(column.name);
  }
}

// SQLite's message, with what can be tried where that is plain.
Error Session::Implementation::error_of(std::string_view sql) {
  if (context.cancelled()) return cancelled_error();
  if (!context.failure.empty()) return Error{std::exchange(context.failure, {})};
  const int code = sqlite3_errcode(database);
  std::string message = sqlite3_errmsg(database);
  if (code == SQLITE_AUTH || message.ends_with("may not be modified"))
    return Error{"only SELECT is allowed: a session is read-only to SQL"};
  message += hint_for(message, sql, tables);
  if (!left_out.empty() && message.starts_with("no such table")) message += "; " + left_out;
  return Error{std::move(message)};
}

Result<PreparedStatement> Session::Implementation::prepare(std::string_view sql) {
  if (!open_failure.empty()) return Error{open_failure};
  if (only_blanks(sql)) return Error{"the query is empty; try SELECT * FROM slice LIMIT 10"};
  if (sql.size() > 1'000'000) return Error{"the query is longer than 1,000,000 characters"};
  const char* rest = nullptr;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  PreparedStatement statement(raw);
  if (code != SQLITE_OK) return error_of(sql);
  if (!statement) return Error{"the query holds nothing but a comment"};
  if (!only_blanks(sql.substr(static_cast<std::size_t>(rest - sql.data())))) {
    sqlite3_stmt* second = nullptr;
    const auto left = static_cast<int>(sql.data() + sql.size() - rest);
    const int second_code = sqlite3_prepare_v2(database, rest, left, &second, nullptr);
    const PreparedStatement other(second);
    if (second_code != SQLITE_OK || other) return Error{"one statement at a time: there is more after the first ';'"};
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0 || sqlite3_column_count(statement.get()) == 0) {
    return Error{"only SELECT is allowed: a session is read-only to SQL"};
  }
  return statement;
}

// The statement that gives the same rows with conditions that the tables can answer; the statement itself if that
// is as good.
PreparedStatement Session::Implementation::improved(PreparedStatement statement, std::string_view sql) {
  const std::string rewritten = with_end_column(sql, event_specs);
  if (rewritten.empty()) return statement;
  sqlite3_stmt* better = nullptr;
  sqlite3_prepare_v2(database, rewritten.c_str(), -1, &better, nullptr);
  return better == nullptr ? std::move(statement) : PreparedStatement(better);
}

Result<void> Session::Implementation::step_through(sqlite3_stmt* statement, std::string_view sql,
                                                   listing::SqlRowVisitor& visitor) {
  const int count = sqlite3_column_count(statement);
  std::vector<listing::SqlValue> values(static_cast<std::size_t>(count));
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return error_of(sql);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = cell(statement, i);
    if (!visitor.row(values)) return {};
  }
}

Constant Session::Implementation::evaluate(std::string_view expression) {
  const std::string sql = fmt::format("SELECT {}", expression);
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(database, sql.c_str(), -1, &raw, nullptr);
  const PreparedStatement statement(raw);
  const bool one = statement && sqlite3_column_count(raw) == 1 && sqlite3_step(raw) == SQLITE_ROW;
  return Constant(one ? sqlite3_value_dup(sqlite3_column_value(raw, 0)) : nullptr);
}

// False if the query is not simple enough, or only SQLite can answer it exactly.
Result<bool> Session::Implementation::answer_planned(std::string_view sql, std::size_t columns,
                                                     listing::SqlRowVisitor& visitor) {
  const auto is_track = [](const RowTableSpec& spec) { return spec.name == "track"; };
  const auto track = std::find_if(row_specs.begin(), row_specs.end(), is_track);
  const PlannedTables readable{event_specs, *track, *context.snapshot->strings,
                               [this](std::string_view expression) { return evaluate(expression); }};
  const auto query = read_planned_query(sql, readable);
  if (!query) return false;
  using Shape = PlannedQuery::Shape;
  if (query->shape == Shape::rows) {
    TRY(planned_rows(context, *query, visitor));
    return true;
  }
  Result<std::shared_ptr<const Rows>> rows =
      query->shape == Shape::top ? planned_top(context, *query) : planned_groups(context, *query);
  if (context.cancelled()) return cancelled_error();
  if (!rows || *rows == nullptr) return false;
  return query_made_table(*query, std::move(*rows), columns, visitor);
}

// Lets SQLite do what is left: expressions over the aggregates, HAVING, ORDER BY, LIMIT.
Result<bool> Session::Implementation::query_made_table(const PlannedQuery& query, std::shared_ptr<const Rows> rows,
                                                       std::size_t columns, listing::SqlRowVisitor& visitor) {
  RowTableSpec& spec = row_specs.back();
  spec.columns.clear();
  const auto add_input = [&](std::size_t i) { spec.columns.push_back({made_input(i), query.inputs[i].type}); };
  if (query.shape == PlannedQuery::Shape::top) {
    for (std::size_t i = 0; i < query.inputs.size(); ++i) add_input(i);
  }
  for (const std::size_t key : query.keys) add_input(key);
  for (std::size_t i = 0; i < query.aggregates.size(); ++i) spec.columns.push_back({made_aggregate(i), ""});
  spec.row_estimate = rows->size();
  spec.make = [&rows](Context&) { return Result<std::shared_ptr<const Rows>>(rows); };
  sqlite3_set_authorizer(database, nullptr, nullptr);
  const Result<void> created = create(spec.name, "accelscope_rows", row_specs.size() - 1);
  sqlite3_set_authorizer(database, authorise, nullptr);
  if (!created) return created.error();

  Result<bool> answered = [&]() -> Result<bool> {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(database, query.sql.data(), static_cast<int>(query.sql.size()), &raw, nullptr);
    const PreparedStatement statement(raw);
    if (code != SQLITE_OK || static_cast<std::size_t>(sqlite3_column_count(raw)) != columns) return false;
    TRY(step_through(raw, query.sql, visitor));
    return true;
  }();
  sqlite3_set_authorizer(database, nullptr, nullptr);
  sqlite3_exec(database, fmt::format("DROP TABLE {}", spec.name).c_str(), nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(database, authorise, nullptr);
  spec.make = nullptr;
  return answered;
}

Session::Session(const Store& store, std::shared_ptr<const Snapshot> snapshot, WorkerPool& pool,
                 std::shared_ptr<const EventMask> mask)
    : impl_(std::make_unique<Implementation>(store, std::move(snapshot), pool, std::move(mask))) {
  impl_->open();
}
Session::~Session() = default;

Result<void> Session::visit(std::string_view sql, listing::SqlRowVisitor& visitor, TaskControl& control) {
  impl_->context.control = &control;
  impl_->context.failure.clear();
  impl_->context.report.clear();
  Result<void> done = [&]() -> Result<void> {
    PreparedStatement statement = TRY(impl_->prepare(sql));
    const std::vector<std::string> names = column_names(statement.get());
    if (!visitor.columns(names)) return {};
    if (impl_->planned) {
      const bool answered = TRY(impl_->answer_planned(sql, names.size(), visitor));
      if (answered) {
        ++impl_->planned_answers;
        return {};
      }
      impl_->context.report.clear();
    }
    const PreparedStatement run = impl_->improved(std::move(statement), sql);
    return impl_->step_through(run.get(), sql, visitor);
  }();
  impl_->context.control = nullptr;
  return done;
}

Result<listing::SqlResult> Session::run(std::string_view sql, const QueryLimits& limits, TaskControl& control) {
  listing::SqlResult result;
  ResultCollector collector(result, limits);
  TRY(visit(sql, collector, control));
  result.skipped_events = impl_->context.report.skipped_events();
  result.note = impl_->note();
  return result;
}

void Session::set_planned(bool on) noexcept { impl_->planned = on; }
std::uint64_t Session::planned_answers() const noexcept { return impl_->planned_answers; }
std::string Session::note() const { return impl_->note(); }

const std::vector<ListedTable>& Session::tables() const noexcept { return impl_->tables; }

}  // namespace accelscope::sql
