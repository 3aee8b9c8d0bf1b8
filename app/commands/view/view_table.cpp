#include "app/commands/view/view_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/content/figure_text.h"
#include "app/output/output_file.h"
#include "app/persist/persist.h"
#include "app/system/system_files.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/listings.h"
#include "core/model/column_spec.h"
#include "core/search/filter_mask.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::commands {
namespace {

std::string listing_names() {
  std::vector<std::string_view> names;
  for (const listing::ListingKind& kind : listing::listing_kinds()) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[nodiscard]] Error unknown_table(const TableViewRequest& request, const Snapshot& snapshot,
                                  const std::vector<std::string>& known) {
  std::vector<std::string> without_time;
  for (const content::FactTable& table : content::fact_tables(snapshot)) without_time.push_back(table.name);
  std::vector<std::string> names = known;
  for (const listing::ListingKind& kind : listing::listing_kinds()) names.emplace_back(kind.name);
  const std::string nearest = nearest_name(request.table, names);
  return Error{fmt::format(
      "it has no table {}{}; made of events there are {}; without time it has {}; accelscope query {} "
      "--tables lists all",
      request.table, nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest), listing_names(),
      without_time.empty() ? "none" : fmt::format("{}", fmt::join(without_time, ", ")), request.inputs.front())};
}

// Rows of a table of the file, with the units that its columns have.
class WithUnits final : public listing::SqlRowVisitor {
 public:
  WithUnits(const Snapshot& snapshot, std::string_view table, listing::QueryOutput& output)
      : snapshot_(snapshot), table_(table), output_(output) {}
  bool columns(const std::vector<std::string>& names) override {
    std::vector<std::string> units;
    for (const std::string& name : names) units.push_back(unit_of_column(name));
    output_.units(std::move(units));
    return output_.columns(names);
  }
  bool row(const std::vector<listing::SqlValue>& values) override { return output_.row(values); }

 private:
  [[nodiscard]] std::string unit_of_column(std::string_view name) const {
    if (name == "ts_ns" || name == "dur_ns") return "ns";
    for (const auto& schema : snapshot_.schemas) {
      if (schema->name != table_) continue;
      for (const Column& column : schema->columns) {
        if (table_column_name(*schema, column.name) == name) return column.unit;
      }
    }
    return "";
  }
  const Snapshot& snapshot_;
  std::string_view table_;
  listing::QueryOutput& output_;
};

// What a listing or SQL gives, as it is printed.
class TableViewer {
 public:
  TableViewer(const TableViewRequest& request, const terminal::CommandRun& run, const workspace::OpenedSession& session)
      : request_(request), run_(run), session_(session), snapshot_(session.store->snapshot()) {}

  Result<void> print(listing::QueryOutput& rows, TaskControl& control) {
    return listing_ == nullptr ? print_sql(rows, control) : print_listing(rows, control);
  }
  // Nothing is printed of a table that does not exist or of a filter that makes no sense.
  [[nodiscard]] Result<void> check() {
    if (listing_ == nullptr) {
      if (!request_.filter.empty() || !request_.by.empty() || !request_.value.empty())
        return Error{
            fmt::format("--filter, --tracks, --range, --by and --value are for tables that are made of events: {}; "
                        "accelscope query takes filters with SQL",
                        listing_names())};
      sql_.emplace(*session_.store, snapshot_, pool_);
      std::vector<std::string> known;
      for (const sql::ListedTable& table : sql_->tables()) known.push_back(table.name);
      if (std::find(known.begin(), known.end(), request_.table) == known.end())
        return unknown_table(request_, *snapshot_, known);
      return {};
    }
    if (!request_.by.empty() && !listing_->facts.takes_by)
      return Error{fmt::format("--by: the rows of {} are always grouped in the same way", request_.table)};
    if (!request_.value.empty() && !listing_->facts.takes_value)
      return Error{fmt::format("--value: {} has no choice of what is measured", request_.table)};
    auto filter = TRY(terminal::read_filter(request_.filter, *session_.store));
    filter_ = std::move(filter);
    return {};
  }
  [[nodiscard]] std::string note() const { return listing_ == nullptr ? sql_->note() : note_; }

 private:
  Result<void> print_sql(listing::QueryOutput& rows, TaskControl& control) {
    WithUnits visitor(*snapshot_, request_.table, rows);
    return sql_->visit(content::sql_of_table(*snapshot_, request_.table), visitor, control);
  }
  [[nodiscard]] analysis::PeakEdits entered_peaks() const {
    persist::PeakBook book(persist::peak_book_file(system::state_directory(system::process_environment())));
    if (const auto loaded = book.load(); !loaded) run_.inform("accelscope: " + loaded.message());
    return book.edits();
  }
  Result<void> print_listing(listing::QueryOutput& rows, TaskControl& control) {
    const auto query = TRY(search::masked({*session_.store, snapshot_, pool_, control}, filter_));
    const auto listing = TRY(listing_->make(query, {filter_, request_.by, request_.value, entered_peaks()}));
    note_ = listing.note;
    accelscope::listing::print_listing(listing, rows);
    return {};
  }

  const TableViewRequest& request_;
  const terminal::CommandRun& run_;
  const workspace::OpenedSession& session_;
  std::shared_ptr<const Snapshot> snapshot_;
  WorkerPool pool_;
  const listing::ListingKind* listing_ = listing::find_listing(request_.table);
  EventFilter filter_;
  std::optional<sql::Session> sql_;
  std::string note_;
};

}  // namespace

int view_table(const TableViewRequest& request, const terminal::CommandRun& run) {
  const std::string path = request.output_file.empty() ? std::string(output::kStandardOutput) : request.output_file;
  if (auto may = output::may_write(path, request.force, request.inputs); !may) return run.fail(may.message());
  const auto session = terminal::open_input(request.inputs, request.input_options, run);
  if (!session) return run.fail(session.message());
  TableViewer viewer(request, run, *session);
  if (auto known = viewer.check(); !known)
    return run.fail(fmt::format("{}: {}", request.inputs.front(), known.message()));
  const auto output =
      output::OutputFile::open(path, listing::is_data(request.format) ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  const auto rows = listing::make_query_output(run.json ? "json" : request.format, (*output)->stream(),
                                               path == output::kStandardOutput && run.streams.out_is_terminal);
  terminal::QueryWatch watch(run);
  watch.hide_progress();
  const Result<void> done = viewer.print(*rows, watch.control());
  if (!done && watch.interrupted()) {
    (void)run.fail(fmt::format("{}: interrupted; the table is not complete", request.inputs.front()));
    return terminal::kExitInterrupted;
  }
  if (!done) return run.fail(fmt::format("{}: {}", request.inputs.front(), done.message()));
  rows->finish();
  const Result<void> finished = (*output)->finish();
  if (!finished) return run.fail(finished.message());
  if (const std::string note = viewer.note(); !note.empty())
    run.inform(fmt::format("accelscope: {}: {}", request.inputs.front(), note));
  return terminal::kExitDone;
}

}  // namespace accelscope::app::commands
