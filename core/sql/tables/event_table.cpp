#include "core/sql/tables/event_table.h"

#include "core/sql/tables/event_plan.h"

namespace accelscope::sql {
namespace {

class EventRows final : public VirtualCursor {
 public:
  EventRows(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec), events_(context, spec) {}
  int filter(int plan_number, const char* plan, std::span<sqlite3_value*> values) override {
    Result<EventRequest> request = read_plan(spec_, *context_.snapshot->strings, plan_number, plan, values);
    if (!request) return context_.fail(request.message());
    return events_.start(std::move(*request));
  }
  int next() override { return events_.next(); }
  [[nodiscard]] bool at_end() const override { return events_.at_end(); }
  void column(sqlite3_context* context, int column) override {
    events_.result(context, static_cast<std::size_t>(column));
  }
  int row_id(sqlite3_int64& id) override {
    std::int64_t event = 0;
    const int code = events_.row_id(event);
    id = event;
    return code;
  }

 private:
  Context& context_;
  const EventTableSpec& spec_;
  EventCursor events_;
};

class EventTable final : public VirtualTable {
 public:
  EventTable(Context& context, const EventTableSpec& spec) : context_(context), spec_(spec) {}
  [[nodiscard]] std::string declaration() const override {
    Declaration declaration;
    for (const EventColumn& column : spec_.columns) declaration.add(column.name, sql_type(column), column.hidden);
    return declaration.text();
  }
  int best_index(sqlite3_index_info& info) override { return plan_events(spec_, info); }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override { return std::make_unique<EventRows>(context_, spec_); }
  [[nodiscard]] std::string failure() const override { return context_.failure; }

 private:
  Context& context_;
  const EventTableSpec& spec_;
};

}  // namespace

std::string_view sql_type(const EventColumn& column) {
  if (column.expression) return "BLOB";  // no affinity; HIDDEN alone would be read as a numeric type
  switch (column.field) {
    case EventField::name:
    case EventField::category:
    case EventField::schema:
      return "TEXT";
    case EventField::column:
      break;
    default:
      return "INTEGER";
  }
  if (column.mixed) return "";
  switch (column.type) {
    case ColumnType::int64:
      return "INTEGER";
    case ColumnType::uint64:
      return "";  // integers and, from 2^63 on, text: no conversion may come between
    case ColumnType::boolean:
      return "BOOLEAN";
    case ColumnType::float64:
      return "REAL";
    case ColumnType::string:
    case ColumnType::text:
      return "TEXT";
  }
  return "";
}

std::unique_ptr<VirtualTable> make_event_table(Context& context, const EventTableSpec& spec) {
  return std::make_unique<EventTable>(context, spec);
}

}  // namespace accelscope::sql
