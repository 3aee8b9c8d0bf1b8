#include "core/sqlite_extension/session_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"
#include "core/sql/tables/tables.h"

namespace accelscope::sql {

class OpenSession {
 public:
  OpenSession(std::unique_ptr<Store> opened, std::shared_ptr<WorkerPool> of_all)
      : pool(std::move(of_all)),
        store(std::move(opened)),
        context{*store, store->snapshot(), *pool, &never_cancelled},
        rows(row_tables(*context.snapshot)),
        events(event_tables(*context.snapshot, rows)) {}

  [[nodiscard]] std::vector<std::string> table_names(bool on_demand) const {
    std::vector<std::string> names;
    for (const EventTableSpec& spec : events) names.push_back(spec.name);
    for (const RowTableSpec& spec : rows) {
      if (on_demand || !spec.on_demand) names.push_back(spec.name);
    }
    return names;
  }
  // Null if there is no such table.
  [[nodiscard]] Result<std::unique_ptr<VirtualTable>> table(std::string_view name) {
    const auto is_it = [&](const auto& spec) { return lower_case(spec.name) == lower_case(name); };
    if (const auto event = std::find_if(events.begin(), events.end(), is_it); event != events.end())
      return make_event_table(context, *event);
    const auto row = std::find_if(rows.begin(), rows.end(), is_it);
    if (row != rows.end()) return make_row_table(context, *row);
    return Error{
        fmt::format("accelscope: there is no table {}; there are {}", name, fmt::join(table_names(true), ", "))};
  }

  std::shared_ptr<WorkerPool> pool;
  std::unique_ptr<Store> store;
  TaskControl never_cancelled;
  Context context;
  std::vector<RowTableSpec> rows;
  std::vector<EventTableSpec> events;
};

namespace {

// Keeps its session open.
class SessionTable final : public VirtualTable {
 public:
  SessionTable(std::shared_ptr<OpenSession> session, std::unique_ptr<VirtualTable> table)
      : session_(std::move(session)), table_(std::move(table)) {}
  [[nodiscard]] std::string declaration() const override { return table_->declaration(); }
  int best_index(sqlite3_index_info& info) override { return table_->best_index(info); }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override { return table_->open(); }
  [[nodiscard]] std::string failure() const override { return table_->failure(); }

 private:
  std::shared_ptr<OpenSession> session_;
  std::unique_ptr<VirtualTable> table_;
};

Result<std::unique_ptr<VirtualTable>> table_of(const std::shared_ptr<OpenSession>& session, std::string_view name) {
  auto table = session->table(name);
  if (!table) return table;
  return std::unique_ptr<VirtualTable>(std::make_unique<SessionTable>(session, std::move(*table)));
}

// An argument as it is written in SQL, with or without quotes.
std::string unquoted(std::string_view argument) {
  const std::size_t first = argument.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  argument = argument.substr(first, argument.find_last_not_of(" \t\r\n") - first + 1);
  const char quote = argument.front();
  if (argument.size() < 2 || (quote != '\'' && quote != '"') || argument.back() != quote) return std::string(argument);
  std::string text;
  for (std::size_t i = 1; i + 1 < argument.size(); ++i) {
    text += argument[i];
    if (argument[i] == quote) ++i;
  }
  return text;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

SessionFiles::SessionFiles() = default;
SessionFiles::~SessionFiles() = default;

Result<std::shared_ptr<OpenSession>> SessionFiles::open(const std::string& path) {
  if (auto session = sessions_[path].lock()) return session;
  auto store = TRY(Store::open(path));
  if (!pool_) pool_ = std::make_shared<WorkerPool>();
  auto session = std::make_shared<OpenSession>(std::move(store), pool_);
  sessions_[path] = session;
  return session;
}

Result<std::unique_ptr<VirtualTable>> SessionFiles::table(std::span<const char* const> arguments) {
  if (arguments.size() != 2)
    return Error{"accelscope: two arguments are needed, as in USING accelscope('run.accel', 'slice')"};
  auto session = TRY(open(unquoted(arguments[0])));
  return table_of(session, unquoted(arguments[1]));
}

Result<std::string> SessionFiles::create_all(sqlite3* database, const std::string& path, const std::string& prefix) {
  auto session = open(path);
  if (!session) return session.error();
  std::vector<std::string> made;
  std::string left_out;
  for (const std::string& name : (*session)->table_names(false)) {
    const std::string table = quoted_name(prefix + name);
    const std::string create = fmt::format("CREATE VIRTUAL TABLE temp.{} USING accelscope({}, {})", table,
                                           quoted_text(path), quoted_text(name));
    if (sqlite3_exec(database, create.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
      made.push_back(table);
      continue;
    }
    std::string reason = sqlite3_errmsg(database);
    if (!reason.ends_with("already exists")) {  // it cannot be made, and costs itself only
      left_out += fmt::format("; without {}: {}", table, reason);
      continue;
    }
    reason += "; give the tables a prefix: accelscope_open('b.accel', 'b_')";
    for (const std::string& other : made)
      sqlite3_exec(database, fmt::format("DROP TABLE temp.{}", other).c_str(), nullptr, nullptr, nullptr);
    return Error{fmt::format("accelscope: {}: {}", path, reason)};
  }
  std::size_t count = made.size();
  for (const RowTableSpec& spec : (*session)->rows) {
    const std::string table = prefix + spec.name;  // a module's name is a table's, too
    if (!spec.on_demand || std::find(made.begin(), made.end(), quoted_name(table)) != made.end()) continue;
    const auto make = [session = *session, name = spec.name](auto) { return table_of(session, name); };
    if (register_tables(database, table.c_str(), make) == SQLITE_OK) ++count;
  }
  return fmt::format("{}: {} tables, {} events{}", path, count,
                     format_count(count_passing(*(*session)->context.snapshot, nullptr)), left_out);
}

}  // namespace accelscope::sql
