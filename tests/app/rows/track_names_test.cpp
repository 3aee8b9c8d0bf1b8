#include <doctest/doctest.h>

#include <set>

#include "app/rows/groups.h"
#include "core/store/store.h"

namespace accelscope::app::rows {
namespace {

// Tracks under numbers that the test gives them, as another run would.
struct Numbered {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  std::uint32_t scope = store->new_scope();

  void add(TrackNumber number, const char* kind, const char* name, const char* device = "nc0", const char* host = "",
           TrackNumber parent = kNone) {
    REQUIRE(store->define(
        scope, Track{.number = number, .parent = parent, .name = name, .kind = kind, .device = device, .host = host}));
  }
  [[nodiscard]] TrackNames names() const { return TrackNames(*store->snapshot()); }
};

TEST_CASE("track names: the same program has the same names, whatever the numbers and the order") {
  Numbered first, second;
  first.add(1, "engine", "Tensor");
  first.add(2, "dma_queue", "q0");
  first.add(3, "dma_queue", "q0-E1", "nc0", "", 2);
  second.add(40, "dma_queue", "q0");
  second.add(7, "dma_queue", "q0-E1", "nc0", "", 40);
  second.add(9, "engine", "Tensor");
  CHECK(first.names().of(1) == "engine/Tensor@nc0");
  CHECK(first.names().of(3) == "dma_queue/q0/q0-E1@nc0");
  CHECK(second.names().find(first.names().of(1)) == 9);
  CHECK(second.names().find(first.names().of(2)) == 40);
  CHECK(second.names().find(first.names().of(3)) == 7);
  CHECK(first.names().of(99).empty());
}

TEST_CASE("track names: those of one description are told apart by a number, and odd signs do not make two alike") {
  Numbered tracks;
  tracks.add(5, "layer", "mlp");
  tracks.add(8, "layer", "mlp");
  tracks.add(9, "layer", "mlp#2");
  tracks.add(10, "layer", "a/b");
  tracks.add(11, "layer", "b", "nc0", "", 12);
  tracks.add(12, "layer", "a");
  tracks.add(13, "layer", "a@nc0", "");
  tracks.add(14, "layer", "a\\", "@nc0");
  tracks.add(15, "layer", "", "", "");
  tracks.add(16, "layer", "circle", "nc0", "", 17);
  tracks.add(17, "layer", "circle", "nc0", "", 16);
  const TrackNames names = tracks.names();
  CHECK(names.of(8) == "layer/mlp@nc0#2");
  std::set<std::string> all;
  for (const TrackSnapshot& track : tracks.store->snapshot()->tracks) {
    const TrackNumber number = track.track->number;
    CHECK(all.insert(names.of(number)).second);
    CHECK(names.find(names.of(number)) == number);
  }
}

TEST_CASE("track names: on another machine the host is overlooked, unless that leaves two") {
  Numbered tracks;
  tracks.add(1, "engine", "Tensor", "nc0", "box7");
  tracks.add(2, "engine", "Tensor", "nc0", "box8");
  tracks.add(3, "engine", "Vector", "nc0", "box8");
  tracks.add(4, "host_thread", "main", "", "box8");
  const TrackNames names = tracks.names();
  CHECK(names.find("engine/Vector@nc0@box1") == 3);
  CHECK(names.find("engine/Vector@nc0") == 3);
  CHECK(names.find("host_thread/main@@box1") == 4);
  CHECK(names.find("engine/Tensor@nc0@box8") == 2);
  CHECK_FALSE(names.find("engine/Tensor@nc0@box1"));
  CHECK_FALSE(names.find("engine/Vector@nc1@box8"));
  CHECK_FALSE(names.find(""));
}

TEST_CASE("row keys: a track's name is found in its key, and in no other key") {
  Numbered tracks;
  tracks.add(1, "engine", "Tensor");
  const std::string key = row_key(tracks.names(), 1);
  CHECK(track_in_key(key) == "engine/Tensor@nc0");
  CHECK_FALSE(track_in_key("group:Engines"));
}

}  // namespace
}  // namespace accelscope::app::rows
