#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/content/advice_words.h"
#include "app/export/output_file.h"
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
#include "core/listing/base/write.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kPrintedPlaces = 20;

struct AdviseCommand {
  std::string input;
  std::string format = "text";
  std::string output_file;
  std::uint64_t evidence = 5;
  bool force = false;
  FilterOptions filter;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;
};

// What is found of a session, and the events that each finding rests on.
struct FoundAdvice {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Advice> advice;
  std::vector<Evidence> evidence;  // by finding
  std::string verdict;             // of all events of the range
};

Result<FoundAdvice> found_advice(QueryContext query, const SessionFilter& filter, std::size_t most) {
  query.mask = filter.mask;
  const auto advice = TRY(find_advice(query, filter.filter));
  FoundAdvice out{query.snapshot, advice, {}, {}};
  query.mask = nullptr;
  const auto works = TRY(find_active_stretch(query));
  const TimeRange wanted = filter.filter.range.value_or(TimeRange{}), all = works.value_or(TimeRange{0, 0});
  const auto verdict =
      TRY(range_verdict(query, {std::max(wanted.begin_ns, all.begin_ns), std::min(wanted.end_ns, all.end_ns)}));
  out.verdict = verdict.bound + (verdict.cause.empty() ? "" : "; " + verdict.cause);
  for (const Finding& finding : advice->findings) {
    auto evidence = TRY(finding_evidence(query, finding, most));
    out.evidence.push_back(std::move(evidence));
  }
  return out;
}

std::string track_name(const Snapshot& snapshot, TrackNumber number) {
  const TrackSnapshot* track = snapshot.find_track(number);
  return track == nullptr ? "" : track->track->name;
}

bool names_device(const Finding& finding) {
  const std::string_view rank = rank_of_device(finding.device);
  return finding.device.empty() || finding.headline.starts_with(finding.device + " ") ||
         (!rank.empty() && finding.headline.starts_with(rank));
}

// How many rules were judged is said, so that silence is not taken for health; which ones were not is in the JSON.
void write_text(std::ostream& out, const FoundAdvice& found, bool filtered) {
  const Advice& advice = *found.advice;
  if (!found.verdict.empty()) out << found.verdict << '\n';
  if (advice.findings.empty()) out << "Nothing found. " << nothing_found_text(advice, filtered) << '\n';
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    const Finding& finding = advice.findings[i];
    out << fmt::format("{}. {}{}", i + 1, names_device(finding) ? "" : finding.device + " ", finding.headline);
    if (!finding.is_error && finding.saving_ns <= 0) out << ": " << saving_text(finding);
    if (!finding.is_error && finding.saving_ns > 0) {
      out << fmt::format(
          ": {}, {} of {}", saving_text(finding), format_share(finding.share),
          finding.rule->base == CostBase::active ? "the work's active time" : "the time from first to last work");
    }
    out << '\n';
    if (!finding.source.empty()) out << fmt::format("   {:<14} {}\n", "Source line", finding.source);
    for (const FindingField& field : finding_fields(*found.snapshot, finding))
      if (!field.text.empty()) out << fmt::format("   {:<14} {}\n", field.label, field.text);
    for (const EvidenceEvent& event : found.evidence[i].events) {
      out << fmt::format("   {:<14} {}  {} on {}, at {} for {}\n", "Event", event.id,
                         found.snapshot->strings->text(event.name), track_name(*found.snapshot, event.track),
                         format_time_exact(event.begin_ns),
                         format_duration(static_cast<double>(event.end_ns - event.begin_ns)));
    }
  }
  if (!advice.findings.empty()) out << "Savings do not add up; " << judged_text(advice) << ".\n";
}

std::string json_events(const Snapshot& snapshot, const Evidence& evidence) {
  std::string text = "[";
  for (const EvidenceEvent& event : evidence.events) {
    text += fmt::format("{}{{\"id\": {}, \"name\": {}, \"track\": {}, \"begin_ns\": {}, \"end_ns\": {}}}",
                        text.size() > 1 ? ", " : "", event.id, json_quote(snapshot.strings->text(event.name)),
                        json_quote(track_name(snapshot, event.track)), event.begin_ns, event.end_ns);
  }
  return text + "]";
}

std::string json_places(const Finding& finding) {
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(kPrintedPlaces, finding.places.size()); ++i) {
    const FindingPlace& place = finding.places[i];
    text += fmt::format("{}{{\"begin_ns\": {}, \"end_ns\": {}, \"note\": {}}}", i > 0 ? ", " : "", place.range.begin_ns,
                        place.range.end_ns, json_quote(place.note));
  }
  return text + "]";
}

std::string json_of(const FoundAdvice& found, std::size_t number) {
  const Finding& finding = found.advice->findings[number];
  std::string tracks;
  for (const TrackNumber each : finding.tracks)
    tracks += (tracks.empty() ? "" : ", ") + json_quote(track_name(*found.snapshot, each));
  std::string same;
  for (const std::string& each : finding.same_as) same += (same.empty() ? "" : ", ") + json_quote(each);
  return fmt::format(
      "{{\"rank\": {}, \"rule\": {}, \"key\": {}, \"device\": {}, \"headline\": {}, \"saving_ns\": {}, "
      "\"least_ns\": {}, \"is_replayed\": {}, \"is_error\": {}, \"share\": {}, "
      "\"count\": {}, \"source\": {}, \"what_if\": {},\n   \"why\": {}, \"remedy\": {}, \"saving_is\": {}, "
      "\"told_from\": {}, \"evidence\": {}, \"same_time_as\": [{}], "
      "\"tracks\": [{}],\n   \"events\": {}, \"event_count\": {},\n   \"places\": {}, \"place_count\": {}}}",
      number + 1, json_quote(finding.rule->name), json_quote(finding.key), json_quote(finding.device),
      json_quote(finding.headline), finding.saving_ns, finding.least_ns, finding.is_replayed, finding.is_error,
      json_number(finding.share), finding.count, finding.source.empty() ? "null" : json_quote(finding.source),
      finding.change.empty() ? "null" : json_quote(finding.change), json_quote(finding.rule->explanation),
      json_quote(finding.remedy), json_quote(finding.rule->cost), json_quote(finding.reported),
      finding.evidence.empty() ? "null" : json_quote(finding.evidence), same, tracks,
      json_events(*found.snapshot, found.evidence[number]), found.evidence[number].total, json_places(finding),
      finding.places.size());
}

void write_json(std::ostream& out, const FoundAdvice& found, bool filtered) {
  const Advice& advice = *found.advice;
  out << "{\"findings\": [";
  for (std::size_t i = 0; i < advice.findings.size(); ++i) out << (i > 0 ? ",\n  " : "\n  ") << json_of(found, i);
  out << fmt::format("],\n \"note\": {},\n \"judged\": [",
                     json_quote(advice.findings.empty() ? "nothing found: " + nothing_found_text(advice, filtered)
                                                        : "savings do not add up; " + judged_text(advice)));
  for (std::size_t i = 0; i < advice.judged.size(); ++i)
    out << (i > 0 ? ", " : "") << json_quote(advice.judged[i]->name);
  out << "],\n \"not_judged\": [";
  for (std::size_t i = 0; i < advice.unjudged.size(); ++i) {
    out << fmt::format("{}{{\"rule\": {}, \"why\": {}}}", i > 0 ? ", " : "", json_quote(advice.unjudged[i].rule->name),
                       json_quote(advice.unjudged[i].why));
  }
  out << "]}\n";
}

int AdviseCommand::run(const CommandRun& run) const {
  const std::string path = output_file.empty() ? std::string(kStandardOutput) : output_file;
  if (auto may = may_write(path, force, {input}); !may) return run.fail(may.message());
  const auto session = open_input({input}, input_options, run);
  if (!session) return run.fail(session.message());
  const auto filtered = make_filter(filter, *session->store);
  if (!filtered) return run.fail(fmt::format("{}: {}", input, filtered.message()));
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  Result<FoundAdvice> found = Error{"interrupted"};
  {
    const QueryWatch watch(control, interruptible, run);
    found = found_advice({*session->store, session->store->snapshot(), pool, control}, *filtered, evidence);
  }
  if (!found) return run.fail(fmt::format("{}: {}", input, found.message()));
  const auto output = OutputFile::open(path, is_data(format) ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  if (run.json || format == "json") {
    write_json((*output)->stream(), *found, !filter.empty());
  } else {
    write_text((*output)->stream(), *found, !filter.empty());
  }
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

}  // namespace

CommandAction declare_advise(command_line::OptionSet& options) {
  auto command = std::make_shared<AdviseCommand>();
  options.add_option("FILE", command->input, "Session file or profile").required();
  options.add_option("--format", command->format, "text or json").one_of({"text", "json"});
  options.add_option("--events", command->evidence, "So many events of each finding, the longest ones");
  options.add_option("-o,--output-file", command->output_file, "File to write, - for the standard output");
  options.add_flag("--force", command->force, "Replace existing output");
  declare_filter(options, command->filter);
  options
      .add_option("--nki-source-root,--framework-source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
