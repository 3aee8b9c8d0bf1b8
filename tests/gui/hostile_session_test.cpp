// What a hostile agent may say while it is being recorded, drawn in every panel at every zoom: the viewer lives, and
// goes on showing what it can.
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <thread>

#include "app/frame/places.h"
#include "core/chunk/chunk_builder.h"
#include "core/model/time_range.h"
#include "tests/fuzz/live/changed_stream.h"
#include "tests/gui/viewer.h"
#include "tests/support/fake_capture.h"

using namespace accelscope;
using namespace accelscope::app;
using namespace accelscope::test;
using capture::client::CapturePhase;

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();

class HostileViewer {
 public:
  HostileViewer() {
    viewer.emplace(frame::AppOptions{.state_directory = "", .services = fake.services()});
    connect();
  }
  // A further capture, in a tab of its own.
  void connect() {
    const std::size_t tabs = viewer->app.workspace().tab_count();
    viewer->app.workspace().connect("trn1-07:7420");
    REQUIRE(viewer->frames_until([&] { return viewer->app.workspace().tab_count() > tabs; }));
    fake.set_phase(CapturePhase::streaming);
    viewer->shell.frame(2);
    store = viewer->tab().store;
    scope = store->new_scope();
  }
  // Refused or taken, as the store likes.
  void define(const Definition& definition) { static_cast<void>(store->define(scope, definition)); }
  void append(ChunkBuilder& builder) { static_cast<void>(store->append(scope, builder.seal())); }
  void draw(int frames = 3) { viewer->shell.frame(frames); }
  void draw_panel(const frame::PanelInfo& panel) {
    REQUIRE(viewer->app.commands().run("panel_" + std::string(panel.name)));
    draw(2);
  }
  void draw_all_panels() {
    for (const frame::PanelInfo& panel : frame::all_panels()) {
      CAPTURE(panel.name);
      draw_panel(panel);
    }
  }
  void draw_at_all_zooms() {
    session::SessionTab& tab = viewer->tab();
    for (const auto& [begin, end] : {std::pair{-9.3e18, 9.3e18},
                                     {-4.7e18, -4.6e18},
                                     {0.0, 10.0},
                                     {4.6e18, 4.7e18},
                                     {-1e3, 1e5},
                                     {4.611686018427387e18, 4.6116860184273899e18}}) {
      tab.view = {begin, end};
      draw(2);
    }
    for (int i = 0; i < 6; ++i) {
      viewer->shell.wheel({0, i < 3 ? -20.0F : 20.0F});
      draw(1);
    }
  }
  // Still alive: what comes in order is shown; and once the capture has ended, every panel draws its answer.
  void check_alive() {
    const std::uint64_t before = viewer->tab().snapshot->event_count;
    fake.make_events(10);
    draw(3);
    CHECK(viewer->tab().snapshot->event_count >= before + 10);
    CHECK(viewer->shell.shows("recording"));
    end();
    for (const frame::PanelInfo& panel : frame::all_panels()) {
      CAPTURE(panel.name);
      draw_panel(panel);
      draw_answers();
    }
  }
  // Frames while workers answer: what they have found by then is drawn, and nothing is waited for.
  void draw_answers() {
    for (int i = 0; i < 8; ++i) {
      draw(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  void end() {
    fake.set_phase(CapturePhase::ended);
    draw(2);
  }

  FakeCapture fake;
  std::optional<Viewer> viewer;
  std::shared_ptr<Store> store;
  std::uint32_t scope = 0;
};

}  // namespace

TEST_CASE("hostile: a table, a track and a clock announced again as something else are drawn as they were first") {
  HostileViewer hostile;
  Schema work =
      schema_of("work", EventKind::slice,
                {column_of("c0", ColumnType::int64, Role::none), column_of("c1", ColumnType::int64, Role::none)});
  Schema pending = schema_of("pending", EventKind::counter, {column_of("v", ColumnType::int64, Role::value)});
  pending.number = 1;
  for (const Schema& schema : {work, pending}) hostile.define(schema);
  Clock clock;
  clock.anchors = {{0, 0}, {1'000, 1'000}};
  hostile.define(clock);
  Track track = track_of("t", "stream", 0, 0);
  hostile.define(track);
  hostile.define(Lane{0, 0, 0});
  hostile.define(StringBatch{1, {"alpha", "beta"}});
  ChunkBuilder builder(work, 0);
  for (std::int64_t i = 0; i < 200; ++i) builder.append(i * 20, 10, 1 + static_cast<StringId>(i % 2));
  hostile.append(builder);
  hostile.draw();

  Schema again = work;
  again.kind = EventKind::counter;
  hostile.define(again);
  hostile.draw();
  track.kind = "counter";
  track.schema = 1;
  hostile.define(track);
  hostile.draw();
  for (const std::vector<ClockAnchor>& anchors : {std::vector<ClockAnchor>{{0, kLow}, {1, kHigh}},
                                                  {{kLow, kLow}, {kHigh, kHigh}},
                                                  {{0, 0}, {1, kFarthestTime}},
                                                  {{-kFarthestTime, 0}, {kFarthestTime, 1}}}) {
    clock.anchors = anchors;
    hostile.define(clock);
    hostile.draw();
  }
  hostile.draw_all_panels();
  hostile.draw_at_all_zooms();
  const Snapshot& shown = *hostile.viewer->tab().snapshot;
  const LaneSnapshot* lane = shown.find_lane(scoped_number(hostile.scope, 0));
  REQUIRE(lane != nullptr);
  CHECK(lane->schema->kind == EventKind::slice);
  const TrackSnapshot* first = shown.find_track(scoped_number(hostile.scope, 0));
  REQUIRE(first != nullptr);
  CHECK(first->track->kind == "stream");
  hostile.check_alive();
}

TEST_CASE("hostile: events and samples from one end of time to the other, with values that are no numbers, are drawn") {
  HostileViewer hostile;
  hostile.define(StringBatch{1, {"far", "near"}});
  std::uint32_t number = 0;
  // Two events are as long as half of all time; more of them would be more than int64 sums up.
  for (const EventKind kind : {EventKind::slice, EventKind::counter, EventKind::instant, EventKind::memory,
                               EventKind::flow, EventKind::table}) {
    for (const char* row : {"engine", "counter", "memory", "stream", "layer", "throttle"}) {
      Schema schema = schema_of(
          "odd", kind,
          {column_of("v", ColumnType::float64, kind == EventKind::memory ? Role::allocation : Role::value),
           column_of("bytes", ColumnType::int64, Role::bytes), column_of("a", ColumnType::uint64, Role::address)});
      schema.name = "odd" + std::to_string(number);
      schema.number = number;
      hostile.define(schema);
      Track track = track_of("t", row, number);
      track.number = number;
      track.parent = number % 5 == 0 ? number + 1 : number - 1;  // in circles
      track.unit = number % 2 == 0 ? "B" : "ns";
      hostile.define(track);
      hostile.define(Lane{number, number, 0});
      ChunkBuilder builder(schema, number);
      const auto put = [&](std::int64_t begin, std::int64_t length, double value, std::int64_t bytes) {
        const std::uint32_t at = builder.append(begin, length, 1);
        builder.set_float64(0, at, value);
        builder.set_int64(1, at, bytes);
        builder.set_uint64(2, at, ~std::uint64_t{0} - at);
      };
      put(-kFarthestTime, number == 0 ? kFarthestTime : 1, std::numeric_limits<double>::max(), kLow);
      put(0, 10, std::nan(""), kHigh);
      put(20, 0, -std::numeric_limits<double>::infinity(), -1);
      put(30, number == 1 ? kFarthestTime / 2 : 1, std::numeric_limits<double>::lowest(), 1);
      put(kFarthestTime, 0, std::numeric_limits<double>::denorm_min(), kLow + 1);
      hostile.append(builder);
      ++number;
    }
  }
  hostile.draw();
  hostile.draw_all_panels();
  hostile.draw_at_all_zooms();
  hostile.check_alive();
}

TEST_CASE("hostile: names, stacks and texts of any length and kind are drawn") {
  HostileViewer hostile;
  Schema work = schema_of(
      "work", EventKind::slice,
      {column_of("stack", ColumnType::string, Role::stack), column_of("layer", ColumnType::string, Role::layer)});
  work.name_column = std::string("n\0", 2) + std::string(3'000, 'x');
  hostile.define(work);
  Track track = track_of("", "stream", 0);
  for (const std::string& name : {std::string(), std::string("a\0b", 3), std::string(4'000, 'w'),
                                  std::string("\x1b[31m"), std::string("\xff\xfe"), std::string("\u202e")}) {
    track.name = name;
    track.device = name;
    track.host = name;
    hostile.define(track);
    ++track.number;
  }
  hostile.define(Lane{0, 0, 0});
  std::vector<std::string> names;
  for (const auto& [part, count] : {std::pair{"x/", 50'000},
                                    {"a\n", 20'000},
                                    {"a::", 30'000},
                                    {"a_", 30'000},
                                    {"f<", 20'000},
                                    {"f16", 30'000},
                                    {"A", 100'000},
                                    {" ", 50'000}}) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    names.push_back(text);
    names.push_back(text + "b");
  }
  hostile.define(StringBatch{1, names});
  ChunkBuilder builder(work, 0);
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const std::uint32_t at = builder.append(100 * i, 90, i + 1);
    builder.set_uint64(0, at, i + 1);
    builder.set_uint64(1, at, names.size() - i);
  }
  hostile.append(builder);
  hostile.draw();
  hostile.viewer->tab().selected = make_event_id(scoped_number(hostile.scope, 0), 2);
  hostile.draw_all_panels();
  hostile.draw_at_all_zooms();
  hostile.check_alive();
}

TEST_CASE("hostile: forty streams whose frames were changed behind their checksums are drawn") {
  const std::vector<capture::wire::Frame> frames = live_frames();
  std::size_t whole = 0;
  HostileViewer hostile;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<capture::wire::Frame> changed = frames;
    for (std::uint32_t i = 0; i <= seed % 4; ++i) change(changed, [&random] { return random(); });
    hostile.connect();
    whole += take_frames(*hostile.store, changed) == changed.size() ? 1 : 0;
    hostile.draw(2);
    hostile.end();
    hostile.draw_panel(frame::all_panels()[seed % frame::all_panels().size()]);
    hostile.draw_answers();
  }
  CHECK(whole > 5);  // else the changes show nothing but what is refused
}
