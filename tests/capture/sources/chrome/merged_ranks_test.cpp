// Traces of several ranks that other tools merged into one file.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/advice/advice.h"
#include "core/analysis/collectives/collectives.h"
#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

// Three ranks that meet in three collectives of their GPUs 2, 3 and 4: when each comes, in µs, and when all are done.
constexpr int kArrivals[3][3] = {{10'000, 20'000, 30'100}, {10'500, 20'700, 30'000}, {12'000, 23'000, 31'000}};
constexpr int kEnds[3] = {12'100, 23'100, 31'100};

enum class Merged : std::uint8_t { offset, brackets, names_only, concatenated };

std::string pid_of(Merged merged, int rank, int pid) {
  switch (merged) {
    case Merged::offset:
    case Merged::names_only:
      return std::to_string(pid + rank * 100'000'000);
    case Merged::brackets:
      return fmt::format("\"[TP{:02}] {}\"", rank, pid);
    case Merged::concatenated:
      return std::to_string(pid);
  }
  return {};
}

std::string merged_ranks(Merged merged) {
  std::string rows;
  for (int rank = 0; rank < 3; ++rank) {
    const int gpu = rank + 2, process = 80 + rank;
    const std::string device = pid_of(merged, rank, gpu), host = pid_of(merged, rank, process);
    if (merged == Merged::offset || merged == Merged::names_only) {
      rows += fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"RANK {} - GPU"}}}},)",
                          device, rank);
    }
    const std::string more = merged == Merged::offset ? fmt::format(R"(,"rank":{})", rank) : std::string();
    for (int i = 0; i < 3; ++i) {
      const int begin = kArrivals[rank][i];
      rows += fmt::format(
          R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{},"tid":{},"ts":{},"dur":5,"args":{{"correlation":{}}}}},)",
          host, process, begin - 20, 100 + i);
      rows += fmt::format(
          R"json({{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic(ncclDevComm*)","pid":{},"tid":4,"ts":{},"dur":{},)json"
          R"json("args":{{"device":{},"stream":4,"correlation":{},"Collective name":"allreduce","In msg nelems":1000,)json"
          R"json("Out msg nelems":1000,"Group size":3,"dtype":"Float","Process Group Name":"0",)json"
          R"json("Process Group Ranks":"[0, 1, 2]"{}}}}},)json",
          device, begin, kEnds[i] - begin, gpu, 100 + i, more);
    }
  }
  rows.pop_back();
  return "{\"schemaVersion\":1,\"traceEvents\":[" + rows + "]}";
}

std::map<std::string, std::int64_t> waits_of(const analysis::Collectives& all) {
  std::map<std::string, std::int64_t> waits;
  for (const analysis::CollectiveInstance& instance : all.instances) {
    for (const analysis::CollectiveCell& cell : all.cells_of(instance))
      waits[all.ranks[cell.rank].name] += analysis::Collectives::wait_ns(instance, cell);
  }
  return waits;
}

}  // namespace

TEST_CASE("ranks that a tool merged are there once, wait as they did, and launch their own kernels") {
  for (const Merged merged : {Merged::offset, Merged::brackets, Merged::names_only, Merged::concatenated}) {
    CAPTURE(static_cast<int>(merged));
    const Imported session = imported_trace(merged_ranks(merged));
    WorkerPool pool(1);
    TaskControl control;
    const QueryContext query{session.store(), session.store().snapshot(), pool, control};
    const auto found = analysis::find_collectives(query);
    REQUIRE(found.ok());
    const analysis::Collectives& all = **found;
    CHECK(all.ranks.size() == 3);
    CHECK(all.present() == 3);
    std::vector<std::int64_t> waits;
    for (const auto& [rank, ns] : waits_of(all)) waits.push_back(ns);
    CHECK(waits == std::vector<std::int64_t>{5'900'000, 4'800'000, 0});
    if (merged != Merged::concatenated) {
      for (const analysis::CollectiveRank& rank : all.ranks) CHECK(rank.name.starts_with("rank "));
    }
    const auto advice = analysis::find_advice(query, {});
    REQUIRE(advice.ok());
    const auto late =
        std::find_if((*advice)->findings.begin(), (*advice)->findings.end(),
                     [](const analysis::Finding& each) { return each.rule->id == analysis::RuleId::straggling_rank; });
    REQUIRE(late != (*advice)->findings.end());
    CHECK(late->saving_ns == 4'700'000);

    // Every kernel is launched 20 µs before it begins, by its own rank.
    std::map<EventId, std::int64_t> begins;
    for (const char* table : {"runtime_call", "kernel"}) {
      for (const EventValues& event : session.events(table)) begins[event.id] = event.begin;
    }
    std::size_t launches = 0;
    for (const EventValues& flow : session.events("dependency")) {
      const std::int64_t call = begins.at(static_cast<EventId>(flow.integer("source_event").value()));
      const std::int64_t work = begins.at(static_cast<EventId>(flow.integer("target_event").value()));
      CHECK(work - call == 20'000);
      ++launches;
    }
    CHECK(launches == 9);
  }
}

TEST_CASE("GPUs of merged ranks are called by rank and by the number that they have on their host") {
  for (const Merged merged : {Merged::offset, Merged::brackets}) {
    const Imported session = imported_trace(merged_ranks(merged));
    std::vector<std::string> devices;
    for (const TrackSnapshot& track : session.store().snapshot()->tracks) {
      if (track.track->kind == "collective") devices.push_back(track.track->device);
    }
    std::sort(devices.begin(), devices.end());
    CHECK(devices == std::vector<std::string>{"rank 0 GPU 2", "rank 1 GPU 3", "rank 2 GPU 4"});
  }
}

}  // namespace accelscope::capture
