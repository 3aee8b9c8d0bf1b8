#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "app/mcp/tool.h"
#include "core/analysis/advice/advice.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/listings.h"
#include "core/search/filter_mask.h"
#include "core/sql/base/sql.h"

namespace accelscope::app {
namespace {

// Rows as JSON within limits: {"columns": [...], "rows": [[...]], "left_out": "..."}.
struct RowLimits {
  std::size_t rows = 30;
  std::size_t bytes = 16'000;       // of all rows
  std::size_t cell_bytes = 400;     // of a text; what is longer is cut, and says by how much
  std::uint64_t counted = 200'000;  // rows beyond the limits are counted so far
};

class LimitedRows final : public SqlRowVisitor {
 public:
  explicit LimitedRows(const RowLimits& limits) : limits_(limits) {}
  bool columns(const std::vector<std::string>& names) override;
  bool row(const std::vector<SqlValue>& values) override;

  void add_to(JsonObject& answer) const;

 private:
  RowLimits limits_;
  std::string columns_ = "[]";
  JsonList rows_;
  std::size_t bytes_ = 0, retained_ = 0;
  std::uint64_t seen_ = 0;
  bool counted_all_ = true;
};

std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::string_view front = utf8_front(text, most);
  return fmt::format("{} ... ({} more bytes)", front, text.size() - front.size());
}

struct CellJson {
  std::size_t most;
  std::string operator()(std::monostate) const { return "null"; }
  // Beyond 2^53 clients that read numbers as doubles would round it.
  std::string operator()(std::int64_t value) const {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    const std::string digits = std::to_string(value);
    return value > kExact || value < -kExact ? json_quote(digits) : digits;
  }
  std::string operator()(double value) const {
    if (std::isinf(value)) return value > 0 ? "1e999" : "-1e999";
    return json_number(value);
  }
  std::string operator()(const std::string& value) const { return json_quote(cut_text(value, most)); }
  std::string operator()(const SqlBlob& value) const { return json_quote(cut_text(hexadecimal(value.bytes), most)); }
};

bool LimitedRows::columns(const std::vector<std::string>& names) {
  columns_ = json_texts(names);
  return true;
}

bool LimitedRows::row(const std::vector<SqlValue>& values) {
  if (++seen_ > limits_.counted) {
    counted_all_ = false;
    return false;
  }
  if (retained_ + 1 < seen_ || retained_ >= limits_.rows) return true;  // a limit was reached before
  JsonList cells;
  for (const SqlValue& value : values) cells.raw(std::visit(CellJson{limits_.cell_bytes}, value));
  const std::string json = cells.done();
  if (retained_ > 0 && bytes_ + json.size() > limits_.bytes) return true;
  bytes_ += json.size();
  ++retained_;
  rows_.raw(json);
  return true;
}

void LimitedRows::add_to(JsonObject& answer) const {
  answer.raw("columns", columns_).raw("rows", rows_.done());
  if (seen_ == retained_) return;
  const std::string total = counted_all_ ? std::to_string(seen_) : fmt::format("more than {}", limits_.counted);
  const bool by_bytes = retained_ < limits_.rows;
  answer.text("left_out", fmt::format("{} of {} rows are shown; {}, or ask for less", retained_, total,
                                      by_bytes ? "raise max_bytes" : "raise max_rows"));
}

Result<RowLimits> limits_of(const ToolArguments& arguments) {
  RowLimits limits;
  const auto rows = TRY(arguments.integer("max_rows", static_cast<std::int64_t>(limits.rows), 1, 5'000));
  const auto bytes = TRY(arguments.integer("max_bytes", static_cast<std::int64_t>(limits.bytes), 200, 2'000'000));
  limits.rows = static_cast<std::size_t>(rows);
  limits.bytes = static_cast<std::size_t>(bytes);
  return limits;
}

Result<ToolAnswer> answer_sql(ToolCall& call, const ShelvedSession& session, const std::string& sql) {
  const auto limits = TRY(limits_of(call.arguments));
  SqlSession sql_session(session.store(), session.snapshot, call.shelf.pool());
  LimitedRows rows(limits);
  if (auto done = sql_session.visit(sql, rows, call.control.task); !done) {
    return Error{
        fmt::format("SQL: {}; the tables are in the resource accelscope://{}/schema", done.message(), session.name)};
  }
  JsonObject answer;
  rows.add_to(answer);
  answer.text_if("note", sql_session.note());
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> query_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto sql = TRY(call.arguments.required_text("sql"));
  return answer_sql(call, *session, sql);
}

Result<ToolAnswer> answer_listing(ToolCall& call, const ShelvedSession& session, const ListingKind& kind,
                                  std::vector<std::string> by, std::string value) {
  const auto limits = TRY(limits_of(call.arguments));
  const auto filter = TRY(filter_of(call, session));
  const auto query = TRY(masked(query_of(call, session), filter));
  const auto listing = kind.make(query, {filter, std::move(by), std::move(value), {}});
  if (!listing) return listing.error();
  LimitedRows rows(limits);
  visit_listing(*listing, rows, true, limits.rows);
  JsonObject answer;
  answer.text("table", kind.name);
  rows.add_to(answer);
  answer.text_if("note", listing->note);
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> table_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto name = TRY(call.arguments.required_text("table"));
  const ListingKind* kind = find_listing(name);
  if (kind == nullptr) {
    std::vector<std::string> known;
    for (const ListingKind& each : listing_kinds()) known.emplace_back(each.name);
    const std::string nearest = nearest_name(name, known);
    return Error{fmt::format("{}: no such table{}; there are {}; tables of SQL are read with query", name,
                             nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest),
                             fmt::join(known, ", "))};
  }
  auto by = TRY(call.arguments.texts("by"));
  auto value = TRY(call.arguments.text("value"));
  if (!by.empty() && !kind->facts.takes_by) return Error{fmt::format("by: the rows of {} have no choice", name)};
  if (!value.empty() && !kind->facts.takes_value) return Error{fmt::format("value: {} has no choice of it", name)};
  return answer_listing(call, *session, *kind, std::move(by), std::move(value));
}

// What costs can be grouped by, and the listing that does it.
struct CostView {
  std::string_view by;
  std::string_view listing;  // "": SQL
  std::string_view column;   // of the listing's --by; "": its own
};
constexpr std::array kCostViews = std::to_array<CostView>({
    {"name", "statistics", "name"},
    {"kernel", "hotspots", ""},
    {"layer", "layers", ""},
    {"line", "", ""},
    {"track", "statistics", "track"},
});
constexpr std::string_view kLineCosts =
    "SELECT path, line, event_count, busy_ns, wait_ns FROM source_line ORDER BY busy_ns + wait_ns DESC";

Result<ToolAnswer> top_costs_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto by = TRY(call.arguments.text("by", "name"));
  const auto view =
      std::find_if(kCostViews.begin(), kCostViews.end(), [&](const CostView& each) { return each.by == by; });
  if (view == kCostViews.end()) return Error{fmt::format("by: {}: takes name, kernel, layer, line or track", by)};
  if (view->listing.empty()) {
    for (const std::string_view argument : {"range", "filter", "tracks"}) {
      if (call.arguments.has(argument)) {
        return Error{
            fmt::format("{}: costs by line are of the whole session; use by name with a filter such as "
                        "source:kernel.py, or query the table instruction",
                        argument)};
      }
    }
    return answer_sql(call, *session, std::string(kLineCosts));
  }
  std::vector<std::string> columns;
  if (!view->column.empty()) columns.emplace_back(view->column);
  return answer_listing(call, *session, *find_listing(view->listing), std::move(columns), "");
}

// The critical path by what it is made of, what its waits were for, or what bounds it: each a listing.
struct PathView {
  std::string_view by;
  std::string_view listing;
  std::string_view column;
};
constexpr std::array kPathViews = std::to_array<PathView>({
    {"resource", "path-shares", "resource"},
    {"line", "path-shares", "line"},
    {"name", "path-shares", "name"},
    {"kind", "path-shares", "kind"},
    {"wait", "path-shares", "wait"},
    {"event", "critical-path", ""},
    {"bound", "bounds", ""},
    {"gap", "path-gaps", ""},
    {"slack", "slack", ""},
    {"waits", "waits", ""},
});

Result<ToolAnswer> critical_path_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto by = TRY(call.arguments.text("by", "resource"));
  const auto view =
      std::find_if(kPathViews.begin(), kPathViews.end(), [&](const PathView& each) { return each.by == by; });
  if (view == kPathViews.end())
    return Error{fmt::format("by: {}: takes resource, line, name, kind, wait, event, bound, gap, slack or waits", by)};
  std::vector<std::string> columns;
  if (!view->column.empty()) columns.emplace_back(view->column);
  return answer_listing(call, *session, *find_listing(view->listing), std::move(columns), "");
}

std::string place_json(const FindingPlace& place) {
  JsonObject json;
  json.number("begin_ns", place.range.begin_ns).number("end_ns", place.range.end_ns).text_if("note", place.note);
  return json.done();
}

// What tells the events of a finding in the other tools: searches, tracks and a range.
std::string evidence_json(const Finding& finding, const Snapshot& snapshot) {
  constexpr std::size_t kPlaces = 3;
  JsonObject json;
  json.number("count", finding.count);
  if (finding.first != kNoEvent) json.number("first_event", static_cast<std::uint64_t>(finding.first));
  JsonList terms;
  for (const auto& term : finding.events.terms) terms.text((term.excluded ? "-" : "") + term.search);
  json.raw("filter", terms.done());
  JsonList tracks;
  for (const TrackNumber number : finding.events.tracks) {
    if (const TrackSnapshot* track = snapshot.find_track(number)) tracks.text(track->track->name);
  }
  json.raw("tracks", tracks.done());
  JsonList places;
  for (std::size_t i = 0; i < finding.places.size() && i < kPlaces; ++i) places.raw(place_json(finding.places[i]));
  json.raw("places", places.done());
  if (finding.places.size() > kPlaces) json.number("further_places", finding.places.size() - kPlaces);
  return json.done();
}

Result<ToolAnswer> advise_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto most = TRY(call.arguments.integer("max_rows", 8, 1, 100));
  const auto filter = TRY(filter_of(call, *session));
  const auto query = TRY(masked(query_of(call, *session), filter));
  const auto advice = TRY(find_advice(query, filter));
  JsonList findings;
  const auto shown = std::min(advice->findings.size(), static_cast<std::size_t>(most));
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& each = advice->findings[i];
    JsonObject row;
    row.text("rule", each.rule->name).text("finding", each.headline).text_if("device", each.device);
    if (each.saving_ns > 0)  // an error and held memory cost no time
      row.number("saves_at_least_ns", each.least_ns)
          .number("saves_at_most_ns", each.saving_ns)
          .real("share", each.share);
    row.text_if("line", each.source).text_if("what_if", each.change);
    row.text("try", each.remedy).raw("evidence", evidence_json(each, *session->snapshot));
    findings.raw(row.done());
  }
  JsonObject answer;
  answer.raw("findings", findings.done());
  if (shown == 0) answer.text("result", "nothing found");
  if (shown < advice->findings.size()) {
    answer.text("left_out", fmt::format("{} of {} findings are shown; raise max_rows", shown, advice->findings.size()));
  }
  answer.text("judged", judged_text(*advice)).text_if("not_judged", unjudged_text(*advice));
  return ToolAnswer{answer.done(), ""};
}

}  // namespace

std::vector<Tool> table_tools() {
  return {
      {"query",
       "Ask in SQL",
       "One SELECT over the session: slice(id, track_id, ts_ns, dur_ns, name ...), counter, flow, memory, source_line, "
       "metric, meta, quality, track and one table per kind of event (kernel, dma, instruction, nvtx ...); the columns "
       "are in the resource accelscope://SESSION/schema. Times are int64 ns. GROUP BY name with count and sum is fast.",
       {kSessionArgument,
        {"sql", ArgumentType::text, "The SELECT", true},
        kMaxRowsArgument,
        {"max_bytes", ArgumentType::integer, "Bytes of all rows at most; usually 16000"}},
       query_tool},
      {"table",
       "A ready table",
       "One table that the viewer's panels show: layers, statistics, hotspots, warnings, roofline, memory-levels, "
       "collectives, ranks, compilations, calls, alive, segments, core-grid, incidents ... A wrong name lists all.",
       {kSessionArgument,
        {"table", ArgumentType::text, "Its name", true},
        {"by", ArgumentType::texts, "Columns or levels that rows are grouped by, where it has a choice"},
        {"value", ArgumentType::text, "What is measured, where it has a choice"},
        kRangeArgument,
        kFilterArgument,
        kTracksArgument,
        kMaxRowsArgument},
       table_tool},
      {"top_costs",
       "What costs most",
       "Time by name, kernel, layer, source line or track, the longest first.",
       {kSessionArgument,
        {"by", ArgumentType::text, "name (usual), kernel, layer, line or track"},
        kRangeArgument,
        kFilterArgument,
        kTracksArgument,
        kMaxRowsArgument},
       top_costs_tool},
      {"critical_path",
       "What the time was spent on",
       "The critical path, whose parts add up to the whole length: by resource (usual), line, name, kind or wait; "
       "event "
       "by event; what bounds it (bound) with the ideal time of each bound; gaps by what closing them would save; "
       "slack; "
       "every wait with its cause and who ended it (waits).",
       {kSessionArgument,
        {"by", ArgumentType::text, "resource (usual), line, name, kind, wait, event, bound, gap, slack or waits"},
        kRangeArgument,
        kFilterArgument,
        kTracksArgument,
        kMaxRowsArgument},
       critical_path_tool},
      {"advise",
       "What would help",
       "Findings ranked by what mending each would save at most, with the line, the events that they rest on (as a "
       "filter, tracks and places for the other tools) and what to try; and which rules could not be judged.",
       {kSessionArgument, kRangeArgument, kFilterArgument, kTracksArgument, kMaxRowsArgument},
       advise_tool},
  };
}

}  // namespace accelscope::app
