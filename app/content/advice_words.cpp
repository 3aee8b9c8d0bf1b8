#include "app/content/advice_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/content/axes/axes.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

std::string named_tracks_text(const Snapshot& snapshot, const analysis::Finding& finding) {
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, finding.tracks.size()); ++i) {
    const TrackSnapshot* track = snapshot.find_track(finding.tracks[i]);
    if (track != nullptr) text += (text.empty() ? "" : ", ") + track->track->name;
  }
  if (finding.tracks.size() > kNamed) text += fmt::format(" and {} more", finding.tracks.size() - kNamed);
  return text;
}

std::string_view counted_word(const analysis::Finding& finding) {
  if (finding.rule->of_gaps) return finding.count == 1 ? "gap" : "gaps";
  if (finding.rule->of_device || finding.first == kNoEvent) return "items";
  return finding.count == 1 ? "event" : "events";
}

// Mending both saves little more than mending one.
std::string same_time_text(const analysis::Finding& finding) {
  std::string text;
  for (const std::string& each : finding.same_as) text += (text.empty() ? "As \"" : "\", \"") + each;
  return text.empty() ? "" : text + "\": mending both saves little more than mending one";
}

}  // namespace

std::string counted_text(const analysis::Finding& finding) {
  return fmt::format("{} {}", format_count(finding.count), counted_word(finding));
}

std::vector<FindingField> finding_fields(const Snapshot& snapshot, const analysis::Finding& finding) {
  const analysis::AdviceRule& rule = *finding.rule;
  const TimeRange range = finding.events.range.value_or(finding.places.front().range);
  return {
      {"Why", std::string(rule.explanation)},
      {"Evidence", finding.evidence},
      {"What to try", finding.remedy},
      {"The same time", same_time_text(finding)},
      {"The saving is", finding.is_error      ? std::string()
                        : finding.is_replayed ? "What a run of the same work without it would save, by its dependencies"
                                              : std::string(rule.cost)},
      {"As a what-if", finding.change},
      {"Rests on", fmt::format("{} on {}, {}", counted_text(finding), named_tracks_text(snapshot, finding),
                               format_range(static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns)))},
      {"Told from",
       finding.reported == rule.condition ? fmt::format("{} ({})", finding.reported, rule.source) : finding.reported},
      {"Read more", std::string(rule.page)}};
}

std::string nothing_found_text(const analysis::Advice& advice, bool filtered) {
  if (!advice.judged.empty()) return analysis::judged_text(advice) + ", and none found anything that costs much time.";
  if (filtered)
    return "Nothing that passes the filter can be judged by a rule: " + analysis::unjudged_text(advice) + ".";
  return "No rule could be judged: record engines, DMA queues or streams of a device.";
}

bool tells_of_python(const Snapshot& snapshot) {
  constexpr std::array<std::string_view, 3> kTables = {"python_function", "python_call", "cpu_op"};
  const auto names_python = [](std::string_view text) {
    const std::string lower = lower_case(text);
    return lower.find("python") != std::string::npos || lower.find("pytorch") != std::string::npos ||
           lower.find(".py") != std::string::npos;
  };
  return std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(),
                     [&](const auto& schema) {
                       return std::find(kTables.begin(), kTables.end(), schema->name) != kTables.end();
                     }) ||
         std::any_of(snapshot.tracks.begin(), snapshot.tracks.end(),
                     [&](const TrackSnapshot& track) { return names_python(track.track->host); }) ||
         std::any_of(snapshot.meta.begin(), snapshot.meta.end(), [&](const MetaEntry& entry) {
           const bool of_program = entry.key == "source_format" || entry.key.ends_with("command");
           return of_program && names_python(entry.value);
         });
}

Result<std::string> verdict_text(const QueryContext& query, const TimeRange& range,
                                 const analysis::Dependencies* dependencies) {
  auto active = TRY(analysis::find_active_stretch(query));
  if (active) {
    *active = {std::max(active->begin_ns, range.begin_ns), std::min(active->end_ns, range.end_ns)};
  }
  const auto lines = TRY(analysis::source_lines(query, range));
  const analysis::Verdict verdict = TRY(analysis::session_verdict(query, active, *lines));
  EventFilter filter;
  if (range != TimeRange{}) filter.range = range;
  const auto advice = TRY(analysis::find_advice(query, filter, dependencies));
  const analysis::Finding* const error = analysis::reported_error(*advice);
  const analysis::Finding* const costliest = analysis::costliest_finding(*advice);
  const std::string text = verdict.text();
  const auto is_said = [&text](const analysis::Finding& finding) {
    return text.find(finding.headline) != std::string::npos;
  };
  const bool tells = costliest != nullptr && costliest->saving_ns > 0 && !is_said(*costliest) &&
                     (!verdict.cause_range || verdict.cause_range->length_ns() < costliest->saving_ns);
  return (error == nullptr || is_said(*error) ? "" : error->headline + "; ") + text +
         (tells ? "; " + analysis::advice_text(*advice) : "");
}

}  // namespace accelscope::app::content
