#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/content/advice_words.h"
#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "capture/command_line/options.h"
#include "core/analysis/advice/evidence.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/time/session_activity.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/listing/base/write.h"

namespace accelscope::app::commands {
namespace {

constexpr std::size_t kPrintedPlaces = 20;

struct AdviseCommand {
  std::string input;
  std::string format = "text";
  std::string output_file;
  std::uint64_t evidence = 5;
  bool force = false;
  terminal::FilterOptions filter;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;
};

// What is found of a session, and the events that each finding rests on.
struct FoundAdvice {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const analysis::Advice> advice;
  std::vector<analysis::Evidence> evidence;  // by finding
  std::string verdict;                       // of all events of the range
};

Result<FoundAdvice> found_advice(QueryContext query, const terminal::SessionFilter& filter, std::size_t most) {
  query.mask = filter.mask;
  const auto advice = TRY(analysis::find_advice(query, filter.filter));
  FoundAdvice out{query.snapshot, advice, {}, {}};
  query.mask = nullptr;
  const auto works = TRY(analysis::find_active_stretch(query));
  const TimeRange wanted = filter.filter.range.value_or(TimeRange{}), all = works.value_or(TimeRange{0, 0});
  const auto verdict = TRY(
      analysis::range_verdict(query, {std::max(wanted.begin_ns, all.begin_ns), std::min(wanted.end_ns, all.end_ns)}));
  out.verdict = verdict.bound + (verdict.cause.empty() ? "" : "; " + verdict.cause);
  for (const analysis::Finding& finding : advice->findings) {
    auto evidence = TRY(analysis::finding_evidence(query, finding, most));
    out.evidence.push_back(std::move(evidence));
  }
  return out;
}

std::string track_name(const Snapshot& snapshot, TrackNumber number) {
  const TrackSnapshot* track = snapshot.find_track(number);
  return track == nullptr ? "" : track->track->name;
}

bool names_device(const analysis::Finding& finding) {
  const std::string_view rank = analysis::rank_of_device(finding.device);
  return finding.device.empty() || finding.headline.starts_with(finding.device + " ") ||
         (!rank.empty() && finding.headline.starts_with(rank));
}

// How many rules were judged is said, so that silence is not taken for health; which ones were not is in the JSON.
void write_text(std::ostream& out, const FoundAdvice& found, bool filtered) {
  const analysis::Advice& advice = *found.advice;
  if (!found.verdict.empty()) out << found.verdict << '\n';
  if (advice.findings.empty()) out << "Nothing found. " << content::nothing_found_text(advice, filtered) << '\n';
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const analysis::Finding& finding = advice.findings[i];
    out << fmt::format("{}. {}{}", i + 1, names_device(finding) ? "" : finding.device + " ", finding.headline);
    if (!finding.is_error && finding.saving_ns <= 0) out << ": " << analysis::saving_text(finding);
    if (!finding.is_error && finding.saving_ns > 0) {
      out << fmt::format(": {}, {} of {}", analysis::saving_text(finding), format_share(finding.share),
                         finding.rule->base == analysis::CostBase::active ? "the work's active time"
                                                                          : "the time from first to last work");
    }
    out << '\n';
    if (!finding.source.empty()) out << fmt::format("   {:<14} {}\n", "Source line", finding.source);
    for (const content::FindingField& field : content::finding_fields(*found.snapshot, finding))
      if (!field.text.empty()) out << fmt::format("   {:<14} {}\n", field.label, field.text);
    for (const analysis::EvidenceEvent& event : found.evidence[i].events) {
      out << fmt::format("   {:<14} {}  {} on {}, at {} for {}\n", "Event", event.id,
                         found.snapshot->strings->text(event.name), track_name(*found.snapshot, event.track),
                         format_time_exact(event.begin_ns), format_duration(event.end_ns - event.begin_ns));
    }
  }
  if (!advice.findings.empty()) out << "Savings do not add up; " << analysis::judged_text(advice) << ".\n";
}

JsonValue text_or_null(const std::string& text) { return text.empty() ? JsonValue() : text; }

void add_finding(JsonWriter& json, std::size_t rank, const FoundAdvice& found) {
  const analysis::Finding& finding = found.advice->findings[rank - 1];
  const analysis::Evidence& evidence = found.evidence[rank - 1];
  const Snapshot& snapshot = *found.snapshot;
  json.begin_object("rank", rank, "rule", finding.rule->name, "key", finding.key, "device", finding.device);
  json.add("headline", finding.headline, "saving_ns", finding.saving_ns, "least_ns", finding.least_ns);
  json.add("is_replayed", finding.is_replayed, "is_error", finding.is_error, "share", finding.share);
  json.add("count", finding.count, "source", text_or_null(finding.source), "what_if", text_or_null(finding.change));
  json.add("why", finding.rule->explanation, "remedy", finding.remedy, "saving_is", finding.rule->cost);
  json.add("told_from", finding.reported, "evidence", text_or_null(finding.evidence), "same_time_as", finding.same_as);
  json.array("tracks", finding.tracks, [&](TrackNumber each) { json.value(track_name(snapshot, each)); });
  json.array("events", evidence.events, [&](const analysis::EvidenceEvent& event) {
    json.object("id", event.id, "name", snapshot.strings->text(event.name), "track", track_name(snapshot, event.track),
                "begin_ns", event.begin_ns, "end_ns", event.end_ns);
  });
  const std::span places = std::span(finding.places).first(std::min(kPrintedPlaces, finding.places.size()));
  json.add("event_count", evidence.total).array("places", places, [&](const analysis::FindingPlace& place) {
    json.object("begin_ns", place.range.begin_ns, "end_ns", place.range.end_ns, "note", place.note);
  });
  json.add("place_count", finding.places.size()).end();
}

void write_json(std::ostream& out, const FoundAdvice& found, bool filtered) {
  const analysis::Advice& advice = *found.advice;
  JsonWriter json(JsonLayout::sections);
  std::size_t rank = 0;
  json.begin_object().array("findings", advice.findings,
                            [&](const analysis::Finding&) { add_finding(json, ++rank, found); });
  json.add("note", advice.findings.empty() ? "nothing found: " + content::nothing_found_text(advice, filtered)
                                           : "savings do not add up; " + analysis::judged_text(advice));
  json.array("judged", advice.judged, [&](const auto& rule) { json.value(rule->name); });
  json.array("not_judged", advice.unjudged,
             [&](const auto& each) { json.object("rule", each.rule->name, "why", each.why); });
  out << json.done() << '\n';
}

int AdviseCommand::run(const terminal::CommandRun& run) const {
  if (auto may = output::may_write(output_file, force, {input}); !may) return run.fail(may.message());
  const auto session = terminal::open_input({input}, input_options, run);
  if (!session) return run.fail(session.message());
  const auto filtered = terminal::make_filter(filter, *session->store, &run);
  if (!filtered) return run.fail(fmt::format("{}: {}", input, filtered.message()));
  WorkerPool pool;
  terminal::QueryWatch watch(run);
  const auto found =
      found_advice({*session->store, session->store->snapshot(), pool, watch.control()}, *filtered, evidence);
  watch.hide_progress();
  if (!found) return run.fail(fmt::format("{}: {}", input, found.message()));
  return terminal::write_answer(output_file, listing::is_data(format), run, [&](std::ostream& out) {
    run.json || format == "json" ? write_json(out, *found, !filter.empty()) : write_text(out, *found, !filter.empty());
  });
}

}  // namespace

terminal::CommandAction declare_advise(command_line::OptionSet& options) {
  auto command = std::make_shared<AdviseCommand>();
  options.add_option("FILE", command->input, "Session file or profile").required();
  options.add_option("--format", command->format, "text or json").one_of({"text", "json"});
  options.add_option("--events", command->evidence, "So many events of each finding, the longest ones");
  options.add_option("-o,--output-file", command->output_file, "File to write, - for the standard output");
  options.add_flag("--force", command->force, "Replace existing output");
  terminal::declare_filter(options, command->filter);
  terminal::declare_source_roots(options, command->input_options);
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
