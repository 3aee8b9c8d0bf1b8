#include "app/content/comparison/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "core/base/format.h"
#include "core/base/json.h"

namespace accelscope::app::content {
namespace {

std::string place_text(const analysis::CheckedEvent& event) {
  std::string text = fmt::format("{} on {}", event.name, event.track);
  if (!event.source.empty()) text += ", " + event.source;
  return text + fmt::format(", at {}", format_duration(event.begin_ns));
}

std::string crc_text(std::int64_t value) { return value < 0 ? "–" : fmt::format("{:04x}", value); }

std::string crc_pair(std::int64_t base, std::int64_t other) {
  if (base < 0 && other < 0) return "–";
  return base == other ? crc_text(base) : fmt::format("{} / {}", crc_text(base), crc_text(other));
}

std::string_view cause_of(const analysis::DivergentPair& pair) {
  if (pair.base_in < 0 || pair.other_in < 0) return "what it read has no checksum";
  return pair.input_differs() ? "its input differs already" : "its input agrees, so it computes something else";
}

void print_places(std::ostream& out, std::string_view title, const std::vector<analysis::DivergentPlace>& places,
                  std::size_t most) {
  if (places.empty()) return;
  out << fmt::format("\n{}, by their first difference\n", title);
  const std::size_t shown = most == 0 ? places.size() : std::min(most, places.size());
  for (std::size_t i = 0; i < shown; ++i) {
    out << fmt::format("  {:<40} {:>8} events from {} on, event {}\n", places[i].name, format_count(places[i].events),
                       format_duration(places[i].first_ns), places[i].first);
  }
  if (shown < places.size()) out << fmt::format("  ... {} more\n", places.size() - shown);
}

void add_event(JsonWriter& json, const analysis::CheckedEvent& event) {
  json.object("id", event.id, "name", event.name, "track", event.track, "begin_ns", event.begin_ns, "end_ns",
              event.end_ns, "instruction", event.instruction, "tensor", event.tensor, "source", event.source);
}

void add_crc(JsonWriter& json, std::string_view key, std::int64_t base, std::int64_t other) {
  json.array(key, std::array{base, other}, [&](std::int64_t crc) { json.value(crc < 0 ? JsonValue() : crc); });
}

void add_places(JsonWriter& json, std::string_view key, const std::vector<analysis::DivergentPlace>& places) {
  json.array(key, places, [&](const analysis::DivergentPlace& each) {
    json.object("name", each.name, "events", each.events, "first", each.first, "first_ns", each.first_ns);
  });
}

}  // namespace

std::string divergence_verdict(const analysis::Divergence& divergence) {
  if (divergence.with_checksums == 0)
    return "unknown: the base has no checksums (crc_in, crc_out, crc); capture with them";
  if (divergence.compared == 0) return "unknown: no event with a checksum has a counterpart in the other run";
  if (divergence.events.empty())
    return fmt::format("no difference in {} checksummed events", format_count(divergence.compared));
  return "first at " + divergent_text(divergence.events.front());
}

std::string divergent_text(const analysis::DivergentPair& pair) {
  return fmt::format("{}: {}", place_text(pair.base), cause_of(pair));
}

std::string divergent_details(const analysis::DivergentPair& pair) {
  std::string text =
      fmt::format("read {}, wrote {}", crc_pair(pair.base_in, pair.other_in), crc_pair(pair.base_out, pair.other_out));
  if (!pair.base.source.empty()) text += "; " + pair.base.source;
  if (!pair.base.tensor.empty()) text += "; tensor " + pair.base.tensor;
  if (!pair.base.instruction.empty()) text += "; " + pair.base.instruction;
  if (pair.produced_by) text += "; handed on by " + place_text(*pair.produced_by);
  return text;
}

void write_divergence_text(std::ostream& out, const analysis::Divergence& divergence, std::size_t most_rows) {
  out << divergence_verdict(divergence) << '\n';
  out << fmt::format("{} of {} pairs of events differ; {} in the base and {} in the other have no counterpart\n",
                     format_count(divergence.differing), format_count(divergence.compared),
                     format_count(divergence.base_alone), format_count(divergence.other_alone));
  const std::size_t most = most_rows == 0 ? divergence.events.size() : std::min(most_rows, divergence.events.size());
  for (std::size_t i = 0; i < most; ++i) {
    const analysis::DivergentPair& pair = divergence.events[i];
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

void write_divergence_json(std::ostream& out, const analysis::Divergence& divergence) {
  JsonWriter json(JsonLayout::sections);
  json.begin_object("verdict", divergence_verdict(divergence), "with_checksums", divergence.with_checksums);
  json.add("compared", divergence.compared, "differing", divergence.differing);
  json.add("base_alone", divergence.base_alone, "other_alone", divergence.other_alone);
  json.array("events", divergence.events, [&](const analysis::DivergentPair& pair) {
    json.begin_object();
    add_event(json.key("base"), pair.base);
    json.add("other", pair.other, "other_begin_ns", pair.other_begin_ns);
    add_crc(json, "crc_in", pair.base_in, pair.other_in);
    add_crc(json, "crc_out", pair.base_out, pair.other_out);
    json.add("input_differs", pair.input_differs());
    json.key("produced_by");
    if (pair.produced_by) add_event(json, *pair.produced_by);
    if (!pair.produced_by) json.value(JsonValue());
    json.end();
  });
  add_places(json, "tensors", divergence.tensors);
  add_places(json, "lines", divergence.lines);
  out << json.done() << '\n';
}

}  // namespace accelscope::app::content
