#include "app/output/iteration_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing/base/write.h"
#include "core/listing/iterations.h"

namespace accelscope::app::output {
namespace {

constexpr std::size_t kPrintedOutliers = 8;

std::string place_text(const analysis::IterationLoop& loop, const Snapshot& snapshot) {
  const TrackSnapshot* track = snapshot.find_track(loop.track);
  if (track == nullptr) return "a track";
  const std::string& device = track->track->device.empty() ? track->track->host : track->track->device;
  return device.empty() || track->track->name.starts_with(device) ? track->track->name
                                                                  : device + " " + track->track->name;
}

std::string outliers_text(const analysis::FoldedLoop& folded) {
  std::vector<std::string> named;
  std::size_t all = 0;
  for (std::size_t i = folded.warm_up; i < folded.iterations.size(); ++i) {
    const analysis::LoopIteration& each = folded.iterations[i];
    if (!each.outlier || ++all > kPrintedOutliers) continue;
    const double deviation = folded.steady_ns > 0 ? static_cast<double>(each.length_ns()) / folded.steady_ns - 1 : 0;
    named.push_back(fmt::format("{} ({}{}, at {})", i + 1, deviation < 0 ? "−" : "+", format_share(std::abs(deviation)),
                                format_time_exact(each.begin_ns)));
  }
  std::string text = joined(named, ", ");
  if (all > named.size()) text += fmt::format(" and {} more", format_count(all - named.size()));
  return text;
}

std::string first_text(const analysis::FoldedLoop& folded) {
  const std::int64_t first = folded.iterations.front().length_ns();
  std::string text = format_duration(first);
  if (folded.steady_ns > 0)
    text +=
        fmt::format(", {} times the steady state's {}", format_number(static_cast<double>(first) / folded.steady_ns),
                    format_duration(folded.steady_ns));
  if (folded.warm_up > 0) text += fmt::format("; {} of warm-up", counted(folded.warm_up, "iteration"));
  return text;
}

// Those of most time, as they begin.
std::vector<const analysis::LoopOperation*> printed_operations(const analysis::FoldedLoop& folded, std::size_t rows) {
  std::vector<const analysis::LoopOperation*> chosen;
  for (const analysis::LoopOperation& each : folded.body) chosen.push_back(&each);
  if (chosen.size() <= rows) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return a->duration_ns.median > b->duration_ns.median; });
  chosen.resize(rows);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return a->offset_ns.median < b->offset_ns.median; });
  return chosen;
}

void print_body(std::ostream& out, const analysis::FoldedLoop& folded, const Snapshot& snapshot, std::size_t rows) {
  listing::TextTable table(
      {listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::right,
       listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::left},
      "   ");
  table.row({"BEGINS", "MEDIAN", "P10", "P90", "FIRST", "IN", "OUTLIERS", "OPERATION"});
  for (const analysis::LoopOperation* each : printed_operations(folded, rows)) {
    const analysis::FoldedValues& values = each->duration_ns;
    table.row({"+" + format_duration(each->offset_ns.median), format_duration(values.median),
               format_duration(values.p10), format_duration(values.p90),
               each->first_ns < 0 ? "–" : format_duration(each->first_ns), format_count(values.count),
               format_count(values.outliers), listing::operation_text(*each, snapshot)});
  }
  table.print(out);
  const std::uint64_t left = folded.body.size() + folded.left_out - std::min<std::size_t>(rows, folded.body.size());
  if (left > 0) out << fmt::format("   {} of less time left out\n", counted(left, "operation"));
}

void add_values(JsonWriter& json, std::string_view key, const analysis::FoldedValues& values) {
  json.key(key).object("median", values.median, "p10", values.p10, "p90", values.p90, "min", values.min, "max",
                       values.max, "count", values.count, "outliers", values.outliers);
}

void add_loop(JsonWriter& json, const analysis::IterationLoop& loop, const Snapshot& snapshot) {
  const TrackSnapshot* found = snapshot.find_track(loop.track);
  const Track track = found == nullptr ? Track() : *found->track;
  const analysis::FoldedLoop& folded = loop.folded;
  json.begin_object("track", track.name, "device", track.device, "host", track.host, "track_id", loop.track);
  json.add("lane", loop.depth, "level", loop.level, "cut_off", loop.partial, "share", loop.share);
  add_values(json, "duration_ns", folded.duration_ns);
  add_values(json, "interval_ns", folded.interval_ns);
  json.add("warm_up", folded.warm_up, "steady_ns", folded.steady_ns);
  json.array("iterations", folded.iterations, [&](const analysis::LoopIteration& each) {
    json.object("begin_ns", each.begin_ns, "end_ns", each.end_ns, "outlier", each.outlier);
  });
  json.array("body", folded.body, [&](const analysis::LoopOperation& each) {
    const std::string_view name = each.numbered.empty() ? snapshot.strings->text(each.name) : each.numbered;
    json.begin_object("name", name, "place", each.place + 1, "times", each.times);
    add_values(json, "offset_ns", each.offset_ns);
    add_values(json, "duration_ns", each.duration_ns);
    json.add("first_ns", each.first_ns < 0 ? JsonValue() : each.first_ns).end();
  });
  json.add("operations_left_out", folded.left_out).end();
}

}  // namespace

std::string loop_text(const analysis::FoldedLoop& folded) {
  std::string text = fmt::format("{}, {} each", counted(folded.iterations.size(), "iteration"),
                                 format_duration(folded.duration_ns.median));
  if (folded.interval_ns.count > 0) text += fmt::format(", every {}", format_duration(folded.interval_ns.median));
  return text;
}

void write_iterations_text(std::ostream& out, const analysis::IterationList& list, const Snapshot& snapshot,
                           const std::string& note, std::size_t rows) {
  std::size_t number = 0;
  for (const analysis::IterationLoop& loop : list.loops) {
    const analysis::FoldedLoop& folded = loop.folded;
    out << fmt::format("{}. {}{}: {}\n", ++number, place_text(loop, snapshot),
                       loop.level == 0 ? "" : fmt::format(", level {}", loop.level), loop_text(folded));
    if (folded.iterations.empty()) continue;
    const analysis::FoldedValues& values = folded.duration_ns;
    out << fmt::format("   Duration       median {}, p10 {}, p90 {}, {} to {}\n", format_duration(values.median),
                       format_duration(values.p10), format_duration(values.p90), format_duration(values.min),
                       format_duration(values.max));
    out << fmt::format("   First          {}\n", first_text(folded));
    if (const std::string outliers = outliers_text(folded); !outliers.empty())
      out << fmt::format("   Outliers       {}\n", outliers);
    out << fmt::format("   Body           {}, {} of the events of an iteration\n",
                       counted(folded.body.size() + folded.left_out, "operation"), format_share(loop.share));
    if (loop.partial > 0) out << "   Cut off        one at the end, left out\n";
    print_body(out, folded, snapshot, rows);
  }
  if (list.loops.empty()) out << "None found: " << note << ".\n";
}

void write_iterations_json(std::ostream& out, const analysis::IterationList& list, const Snapshot& snapshot,
                           const std::string& note) {
  JsonWriter json(JsonLayout::sections);
  json.begin_object().array("loops", list.loops,
                            [&](const analysis::IterationLoop& loop) { add_loop(json, loop, snapshot); });
  out << json.add("note", note).done() << '\n';
}

}  // namespace accelscope::app::output
