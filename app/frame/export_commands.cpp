// File > Export: the session, or what its filter passes, in every format of core/export/formats.
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "app/export/report/reports.h"
#include "app/export/session_export.h"
#include "app/frame/app_state.h"
#include "app/system/system_files.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"

namespace accelscope::app {
namespace {

constexpr const char* kExportMenu = "Export";

// What is written, taken when the user chose where to.
struct ExportSource {
  std::shared_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
  EventFilter filter;
  std::string title;
  PeakEdits peaks;
};

Result<std::string> export_to(const ExportSource& source, const ExportFormat& format, const std::string& path,
                              WorkerPool& pool, JobControl& control) {
  control.set_unit(JobUnit::events);
  TaskControl task;
  ExportRequest request{{*source.store, source.snapshot, pool, task}};
  auto mask = filter_mask(request.query, source.filter);
  if (!mask) return Error{"The filter: " + mask.message()};
  request.query.mask = std::move(*mask);
  request.range = source.filter.range.value_or(TimeRange{});
  request.title = source.title;
  request.filter = source.filter;
  if (request.query.mask) {
    request.filter_text = fmt::format("{} of {} events pass the filter",
                                      format_count(count_passing(*source.snapshot, request.query.mask.get())),
                                      format_count(count_passing(*source.snapshot, nullptr)));
  }
  request.peaks = source.peaks;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!control.report(done, total)) task.cancel();
  };
  std::ostringstream unused;
  const auto report = write_export(format, request, path, unused);
  if (!report) return report.error();
  return export_said(*report, path);
}

void export_session(AppState& state, const ExportFormat& format) {
  const SessionTab& session = *state.tab();
  const ExportSource source{session.store, session.snapshot, session.choices.filter, session.title,
                            state.peaks.edits()};
  const std::string folder = session.path.empty() ? state.start_folder() : parent_folder(session.path);
  std::string name = session.title.empty() ? "session" : session.title;
  if (!source.filter.empty()) name += "-filtered";
  name += format.shape == ExportShape::folder ? "-" + std::string(format.name) : std::string(format.suffix);
  state.file_dialog.show(
      FileDialog::Purpose::export_text, (std::filesystem::path(folder) / name).string(), dialog_places(state.workspace),
      [&state, source, &format](const std::string& path) {
        const auto said = std::make_shared<std::string>();
        state.workspace.start_job(
            "Writing " + file_name(path),
            [source, &format, path, said, &pool = state.workspace.pool()](JobControl& control) -> Result<void> {
              auto written = export_to(source, format, path, pool, control);
              if (!written) return written.error();
              *said = std::move(*written);
              return {};
            },
            [&state, said](const Result<void>& done) {
              state.workspace.notify(done ? Severity::note : Severity::error, done ? *said : done.message());
            });
      });
}

}  // namespace

void add_export_commands(AppState& state) {
  for (const ExportFormat* each : offered_formats()) {
    const ExportFormat& format = *each;
    state.commands.add({.id = "export_" + std::string(format.name),
                        .title = std::string(format.title) + "...",
                        .menu = MenuId::file,
                        .submenu = kExportMenu,
                        .run = [&state, &format] { export_session(state, format); },
                        .enabled =
                            [&state, &format] {
                              return state.tab() != nullptr &&
                                     (format.applies == nullptr || format.applies(*state.tab()->snapshot));
                            }});
  }
}

}  // namespace accelscope::app
