// The Perfetto trace of a session, read by a small decoder that goes by Perfetto's own rules: state of a sequence that
// is cleared, interned texts, events sorted by time, the innermost slice of a track ends first, flows by id.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/export/base/writers.h"
#include "tests/core/export/export_session.h"

using namespace accelscope;
using namespace accelscope::exporting;
using test::CollectedFiles;
using test::ExportedArrow;
using test::ExportedEvent;
using test::ExportSession;

namespace {

struct WireField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint or of 8 bytes
  std::string_view bytes;
};

std::uint64_t take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (from.empty()) FAIL("beyond the end");
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<WireField> wire_fields(std::string_view message) {
  std::vector<WireField> fields;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    WireField field;
    field.number = key >> 3;
    const std::uint64_t type = key & 7;
    if (type == 0) {
      field.value = take_varint(message);
    } else {
      const std::uint64_t size = type == 1 ? 8 : take_varint(message);
      if ((type != 1 && type != 2) || size > message.size()) FAIL("beyond the end");
      field.bytes = message.substr(0, size);
      if (type == 1) std::memcpy(&field.value, field.bytes.data(), 8);
      message.remove_prefix(size);
    }
    fields.push_back(field);
  }
  return fields;
}

std::optional<WireField> wire_field(std::string_view message, std::uint64_t number) {
  for (const WireField& field : wire_fields(message)) {
    if (field.number == number) return field;
  }
  return std::nullopt;
}

struct DecodedTrace {
  std::vector<ExportedEvent> slices;
  std::vector<ExportedArrow> arrows;  // by the argument "key"
  std::vector<std::pair<std::int64_t, std::string>> samples;
  std::map<std::uint64_t, std::string> tracks;  // names by uuid
  std::map<std::string, std::string> facts;
  std::map<std::uint64_t, std::uint64_t> clocks;
  std::uint64_t broken = 0;  // whatever does not fit together
};

class TraceDecoder {
 public:
  explicit TraceDecoder(std::string_view trace) {
    for (const WireField& packet : wire_fields(trace)) read_packet(packet.bytes);
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    for (const Event& event : events_) play(event);
    for (const auto& [track, stack] : stacks_) decoded.broken += stack.size();
    decoded.broken += open_flows_.size();
  }
  DecodedTrace decoded;

 private:
  struct Event {
    std::uint64_t time = 0, type = 0, track = 0;
    std::string name, category, sample;
    std::map<std::string, std::string> args;
    std::vector<std::uint64_t> out, into;
  };
  struct Sequence {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts;  // by table and iid
    std::uint64_t track = 0;
    bool valid = false;
  };

  void read_packet(std::string_view packet) {
    Sequence& sequence = sequences_[wire_field(packet, 10).value_or(WireField{}).value];
    const std::uint64_t flags = wire_field(packet, 13).value_or(WireField{}).value;
    if ((flags & 1) != 0) sequence = {{}, 0, true};
    if ((flags & 2) != 0 && !sequence.valid) ++decoded.broken;
    if (const auto interned = wire_field(packet, 12)) {
      for (const WireField& entry : wire_fields(interned->bytes)) {
        sequence.texts[{entry.number, wire_field(entry.bytes, 1)->value}] = wire_field(entry.bytes, 2)->bytes;
      }
    }
    if (const auto defaults = wire_field(packet, 59)) {
      sequence.track = wire_field(wire_field(defaults->bytes, 11)->bytes, 11)->value;
    }
    if (const auto track = wire_field(packet, 60)) {
      decoded.tracks[wire_field(track->bytes, 1)->value] = wire_field(track->bytes, 2).value_or(WireField{}).bytes;
    }
    if (const auto clocks = wire_field(packet, 6)) {
      for (const WireField& clock : wire_fields(clocks->bytes)) {
        if (clock.number == 1) decoded.clocks[wire_field(clock.bytes, 1)->value] = wire_field(clock.bytes, 2)->value;
      }
    }
    if (const auto facts = wire_field(packet, 5)) {
      for (const WireField& fact : wire_fields(facts->bytes)) {
        decoded.facts[std::string(wire_field(fact.bytes, 1)->bytes)] = wire_field(fact.bytes, 2)->bytes;
      }
    }
    if (const auto event = wire_field(packet, 11)) read_event(event->bytes, wire_field(packet, 8)->value, sequence);
  }

  void read_event(std::string_view message, std::uint64_t time, const Sequence& sequence) {
    Event event;
    event.time = time;
    event.track = sequence.track;
    const auto text = [&](std::uint64_t table, std::uint64_t iid) -> std::string {
      const auto found = sequence.texts.find({table, iid});
      if (found == sequence.texts.end()) ++decoded.broken;
      return found == sequence.texts.end() ? "" : found->second;
    };
    for (const WireField& field : wire_fields(message)) {
      if (field.number == 9) event.type = field.value;
      if (field.number == 3) event.category = text(1, field.value);
      if (field.number == 10) event.name = text(2, field.value);
      if (field.number == 11) event.track = field.value;
      if (field.number == 30) event.sample = std::to_string(static_cast<std::int64_t>(field.value));
      if (field.number == 44) event.sample = std::to_string(std::bit_cast<double>(field.value));
      if (field.number == 47) event.out.push_back(field.value);
      if (field.number == 48) event.into.push_back(field.value);
      if (field.number != 4) continue;
      std::string key, value;
      for (const WireField& part : wire_fields(field.bytes)) {
        if (part.number == 1) key = text(3, part.value);
        if (part.number == 2) value = part.value != 0 ? "true" : "false";
        if (part.number == 3) value = std::to_string(part.value);
        if (part.number == 4) value = std::to_string(static_cast<std::int64_t>(part.value));
        if (part.number == 5) value = std::to_string(std::bit_cast<double>(part.value));
        if (part.number == 6) value = part.bytes;
        if (part.number == 17) value = text(29, part.value);
      }
      event.args[key] = value;
    }
    if (!decoded.tracks.contains(event.track)) ++decoded.broken;
    events_.push_back(std::move(event));
  }

  void play(const Event& event) {
    const auto time = static_cast<std::int64_t>(event.time) + ExportSession::kBegin;  // no time lies before 0
    std::vector<std::size_t>& stack = stacks_[event.track];
    if (event.type == 4) {
      decoded.samples.emplace_back(time, event.sample);
      return;
    }
    std::size_t slice = decoded.slices.size();
    if (event.type == 2) {
      if (stack.empty()) {
        ++decoded.broken;
        return;
      }
      slice = stack.back();
      stack.pop_back();
      decoded.slices[slice].end = time;
    } else {
      decoded.slices.push_back({event.category, event.name, time, time, event.args});
      if (event.type == 1) stack.push_back(slice);
    }
    const std::string key = decoded.slices[slice].args["key"];
    for (const std::uint64_t flow : event.out) decoded.broken += open_flows_.emplace(flow, key).second ? 0 : 1;
    for (const std::uint64_t flow : event.into) {
      const auto open = open_flows_.find(flow);
      if (open == open_flows_.end()) {
        ++decoded.broken;
        continue;
      }
      decoded.arrows.push_back({open->second, key});
      open_flows_.erase(open);
    }
  }

  std::map<std::uint64_t, Sequence> sequences_;
  std::vector<Event> events_;
  std::map<std::uint64_t, std::vector<std::size_t>> stacks_;  // open slices by track
  std::map<std::uint64_t, std::string> open_flows_;
};

template <typename T>
std::vector<T> in_order(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

DecodedTrace decoded_trace(const ExportRequest& request, ExportReport* report = nullptr) {
  CollectedFiles output;
  const auto written = write_perfetto(request, output);
  REQUIRE(written.ok());
  CHECK(written->bytes == output.files[""].size());
  if (report != nullptr) *report = *written;
  return TraceDecoder(output.files[""]).decoded;
}

}  // namespace

TEST_CASE("a Perfetto trace holds every slice with its arguments, every sample, and the clock") {
  for (const std::uint32_t seed : {1U, 2U}) {
    ExportSession session(seed);
    ExportRequest request = session.request();
    ExportReport report;
    const DecodedTrace trace = decoded_trace(request, &report);
    CHECK(trace.broken == 0);
    CHECK((in_order(trace.slices) == in_order(session.events)));
    CHECK((in_order(trace.samples) == in_order(session.samples)));
    CHECK(report.rows == session.events.size() + session.samples.size());
    CHECK(trace.clocks.at(1) == static_cast<std::uint64_t>(ExportSession::kUnixNs));
    CHECK(trace.clocks.at(6) == static_cast<std::uint64_t>(-ExportSession::kBegin));
    CHECK(trace.facts.at("name") == "the \"session\"");
  }
}

TEST_CASE("flows of a Perfetto trace join the events that depend on each other, and those it cannot hold are counted") {
  ExportSession session(3, 4'000);
  std::map<std::string, const ExportedEvent*> by_key;
  for (const ExportedEvent& event : session.events) by_key[event.args.at("key")] = &event;
  std::vector<ExportedArrow> holdable;
  std::size_t too_late = 0, open = 0;
  for (const ExportedArrow& arrow : session.arrows) {
    const ExportedEvent& source = *by_key.at(arrow.source);
    const ExportedEvent& target = *by_key.at(arrow.target);
    if (target.begin > source.begin || target.end > source.begin) {
      holdable.push_back(arrow);
    } else if (target.end == source.begin && target.begin == source.begin) {
      ++open;  // both at one moment: the order of the file decides
    } else {
      ++too_late;
    }
  }
  REQUIRE(too_late > 20);
  ExportReport report;
  const DecodedTrace trace = decoded_trace(session.request(), &report);
  CHECK(trace.broken == 0);
  CHECK(trace.arrows.size() >= holdable.size());
  CHECK(trace.arrows.size() <= holdable.size() + open);
  CHECK((in_order(trace.slices) == in_order(session.events)));
  for (const ExportedArrow& arrow : holdable) {
    CHECK(std::find(trace.arrows.begin(), trace.arrows.end(), arrow) != trace.arrows.end());
  }
  const std::string expected = std::to_string(session.arrows.size() - trace.arrows.size()) + " dependencies lead";
  CHECK(std::any_of(report.losses.begin(), report.losses.end(),
                    [&](const std::string& loss) { return loss.starts_with(expected); }));
}

TEST_CASE("a Perfetto trace of a range holds the slices that share time with it") {
  ExportSession session(4, 4'000);
  ExportRequest request = session.request();
  const std::int64_t middle = (session.snapshot->begin_ns + session.snapshot->end_ns) / 2;
  request.range = {middle, middle + 2'000};
  const DecodedTrace trace = decoded_trace(request);
  std::vector<ExportedEvent> expected;
  for (const ExportedEvent& event : session.events) {
    if (request.range.holds(event.begin, event.end)) expected.push_back(event);
  }
  REQUIRE(expected.size() > 5);
  CHECK(trace.broken == 0);
  CHECK((in_order(trace.slices) == in_order(expected)));
}

TEST_CASE("an export stops where the disk is full or the user cancels") {
  ExportSession session(5, 2'000);
  CollectedFiles output;
  output.writes_left = 2;
  const auto full = write_perfetto(session.request(), output);
  REQUIRE_FALSE(full.ok());
  CHECK(full.message() == "the disk is full");
  session.control.cancel();
  CHECK_FALSE(write_perfetto(session.request(), output).ok());
}

TEST_CASE("a Perfetto trace is the same bytes whichever thread of an import met a text first") {
  const auto bytes_of = [](bool backwards, unsigned threads) {
    std::unique_ptr<Store> store = std::move(Store::create().value());
    StoreSink sink(*store);
    SessionWriter writer(sink);
    Schema schema;
    schema.name = "runtime_call";
    schema.columns = {{.name = "file", .type = ColumnType::string}};
    const SchemaNumber number = writer.add_schema(schema);
    constexpr int kNames = 500;
    for (int i = 0; i < kNames; ++i) (void)writer.intern("call " + std::to_string(backwards ? kNames - 1 - i : i));
    for (int track = 0; track < 4; ++track) {
      const TrackNumber thread = writer.add_track(
          {.name = "thread " + std::to_string(track), .kind = "host_thread", .host = "host", .schema = number});
      for (int i = 0; i < 20'000; ++i) {
        Row row = writer.begin_event(thread, i * 10, 5, writer.intern("call " + std::to_string(i * 7 % kNames)));
        row.string(0, writer.intern("call " + std::to_string(i * 3 % kNames)));
      }
    }
    REQUIRE(writer.finish().ok());
    WorkerPool pool(threads);
    TaskControl control;
    CollectedFiles output;
    REQUIRE(write_perfetto({{*store, store->snapshot(), pool, control}}, output).ok());
    return output.files[""];
  };
  const std::string first = bytes_of(false, 4);
  CHECK(first.size() > 100'000);
  CHECK(first == bytes_of(false, 4));
  CHECK(first == bytes_of(true, 4));
  CHECK(first == bytes_of(true, 1));
}

TEST_CASE("a Perfetto trace has tracks that lie below thousands of others") {
  auto store = Store::create().value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "event"});
  TrackNumber above = kNone;
  constexpr int kDeep = 16'000;
  for (int i = 0; i < kDeep; ++i) above = writer.add_track({.parent = above, .name = "t", .schema = schema});
  writer.begin_event(above, 5, 10, writer.intern("deep"));
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  CollectedFiles output;
  REQUIRE(write_perfetto({{*store, store->snapshot(), pool, control}}, output).ok());
  std::size_t descriptors = 0;
  constexpr std::uint64_t kPacket = 1, kTrackDescriptor = 60;
  for (const WireField& packet : wire_fields(output.files[""]))
    descriptors += packet.number == kPacket && wire_field(packet.bytes, kTrackDescriptor) ? 1U : 0U;
  CHECK(descriptors >= kDeep);
}
