#include "app/output/report/reports.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <optional>

#include "app/content/advice_words.h"
#include "app/content/figure_text.h"
#include "app/output/session_export.h"
#include "app/workspace/headline.h"
#include "app/workspace/opening.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/base/export_format.h"
#include "core/export/base/track_groups.h"
#include "core/export/formats/formats.h"
#include "core/export/report/report.h"
#include "core/export/report/report_pages.h"
#include "core/listing/analysis_listings.h"
#include "core/listing/critical_path.h"
#include "core/listing/listings.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::output {
namespace {

// What a report says of a session, of a range of it or of what a filter leaves: verdict, key figures, how the devices
// used their time, advice, the timeline, and the tables that have rows. The same figures, listings and advice as
// everywhere else; this only gathers them. A part that cannot be made is named with the reason.

// Which listings a report has, in its order.
struct ReportedListing {
  std::string_view name;  // of core/listing/listings.h
  std::string_view title;
  bool folded = false;
};
constexpr std::array kReportedListings = std::to_array<ReportedListing>({
    {"hotspots", "Kernels and operations"},
    {"tt-perf", "Operations of tt-metal"},
    {"lines", "Lines of the source"},
    {"layers", "Layers, operators and stacks"},
    {"loops", "What repeats"},
    {"memory-levels", "Memory hierarchy"},
    {"roofline", "Roofline"},
    {"collectives", "Collectives"},
    {"ranks", "Ranks"},
    {"segments", "Memory segments"},
    {"alive", "In memory at the end"},
    {"compilations", "Compilations"},
    {"errors", "Errors and what ran around them"},
    {"incidents", "Errors, throttling and warnings"},
    {"statistics", "All events by name", true},
    {"device-stats", "Zones by core", true},
    {"instructions", "Instructions", true},
    {"calls", "Calls of recurring functions", true},
    {"core-grid", "Cores", true},
    {"peaks", "Peaks of the devices", true},
});

[[nodiscard]] exporting::ReportTone tone_of(Severity severity) noexcept {
  return severity == Severity::error  ? exporting::ReportTone::error
         : severity == Severity::note ? exporting::ReportTone::neutral
                                      : exporting::ReportTone::warning;
}

// "2026-08-30 12:00:00 UTC"; "" where the session does not say.
[[nodiscard]] std::string recorded_text(const Snapshot& snapshot) {
  const std::optional<std::int64_t> unix_ns = exporting::unix_begin_ns(snapshot);
  if (!unix_ns) return "";
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(*unix_ns / kSecondNs)));
}

// Gathers a report part by part; a part that fails is named in the last section, and the others stay.
class ReportGatherer {
 public:
  explicit ReportGatherer(const exporting::ExportRequest& request)
      : request_(request), query_(request_.query), snapshot_(*query_.snapshot), filter_(request.filter) {
    if (request.range != TimeRange{}) filter_.range = request.range;
    // A range alone is met without looking at single events, as in summaries.
    if (filter_.needs_mask()) return;
    in_range_ = count_passing(snapshot_, query_.mask.get());
    request_.query.mask = nullptr;
  }

  Result<exporting::Report> run(bool with_timeline) {
    report_.title = request_.title.empty() ? "Session" : request_.title;
    auto dependencies = TRY(analysis::session_dependencies(query_));
    dependencies_ = std::move(dependencies);
    step();
    TRY(add_verdict());
    add_facts();
    step();
    TRY(add_figures());
    step();
    TRY(add_devices());
    step();
    TRY(add_advice());
    step();
    if (with_timeline && snapshot_.event_count > 0) add_timeline();
    if (idle_) report_.sections.push_back(std::move(*idle_));
    for (const ReportedListing& each : kReportedListings) {
      step();
      if (query_.control.cancelled()) return cancelled_error();
      add_listing(each);
    }
    add_all_figures();
    add_quality();
    return std::move(report_);
  }

 private:
  // Parts count alike: how long each takes depends on the session.
  void step() {
    constexpr std::uint64_t kParts = 5 + kReportedListings.size();
    ++steps_;
    if (request_.progress) request_.progress(snapshot_.event_count * steps_ / kParts, snapshot_.event_count);
  }

  Result<void> add_verdict() {
    if (query_.mask) {
      report_.verdict = "Of a filter: what bounds the whole session is not told of a part of its events";
      return {};
    }
    auto verdict = TRY(content::verdict_text(query_, request_.range, dependencies_.get()));
    report_.verdict = std::move(verdict);
    return {};
  }

  void add_fact(std::string label, std::string text) {
    if (!text.empty()) report_.facts.push_back({std::move(label), std::move(text)});
  }
  void add_facts() {
    const std::int64_t begin = std::max(request_.range.begin_ns, snapshot_.begin_ns);
    const std::int64_t end = std::max(begin, std::min(request_.range.end_ns, snapshot_.end_ns));
    add_fact("Device", workspace::device_of(snapshot_));
    add_fact("Recorded", recorded_text(snapshot_));
    add_fact("Format", std::string(snapshot_.meta_value("source_format")));
    add_fact("Schema", std::string(snapshot_.meta_value("metadata.profile_schema_version")));
    add_fact("Written by", std::string(snapshot_.meta_value(kWrittenByFact)));
    add_fact("Length", format_duration(end - begin));
    const bool ranged = request_.range != TimeRange{};
    if (ranged) {
      add_fact("Range",
               fmt::format("{} to {} since the session's start", format_time_exact(begin), format_time_exact(end)));
    }
    add_fact("Filter", filter_said());
    add_fact("Events", events_said());
    add_fact("Tags", query_.store.overlay_value(workspace::kTagsKey));
    const std::uint64_t warnings = workspace::count_warnings(snapshot_);
    add_fact("Data quality", quality_text(warnings));
  }

  [[nodiscard]] std::string events_said() const {
    const std::uint64_t all = count_passing(snapshot_, nullptr);
    if (filter_.needs_mask() && !request_.filter_text.empty()) return request_.filter_text;
    if (in_range_ == all) return format_count(all);
    return fmt::format("{} of {} share time with the range", format_count(in_range_), format_count(all));
  }
  // "MATMUL; not duration<100; tracks Tensor, Vector"; "" for none.
  [[nodiscard]] std::string filter_said() const {
    std::vector<std::string> said;
    for (const FilterTerm& term : filter_.terms) said.push_back((term.excluded ? "not " : "") + term.search);
    std::vector<std::string> tracks;
    for (const TrackNumber number : filter_.tracks) {
      const TrackSnapshot* track = snapshot_.find_track(number);
      if (track != nullptr) tracks.push_back(track->track->name);
    }
    constexpr std::size_t kMostTracks = 12;
    if (tracks.size() > kMostTracks) {
      const std::size_t more = tracks.size() - kMostTracks;
      tracks.resize(kMostTracks);
      tracks.push_back(fmt::format("{} more", more));
    }
    if (!tracks.empty()) said.push_back("tracks " + joined(tracks));
    return joined(said, "; ");
  }
  [[nodiscard]] std::string quality_text(std::uint64_t warnings) const {
    const std::uint64_t notes = snapshot_.quality.size() - warnings;
    if (snapshot_.quality.empty()) return "nothing is missing";
    return fmt::format("{}, {}",
                       warnings == 0   ? "no warnings"
                       : warnings == 1 ? "1 warning"
                                       : fmt::format("{} warnings", warnings),
                       notes == 1 ? "1 note" : fmt::format("{} notes", notes));
  }

  Result<void> add_figures() {
    auto metrics = TRY(analysis::session_metrics(query_, request_.range));
    metrics_ = std::move(metrics);
    rows_ = content::figure_rows(metrics_, "", content::FigureOrder::as_given, false);
    exporting::ReportFigures key;
    for (const content::FigureRow& row : rows_) {
      if (row.group.find("key figures") == std::string::npos) continue;
      key.figures.push_back({.title = row.title,
                             .value = row.shown,
                             .name = row.metric->name,
                             .exact = exact_text(*row.metric),
                             .explanation = row.metric->how,
                             .group = row.metric->device.empty() ? "session" : row.metric->device});
    }
    if (!key.figures.empty())
      report_.sections.push_back({.title = "Key figures",
                                  .note = "computed from the events, as far as they tell; the time of the run is what "
                                          "the file states, where it does, see the table of all figures",
                                  .body = std::move(key)});
    return {};
  }
  [[nodiscard]] static std::string exact_text(const analysis::SessionMetric& metric) {
    const std::optional<double> shown = analysis::shown_value(metric);
    return shown ? format_exact(*shown, metric.unit) : "";
  }
  void add_all_figures() {
    exporting::ReportTable table{.columns = {{"Device", "", false},
                                             {"Group", "", false},
                                             {"Figure", "", false},
                                             {"Name", "As other outputs and the vendor's tools call it", false},
                                             {"The file states", "", true},
                                             {"Computed", "From the events", true},
                                             {"Difference", "", false}}};
    for (const content::FigureRow& row : rows_) {
      const analysis::SessionMetric& metric = *row.metric;
      exporting::ReportCell stated{.text = shorten_middle(row.stated, kReportCellBytes), .number = metric.vendor};
      if (metric.vendor) stated.exact = format_exact(*metric.vendor, metric.unit);
      exporting::ReportCell computed{.text = row.computed, .number = metric.value};
      if (metric.value) computed.exact = format_exact(*metric.value, metric.unit);
      std::string difference = row.difference;
      if (query_.mask && metric.unfiltered) difference = "not filtered";
      table.rows.push_back({{.text = metric.device},
                            {.text = metric.group},
                            {.text = row.title, .exact = metric.how},
                            {.text = metric.name},
                            std::move(stated),
                            std::move(computed),
                            {.text = std::move(difference)}});
    }
    if (!table.rows.empty())
      report_.sections.push_back({.title = "All figures", .folded = true, .body = std::move(table)});
  }

  // How each device used the time from its first to its last work, and the longest gaps.
  Result<void> add_devices() {
    const auto found = TRY(analysis::range_activity(query_, filter_));
    const analysis::RangeActivity& activity = *found;
    exporting::ReportBars bars;
    for (const analysis::DeviceActivity& each : activity.devices) {
      if (each.stretch.length_ns() > 0) bars.bars.push_back(bar_of(each));
    }
    if (!bars.bars.empty())
      report_.sections.push_back(
          {.title = "What the devices did",
           .note = "of the time from each device's first to its last work; each moment is in one part only",
           .body = std::move(bars)});
    const auto graph = TRY(analysis::session_graph(query_));
    constexpr std::size_t kMostGaps = 20;
    const auto idle = TRY(listing::idle_listing(query_, *graph, activity.range, kMostGaps));
    if (idle.rows.row_count() > 0)
      idle_ = exporting::ReportSection{.title = "Longest gaps", .note = idle.note, .body = table_of_listing(idle)};
    return {};
  }
  [[nodiscard]] static exporting::ReportBar bar_of(const analysis::DeviceActivity& device) {
    struct Part {
      std::string_view label;
      std::int64_t ns = 0;
      std::uint8_t slot = 0;
    };
    constexpr std::array<std::uint8_t, analysis::kTimeParts> kSlots = {0, 7, 9, exporting::kIdleSlot};
    const std::int64_t span = device.stretch.length_ns();
    std::vector<Part> parts;
    for (std::size_t i = 0; i < analysis::kTimeParts; ++i) {
      const auto part = static_cast<analysis::TimePart>(i);
      parts.push_back({analysis::name_of(part), device.part_ns(part, span), kSlots[i]});
    }
    exporting::ReportBar bar{.label = device.device.empty() ? "device" : device.device,
                             .value = fmt::format("{} from its first to its last activity", format_duration(span)),
                             .parts = {}};
    for (const Part& part : parts) {
      if (part.ns <= 0) continue;
      const double share = static_cast<double>(part.ns) / static_cast<double>(span);
      bar.parts.push_back({std::string(part.label),
                           fmt::format("{}, {}", format_duration(part.ns), format_share(share)), share, part.slot});
    }
    return bar;
  }

  Result<void> add_advice() {
    const auto found = TRY(analysis::find_advice(query_, filter_, dependencies_.get()));
    const analysis::Advice& advice = *found;
    const std::string unjudged = analysis::unjudged_text(advice);
    std::string note = analysis::judged_text(advice) + (unjudged.empty() ? "" : "; " + unjudged);
    exporting::ReportFindings findings;
    for (const analysis::Finding& each : advice.findings) findings.findings.push_back(finding_of(each));
    if (findings.findings.empty()) {
      report_.sections.push_back({.title = "Advice",
                                  .note = std::move(note),
                                  .body = exporting::ReportText{
                                      {{exporting::ReportTone::neutral, "No rule found anything that costs time."}}}});
    } else {
      report_.sections.push_back(
          {.title = "Advice", .note = "savings do not add up; " + note, .body = std::move(findings)});
    }
    return {};
  }
  [[nodiscard]] exporting::ReportFinding finding_of(const analysis::Finding& each) const {
    exporting::ReportFinding finding{
        .headline = each.headline,
        .value = each.is_error ? "error" : fmt::format("{}, {}", analysis::saving_text(each), format_share(each.share)),
        .evidence = {}};
    const auto add = [&](std::string label, std::string text) {
      if (!text.empty()) finding.evidence.push_back({std::move(label), std::move(text)});
    };
    const TimeRange& range = each.events.range.value_or(each.places.front().range);
    add("Try", each.remedy);
    add("Why", std::string(each.rule->explanation));
    add("Evidence", each.evidence);
    add("Same time as", fmt::format("{}", fmt::join(each.same_as, "; ")));
    add("As a what-if", each.change);
    add("Device", each.device);
    add("Line", each.source);
    add("Rests on", content::counted_text(each));
    add("Seen", fmt::format("{} to {}", format_time_exact(std::max(range.begin_ns, snapshot_.begin_ns)),
                            format_time_exact(std::min(range.end_ns, snapshot_.end_ns))));
    if (each.first != kNoEvent) add("First event", std::to_string(each.first));
    return finding;
  }

  void add_timeline() {
    TimeRange shown{0, 0};
    if (const auto look = analysis::find_first_look(query_); look && look->shown) {
      // As much around it as the viewer leaves.
      const std::int64_t margin = look->shown->length_ns() / 50;
      shown = {look->shown->begin_ns - margin, look->shown->end_ns + margin};
    }
    exporting::ReportSection section = timeline_section(request_, shown);
    if (!std::get<exporting::ReportTimeline>(section.body).rows.empty()) report_.sections.push_back(std::move(section));
  }

  void add_listing(const ReportedListing& each) {
    const listing::ListingKind* kind = listing::find_listing(each.name);
    const auto listing = kind->make(query_, {filter_, {}, "", request_.peaks});
    if (!listing) {
      failed_.emplace_back(exporting::ReportTone::warning,
                           fmt::format("{} are not in this report: {}", each.title, listing.message()));
      return;
    }
    if (listing->rows.row_count() == 0) return;
    report_.sections.push_back({.title = std::string(each.title),
                                .note = listing->note,
                                .folded = each.folded,
                                .body = table_of_listing(*listing)});
  }

  void add_quality() {
    exporting::ReportTable counts{
        .columns = {{"Table", "", false}, {"Rows in the file", "", true}, {"Events", "", true}}};
    for (const TableCount& count : table_counts(snapshot_, query_.mask.get())) {
      counts.rows.push_back({{.text = count.name},
                             {.text = count.source_rows, .number = number_of(count.source_rows)},
                             {.text = format_count(count.events), .number = static_cast<double>(count.events)}});
    }
    if (!counts.rows.empty()) report_.sections.push_back({.title = "Events by table", .folded = true, .body = counts});
    std::vector<const QualityEntry*> entries;
    for (const QualityEntry& entry : snapshot_.quality) entries.push_back(&entry);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const QualityEntry* a, const QualityEntry* b) { return a->severity > b->severity; });
    exporting::ReportText quality{std::move(failed_)};
    for (const QualityEntry* entry : entries) {
      quality.lines.emplace_back(tone_of(entry->severity),
                                 fmt::format("{} ({}): {}", entry->kind, format_count(entry->count), entry->detail));
    }
    if (quality.lines.empty()) quality.lines.emplace_back(exporting::ReportTone::good, no_findings(snapshot_));
    report_.sections.push_back({.title = "Data quality", .body = std::move(quality)});
  }
  [[nodiscard]] static std::optional<double> number_of(const std::string& text) {
    double number = 0;
    return read_number(text, number) ? std::optional(number) : std::nullopt;
  }

  exporting::ExportRequest request_;
  const QueryContext& query_;  // of request_
  const Snapshot& snapshot_;
  EventFilter filter_;  // with the range
  exporting::Report report_;
  std::vector<analysis::SessionMetric> metrics_;
  std::vector<content::FigureRow> rows_;  // of metrics_
  std::shared_ptr<const analysis::Dependencies> dependencies_;
  std::uint64_t in_range_ = 0;  // events, where there is no filter besides
  std::uint64_t steps_ = 0;
  std::optional<exporting::ReportSection> idle_;
  std::vector<std::pair<exporting::ReportTone, std::string>> failed_;
};

// Markdown has no room for a timeline.
[[nodiscard]] Result<exporting::Report> session_report(const exporting::ExportRequest& request, bool with_timeline) {
  return ReportGatherer(request).run(with_timeline);
}

// A report speaks of all events that the filter leaves, whether or not each has a place in it.
Result<exporting::ExportReport> write_report(const exporting::ExportRequest& request, const std::string& text,
                                             exporting::ExportOutput& output) {
  TRY(output.write(text));
  return exporting::ExportReport{count_passing(*request.query.snapshot, request.query.mask.get()), text.size(), {}};
}

Result<exporting::ExportReport> write_html_report(const exporting::ExportRequest& request,
                                                  exporting::ExportOutput& output) {
  const auto report = TRY(session_report(request, true));
  return write_report(request, exporting::html_report(report), output);
}

Result<exporting::ExportReport> write_markdown_report(const exporting::ExportRequest& request,
                                                      exporting::ExportOutput& output) {
  const auto report = TRY(session_report(request, false));
  return write_report(request, exporting::markdown_report(report), output);
}

constexpr std::array kReportFormats = {
    exporting::ExportFormat{
        .name = "html",
        .title = "HTML report",
        .suffix = ".html",
        .summary = "one page with verdict, figures, advice, a timeline that zooms and tables that sort; needs "
                   "no network",
        .write = write_html_report},
    exporting::ExportFormat{.name = "markdown",
                            .title = "Markdown report",
                            .suffix = ".md",
                            .summary = "the same without the timeline, short, for a pull request",
                            .write = write_markdown_report},
};

}  // namespace

std::vector<const exporting::ExportFormat*> offered_formats() {
  std::vector<const exporting::ExportFormat*> formats;
  for (const exporting::ExportFormat& each : exporting::export_formats()) formats.push_back(&each);
  for (const exporting::ExportFormat& each : kReportFormats) formats.push_back(&each);
  return formats;
}

const exporting::ExportFormat* find_offered_format(std::string_view name) {
  for (const exporting::ExportFormat* each : offered_formats()) {
    if (each->name == name) return each;
  }
  return nullptr;
}

}  // namespace accelscope::app::output
