#pragma once

#include "core/chunk/session_writer.h"
#include "tests/core/analysis/hierarchy/expected_tree.h"

namespace accelscope::test {

// Random calls within calls on several threads, some of which wait, some launch work of a device.
class RandomCalls {
 public:
  RandomCalls(std::uint32_t seed, int threads) : random_(seed) {
    const SchemaNumber call =
        writer_.add_schema({.name = "call",
                            .wait_names = {"sync"},
                            .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber kernel = writer_.add_schema(
        {.name = "kernel", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber flow =
        writer_.add_schema({.name = "flow",
                            .kind = EventKind::flow,
                            .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target}}});
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = kernel});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .schema = flow});
    for (int i = 0; i < threads; ++i) {
      const TrackNumber track = writer_.add_track(
          {.name = std::to_string(i + 1), .kind = "host_thread", .host = "python3 (7)", .schema = call});
      std::int64_t at = 0;
      for (int top = 0; top < 40; ++top) {
        const std::int64_t end = at + 20 + number(400);
        make_call(track, at, end, {});
        at = end + number(30);
      }
    }
    for (const auto& [begin, work] : launches_) {
      writer_.begin_event(stream_, work.begin_ns, work.length_ns(), writer_.intern("gemm")).unsigned_integer(0, ++key_);
      Row row = writer_.begin_event(flows_, begin, 0, writer_.intern("launch"));
      row.unsigned_integer(0, kFirstLaunch + launched_++);
      row.unsigned_integer(1, key_);
    }
    REQUIRE(writer_.finish().ok());
  }
  [[nodiscard]] QueryContext query() { return {*store_, store_->snapshot(), pool_, control_}; }

  struct Plain {
    Path path;
    std::int64_t begin = 0, end = 0;
    TimeRange launched{0, 0};
    Intervals own;  // without what lies in it
  };
  [[nodiscard]] ExpectedTree expected(const TimeRange& range, const std::string& wanted_name) const {
    ExpectedTree tree;
    tree[{}];
    for (const Plain& call : calls_) {
      const bool counts = wanted_name.empty() || call.path.back() == wanted_name;
      if (!range.holds(call.begin, call.end)) continue;
      if (counts) {
        each_level(tree, call.path, [&](ExpectedNode& node) {
          ++node.events;
          node.launched_ns += std::max<std::int64_t>(
              0, std::min(call.launched.end_ns, range.end_ns) - std::max(call.launched.begin_ns, range.begin_ns));
        });
      }
      // Its own time is that of the innermost call around it that counts.
      Path counted = call.path;
      while (!counted.empty() && !wanted_name.empty() && counted.back() != wanted_name) counted.pop_back();
      if (counted.empty()) continue;
      for (const auto& [begin, end] : call.own) {
        const std::pair part(std::max(begin, range.begin_ns), std::min(end, range.end_ns));
        if (part.first >= part.second) continue;
        const bool waits = call.path.back() == "sync";
        each_level(tree, counted, [&](ExpectedNode& node) {
          if (waits) node.wait_ns += part.second - part.first;
          if (!waits) node.busy.push_back(part);
        });
        if (!waits) tree[counted].self.push_back(part);
      }
    }
    return tree;
  }

 private:
  static constexpr std::uint64_t kFirstLaunch = 1'000'000;
  std::int64_t number(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  void make_call(TrackNumber track, std::int64_t begin, std::int64_t end, const Path& above) {
    static const char* const kNames[] = {"f", "g", "step", "sync", "launch"};
    const std::string name = kNames[number(5)];
    Plain call{above, begin, end, {0, 0}, {}};
    call.path.push_back(name);
    Row row = writer_.begin_event(track, begin, end - begin, writer_.intern(name));
    if (name == "launch") {
      call.launched = {device_at_, device_at_ + 10 + number(90)};
      device_at_ = call.launched.end_ns + 3;
      row.unsigned_integer(0, kFirstLaunch + launches_.size());
      launches_.emplace_back(begin, call.launched);
    }
    const std::size_t mine = calls_.size();
    calls_.push_back(call);
    std::int64_t at = begin;
    while (above.size() < 5 && number(3) != 0) {
      const std::int64_t from = at + 1 + number(20), to = from + 4 + number(80);
      if (to >= end) break;
      if (from > at) calls_[mine].own.emplace_back(at, from);
      make_call(track, from, to, calls_[mine].path);
      at = to;
    }
    calls_[mine].own.emplace_back(at, end);
  }

  std::mt19937_64 random_;
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  TrackNumber stream_ = 0, flows_ = 0;
  std::vector<std::pair<std::int64_t, TimeRange>> launches_;
  std::vector<Plain> calls_;
  std::uint64_t key_ = 0, launched_ = 0;
  std::int64_t device_at_ = 50'000;
};

}  // namespace accelscope::test
