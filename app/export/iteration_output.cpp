#include "app/export/iteration_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/iterations.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kPrintedOutliers = 8;

std::string duration_of(double ns) { return format_duration(ns); }
std::string duration_of(std::int64_t ns) { return format_duration(static_cast<double>(ns)); }

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", format_count(count), word, count == 1 ? "" : "s");
}

std::string place_text(const IterationLoop& loop, const Snapshot& snapshot) {
  const TrackSnapshot* track = snapshot.find_track(loop.track);
  if (track == nullptr) return "a track";
  const std::string& device = track->track->device.empty() ? track->track->host : track->track->device;
  return device.empty() || track->track->name.starts_with(device) ? track->track->name
                                                                  : device + " " + track->track->name;
}

std::string outliers_text(const FoldedLoop& folded) {
  std::vector<std::string> named;
  std::size_t all = 0;
  for (std::size_t i = folded.warm_up; i < folded.iterations.size(); ++i) {
    const LoopIteration& each = folded.iterations[i];
    if (!each.outlier || ++all > kPrintedOutliers) continue;
    const double deviation = folded.steady_ns > 0 ? static_cast<double>(each.length_ns()) / folded.steady_ns - 1 : 0;
    named.push_back(fmt::format("{} ({}{}, at {})", i + 1, deviation < 0 ? "−" : "+", format_share(std::abs(deviation)),
                                format_time_exact(each.begin_ns)));
  }
  std::string text = joined(named, ", ");
  if (all > named.size()) text += fmt::format(" and {} more", format_count(all - named.size()));
  return text;
}

std::string first_text(const FoldedLoop& folded) {
  const std::int64_t first = folded.iterations.front().length_ns();
  std::string text = duration_of(first);
  if (folded.steady_ns > 0)
    text += fmt::format(", {} times the steady state's {}",
                        format_number(static_cast<double>(first) / folded.steady_ns), duration_of(folded.steady_ns));
  if (folded.warm_up > 0) text += fmt::format("; {} of warm-up", plural(folded.warm_up, "iteration"));
  return text;
}

// Those of most time, as they begin.
std::vector<const LoopOperation*> printed_operations(const FoldedLoop& folded, std::size_t rows) {
  std::vector<const LoopOperation*> chosen;
  for (const LoopOperation& each : folded.body) chosen.push_back(&each);
  if (chosen.size() <= rows) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return a->duration_ns.median > b->duration_ns.median; });
  chosen.resize(rows);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return a->offset_ns.median < b->offset_ns.median; });
  return chosen;
}

void print_body(std::ostream& out, const FoldedLoop& folded, const Snapshot& snapshot, std::size_t rows) {
  TextTable table({CellAlign::right, CellAlign::right, CellAlign::right, CellAlign::right, CellAlign::right,
                   CellAlign::right, CellAlign::right, CellAlign::left},
                  "   ");
  table.row({"BEGINS", "MEDIAN", "P10", "P90", "FIRST", "IN", "OUTLIERS", "OPERATION"});
  for (const LoopOperation* each : printed_operations(folded, rows)) {
    const FoldedValues& values = each->duration_ns;
    table.row({"+" + duration_of(each->offset_ns.median), duration_of(values.median), duration_of(values.p10),
               duration_of(values.p90), each->first_ns < 0 ? "–" : duration_of(each->first_ns),
               format_count(values.count), format_count(values.outliers), operation_text(*each, snapshot)});
  }
  table.print(out);
  const std::uint64_t left = folded.body.size() + folded.left_out - std::min<std::size_t>(rows, folded.body.size());
  if (left > 0) out << fmt::format("   {} of less time left out\n", plural(left, "operation"));
}

std::string json_of(const FoldedValues& values) {
  return fmt::format(
      "{{\"median\": {}, \"p10\": {}, \"p90\": {}, \"min\": {}, \"max\": {}, \"count\": {}, \"outliers\": {}}}",
      json_number(values.median), json_number(values.p10), json_number(values.p90), json_number(values.min),
      json_number(values.max), values.count, values.outliers);
}

void print_json(std::ostream& out, const IterationLoop& loop, const Snapshot& snapshot) {
  const TrackSnapshot* track = snapshot.find_track(loop.track);
  const FoldedLoop& folded = loop.folded;
  out << fmt::format(
      "{{\"track\": {}, \"device\": {}, \"host\": {}, \"track_id\": {}, \"lane\": {}, \"level\": {}, \"cut_off\": {}, "
      "\"share\": "
      "{},\n   \"duration_ns\": {}, \"interval_ns\": {}, \"warm_up\": {}, \"steady_ns\": {},\n   \"iterations\": [",
      json_quote(track == nullptr ? "" : track->track->name), json_quote(track == nullptr ? "" : track->track->device),
      json_quote(track == nullptr ? "" : track->track->host), loop.track, loop.depth, loop.level, loop.partial,
      json_number(loop.share), json_of(folded.duration_ns), json_of(folded.interval_ns), folded.warm_up,
      json_number(folded.steady_ns));
  for (std::size_t i = 0; i < folded.iterations.size(); ++i) {
    const LoopIteration& each = folded.iterations[i];
    out << fmt::format("{}{{\"begin_ns\": {}, \"end_ns\": {}, \"outlier\": {}}}", i > 0 ? ", " : "", each.begin_ns,
                       each.end_ns, each.outlier);
  }
  out << "],\n   \"body\": [";
  for (std::size_t i = 0; i < folded.body.size(); ++i) {
    const LoopOperation& each = folded.body[i];
    out << fmt::format(
        "{}{{\"name\": {}, \"place\": {}, \"times\": {}, \"offset_ns\": {}, \"duration_ns\": {}, "
        "\"first_ns\": {}}}",
        i > 0 ? ",\n     " : "\n     ",
        json_quote(each.numbered.empty() ? snapshot.strings->text(each.name) : each.numbered), each.place + 1,
        each.times, json_of(each.offset_ns), json_of(each.duration_ns),
        each.first_ns < 0 ? "null" : fmt::format("{}", each.first_ns));
  }
  out << fmt::format("],\n   \"operations_left_out\": {}}}", folded.left_out);
}

}  // namespace

std::string loop_text(const FoldedLoop& folded) {
  std::string text =
      fmt::format("{}, {} each", plural(folded.iterations.size(), "iteration"), duration_of(folded.duration_ns.median));
  if (folded.interval_ns.count > 0) text += fmt::format(", every {}", duration_of(folded.interval_ns.median));
  return text;
}

void write_iterations_text(std::ostream& out, const IterationList& list, const Snapshot& snapshot,
                           const std::string& note, std::size_t rows) {
  std::size_t number = 0;
  for (const IterationLoop& loop : list.loops) {
    const FoldedLoop& folded = loop.folded;
    out << fmt::format("{}. {}{}: {}\n", ++number, place_text(loop, snapshot),
                       loop.level == 0 ? "" : fmt::format(", level {}", loop.level), loop_text(folded));
    if (folded.iterations.empty()) continue;
    const FoldedValues& values = folded.duration_ns;
    out << fmt::format("   Duration       median {}, p10 {}, p90 {}, {} to {}\n", duration_of(values.median),
                       duration_of(values.p10), duration_of(values.p90), duration_of(values.min),
                       duration_of(values.max));
    out << fmt::format("   First          {}\n", first_text(folded));
    if (const std::string outliers = outliers_text(folded); !outliers.empty())
      out << fmt::format("   Outliers       {}\n", outliers);
    out << fmt::format("   Body           {}, {} of the events of an iteration\n",
                       plural(folded.body.size() + folded.left_out, "operation"), format_share(loop.share));
    if (loop.partial > 0) out << "   Cut off        one at the end, left out\n";
    print_body(out, folded, snapshot, rows);
  }
  if (list.loops.empty()) out << "None found: " << note << ".\n";
}

void write_iterations_json(std::ostream& out, const IterationList& list, const Snapshot& snapshot,
                           const std::string& note) {
  out << "{\"loops\": [";
  for (std::size_t i = 0; i < list.loops.size(); ++i) {
    out << (i > 0 ? ",\n  " : "\n  ");
    print_json(out, list.loops[i], snapshot);
  }
  out << fmt::format("],\n \"note\": {}}}\n", json_quote(note));
}

}  // namespace accelscope::app
