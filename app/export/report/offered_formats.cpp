#include "app/export/report/offered_formats.h"

#include <array>

#include "app/export/report/session_report.h"
#include "core/export/formats/formats.h"
#include "core/export/report/html_report.h"
#include "core/export/report/markdown_report.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

// A report speaks of all events that the filter leaves, whether or not each has a place in it.
Result<ExportReport> write_report(const ExportRequest& request, const std::string& text, ExportOutput& output) {
  if (Result<void> written = output.write(text); !written) return written.error();
  return ExportReport{count_passing(*request.query.snapshot, request.query.mask.get()), text.size(), {}};
}

Result<ExportReport> write_html_report(const ExportRequest& request, ExportOutput& output) {
  const auto report = session_report(request, true);
  if (!report) return report.error();
  return write_report(request, html_report(*report), output);
}

Result<ExportReport> write_markdown_report(const ExportRequest& request, ExportOutput& output) {
  const auto report = session_report(request, false);
  if (!report) return report.error();
  return write_report(request, markdown_report(*report), output);
}

constexpr std::array kReportFormats = {
    ExportFormat{.name = "html",
                 .title = "HTML report",
                 .suffix = ".html",
                 .summary = "one page with verdict, figures, advice, a timeline that zooms and tables that sort; needs "
                            "no network",
                 .write = write_html_report},
    ExportFormat{.name = "markdown",
                 .title = "Markdown report",
                 .suffix = ".md",
                 .summary = "the same without the timeline, short, for a pull request",
                 .write = write_markdown_report},
};

}  // namespace

std::vector<const ExportFormat*> offered_formats() {
  std::vector<const ExportFormat*> formats;
  for (const ExportFormat& each : export_formats()) formats.push_back(&each);
  for (const ExportFormat& each : kReportFormats) formats.push_back(&each);
  return formats;
}

const ExportFormat* find_offered_format(std::string_view name) {
  for (const ExportFormat* each : offered_formats()) {
    if (each->name == name) return each;
  }
  return nullptr;
}

}  // namespace accelscope::app
