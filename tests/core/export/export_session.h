// A session with everything that exports tell apart, and what is in it as plain rows: a thread whose calls lie within
// each other, a stream whose kernels overlap anyhow, counters of whole and of real numbers, moments, rows without time,
// every type of column, texts that need quoting, and dependencies of which some lead backwards.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/export/base/export_format.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::test {

struct ExportedEvent {
  std::string table;
  std::string name;
  std::int64_t begin = 0, end = 0;
  std::map<std::string, std::string> args;  // by column, as text; of real numbers the bits
  auto operator<=>(const ExportedEvent&) const = default;
};

// The events at the ends by their keys.
struct ExportedArrow {
  std::string source, target;
  auto operator<=>(const ExportedArrow&) const = default;
};

// What a format hands out, file by file; "" is the one file of formats that write one.
class CollectedFiles final : public exporting::ExportOutput {
 public:
  Result<void> begin_file(const std::string& name) override {
    at_ = name;
    files[at_];
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    files[at_] += bytes;
    return writes_left-- > 0 ? Result<void>{} : Error{"the disk is full"};
  }

  std::map<std::string, std::string> files;
  int writes_left = 1'000'000;

 private:
  std::string at_;
};

class ExportSession {
 public:
  static constexpr std::int64_t kBegin = -500;  // some of it lies before the session's 0
  static constexpr std::int64_t kUnixNs = 1'700'000'000'000'000'000;

  explicit ExportSession(std::uint32_t seed, int calls = 20'000) : random_(seed) {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(created).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    define(writer);
    std::int64_t at = kBegin;
    for (left_ = calls; left_ > 0;) {
      at += pick(20);
      const std::int64_t length = 1 + pick(3000);
      write_call(writer, at, at + length, 0, "");
      at += length;
    }
    end_ = at;
    write_kernels(writer, calls / 10);
    write_others(writer);
    writer.set_meta("begin_unix_ns", std::to_string(kUnixNs));
    writer.set_meta("name", "the \"session\"");
    writer.add_source_file("kernel.py", "import accelerator");
    REQUIRE(writer.finish().ok());
    snapshot = store->snapshot();
  }

  [[nodiscard]] exporting::ExportRequest request() { return {{*store, snapshot, pool, control}}; }

  std::unique_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool pool{2};
  TaskControl control;
  std::vector<ExportedEvent> events;  // with a length, and moments
  std::vector<ExportedArrow> arrows;
  std::vector<std::pair<std::int64_t, std::string>> samples;  // ns, value as text
  std::map<std::string, std::int64_t> self_ns;                // by stack of the thread: "step;call 3"
  std::uint64_t rows_without_time = 0;

 private:
  [[nodiscard]] std::int64_t pick(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  void define(SessionWriter& writer) {
    Schema schema;
    schema.name = "runtime_call";
    schema.columns = {{.name = "key", .type = ColumnType::uint64, .role = Role::key, .required = true},
                      {.name = "size", .type = ColumnType::int64},
                      {.name = "share", .type = ColumnType::float64},
                      {.name = "sync", .type = ColumnType::boolean},
                      {.name = "file", .type = ColumnType::string},
                      {.name = "note", .type = ColumnType::text}};
    calls_ = writer.add_track(
        {.name = "main; thread", .kind = "host_thread", .host = "host", .schema = writer.add_schema(schema)});
    schema.name = "kernel";
    kernels_ = writer.add_track(
        {.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = writer.add_schema(schema)});
    schema.name = "mark";
    schema.kind = EventKind::instant;
    marks_ =
        writer.add_track({.name = "marks", .kind = "host_thread", .host = "host", .schema = writer.add_schema(schema)});
  }

  void add(SessionWriter& writer, TrackNumber track, ExportedEvent event, std::optional<std::uint32_t> depth) {
    const std::int64_t length = event.end - event.begin;
    const StringId name = writer.intern(event.name);
    Row row = depth ? writer.begin_event_at(track, *depth, event.begin, length, name)
                    : writer.begin_event(track, event.begin, length, name);
    const std::uint64_t key = (std::uint64_t{1} << 63) + events.size();  // more than an int64 holds
    row.unsigned_integer(0, key);
    event.args["key"] = std::to_string(key);
    if (pick(2) == 0) {
      const auto size = static_cast<std::int64_t>(random_());
      row.integer(1, size);
      event.args["size"] = std::to_string(size);
    }
    if (pick(3) == 0) {
      const double share = 0.125 * static_cast<double>(pick(1000));
      row.real(2, share);
      event.args["share"] = std::to_string(share);
    }
    if (pick(3) == 0) {
      const bool sync = pick(2) == 0;
      row.boolean(3, sync);
      event.args["sync"] = sync ? "true" : "false";
    }
    if (pick(2) == 0) {
      const std::string file = pick(9) == 0 ? std::string() : "dir/\"a\".py:" + std::to_string(pick(7));
      row.string(4, writer.intern(file));
      event.args["file"] = file;
    }
    if (pick(4) == 0) {
      const std::string note = "note, \n\xc3\xa9 " + std::to_string(random_());
      row.text(5, note);
      event.args["note"] = note;
    }
    events.push_back(std::move(event));
  }

  void write_call(SessionWriter& writer, std::int64_t begin, std::int64_t end, std::uint32_t depth,
                  const std::string& above) {
    --left_;
    const std::string name = depth == 0 ? "step" : "call " + std::to_string(pick(50));
    const std::string stack = above.empty() ? name : above + ";" + name;
    add(writer, calls_, {"runtime_call", name, begin, end, {}}, depth);
    std::int64_t self = end - begin;
    std::int64_t at = begin;
    while (depth < 6 && left_ > 0 && pick(8) != 0) {
      at += pick(3) == 0 ? 0 : pick(1 + (end - begin) / 8);
      // Some have no length, some end where the one above them does.
      const std::int64_t length = pick(10) == 0 ? 0 : pick(12) == 0 ? end - at : 1 + pick(1 + (end - begin) / 4);
      if (at + length > end || at >= end) break;
      write_call(writer, at, at + length, depth + 1, stack);
      at += length;
      self -= length;
    }
    self_ns[stack] += self;
  }

  void write_kernels(SessionWriter& writer, int count) {
    std::int64_t at = kBegin;
    for (int i = 0; i < count; ++i) {
      at += pick(2 * (end_ - kBegin) / count);
      const ExportedEvent kernel{"kernel", "kernel<" + std::to_string(pick(20)) + ">", at, at + pick(900), {}};
      add(writer, kernels_, kernel, std::nullopt);
    }
  }

  void write_others(SessionWriter& writer) {
    for (int i = 0; i < 50; ++i) {
      const std::int64_t at = kBegin + i * (end_ - kBegin) / 50;
      add(writer, marks_, {"mark", "mark", at, at, {}}, std::nullopt);
    }
    Schema counter;
    counter.name = "bytes";
    counter.kind = EventKind::counter;
    counter.columns = {{.name = "value", .type = ColumnType::int64, .role = Role::value, .required = true}};
    const TrackNumber whole = writer.add_track({.name = "memory in use",
                                                .kind = "counter",
                                                .device = "gpu 0",
                                                .unit = "B",
                                                .schema = writer.add_schema(counter)});
    counter.name = "load";
    counter.columns.front().type = ColumnType::float64;
    const TrackNumber real =
        writer.add_track({.name = "load", .kind = "counter", .unit = "%", .schema = writer.add_schema(counter)});
    for (std::int64_t i = 0; i < 300; ++i) {
      writer.sample(whole, kBegin + i * 7, (std::int64_t{1} << 60) + i);
      samples.emplace_back(kBegin + i * 7, std::to_string((std::int64_t{1} << 60) + i));
      writer.sample(real, kBegin + i * 5, 0.5 * static_cast<double>(i) - 10);
      samples.emplace_back(kBegin + i * 5, std::to_string(0.5 * static_cast<double>(i) - 10));
    }
    Schema tensor;
    tensor.name = "tensor";
    tensor.kind = EventKind::table;
    tensor.columns = {{.name = "bytes", .type = ColumnType::int64}};
    const TrackNumber tensors =
        writer.add_track({.name = "Tensors", .kind = "table", .schema = writer.add_schema(tensor)});
    for (int i = 0; i < 5; ++i) {
      writer.begin_event(tensors, 0, 0, writer.intern("w" + std::to_string(i))).integer(0, i);
      ++rows_without_time;
    }
    Schema flow;
    flow.name = "dependency";
    flow.kind = EventKind::flow;
    flow.columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                    {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}};
    const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .schema = writer.add_schema(flow)});
    for (int i = 0; i < 500; ++i) {
      const auto from = static_cast<std::size_t>(pick(static_cast<std::int64_t>(events.size())));
      const auto to = static_cast<std::size_t>(pick(static_cast<std::int64_t>(events.size())));
      if (from == to) continue;
      arrows.push_back({events[from].args["key"], events[to].args["key"]});
      Row row = writer.begin_event(flows, events[to].begin, 0, writer.intern(i % 2 == 0 ? "launch" : "wait"));
      row.unsigned_integer(0, (std::uint64_t{1} << 63) + from);
      row.unsigned_integer(1, (std::uint64_t{1} << 63) + to);
    }
  }

  std::mt19937_64 random_;
  int left_ = 0;
  std::int64_t end_ = 0;
  TrackNumber calls_ = 0, kernels_ = 0, marks_ = 0;
};

}  // namespace accelscope::test
