// A small session of a GPU and its host for tests: streams of several tracks, threads with frames, operators and calls.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/replay/what_if.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

namespace accelscope::analysis {

class GpuSession {
 public:
  GpuSession() {
    const std::vector<Column> key = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}};
    kernel_ = writer_.add_schema({.name = "kernel", .columns = key});
    memcpy_ = writer_.add_schema({.name = "memcpy", .columns = key});
    sync_ = writer_.add_schema({.name = "cuda_sync",
                                .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                                            {.name = "wait_on_stream"},
                                            {.name = "wait_on_cuda_event_record_corr_id"}}});
    memset_ = writer_.add_schema({.name = "memset", .columns = key});
    const std::vector<Column> call = {{.name = "correlation", .type = ColumnType::uint64, .role = Role::key}};
    call_ = writer_.add_schema(
        {.name = "runtime_call", .wait_names = {"cudaStreamSynchronize", "cudaEventQuery"}, .columns = call});
    operator_ = writer_.add_schema({.name = "cpu_op", .columns = key});
    const SchemaNumber flow =
        writer_.add_schema({.name = "dependency",
                            .kind = EventKind::flow,
                            .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
  }

  void kernel(const char* stream, std::uint64_t id, const char* name, std::int64_t begin_us, std::int64_t us) {
    add(device_track(stream, "stream", kernel_), id, name, begin_us, us);
  }
  void collective(const char* stream, std::uint64_t id, const char* name, std::int64_t begin_us, std::int64_t us) {
    add(device_track("NCCL, " + std::string(stream), "collective", kernel_), id, name, begin_us, us);
  }
  void copy(const char* stream, std::uint64_t id, std::int64_t begin_us, std::int64_t us) {
    add(device_track("memcpy " + std::string(stream), "dma_queue", memcpy_), id, "Memcpy HtoD", begin_us, us);
  }
  void fill(const char* stream, std::uint64_t id, std::int64_t begin_us, std::int64_t us) {
    add(device_track("memset " + std::string(stream), "dma_queue", memset_), id, "Memset", begin_us, us);
  }
  void call(const char* thread, std::uint64_t id, const char* name, std::int64_t begin_us, std::int64_t us) {
    add(host_track(std::string(thread) + " runtime", call_), id, name, begin_us, us);
  }
  void op(const char* thread, std::uint64_t id, const char* name, std::int64_t begin_us, std::int64_t us) {
    add(host_track(std::string(thread) + " operators", operator_), id, name, begin_us, us);
  }
  void launches(std::uint64_t from, std::uint64_t to) {
    Row row = writer_.begin_event(flows_, 0, 0, writer_.intern("launch"));
    row.unsigned_integer(0, from);
    row.unsigned_integer(1, to);
  }

  // What is given to the stream from then on waits for an event that a call recorded on another one.
  void stream_waits(const char* stream, std::uint64_t id, std::int64_t begin_us, std::int64_t other,
                    std::int64_t record) {
    const TrackNumber track = device_track("sync " + std::string(stream), "barrier", sync_);
    Row row = writer_.begin_event(track, begin_us * 1'000, 1'000, writer_.intern("Stream Wait Event"));
    row.unsigned_integer(0, id);
    row.integer(1, other);
    row.integer(2, record);
  }

  // After the session was asked about.
  void add_later(const char* name, std::int64_t begin_us, std::int64_t us) {
    kernel("stream 7", 99, name, begin_us, us);
    REQUIRE(writer_.finish().ok());
  }

  const WorkGraph& graph() {
    if (graph_) return *graph_;
    REQUIRE(writer_.finish().ok());
    auto built = session_graph(query());
    REQUIRE(built.ok());
    graph_ = *built;
    return *graph_;
  }
  QueryContext query() { return {*store_, store_->snapshot(), pool_, control_}; }

  // Time of the path in microseconds, by names of events; of gaps by "waiting: " and their cause.
  std::map<std::string, std::int64_t> path() {
    std::map<std::string, std::int64_t> times;
    const CriticalPath path = find_critical_path(graph(), {graph().begin_of_all_ns, graph().end_of_all_ns});
    for (const PathShare& share : path_shares(graph(), path, PathBy::name)) {
      times[(share.is_gap ? "waiting: " : "") + share.label] += share.length_ns / 1'000;
    }
    return times;
  }
  // The total with the change, in microseconds.
  std::int64_t with(const char* text) {
    const auto change = parse_change(text);
    REQUIRE(change.ok());
    const auto result = replay_with_changes(query(), graph(), {&*change, 1}, graph().begin_of_all_ns);
    REQUIRE_MESSAGE(result.ok(), (result ? "" : result.message()));
    return result->total_after_ns / 1'000;
  }

 private:
  void add(TrackNumber track, std::uint64_t id, const char* name, std::int64_t begin_us, std::int64_t us) {
    Row row = writer_.begin_event(track, begin_us * 1'000, us * 1'000, writer_.intern(name));
    row.unsigned_integer(0, id);
  }
  TrackNumber device_track(const std::string& name, const char* kind, SchemaNumber schema) {
    const auto known = tracks_.find(name);
    if (known != tracks_.end()) return known->second;
    return tracks_[name] = writer_.add_track({.name = name, .kind = kind, .device = "GPU 0", .schema = schema});
  }
  TrackNumber host_track(const std::string& name, SchemaNumber schema) {
    const auto known = tracks_.find(name);
    if (known != tracks_.end()) return known->second;
    return tracks_[name] =
               writer_.add_track({.name = name, .kind = "host_thread", .host = "python3 (1)", .schema = schema});
  }

  WorkerPool pool_{1};
  TaskControl control_;
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  SchemaNumber kernel_ = 0, memcpy_ = 0, memset_ = 0, sync_ = 0, call_ = 0, operator_ = 0;
  std::map<std::string, TrackNumber> tracks_;
  TrackNumber flows_ = 0;
  std::shared_ptr<const WorkGraph> graph_;
};

}  // namespace accelscope::analysis
