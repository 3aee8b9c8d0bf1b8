// Writes what a program does that compiles: threads whose calls lie within calls and launch work, a stream, annotations
// of steps, and lines of output.
#pragma once

#include <string>
#include <vector>

#include "core/chunk/session_writer.h"

namespace accelscope::test {

class CompilingProgram {
 public:
  // Programs of one session differ by their hosts, and by more than they launch in the keys of their events.
  explicit CompilingProgram(SessionWriter& to, const std::string& host = "python3 (7)", int threads = 1,
                            std::uint64_t first_key = 0)
      : writer(to), key_(first_key) {
    const auto keyed = [&](const char* name) {
      return writer.add_schema({.name = name,
                                .wait_names = std::string(name) == "runtime_call"
                                                  ? std::vector<std::string>{"cudaStreamSynchronize"}
                                                  : std::vector<std::string>{},
                                .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    };
    const SchemaNumber call = keyed("python"), runtime = keyed("runtime_call"), kernel = keyed("kernel");
    const SchemaNumber flow =
        writer.add_schema({.name = "flow",
                           .kind = EventKind::flow,
                           .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                                       {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}}});
    const SchemaNumber annotation = keyed("user_annotation");
    const SchemaNumber line =
        writer.add_schema({.name = "output_line",
                           .kind = EventKind::instant,
                           .columns = {{.name = "text", .type = ColumnType::text, .role = Role::none}}});
    for (int thread = 0; thread < threads; ++thread) {
      const std::string name = std::to_string(11 + thread);
      calls_.push_back(writer.add_track(
          {.name = name + " python", .kind = "host_thread", .host = host, .schema = call, .order = 2}));
      runtime_.push_back(writer.add_track(
          {.name = name + " runtime", .kind = "host_thread", .host = host, .schema = runtime, .order = 3}));
      steps_.push_back(writer.add_track(
          {.name = name + " annotations", .kind = "host_thread", .host = host, .schema = annotation, .order = 1}));
    }
    stream_ = writer.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    copies_ = writer.add_track({.name = "stream 9", .kind = "stream", .device = "gpu 0", .schema = kernel});
    flows_ = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
    out_ = writer.add_track({.name = "stdout", .kind = "output", .device = "train.py", .schema = line});
    err_ = writer.add_track({.name = "stderr", .kind = "output", .device = "train.py", .schema = line});
  }

  // A call of Python; outer ones first.
  EventId call(std::int64_t begin, std::int64_t length, const std::string& name, int thread = 0) {
    return writer.begin_event(calls_[at(thread)], begin, length, writer.intern(name)).id();
  }
  EventId step(std::int64_t begin, std::int64_t length, const std::string& name, int thread = 0) {
    return writer.begin_event(steps_[at(thread)], begin, length, writer.intern(name)).id();
  }
  void wait(std::int64_t begin, std::int64_t length, int thread = 0) {
    writer.begin_event(runtime_[at(thread)], begin, length, writer.intern("cudaStreamSynchronize"));
  }
  // A call of the driver, and the kernel that it launches.
  void launch(std::int64_t begin, std::int64_t length, std::int64_t work_begin, std::int64_t work_length,
              int thread = 0, bool other_stream = false, const char* name = "cudaLaunchKernel") {
    writer.begin_event(runtime_[at(thread)], begin, length, writer.intern(name)).unsigned_integer(0, ++key_);
    writer.begin_event(other_stream ? copies_ : stream_, work_begin, work_length, writer.intern("gemm"))
        .unsigned_integer(0, ++key_);
    Row row = writer.begin_event(flows_, begin, 0, writer.intern("ac2g"));
    row.unsigned_integer(0, key_ - 1);
    row.unsigned_integer(1, key_);
  }
  EventId line(std::int64_t at, const std::string& text, bool err = false) {
    Row row = writer.begin_event(err ? err_ : out_, at, 0, writer.intern(text.substr(0, 20)));
    row.text(0, text);
    return row.id();
  }

  SessionWriter& writer;

 private:
  static std::size_t at(int thread) { return static_cast<std::size_t>(thread); }
  std::vector<TrackNumber> calls_, runtime_, steps_;
  TrackNumber stream_ = 0, copies_ = 0, flows_ = 0, out_ = 0, err_ = 0;
  std::uint64_t key_;
};

}  // namespace accelscope::test
