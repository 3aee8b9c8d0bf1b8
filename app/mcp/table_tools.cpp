#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "app/mcp/tool.h"
#include "core/analysis/advice/advice.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/listings.h"
#include "core/search/filter_mask.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::mcp {
namespace {

// Rows as JSON within limits: {"columns": [...], "rows": [[...]], "left_out": "..."}.
struct RowLimits {
  std::size_t rows = 30;
  std::size_t bytes = 16'000;       // of all rows
  std::size_t cell_bytes = 400;     // of a text; what is longer is cut, and says by how much
  std::uint64_t counted = 200'000;  // rows beyond the limits are counted so far
};

class LimitedRows final : public listing::SqlRowVisitor {
 public:
  explicit LimitedRows(const RowLimits& limits) : limits_(limits) { rows_.begin_array(); }
  bool columns(const std::vector<std::string>& names) override;
  bool row(const std::vector<listing::SqlValue>& values) override;

  void add_to(JsonWriter& answer);

 private:
  RowLimits limits_;
  std::vector<std::string> columns_;
  JsonWriter rows_;
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

void add_cell(JsonWriter& json, const listing::SqlValue& value, std::size_t most) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // clients that read numbers as doubles would round beyond
  if (const auto* text = std::get_if<std::string>(&value)) {
    json.value(cut_text(*text, most));
  } else if (const auto* blob = std::get_if<listing::SqlBlob>(&value)) {
    json.value(cut_text(hexadecimal(blob->bytes), most));
  } else if (const auto* real = std::get_if<double>(&value)) {
    json.value(std::isinf(*real) ? JsonValue::real(*real) : *real);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    std::abs(*integer) > kExact ? json.value(std::to_string(*integer)) : json.value(*integer);
  } else {
    json.value({});
  }
}

bool LimitedRows::columns(const std::vector<std::string>& names) {
  columns_ = names;
  return true;
}

bool LimitedRows::row(const std::vector<listing::SqlValue>& values) {
  if (++seen_ > limits_.counted) {
    counted_all_ = false;
    return false;
  }
  if (retained_ + 1 < seen_ || retained_ >= limits_.rows) return true;  // a limit was reached before
  JsonWriter cells;
  cells.array(values, [&](const listing::SqlValue& value) { add_cell(cells, value, limits_.cell_bytes); });
  const std::string json = cells.done();
  if (retained_ > 0 && bytes_ + json.size() > limits_.bytes) return true;
  bytes_ += json.size();
  ++retained_;
  rows_.value(JsonValue::raw(json));
  return true;
}

void LimitedRows::add_to(JsonWriter& answer) {
  answer.add("columns", columns_, "rows", JsonValue::raw(rows_.done()));
  if (seen_ == retained_) return;
  const std::string total = counted_all_ ? std::to_string(seen_) : fmt::format("more than {}", limits_.counted);
  const bool by_bytes = retained_ < limits_.rows;
  answer.add("left_out", fmt::format("{} of {} rows are shown; {}, or ask for less", retained_, total,
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
  sql::Session sql_session(session.store(), session.snapshot, call.shelf.pool());
  LimitedRows rows(limits);
  if (auto done = sql_session.visit(sql, rows, call.control.task); !done) {
    return Error{
        fmt::format("SQL: {}; the tables are in the resource accelscope://{}/schema", done.message(), session.name)};
  }
  JsonWriter answer;
  rows.add_to(answer.begin_object());
  answer.add_text("note", sql_session.note());
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> query_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto sql = TRY(call.arguments.required_text("sql"));
  return answer_sql(call, *session, sql);
}

Result<ToolAnswer> answer_listing(ToolCall& call, const ShelvedSession& session, const listing::ListingKind& kind,
                                  std::vector<std::string> by, std::string value) {
  const auto limits = TRY(limits_of(call.arguments));
  const auto filter = TRY(filter_of(call, session));
  const auto query = TRY(search::masked(query_of(call, session), filter));
  const auto listing = kind.make(query, {filter, std::move(by), std::move(value), {}});
  if (!listing) return listing.error();
  LimitedRows rows(limits);
  listing::visit_listing(*listing, rows, true, limits.rows);
  JsonWriter answer;
  rows.add_to(answer.begin_object("table", kind.name));
  answer.add_text("note", listing->note);
  return ToolAnswer{answer.done(), ""};
}

Result<ToolAnswer> table_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto name = TRY(call.arguments.required_text("table"));
  const listing::ListingKind* kind = listing::find_listing(name);
  if (kind == nullptr) {
    std::vector<std::string> known;
    for (const listing::ListingKind& each : listing::listing_kinds()) known.emplace_back(each.name);
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
  return answer_listing(call, *session, *listing::find_listing(view->listing), std::move(columns), "");
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
  return answer_listing(call, *session, *listing::find_listing(view->listing), std::move(columns), "");
}

// What tells the events of a finding in the other tools: searches, tracks and a range.
void add_evidence(JsonWriter& json, const analysis::Finding& finding, const Snapshot& snapshot) {
  constexpr std::size_t kPlaces = 3;
  json.key("evidence").begin_object("count", finding.count);
  if (finding.first != kNoEvent) json.add("first_event", finding.first);
  json.array("filter", finding.events.terms,
             [&](const auto& term) { json.value((term.excluded ? "-" : "") + term.search); });
  json.array("tracks", finding.events.tracks, [&](TrackNumber number) {
    if (const TrackSnapshot* track = snapshot.find_track(number)) json.value(track->track->name);
  });
  const std::span places = std::span(finding.places).first(std::min(kPlaces, finding.places.size()));
  json.array("places", places, [&](const analysis::FindingPlace& place) {
    json.begin_object("begin_ns", place.range.begin_ns, "end_ns", place.range.end_ns);
    json.add_text("note", place.note).end();
  });
  if (finding.places.size() > kPlaces) json.add("further_places", finding.places.size() - kPlaces);
  json.end();
}

Result<ToolAnswer> advise_tool(ToolCall& call) {
  const auto session = TRY(session_of(call));
  const auto most = TRY(call.arguments.integer("max_rows", 8, 1, 100));
  const auto filter = TRY(filter_of(call, *session));
  const auto query = TRY(search::masked(query_of(call, *session), filter));
  const auto advice = TRY(analysis::find_advice(query, filter));
  const auto shown = std::min(advice->findings.size(), static_cast<std::size_t>(most));
  JsonWriter answer;
  answer.begin_object().array("findings", std::span(advice->findings).first(shown), [&](const analysis::Finding& each) {
    answer.begin_object("rule", each.rule->name, "finding", each.headline).add_text("device", each.device);
    if (each.saving_ns > 0)  // an error and held memory cost no time
      answer.add("saves_at_least_ns", each.least_ns, "saves_at_most_ns", each.saving_ns, "share", each.share);
    answer.add_text("line", each.source).add_text("what_if", each.change).add("try", each.remedy);
    add_evidence(answer, each, *session->snapshot);
    answer.end();
  });
  if (shown == 0) answer.add("result", "nothing found");
  if (shown < advice->findings.size()) {
    answer.add("left_out", fmt::format("{} of {} findings are shown; raise max_rows", shown, advice->findings.size()));
  }
  answer.add("judged", analysis::judged_text(*advice)).add_text("not_judged", analysis::unjudged_text(*advice));
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

}  // namespace accelscope::app::mcp
