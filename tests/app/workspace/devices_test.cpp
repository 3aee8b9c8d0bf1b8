// What a session says of its devices in a few words.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/workspace/opening.h"
#include "core/model/track_kinds.h"

using namespace accelscope;
using namespace accelscope::app::workspace;
using namespace accelscope::app;

namespace {

void put_track(Snapshot& snapshot, const char* kind, std::string device, std::string host = "") {
  TrackSnapshot& track = snapshot.tracks.emplace_back();
  auto schema = std::make_shared<Schema>();
  schema->kind = track_kind_of(kind).samples ? EventKind::counter : EventKind::slice;
  track.schema = schema;
  track.track = std::make_shared<Track>(Track{.name = kind, .kind = kind, .device = std::move(device), .host = host});
}

}  // namespace

TEST_CASE("devices are counted by what works, whatever else of them was recorded") {
  Snapshot one;
  put_track(one, "stream", "GPU 2");
  put_track(one, "memory", "GPU 0");
  put_track(one, "counter", "GPU 0");
  CHECK(device_of(one) == "GPU 2");

  Snapshot ranks;
  for (int rank = 0; rank < 64; ++rank) {
    put_track(ranks, "host_thread", fmt::format("rank {}", rank), fmt::format("python3 ({})", 100 + rank));
    put_track(ranks, "stream", fmt::format("rank {} GPU {}", rank, rank % 8));
    put_track(ranks, "counter", fmt::format("rank {} GPU {}", rank, rank % 8), fmt::format("python3 ({})", 100 + rank));
  }
  CHECK(device_of(ranks) == "64 GPUs");

  Snapshot physical;
  put_track(physical, "engine", "nc4");
  put_track(physical, "engine", "nc5");
  put_track(physical, "counter", "nc4+nc5");
  CHECK(device_of(physical) == "nc4+nc5");

  Snapshot hosts;
  put_track(hosts, "engine", "nc0", "trn1");
  CHECK(device_of(hosts) == "trn1 nc0");
  put_track(hosts, "engine", "nc0", "trn2");
  CHECK(device_of(hosts) == "2 devices");

  Snapshot memory;
  put_track(memory, "memory", "GPU 0");
  CHECK(device_of(memory) == "GPU 0");
}
