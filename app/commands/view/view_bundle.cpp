#include "app/commands/view/view_bundle.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <sstream>

#include "app/commands/view/summary_output.h"
#include "app/content/catalogue/listings.h"
#include "app/export/output_file.h"
#include "app/export/quality_report.h"
#include "app/export/query_output.h"
#include "app/export/tar_file.h"
#include "app/terminal/session_input.h"
#include "core/base/format.h"
#include "core/export/formats/formats.h"
#include "core/search/filter_mask.h"

namespace accelscope::app {
namespace {

struct BundledTable {
  std::string_view listing;
  std::string_view format;
  std::string_view name;
  std::string_view suffix;
};
constexpr std::array kBundledTables = {
    BundledTable{"device-stats", "table", "device_stats", ".txt"},
    BundledTable{"device-stats", "csv", "device_stats", ".csv"},
    BundledTable{"tt-perf", "table", "tt_perf_report", ".txt"},
    BundledTable{"tt-perf", "csv", "tt_perf_report", ".csv"},
};

struct BundledExport {
  std::string_view format;
  std::string_view name;
  std::string_view suffix;
};
constexpr std::array kBundledExports = {
    BundledExport{"ops-csv", "ops_perf_results", ".csv"},
    BundledExport{"rearranged-csv", "device_rearranged_timestamps", ".csv"},
};

class TextOutput final : public ExportOutput {
 public:
  Result<void> begin_file(const std::string&) override { return {}; }
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

class Bundle {
 public:
  Bundle(const OpenedSession& session, const SessionFilter& filter, std::ostream& out)
      : session_(session), filter_(filter), tar_(out), now_(std::chrono::system_clock::now()) {
    stamp_ = fmt::format("{:%Y_%m_%d_%H_%M_%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(now_)));
  }

  Result<void> write() {
    WorkerPool pool;
    TaskControl control;
    const QueryContext query{*session_.store, session_.store->snapshot(), pool, control, nullptr, filter_.mask};
    for (const BundledTable& table : kBundledTables) {
      if (Result<void> done = add_table(table, query); !done) return done;
    }
    for (const BundledExport& each : kBundledExports) {
      if (Result<void> done = add_export(each, query); !done) return done;
    }
    const auto summary = printed_summary(*session_.store, session_.title, filter_);
    if (!summary) return summary.error();
    std::ostringstream figures;
    write_summary_text(figures, {*summary});
    add("summary", ".txt", figures.str());
    tar_.finish();
    return {};
  }
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }

 private:
  void add(std::string_view name, std::string_view suffix, std::string_view content) {
    files_.push_back(fmt::format("{}_{}{}", name, stamp_, suffix));
    tar_.add(files_.back(), content, std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch()).count());
  }
  Result<void> add_table(const BundledTable& table, const QueryContext& query) {
    const auto listing = find_listing(table.listing)->make(query, {filter_.filter, {}, {}, {}});
    if (!listing) return listing.error();
    if (listing->rows.row_count() == 0) {
      left_out_.push_back(fmt::format("{}{}: the session has nothing for it", table.name, table.suffix));
      return {};
    }
    std::ostringstream text;
    const auto output = make_query_output(table.format, text);
    print_listing(*listing, *output);
    output->finish();
    add(table.name, table.suffix, text.str());
    return {};
  }
  Result<void> add_export(const BundledExport& each, const QueryContext& query) {
    ExportRequest what{query};
    what.range = filter_.filter.range.value_or(TimeRange{});
    TextOutput output;
    const auto report = find_export_format(each.format)->write(what, output);
    if (!report) {
      left_out_.push_back(fmt::format("{}{}: {}", each.name, each.suffix, report.message()));
      return {};
    }
    for (const std::string& loss : report->losses)
      left_out_.push_back(fmt::format("{}{}: {}", each.name, each.suffix, loss));
    add(each.name, each.suffix, output.text);
    return {};
  }

  const OpenedSession& session_;
  const SessionFilter& filter_;
  TarFile tar_;
  std::chrono::system_clock::time_point now_;
  std::string stamp_;
  std::vector<std::string> files_;
  std::vector<std::string> left_out_;
};

}  // namespace

int view_bundle(const BundleRequest& request, const CommandRun& run) {
  if (auto may = may_write(request.bundle, request.force, request.inputs); !may) return run.fail(may.message());
  if (request.bundle == kStandardOutput && run.streams.out_is_terminal) {
    return run.fail("-: an archive is no text for a terminal; pipe it on, or name a file");
  }
  const auto session = open_input(request.inputs, request.input_options, run);
  if (!session) return run.fail(session.message());
  const auto filter = make_filter(request.filter, *session->store);
  if (!filter) return run.fail(fmt::format("{}: {}", request.inputs.front(), filter.message()));
  const auto output = OutputFile::open(request.bundle, run.data_out());
  if (!output) return run.fail(output.message());
  Bundle bundle(*session, *filter, (*output)->stream());
  if (Result<void> done = bundle.write(); !done) {
    return run.fail(fmt::format("{}: {}", request.inputs.front(), done.message()));
  }
  if (Result<void> done = (*output)->finish(); !done) return run.fail(done.message());
  for (const std::string& why : bundle.left_out())
    run.say(fmt::format("accelscope: {}: left out: {}", request.bundle, why));
  run.say(fmt::format("{}: {}", request.bundle, fmt::join(bundle.files(), ", ")));
  return kExitDone;
}

}  // namespace accelscope::app
