#include "app/commands/view/view_export.h"

#include <fmt/format.h>

#include <ostream>

#include "app/export/session_export.h"
#include "app/persist/peak_book.h"
#include "app/system/system_paths.h"
#include "app/terminal/session_input.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

// Of the roofline in a report, as the viewer keeps them.
PeakEdits entered_peaks(const CommandRun& run) {
  PeakBook book(peak_book_file(state_directory(process_environment())));
  if (const auto loaded = book.load(); !loaded) run.say("accelscope: " + loaded.message());
  return book.edits();
}

Result<ExportReport> export_with_progress(const ExportViewRequest& request, const SessionFilter& filter,
                                          const OpenedSession& session, const std::string& path,
                                          const CommandRun& run) {
  ExportReport report;
  const std::string title = "Writing " + path;
  const Result<void> done = with_progress(title, run, [&](JobControl& control) -> Result<void> {
    control.set_unit(JobUnit::events);
    WorkerPool pool;
    TaskControl task;
    const Store& store = *session.store;
    ExportRequest what{{store, store.snapshot(), pool, task}};
    what.query.mask = filter.mask;
    what.range = filter.filter.range.value_or(TimeRange{});
    what.title = session.title;
    what.filter = filter.filter;
    if (filter.mask) what.filter_text = filter.text();
    what.peaks = entered_peaks(run);
    what.progress = [&](std::uint64_t written, std::uint64_t total) {
      if (!control.report(written, total)) task.cancel();
    };
    auto written = write_export(*request.format, what, path,
                                request.format->name == "markdown" ? run.streams.out : run.data_out());
    if (!written) return control.cancelled() ? Error{title + ": cancelled"} : written.error();
    report = std::move(*written);
    return {};
  });
  if (!done) return done.error();
  return report;
}

}  // namespace

int view_export(const ExportViewRequest& request, const CommandRun& run) {
  const ExportFormat& format = *request.format;
  const std::string path =
      request.output_file.empty() ? default_export(request.inputs.front(), format) : request.output_file;
  if (path == kStandardOutput && format.binary && run.streams.out_is_terminal) {
    return run.fail("-: this is no text for a terminal; pipe it on, or name a file");
  }
  if (auto may = may_export(format, path, request.force, request.inputs); !may) return run.fail(may.message());
  const auto session = open_input(request.inputs, request.input_options, run);
  if (!session) return run.fail(session.message());
  const auto filter = make_filter(request.filter, *session->store);
  if (!filter) return run.fail(fmt::format("{}: {}", request.inputs.front(), filter.message()));
  if (request.filter.has_events()) {
    run.say(fmt::format("accelscope: {}: {}", request.inputs.front(), filter->text()));
  }
  const auto report = export_with_progress(request, *filter, *session, path, run);
  if (!report) return run.fail(report.message());
  for (const std::string& loss : report->losses) run.say(fmt::format("accelscope: {}: {}", path, loss));
  if (path == kStandardOutput) return kExitDone;
  if (run.json) {
    std::string losses;
    for (const std::string& loss : report->losses) losses += (losses.empty() ? "" : ", ") + json_quote(loss);
    run.streams.out << fmt::format("{{\"output\": {}, \"rows\": {}, \"bytes\": {}, \"left_out\": [{}]}}\n",
                                   json_quote(path), report->rows, report->bytes, losses);
  } else {
    run.say(fmt::format("{}: {} events, {}", path, format_count(report->rows),
                        format_bytes(static_cast<double>(report->bytes))));
  }
  return kExitDone;
}

}  // namespace accelscope::app
