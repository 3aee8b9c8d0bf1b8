// The Collectives panel with real clicks on simulated runs of eight and sixty-four ranks: the straggler's sentence, the
// map, what a click on a column, a rank and a row selects, which ranks the timeline shows, and what is said where
// nothing can be.
#include <algorithm>

#include "app/session/analysis.h"
#include "capture/sim/output/simulator.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;

namespace {

struct CollectivesViewer : Viewer {
  TemporaryFolder folder;
  explicit CollectivesViewer(const capture::sim::RankFaults& faults, std::uint32_t devices = 8) {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    REQUIRE(capture::sim::simulate(
                {.seed = 3, .devices = devices, .detail = capture::sim::Detail::ranks, .faults = faults}, sink)
                .ok());
    REQUIRE(store->save(folder.file("ranks.accel")).ok());
    open(folder.file("ranks.accel"));
    app.layout().show("collectives");
    app.layout().maximise("collectives");
    REQUIRE(wait_for([&] { return shell.find("collectives.map") != nullptr; }));
  }
  [[nodiscard]] bool contains_words(const std::string& text) const {
    return shell.visible_text().find(text) != std::string::npos;
  }
  // Where a rank's line and an instance's column meet.
  [[nodiscard]] render::Point cell(std::size_t column, std::size_t columns, std::size_t rank, std::size_t ranks) const {
    const render::Rect& map = *shell.find("collectives.map");
    return {map.x0 + map.width() * (static_cast<float>(column) + 0.5F) / static_cast<float>(columns),
            map.y0 + map.height() * (static_cast<float>(rank) + 0.5F) / static_cast<float>(ranks)};
  }
  void choose(const char* item) {
    REQUIRE(shell.click("collectives.shown"));
    shell.frame(2);
    REQUIRE(shell.click(std::string("collectives.shown_menu.") + item));
    shell.frame(3);
    REQUIRE(shell.settle());
  }
};

}  // namespace

TEST_CASE("collectives panel: the planted straggler is named with the time that others waited, and why") {
  CollectivesViewer viewer({.straggler = 3});
  CHECK(viewer.contains_words("Rank 3 (host 0) is the straggler: last in "));
  CHECK(viewer.contains_words("All others wait 1."));
  CHECK(viewer.contains_words("mlp bwd takes 1.2"));
  CHECK(viewer.contains_words("all ranks share one clock"));
  CHECK(viewer.shell.find("collectives.operations.row.0") != nullptr);
  CHECK(viewer.shell.find("collectives.ranks.row.7") != nullptr);
}

TEST_CASE("collectives panel: no rank is blamed where none is late, and clocks apart are told of") {
  CollectivesViewer viewer({.clock_skew_ns = 20'000}, 16);
  CHECK(viewer.contains_words("No rank is a straggler."));
  CHECK(viewer.contains_words("clocks set by 48 collectives; residual"));
  REQUIRE(viewer.shell.click("collectives.clocks"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("collectives.clocks.1"));
  CHECK(viewer.wait_for([&] { return viewer.contains_words("clocks as recorded; residual"); }));
  CHECK(viewer.contains_words("Every difference is below the residual of the clocks."));
}

TEST_CASE("collectives panel: a click on a column selects the instance's events, and the timeline goes there") {
  CollectivesViewer viewer({.straggler = 3});
  const session::ViewRange before = viewer.tab().view;
  viewer.shell.click(viewer.cell(10, 48, 5, 8));
  viewer.shell.frame(3);
  REQUIRE(viewer.tab().region);
  REQUIRE(viewer.tab().region->range);
  CHECK(viewer.tab().region->tracks.size() == 8);
  CHECK_FALSE(viewer.tab().view == before);
  const TimeRange range = *viewer.tab().region->range;
  CHECK(viewer.tab().view.begin_ns <= static_cast<double>(range.begin_ns));
  CHECK(viewer.tab().view.end_ns >= static_cast<double>(range.end_ns));
  REQUIRE(viewer.tab().operation);
  CHECK(viewer.tab().operation->parts.size() == 8);
  CHECK(viewer.tab().operation->title == "#10 first in");
  CHECK(std::count_if(viewer.tab().operation->parts.begin(), viewer.tab().operation->parts.end(),
                      [](const auto& part) { return part.is_last; }) == 1);
  viewer.app.layout().restore();
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.shell.find("timeline.operation") != nullptr);
  CHECK(viewer.contains_words("#10 first in"));
  CHECK(viewer.contains_words("skew "));
  viewer.app.layout().maximise("collectives");
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.contains_words("Arrivals in #10"));
  CHECK(viewer.contains_words("7 wait "));
  CHECK(viewer.contains_words("Durations of "));
  viewer.app.layout().restore();
  REQUIRE(viewer.shell.settle());
  // Without a selection the mark goes too.
  viewer.shell.key(render::Key::escape);
  viewer.shell.frame(3);
  CHECK_FALSE(viewer.tab().operation);
}

TEST_CASE("collectives panel: an event that is selected elsewhere is marked with all parts of its operation") {
  CollectivesViewer viewer({});
  const auto& lanes = viewer.tab().snapshot->lanes;
  const auto part =
      std::find_if(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.schema->name == "cc_op"; });
  REQUIRE(part != lanes.end());
  viewer.tab().selected = make_event_id(part->number(), 7);
  REQUIRE(viewer.wait_for([&] { return viewer.tab().operation != nullptr; }));
  CHECK(viewer.tab().operation->title == "#7 first in");
}

TEST_CASE("collectives panel: the card says when a rank came, and what others waited") {
  CollectivesViewer viewer({.straggler = 3});
  viewer.shell.move(viewer.cell(10, 48, 3, 8));
  viewer.shell.wait(0.5);
  CHECK(viewer.wait_for([&] { return viewer.contains_words("#10, rank 3"); }));
  CHECK(viewer.contains_words("Arrives"));
  CHECK(viewer.contains_words("Median of the others"));
  CHECK(viewer.contains_words("Bus bandwidth"));
}

TEST_CASE("collectives panel: the timeline shows a few ranks, one, or all again") {
  CollectivesViewer viewer({.straggler = 37}, 64);
  CHECK(viewer.contains_words("All 64 ranks shown"));
  viewer.choose("few");
  CHECK(viewer.contains_words("4 of 64 ranks shown"));
  CHECK(viewer.tab().choices.rows.only.size() == 8);  // two tracks each
  viewer.shell.click(viewer.cell(2, 48, 37, 64));
  viewer.shell.frame(3);
  viewer.choose("one");
  CHECK(viewer.contains_words("1 of 64 ranks shown"));
  viewer.app.layout().restore();
  REQUIRE(viewer.shell.settle());
  CHECK(viewer.contains_words("Compute"));
  CHECK_FALSE(viewer.contains_words("rank 36"));
  viewer.app.layout().maximise("collectives");
  REQUIRE(viewer.shell.settle());
  viewer.choose("all");
  CHECK(viewer.tab().choices.rows.only.empty());
}

TEST_CASE("collectives panel: a rank opens in a tab of its own, with its rows and events alone") {
  CollectivesViewer viewer({.straggler = 3});
  viewer.shell.click(viewer.cell(2, 48, 6, 8));
  viewer.shell.frame(3);
  viewer.choose("tab");
  REQUIRE(viewer.app.workspace().tab_count() == 2);
  CHECK(viewer.tab().title == "rank 6");
  CHECK(viewer.tab().choices.filter.tracks.size() == 2);
  CHECK(viewer.tab().store == viewer.app.workspace().tab(0).store);
  CHECK(viewer.app.workspace().tab(0).choices.filter.empty());
  CHECK_FALSE(viewer.tab().modified);
}

TEST_CASE("collectives panel: a rank that is missing has a hatched row, and its absence is said") {
  CollectivesViewer viewer({.straggler = 3, .missing = 5});
  CHECK(viewer.shell.find("collectives.missing.5") != nullptr);
  CHECK(viewer.contains_words("1 of 8 ranks is not in the session"));
  viewer.shell.click(viewer.cell(4, 48, 5, 8));
  viewer.shell.frame(3);
  REQUIRE(viewer.tab().operation);
  CHECK(viewer.tab().operation->parts.size() == 7);
}

TEST_CASE("collectives panel: one operation is chosen, and measures change what the map says") {
  CollectivesViewer viewer({.straggler = 3});
  CHECK(viewer.contains_words("after the first"));
  REQUIRE(viewer.shell.click("collectives.measure.2"));
  CHECK(viewer.wait_for([&] { return viewer.contains_words("waiting for the last"); }));
  REQUIRE(viewer.shell.click("collectives.operations_of"));
  viewer.shell.frame(2);
  REQUIRE(viewer.shell.click("collectives.operations_of.2"));
  CHECK(viewer.wait_for(
      [&] { return viewer.contains_words(" collectives.") && !viewer.contains_words(" of 48 collectives."); }));
}

TEST_CASE("collectives panel: a session without collectives says what would bring them") {
  OpenViewer viewer;
  viewer.app.layout().show("collectives");
  REQUIRE(viewer.wait_for([&] {
    return viewer.shell.visible_text().find("No collective operation in this session") != std::string::npos;
  }));
}

namespace {

// Eight ranks that meet again and again while a capture runs; rank 5 comes late.
struct LiveRanks : Viewer {
  static constexpr std::uint32_t kRanks = 8;
  FakeCapture fake;
  std::vector<TrackNumber> tracks;
  std::int64_t step = 0;

  LiveRanks() {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    auto link = fake.link({.places = {"trn1-07:7420"}}, store);
    SessionWriter& writer = fake.writer();
    using namespace columns;
    const SchemaNumber schema = writer.add_schema(
        make_schema({"cc_op", EventKind::slice, "operation"},
                    {{"waited", kInt, "ns", kTiming, "", "", Role::wait_ns}, {"input_size", kInt, "B", kMemory}}));
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      Track track;
      track.device = "rank " + std::to_string(rank) + " nc0";
      track.name = "Collectives";
      track.kind = "collective";
      track.schema = schema;
      tracks.push_back(writer.add_track(std::move(track)));
    }
    make_steps(20);
    app.workspace().adopt_live(std::move(link), store, "live");
    fake.set_phase(capture::client::CapturePhase::streaming);
    app.layout().show("collectives");
    app.layout().maximise("collectives");
    REQUIRE(frames_until([&] { return shell.find("collectives.map") != nullptr; }));
  }
  void make_steps(int count) {
    SessionWriter& writer = fake.writer();
    for (int i = 0; i < count; ++i, ++step) {
      const std::int64_t met = 1'000'000 * (step + 1);
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        Row row = writer.begin_event(tracks[rank], met, 50'000 + 100 * rank,
                                     writer.intern(step % 4 == 3 ? "AllGather" : "AllReduce"));
        row.integer(0, rank == 5 ? 0 : 200'000 - 1'000 * static_cast<std::int64_t>(rank));
        row.integer(1, 1 << 20);
      }
    }
    writer.flush();
  }
  [[nodiscard]] bool contains_words(const std::string& text) const {
    return shell.visible_text().find(text) != std::string::npos;
  }
};

}  // namespace

TEST_CASE("collectives panel: while a capture grows nothing flickers, and what was chosen and scrolled to stays") {
  LiveRanks viewer;
  REQUIRE(viewer.frames_until([&] { return viewer.contains_words("last in 20 of 20"); }));
  const render::Rect map = *viewer.shell.find("collectives.map");
  viewer.shell.click({map.x0 + map.width() * (6.5F / 20), map.y0 + map.height() * (2.5F / 8)});
  viewer.shell.frame(3);
  REQUIRE(viewer.contains_words("Arrivals in #6"));
  REQUIRE(viewer.contains_words("Only rank 2") == false);
  std::size_t lacking = 0, stale = 0, unchosen = 0, answers = 0;
  std::string last;
  for (int round = 0; round < 6; ++round) {
    viewer.make_steps(10);
    const std::string wanted = "last in " + std::to_string(20 + 10 * (round + 1)) + " of";
    REQUIRE(viewer.frames_until([&] {
      lacking +=
          viewer.shell.find("collectives.map") == nullptr || viewer.shell.find("collectives.ranks.row.7") == nullptr
              ? 1
              : 0;
      stale += viewer.contains_words("updating ...") ? 1 : 0;
      unchosen += viewer.contains_words("Arrivals in #6") ? 0 : 1;
      return viewer.contains_words(wanted);
    }));
    ++answers;
  }
  CHECK(answers == 6);
  CHECK(lacking == 0);
  CHECK(stale == 0);
  CHECK(unchosen == 0);
  // The rank that was chosen is still the one that the menu speaks of.
  REQUIRE(viewer.shell.click("collectives.shown"));
  viewer.shell.frame(2);
  CHECK(viewer.contains_words("Only rank 2"));
}

TEST_CASE("collectives panel: a filter hides parts, and neither ranks nor who was last are forgotten") {
  CollectivesViewer viewer({.straggler = 3});
  REQUIRE(viewer.contains_words("Rank 3 (host 0) is the straggler"));
  viewer.tab().change([&](session::ViewChoices& choices) { choices.filter.terms = {{"device~/rank [0-2] /"}}; });
  REQUIRE(viewer.wait_for([&] { return viewer.contains_words("the filter hides 5 of 8 ranks"); }));
  CHECK_FALSE(viewer.contains_words("not in the session"));
  CHECK(viewer.contains_words("Rank 3 (host 0) is the straggler"));
  CHECK(viewer.shell.find("collectives.missing.5") == nullptr);
  CHECK(viewer.contains_words("All 8 ranks shown"));
}

TEST_CASE("collectives panel: a click on an operation selects all of its events") {
  CollectivesViewer viewer({});
  REQUIRE(viewer.shell.click("collectives.operations.row.0"));
  viewer.shell.frame(2);
  REQUIRE(viewer.tab().region);
  const auto mask = [&] { return viewer.tab().analysis->mask(session::MaskUse::region, *viewer.tab().region); };
  REQUIRE(viewer.wait_for([&] { return mask() != nullptr; }));
  CHECK(mask()->total() % 8 == 0);
  CHECK(mask()->total() > 0);
  CHECK(mask()->total() < 48 * 8);
}
