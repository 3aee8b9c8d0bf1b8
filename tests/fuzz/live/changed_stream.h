// The frames of a small capture, and changes to them that no checksum finds: what a hostile or broken agent may send.
// The same changes from a seed (ordinary tests) and from a fuzzer's bytes.
#pragma once

#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "capture/ingest/stream_ingest.h"
#include "capture/wire/frame.h"
#include "core/chunk/chunk_format.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

namespace accelscope::test {

class FrameSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    frames.push_back(
        capture::wire::make_frame(capture::wire::FrameType::definition, encode(definition), frames.size() + 1));
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    frames.push_back(
        capture::wire::make_frame(capture::wire::FrameType::chunk, std::move(chunk.bytes), frames.size() + 1));
    return {};
  }
  std::vector<capture::wire::Frame> frames;
};

inline Column column_of(const char* name, ColumnType type, Role role, bool required = false) {
  Column column;
  column.name = name;
  column.type = type;
  column.role = role;
  column.required = required;
  return column;
}

inline Schema schema_of(const char* name, EventKind kind, std::vector<Column> columns) {
  Schema schema;
  schema.name = name;
  schema.kind = kind;
  schema.columns = std::move(columns);
  return schema;
}

inline Track track_of(const char* name, const char* kind, SchemaNumber schema, ClockNumber clock = kNone) {
  Track track;
  track.name = name;
  track.kind = kind;
  track.device = "nc0";
  track.schema = schema;
  track.clock = clock;
  return track;
}

// Slices with values of all types on a clock of anchors, a counter, allocations and flows; in three parts.
inline std::vector<capture::wire::Frame> live_frames() {
  FrameSink sink;
  SessionWriter writer(sink);
  Clock clock;
  clock.name = "cycles";
  clock.anchors = {{0, 1'000}, {1'400, 2'000}, {140'000, 101'000}};
  const ClockNumber cycles = writer.add_clock(clock);
  const TrackNumber engine = writer.add_track(track_of(
      "Tensor", "engine",
      writer.add_schema(schema_of(
          "instruction", EventKind::slice,
          {column_of("wait", ColumnType::int64, Role::wait_ns), column_of("operands", ColumnType::text, Role::operands),
           column_of("id", ColumnType::uint64, Role::key), column_of("rate", ColumnType::float64, Role::none),
           column_of("on", ColumnType::boolean, Role::none), column_of("stack", ColumnType::string, Role::stack),
           column_of("layer", ColumnType::string, Role::layer)})),
      cycles));
  const TrackNumber counter = writer.add_track(
      track_of("Pending", "counter",
               writer.add_schema(schema_of("pending", EventKind::counter,
                                           {column_of("value", ColumnType::float64, Role::value, true)}))));
  const TrackNumber memory = writer.add_track(
      track_of("Memory", "memory",
               writer.add_schema(schema_of("allocation", EventKind::memory,
                                           {column_of("size", ColumnType::int64, Role::allocation, true),
                                            column_of("address", ColumnType::uint64, Role::address, true),
                                            column_of("pool", ColumnType::string, Role::pool)}))));
  const TrackNumber flows = writer.add_track(
      track_of("Flows", "flow",
               writer.add_schema(schema_of("dependency", EventKind::flow,
                                           {column_of("from", ColumnType::uint64, Role::flow_source, true),
                                            column_of("to", ColumnType::uint64, Role::flow_target, true)}))));
  std::int64_t at = 0;
  for (std::uint64_t part = 0; part < 3; ++part) {
    for (std::uint64_t i = 0; i < 100; ++i, at += 100) {
      Row row = writer.begin_event(engine, at, i % 7 == 0 ? 150 : 60, writer.intern(i % 3 == 0 ? "MATMUL" : "a/b/c"));
      row.integer(0, static_cast<std::int64_t>(i % 9));
      row.text(1, i % 2 == 0 ? "S[4]>=2 src=fp16" : "dst");
      row.unsigned_integer(2, part * 100 + i);
      row.real(3, static_cast<double>(i) / 3);
      row.boolean(4, i % 2 == 0);
      row.string(5, writer.intern("k.py:3 in f\nk.py:9 in g"));
      row.string(6, writer.intern("model/layer" + std::to_string(i % 4)));
      writer.sample(counter, at, static_cast<double>(i % 17));
      Row space = writer.begin_event(memory, at, 0, writer.intern("tensor"));
      space.integer(0, i % 2 == 0 ? 4'096 : -4'096);
      space.unsigned_integer(1, 0x1000 * (i / 2));
      space.string(2, writer.intern("HBM"));
      if (i % 10 != 1) continue;
      Row flow = writer.begin_event(flows, at, 0, writer.intern("semaphore"));
      flow.unsigned_integer(0, part * 100 + i - 1);
      flow.unsigned_integer(1, part * 100 + i);
    }
    writer.flush();
  }
  writer.set_meta("device", "test");
  writer.add_source_file("k.py", "a\nb\nc\n");
  writer.add_quality({"dropped_events", 1, "one"});
  static_cast<void>(writer.finish());
  return std::move(sink.frames);
}

// The checksums of a record or chunk as they are after a change.
inline void repair_checksums(capture::wire::Frame& frame) {
  Bytes& body = frame.body;
  if (frame.header.type == capture::wire::FrameType::chunk) {
    if (body.size() < sizeof(ChunkHeader)) return;
    ChunkHeader header;
    std::memcpy(&header, body.data(), sizeof header);
    header.payload_checksum = checksum(ByteView(body).subspan(sizeof header));
    header.header_checksum = checksum_of_header(header);
    std::memcpy(body.data(), &header, sizeof header);
    return;
  }
  if (body.size() < kDefinitionHeaderBytes) return;
  std::uint16_t kind = 0;
  std::uint32_t scope = 0;
  std::memcpy(&kind, body.data() + 4, sizeof kind);
  std::memcpy(&scope, body.data() + 12, sizeof scope);
  const ByteView content = ByteView(body).subspan(kDefinitionHeaderBytes);
  const std::uint64_t sum =
      checksum(content) ^ (std::uint64_t{kind} << 48) ^ (std::uint64_t{scope} << 32) ^ content.size();
  std::memcpy(body.data() + 16, &sum, sizeof sum);
}

// `next` gives numbers: of a generator or of a fuzzer's input.
template <typename Next>
void change(std::vector<capture::wire::Frame>& frames, Next next) {
  static constexpr std::array<std::uint64_t, 8> kOdd = {0,
                                                        1,
                                                        std::numeric_limits<std::uint64_t>::max(),
                                                        0x8000'0000'0000'0000,
                                                        0x7fff'ffff'ffff'ffff,
                                                        0x7ff8'0000'0000'0000,  // no number
                                                        0x7fef'ffff'ffff'ffff,  // the largest double
                                                        0x0000'ffff'0000'ffff};
  capture::wire::Frame& frame = frames[next() % frames.size()];
  Bytes& body = frame.body;
  const std::size_t at = next() % body.size();
  switch (next() % 5) {
    case 0:
      body[at] ^= static_cast<std::byte>(1U << (next() % 8));
      break;
    case 1:
      body[at] = static_cast<std::byte>(next());
      break;
    case 2: {  // a number, where numbers are likely to lie
      const std::uint64_t value = kOdd[next() % kOdd.size()];
      const std::size_t size = std::size_t{1} << (next() % 4);
      const std::size_t place = at / 4 * 4;
      std::memcpy(body.data() + place, &value, std::min(size, body.size() - place));
      break;
    }
    case 3: {  // what another frame says takes its place
      const std::size_t other = next() % frames.size();
      frame.body = frames[other].body;
      frame.header.type = frames[other].header.type;
      break;
    }
    default: {  // it comes again later
      capture::wire::Frame again = frame;
      frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(next() % (frames.size() + 1)), std::move(again));
      for (std::size_t i = 0; i < frames.size(); ++i) frames[i].header.sequence = i + 1;
      return;
    }
  }
  repair_checksums(frame);
}

class StoreSinks final : public capture::ingest::SinkProvider {
 public:
  explicit StoreSinks(Store& store) : store_(store) {}
  EventSink& sink(std::uint32_t /*scope*/) override {
    if (sink_ == nullptr) sink_ = std::make_unique<StoreSink>(store_);
    return *sink_;
  }

 private:
  Store& store_;
  std::unique_ptr<StoreSink> sink_;
};

// Up to the first frame that is refused, as a viewer takes them. How many were taken.
inline std::size_t take_frames(Store& store, const std::vector<capture::wire::Frame>& frames) {
  StoreSinks sinks(store);
  capture::ingest::StreamIngest ingest(sinks);
  std::size_t taken = 0;
  for (const capture::wire::Frame& frame : frames) {
    if (!ingest.take(frame)) break;
    ++taken;
  }
  return taken;
}

}  // namespace accelscope::test
