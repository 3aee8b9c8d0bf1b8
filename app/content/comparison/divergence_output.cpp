#include "app/content/comparison/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/base/format.h"

namespace accelscope::app {
namespace {

std::string place_text(const CheckedEvent& event) {
  std::string text = fmt::format("{} on {}", event.name, event.track);
  if (!event.source.empty()) text += ", " + event.source;
  return text + fmt::format(", at {}", format_duration(static_cast<double>(event.begin_ns)));
}

std::string crc_text(std::int64_t value) { return value < 0 ? "–" : fmt::format("{:04x}", value); }

std::string crc_pair(std::int64_t base, std::int64_t other) {
  if (base < 0 && other < 0) return "–";
  return base == other ? crc_text(base) : fmt::format("{} / {}", crc_text(base), crc_text(other));
}

std::string_view cause_of(const DivergentPair& pair) {
  if (pair.base_in < 0 || pair.other_in < 0) return "what it read has no checksum";
  return pair.input_differs() ? "its input differs already" : "its input agrees, so it computes something else";
}

void print_places(std::ostream& out, std::string_view title, const std::vector<DivergentPlace>& places,
                  std::size_t most) {
  if (places.empty()) return;
  out << fmt::format("\n{}, by their first difference\n", title);
  const std::size_t shown = most == 0 ? places.size() : std::min(most, places.size());
  for (std::size_t i = 0; i < shown; ++i) {
    out << fmt::format("  {:<40} {:>8} events from {} on, event {}\n", places[i].name, format_count(places[i].events),
                       format_duration(static_cast<double>(places[i].first_ns)), places[i].first);
  }
  if (shown < places.size()) out << fmt::format("  ... {} more\n", places.size() - shown);
}

std::string json_of(const CheckedEvent& event) {
  return fmt::format(
      "{{\"id\": {}, \"name\": {}, \"track\": {}, \"begin_ns\": {}, \"end_ns\": {}, \"instruction\": {}, \"tensor\": "
      "{}, "
      "\"source\": {}}}",
      event.id, json_quote(event.name), json_quote(event.track), event.begin_ns, event.end_ns,
      json_quote(event.instruction), json_quote(event.tensor), json_quote(event.source));
}

std::string json_crc(std::int64_t value) { return value < 0 ? "null" : std::to_string(value); }

std::string json_places(const std::vector<DivergentPlace>& places) {
  std::string text = "[";
  for (const DivergentPlace& each : places)
    text += fmt::format("{}{{\"name\": {}, \"events\": {}, \"first\": {}, \"first_ns\": {}}}",
                        text.size() > 1 ? ", " : "", json_quote(each.name), each.events, each.first, each.first_ns);
  return text + "]";
}

}  // namespace

std::string divergence_verdict(const Divergence& divergence) {
  if (divergence.with_checksums == 0)
    return "unknown: the base has no checksums (crc_in, crc_out, crc); capture with them";
  if (divergence.compared == 0) return "unknown: no event with a checksum has a counterpart in the other run";
  if (divergence.events.empty())
    return fmt::format("no difference in {} checksummed events", format_count(divergence.compared));
  return "first at " + divergent_text(divergence.events.front());
}

std::string divergent_text(const DivergentPair& pair) {
  return fmt::format("{}: {}", place_text(pair.base), cause_of(pair));
}

std::string divergent_details(const DivergentPair& pair) {
  std::string text =
      fmt::format("read {}, wrote {}", crc_pair(pair.base_in, pair.other_in), crc_pair(pair.base_out, pair.other_out));
  if (!pair.base.source.empty()) text += "; " + pair.base.source;
  if (!pair.base.tensor.empty()) text += "; tensor " + pair.base.tensor;
  if (!pair.base.instruction.empty()) text += "; " + pair.base.instruction;
  if (pair.produced_by) text += "; handed on by " + place_text(*pair.produced_by);
  return text;
}

void write_divergence_text(std::ostream& out, const Divergence& divergence, std::size_t most_rows) {
  out << divergence_verdict(divergence) << '\n';
  out << fmt::format("{} of {} pairs of events differ; {} in the base and {} in the other have no counterpart\n",
                     format_count(divergence.differing), format_count(divergence.compared),
                     format_count(divergence.base_alone), format_count(divergence.other_alone));
  const std::size_t most = most_rows == 0 ? divergence.events.size() : std::min(most_rows, divergence.events.size());
  for (std::size_t i = 0; i < most; ++i) {
    const DivergentPair& pair = divergence.events[i];
    out << fmt::format("\n{}. {}  (events {} and {})\n   read {}, wrote {}: {}\n", i + 1, place_text(pair.base),
                       pair.base.id, pair.other, crc_pair(pair.base_in, pair.other_in),
                       crc_pair(pair.base_out, pair.other_out), cause_of(pair));
    if (!pair.base.tensor.empty()) out << fmt::format("   tensor {}\n", pair.base.tensor);
    if (!pair.base.instruction.empty()) out << fmt::format("   {}\n", pair.base.instruction);
    if (pair.produced_by)
      out << fmt::format("   handed on by {} (event {})\n", place_text(*pair.produced_by), pair.produced_by->id);
  }
  if (most < divergence.differing)
    out << fmt::format("\n... {} more events\n", format_count(divergence.differing - most));
  print_places(out, "Tensors", divergence.tensors, most_rows);
  print_places(out, "Lines", divergence.lines, most_rows);
}

void write_divergence_json(std::ostream& out, const Divergence& divergence) {
  out << fmt::format(
      "{{\"verdict\": {}, \"with_checksums\": {}, \"compared\": {}, \"differing\": {}, \"base_alone\": {}, "
      "\"other_alone\": {},\n \"events\": [",
      json_quote(divergence_verdict(divergence)), divergence.with_checksums, divergence.compared, divergence.differing,
      divergence.base_alone, divergence.other_alone);
  for (std::size_t i = 0; i < divergence.events.size(); ++i) {
    const DivergentPair& pair = divergence.events[i];
    out << fmt::format(
        "{}{{\"base\": {}, \"other\": {}, \"other_begin_ns\": {}, \"crc_in\": [{}, {}], \"crc_out\": [{}, {}], "
        "\"input_differs\": {}, \"produced_by\": {}}}",
        i > 0 ? ",\n  " : "\n  ", json_of(pair.base), pair.other, pair.other_begin_ns, json_crc(pair.base_in),
        json_crc(pair.other_in), json_crc(pair.base_out), json_crc(pair.other_out), pair.input_differs(),
        pair.produced_by ? json_of(*pair.produced_by) : "null");
  }
  out << fmt::format("],\n \"tensors\": {},\n \"lines\": {}}}\n", json_places(divergence.tensors),
                     json_places(divergence.lines));
}

}  // namespace accelscope::app
