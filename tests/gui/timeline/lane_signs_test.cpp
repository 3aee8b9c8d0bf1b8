// What the timeline adds to a source's own lanes: derived counters, signs of errors, and search hits of what is closed.
#include <doctest/doctest.h>

#include "app/timeline/frame.h"
#include "core/chunk/session_writer.h"
#include "tests/gui/viewer.h"

namespace accelscope::app {
namespace {

using namespace render;

// Two engines, busy half and a quarter of the time; two errors close together, one far from them, and a counter.
struct SignViewer : test::Viewer {
  SignViewer() {
    const std::string path = folder.path() + "/signs.accel";
    {
      std::shared_ptr<Store> store = std::move(Store::create()).value();
      StoreSink sink(*store);
      SessionWriter writer(sink);
      const SchemaNumber schema = writer.add_schema({.name = "instruction"});
      const SchemaNumber error = writer.add_schema({.name = "error", .kind = EventKind::instant});
      const SchemaNumber counter = writer.add_schema(
          {.name = "counter",
           .kind = EventKind::counter,
           .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
      const StringId work = writer.intern("WORK");
      for (const char* engine : {"Tensor", "Vector"}) {
        const TrackNumber track =
            writer.add_track({.name = engine, .kind = "engine", .device = "nc0", .schema = schema});
        const std::int64_t length = engine[0] == 'T' ? 5'000 : 2'500;
        for (std::int64_t i = 0; i < 100; ++i) {
          (void)writer.begin_event(track, i * 10'000, length, i == 70 ? writer.intern("RARE") : work);
        }
      }
      const TrackNumber errors =
          writer.add_track({.name = "Errors", .kind = "error", .device = "nc0", .schema = error});
      (void)writer.begin_event(errors, 300'000, 0, writer.intern("out of bounds"));
      (void)writer.begin_event(errors, 300'500, 0, writer.intern("NaN written"));
      (void)writer.begin_event(errors, 800'000, 0, writer.intern("completion error"));
      const TrackNumber reads =
          writer.add_track({.name = "reads", .kind = "counter", .device = "nc0", .unit = "B/s", .schema = counter});
      writer.sample(reads, 0, 5.0);
      REQUIRE(writer.finish());
      REQUIRE(store->save(path));
    }
    open(path);
    tab().show({0, 1'000'000});
    REQUIRE(shell.settle());
  }
  [[nodiscard]] const timeline::TimelineState& state() { return *tab().timeline; }
  [[nodiscard]] const rows::TimelineRow* row(const std::string& label) {
    for (const rows::TimelineRow& each : state().rows) {
      if (each.label == label) return &each;
    }
    return nullptr;
  }
  [[nodiscard]] std::string selected_name() {
    if (!tab().selected) return "";
    const Result<EventRecord> event = test::read_event(tab(), *tab().selected);
    return event ? event->name_text : event.message();
  }
  test::TemporaryFolder folder;
};

TEST_CASE_FIXTURE(SignViewer, "the device's utilisation stands above its counters, and opens into its engines'") {
  const rows::TimelineRow* all = row("Utilisation (derived)");
  REQUIRE(all != nullptr);
  REQUIRE(row("reads") != nullptr);
  CHECK(all < row("reads"));
  CHECK(row("Tensor (derived)") == nullptr);
  REQUIRE(shell.click("timeline.label." + all->key));
  shell.frame(2);
  REQUIRE(shell.settle());
  REQUIRE(row("Tensor (derived)") != nullptr);
  const Rect label = *shell.find("timeline.label." + row("Vector (derived)")->key);
  const Rect canvas = *shell.find("timeline.canvas");
  shell.move({canvas.centre().x, label.centre().y});
  shell.wait(0.3);
  CHECK(shell.shows("Vector utilisation"));
  CHECK(shell.shows("Derived: Share of the time"));
  CHECK(shell.shows("Stretches of"));
}

TEST_CASE_FIXTURE(SignViewer, "the values of a derived counter follow the view and stay within what is true") {
  const rows::TimelineRow* all = row("Utilisation (derived)");
  REQUIRE(all != nullptr);
  const content::DerivedValues::Answer* answer = state().derived.answer();
  REQUIRE(answer != nullptr);
  double sum = 0;
  const std::vector<float>& values = answer->values.at(all->key);
  for (const float value : values) sum += static_cast<double>(value);
  const double busy_ns = sum * static_cast<double>(answer->stretch_ns);
  CHECK(busy_ns == doctest::Approx(100 * (5'000 + 2'500) / 2.0).epsilon(0.001));
  const std::int64_t coarse = answer->stretch_ns;
  tab().show({0, 50'000});
  REQUIRE(shell.settle());
  CHECK(state().derived.answer()->stretch_ns < coarse);
}

TEST_CASE_FIXTURE(SignViewer,
                  "errors have a sign where they happened, near ones share it, and clicks go through them") {
  REQUIRE(shell.find("timeline.sign.0") != nullptr);
  REQUIRE(shell.find("timeline.sign.1") != nullptr);
  CHECK(shell.find("timeline.sign.2") == nullptr);
  REQUIRE(shell.hover("timeline.sign.0"));
  shell.wait(0.3);
  CHECK(shell.shows("2 events"));
  CHECK(shell.shows("NaN written"));
  REQUIRE(shell.click("timeline.sign.0"));
  shell.frame(2);
  CHECK(selected_name() == "out of bounds");
  REQUIRE(shell.click("timeline.sign.0"));
  shell.frame(2);
  CHECK(selected_name() == "NaN written");
  REQUIRE(shell.click("timeline.sign.1"));
  shell.frame(2);
  CHECK(selected_name() == "completion error");
  tab().show({299'000, 302'000});
  REQUIRE(shell.settle());
  CHECK(shell.find("timeline.sign.1") != nullptr);  // zoomed in they stand apart
}

TEST_CASE_FIXTURE(SignViewer, "search hits are marked on collapsed groups and on the overview") {
  run("collapse_groups");
  REQUIRE(shell.settle());
  const auto found_in = [&](const SummaryStrip& strip) { return strip.found.size(); };
  CHECK(found_in(state().summaries.at("group:Engines").shown) == 0);
  tab().change([](session::ViewChoices& all) { all.search = "RARE"; });
  CHECK(wait_for([&] { return found_in(state().summaries.at("group:Engines").shown) > 0; }));
  const PixelRun run = state().summaries.at("group:Engines").shown.found.front();
  const Rect canvas = *shell.find("timeline.canvas");
  CHECK(run.begin == doctest::Approx(canvas.width() * 0.7F).epsilon(0.01));
  shell.wait(0.5);  // the overview is renewed a few times a second
  CHECK(wait_for([&] {
    return std::any_of(state().overview.bands.begin(), state().overview.bands.end(),
                       [&](const SummaryBuilder& band) { return found_in(band.strip()) > 0; });
  }));
}

TEST_CASE_FIXTURE(SignViewer, "the summary of a collapsed group is dimmed outside the selected box") {
  run("collapse_groups");
  REQUIRE(shell.settle());
  const std::vector<Pixel> bright = state().summaries.at("group:Engines").shown.texels;
  tab().region = EventFilter{.range = TimeRange{0, 500'000}, .tracks = {}, .terms = {}};
  shell.frame(2);
  REQUIRE(shell.settle());
  const std::vector<Pixel>& now = state().summaries.at("group:Engines").shown.texels;
  REQUIRE(now.size() == bright.size());
  const std::size_t quarter = bright.size() / 4;
  std::size_t changed_inside = 0, changed_outside = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    changed_inside += now[i] != bright[i] ? 1U : 0U;
    changed_outside += now[i + 2 * quarter] != bright[i + 2 * quarter] ? 1U : 0U;
  }
  CHECK(changed_inside == 0);
  CHECK(changed_outside > quarter / 8);
}

}  // namespace
}  // namespace accelscope::app
