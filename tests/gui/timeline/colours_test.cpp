// Colours by a column, their legend and the view settings, through the null shell with real input.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/timeline/frame.h"
#include "app/view/colour_choices.h"
#include "core/chunk/session_writer.h"
#include "core/model/palette.h"
#include "tests/gui/viewer.h"

using namespace accelscope;
using namespace accelscope::app;

namespace {

struct ColoursFixture : test::OpenViewer {
  // Slices of the last frame that are drawn one by one, by name: their colour, how many are bright.
  struct Drawn {
    std::uint32_t colour = 0;
    int bright = 0, dimmed = 0;
  };
  Drawn drawn(std::string_view name) {
    Drawn found;
    const timeline::TimelineState& timeline = *tab().timeline;
    for (std::size_t i = 0; i < timeline.lane_count; ++i) {
      for (const render::WideSlice& slice : timeline.lanes[i].strip->slices) {
        if (tab().snapshot->strings->text(slice.name) != name) continue;
        found.colour = slice.colour;
        ++(slice.dimmed ? found.dimmed : found.bright);
      }
    }
    return found;
  }
  void settle() {
    shell.frame(2);
    REQUIRE(shell.settle());
  }
  void open_legend() {
    shell.key(render::Key::c, {.shift = true});
    REQUIRE(wait_for([&] { return shell.find("colours.values.row.0") != nullptr; }));
  }
  void choose(const std::string& column) {
    REQUIRE(shell.click("colours.column"));
    shell.frame(3);
    REQUIRE(shell.click("colours.column.menu." + column));
    settle();
    REQUIRE(wait_for([&] { return shell.find("colours.values.row.0") != nullptr; }));
  }
};

[[nodiscard]] std::uint32_t colour_of(std::string_view text) { return kSlicePalette[palette_slot(text)]; }

// Engines, a queue, layers three levels deep, a counter of use and semaphores.
std::string save_settings_session(const std::string& folder) {
  auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber slices = writer.add_schema({.name = "instruction"});
  const SchemaNumber samples = writer.add_schema(
      {.name = "use",
       .kind = EventKind::counter,
       .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value, .required = true}}});
  const auto add = [&](const char* name, const char* kind, std::int64_t levels = 1) {
    const TrackNumber track = writer.add_track({.name = name, .kind = kind, .device = "nc0", .schema = slices});
    for (std::int64_t i = 0; i < levels; ++i) {
      (void)writer.begin_event(track, i * 10, 1000 - 20 * i, writer.intern(std::string(name) + "-event"));
    }
  };
  add("Tensor", "engine");
  add("q0", "dma_queue");
  add("model", "layer", 3);
  for (const char* name : {"S[0] Tensor", "S[1] Vector", "S[2] Tensor"}) add(name, "semaphore");
  const TrackNumber use =
      writer.add_track({.name = "PE utilisation", .kind = "counter", .device = "nc0", .schema = samples});
  for (std::int64_t i = 0; i < 10; ++i) writer.sample(use, i * 100, 0.5);
  REQUIRE(writer.finish().ok());
  const std::string path = folder + "/settings.accel";
  REQUIRE(store->save(path).ok());
  return path;
}

struct SettingsFixture : test::Viewer {
  SettingsFixture() : path(save_settings_session(folder.path())) { open(path); }
  [[nodiscard]] bool has_row(std::string_view label) {
    const auto& rows = tab().timeline->rows;
    return std::any_of(rows.begin(), rows.end(), [&](const rows::TimelineRow& row) { return row.label == label; });
  }
  void click(const std::string& name) {
    REQUIRE_MESSAGE(shell.click(name), name);
    shell.frame(3);
    REQUIRE(shell.settle());
  }
  void undo() {
    if (shell.find("view_settings.close") != nullptr) click("view_settings.close");
    run("view_back");
    REQUIRE(shell.settle());
  }
  test::TemporaryFolder folder;
  std::string path;
};

}  // namespace

TEST_CASE_FIXTURE(ColoursFixture,
                  "colours: the legend lists the names, and a chosen column colours the events and the list") {
  CHECK(drawn("MATMUL").colour == colour_of("MATMUL"));
  open_legend();
  CHECK(shell.shows("Opcode"));
  CHECK(shell.shows("MATMUL"));
  CHECK(shell.shows("31 events"));

  choose("source");
  CHECK(tab().choices.colour_by == std::map<std::string, std::string>{{"instruction", "source"}});
  CHECK(shell.shows("kernel.py:3"));
  CHECK(shell.shows("no value"));
  REQUIRE(colour_of("kernel.py:3") != colour_of("MATMUL"));
  CHECK(drawn("MATMUL").colour == colour_of("kernel.py:3"));
  CHECK(drawn("ACTIVATE").colour == colour_of("kernel.py:4"));

  REQUIRE(shell.click("colours.by_name"));
  settle();
  CHECK(tab().choices.colour_by.empty());
  CHECK(drawn("MATMUL").colour == colour_of("MATMUL"));
  shell.key(render::Key::escape);
  settle();
  run("view_back");
  settle();
  CHECK(drawn("MATMUL").colour == colour_of("kernel.py:3"));
}

TEST_CASE_FIXTURE(ColoursFixture, "colours: numbers are listed as steps in their order") {
  open_legend();
  choose("duration");
  CHECK(shell.shows("By Duration"));
  REQUIRE(tab().timeline->shaded_by.colours != nullptr);
  const colour::ColourTable* table = tab().timeline->shaded_by.colours->table("instruction");
  REQUIRE(table != nullptr);
  CHECK(table->ordered);
  REQUIRE(table->values.size() >= 2);
  CHECK(shell.shows(table->values.front().text));
  CHECK(drawn("ACTIVATE").colour == table->values.front().colour);  // 50 ns; MATMUL has 100 ns
  CHECK(drawn("MATMUL").colour != drawn("ACTIVATE").colour);
}

TEST_CASE_FIXTURE(ColoursFixture,
                  "colours: a click on a value shows only it, Ctrl+click hides it, the pointer lights it") {
  open_legend();
  choose("source");
  REQUIRE(shell.hover("colours.values.row.0"));
  REQUIRE(wait_for([&] { return drawn("ACTIVATE").bright == 0; }));
  CHECK(drawn("MATMUL").dimmed == 0);
  CHECK(tab().choices.filter.empty());

  REQUIRE(shell.click("colours.values.row.0"));
  settle();
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"source=\"kernel.py:3\"", false}});
  REQUIRE(shell.click("colours.values.row.1"));  // in its place, not beside it
  settle();
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"source=\"kernel.py:4\"", false}});
  REQUIRE(shell.click("colours.values.row.1"));
  settle();
  CHECK(tab().choices.filter.empty());

  shell.hold(render::Key::left_ctrl);
  REQUIRE(shell.click("colours.values.row.0"));
  shell.hold(render::Key::left_ctrl, false);
  settle();
  CHECK(tab().choices.filter.terms == std::vector<FilterTerm>{{"source=\"kernel.py:3\"", true}});
  shell.key(render::Key::escape);
  settle();
  CHECK(drawn("MATMUL").bright == 0);
  CHECK(drawn("ACTIVATE").dimmed == 0);
  run("view_back");
  settle();
  CHECK(tab().choices.filter.empty());
  CHECK(drawn("MATMUL").dimmed == 0);
}

TEST_CASE_FIXTURE(ColoursFixture, "colours: what has no value can be shown alone and hidden") {
  const colour::ColourTable table{.table = "instruction", .column = "source"};
  colour::ColourValue missing;
  missing.missing = true;
  tab().change([&](session::ViewChoices& choices) { view::toggle_only(choices.filter, table, missing); });
  settle();
  CHECK(drawn("MATMUL").bright == 0);
  CHECK(drawn("WAIT").dimmed == 0);
  tab().change([&](session::ViewChoices& choices) { view::toggle_hidden(choices.filter, table, missing); });
  settle();
  CHECK(drawn("MATMUL").dimmed == 0);
  CHECK(drawn("WAIT").bright == 0);
  CHECK(view::state_of(tab().choices.filter, table, missing) == view::ValueState::hidden);
}

TEST_CASE_FIXTURE(SettingsFixture, "view settings: the minimal and the full view change the rows, and back undoes it") {
  REQUIRE(has_row("q0"));
  REQUIRE(has_row("Semaphores"));
  run("view_settings");
  click("view_settings.minimal");
  CHECK(has_row("Tensor"));
  CHECK(has_row("PE utilisation"));
  CHECK_FALSE(has_row("q0"));
  CHECK_FALSE(has_row("model"));
  CHECK_FALSE(has_row("Semaphores"));
  undo();
  CHECK(has_row("q0"));
  run("minimal_view");
  CHECK_FALSE(has_row("q0"));
  run("full_view");
  CHECK(has_row("q0"));
}

TEST_CASE_FIXTURE(SettingsFixture, "view settings: the levels of layers that are shown are chosen") {
  const auto levels = [&] {
    for (const rows::TimelineRow& row : tab().timeline->rows) {
      if (row.label == "model") return row.lanes.size();
    }
    return std::size_t{0};
  };
  REQUIRE(levels() == 3);
  run("view_settings");
  click("view_settings.layers");
  click("view_settings.layers.2");
  CHECK(levels() == 2);
  CHECK(tab().choices.rows.layer_depth == 2);
  undo();
  CHECK(levels() == 3);
}

TEST_CASE_FIXTURE(SettingsFixture, "view settings: semaphores are found by name, and only the checked ones are shown") {
  run("view_settings");
  CHECK(shell.shows("3 of 3 shown"));
  REQUIRE(shell.click("view_settings.semaphores.filter"));
  shell.type("tensor");
  shell.frame(3);
  CHECK(shell.find("view_settings.semaphore.S[1] Vector") == nullptr);
  click("view_settings.semaphores.none");
  CHECK(shell.shows("1 of 3 shown"));
  click("view_settings.semaphore.S[2] Tensor");
  CHECK(shell.shows("2 of 3 shown"));
  CHECK(has_row("S[1] Vector"));
  CHECK(has_row("S[2] Tensor"));
  CHECK_FALSE(has_row("S[0] Tensor"));
  undo();
  CHECK_FALSE(has_row("S[2] Tensor"));
}

TEST_CASE_FIXTURE(SettingsFixture, "view settings: the colour of a table is chosen there too") {
  run("view_settings");
  click("view_settings.colour.instruction");
  click("view_settings.colour.instruction.menu.duration");
  CHECK(tab().choices.colour_by == std::map<std::string, std::string>{{"instruction", "duration"}});
  CHECK(shell.shows("By Duration"));
  click("view_settings.colours.reset");
  CHECK(tab().choices.colour_by.empty());
}
