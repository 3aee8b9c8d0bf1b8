// Widgets as a user works them: real presses, drags, keys and text through the null shell.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gallery.h"
#include "render/shell/null_shell.h"
#include "render/widgets/table_drawing.h"
#include "render/widgets/widgets.h"

using namespace accelscope::render;

TEST_CASE("widgets: a button works when it is pressed and released on it, and only then") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("button.Primary"));
  CHECK(gallery.presses == 1);
  const Point on = shell.find("button.Primary")->centre();
  shell.drag(on, {on.x, on.y + 200});
  CHECK(gallery.presses == 1);
  REQUIRE(shell.click("button.Disabled"));
  CHECK(gallery.presses == 1);
  CHECK_FALSE(shell.click("button.NoSuch"));
}

TEST_CASE("widgets: a disabled button says why after the pointer rests on it") {
  Gallery gallery;
  gallery.show_card = false;
  NullShell shell(gallery);
  REQUIRE(shell.hover("button.Disabled"));
  CHECK_FALSE(shell.shows("Nothing is selected"));
  shell.wait(0.3);
  CHECK(shell.shows("Nothing is selected"));
}

TEST_CASE("widgets: checkboxes, segments, sliders, links and chips change what they stand for") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("on"));
  CHECK_FALSE(gallery.checked);
  REQUIRE(shell.click("segments.0"));
  CHECK(gallery.segment == 0);
  REQUIRE(shell.click("link"));
  CHECK(gallery.last_link == "link");
  REQUIRE(shell.click("chip.close"));
  CHECK(gallery.chip_closed);
  const Rect slider = *shell.find("slider");
  shell.drag(slider.centre(), {slider.x1 + 50, slider.centre().y});
  CHECK(gallery.level == doctest::Approx(1));
}

TEST_CASE("widgets: a text input takes typing, selection and Esc as editors do") {
  Gallery gallery;
  NullShell shell(gallery);
  CHECK(shell.shows("placeholder"));
  REQUIRE(shell.click("field"));
  shell.type("gemm kernel");
  CHECK(gallery.typed == "gemm kernel");
  shell.key(Key::a, {.ctrl = true});
  shell.key(Key::backspace);
  shell.type("µs");
  CHECK(gallery.typed == "µs");
  CHECK(shell.shows("µs"));
  CHECK_FALSE(shell.shows("placeholder"));
  CHECK(shell.ui().typing());
  shell.key(Key::escape);
  shell.frame();
  CHECK_FALSE(shell.ui().typing());
}

TEST_CASE("widgets: tabs are chosen by a click, closed by their x or the middle button") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("tabs.two"));
  CHECK(gallery.active_tab == 1);
  CHECK(gallery.closed_tab == -1);
  REQUIRE(shell.click("tabs.one.close"));
  CHECK(gallery.closed_tab == 0);
  REQUIRE(shell.click("tabs.two", MouseButton::middle));
  CHECK(gallery.closed_tab == 1);
}

TEST_CASE("widgets: a menu opens below its title, works by mouse and keyboard, and closes by Esc") {
  Gallery gallery;
  NullShell shell(gallery);
  CHECK_FALSE(shell.shows("Ctrl+O"));
  REQUIRE(shell.click("menu.File"));
  CHECK(shell.shows("Ctrl+O"));
  REQUIRE(shell.click("menu.File.save"));  // it is disabled
  CHECK(gallery.chosen_menu_item.empty());
  REQUIRE(shell.click("menu.File.open"));
  CHECK(gallery.chosen_menu_item == "open");
  CHECK_FALSE(shell.shows("Ctrl+O"));

  gallery.chosen_menu_item.clear();
  REQUIRE(shell.click("menu.View"));
  shell.key(Key::down);
  shell.key(Key::enter);
  CHECK(gallery.chosen_menu_item == "dark");

  REQUIRE(shell.click("menu.File"));
  shell.key(Key::escape);
  CHECK_FALSE(shell.shows("Ctrl+O"));
}

TEST_CASE("widgets: a submenu opens beside its item") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("menu.File"));
  REQUIRE(shell.click("menu.File.recent"));
  shell.frame(2);
  REQUIRE(shell.click("menu.File.recent.one"));
  CHECK(gallery.chosen_menu_item == "one");
}

TEST_CASE("widgets: a dropdown changes to the item that is clicked") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("dropdown"));
  REQUIRE(shell.click("dropdown.1"));
  CHECK(gallery.choice == 1);
  CHECK(shell.shows("Queue"));
}

TEST_CASE("widgets: a table selects, sorts, resizes and copies") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("table.row.0"));
  CHECK(gallery.selected_row == 0);
  shell.key(Key::down);
  CHECK(gallery.selected_row == 1);
  REQUIRE(shell.click("table.head.1"));
  CHECK(gallery.table_state.sort_column == 1);
  CHECK(gallery.table_state.descending);
  REQUIRE(shell.click("table.head.1"));
  CHECK_FALSE(gallery.table_state.descending);

  const Rect head = *shell.find("table.head.1");
  shell.drag({head.x1 - 1, head.centre().y}, {head.x1 + 40, head.centre().y});
  REQUIRE(gallery.table_state.widths.size() == 5);
  CHECK(gallery.table_state.widths[1] > 100);

  const Rect row = *shell.find("table.row.1");
  shell.click({row.x0 + 60, row.centre().y}, MouseButton::right);
  REQUIRE(shell.click("table.menu.0"));
  CHECK(shell.clipboard() == "LDWEIGHTS");
  shell.click({row.x0 + 60, row.centre().y}, MouseButton::right);
  REQUIRE(shell.click("table.menu.1"));
  CHECK(shell.clipboard() == "LDWEIGHTS\t512\t39.61 µs\t77 ns\t13.9 %");
}

namespace {

// A table whose column of counts is declared too narrow for them.
class NarrowTable final : public FrameClient {
 public:
  void frame(Ui& ui) override {
    const std::vector<TableColumn> columns = {{.title = "Name"},
                                              {.title = "Events", .width = 40, .align = Align::right}};
    const TableContent content = [](std::size_t, std::size_t column) {
      return TableCell{.text =
                           column == 0 ? "a name that is far too long for its cell and may be cut" : "1,247,123,456"};
    };
    (void)table(ui, "narrow", {0, 0, 300, 100}, columns, 1, content, state_);
  }

 private:
  TableState state_;
};

}  // namespace

TEST_CASE("widgets: a number in a table is never cut, its column grows instead") {
  NarrowTable narrow;
  NullShell shell(narrow);
  shell.frame(3);
  CHECK(shell.shows("1,247,123,456"));
}

TEST_CASE("widgets: a table shows only rows with a cell that contains what is typed, whatever the case of letters") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("table.row.0"));
  shell.key(Key::f, {.ctrl = true, .shift = true});
  shell.frame(2);
  shell.type("ldweights");
  shell.frame(2);
  CHECK(gallery.table_state.filter == "ldweights");
  CHECK(shell.find("table.row.0") == nullptr);
  REQUIRE(shell.click("table.row.1"));  // rows keep their numbers
  CHECK(gallery.selected_row == 1);
  const Rect row = *shell.find("table.row.1");
  shell.click({row.x0 + 60, row.centre().y}, MouseButton::right);
  REQUIRE(shell.click("table.menu.2"));
  CHECK(shell.clipboard().ends_with("\nLDWEIGHTS\t512\t39.61 µs\t77 ns\t13.9 %\n"));
  CHECK(std::count(shell.clipboard().begin(), shell.clipboard().end(), '\n') == 2);  // titles and one row
  REQUIRE(shell.click("table.filter.text"));
  shell.type("no such row");
  shell.frame(2);
  CHECK(shell.shows("No row contains it"));
  shell.key(Key::escape);
  shell.frame(2);
  CHECK(gallery.table_state.filter.empty());
  CHECK(shell.find("table.row.0") != nullptr);
  REQUIRE(shell.click("table.filter"));
  shell.frame(2);
  CHECK(shell.find("table.filter.text") != nullptr);
}

TEST_CASE("widgets: a table's columns are chosen by a right click on its head, and one always stays") {
  Gallery gallery;
  NullShell shell(gallery);
  for (const char* column : {"table.columns.1", "table.columns.2", "table.columns.3", "table.columns.4"}) {
    REQUIRE(shell.click("table.head.0", MouseButton::right));
    REQUIRE(shell.click(column));
    shell.frame(2);
  }
  CHECK(shell.find("table.head.1") == nullptr);
  CHECK(shell.find("table.head.0")->x1 > shell.find("table.row.0")->centre().x);  // what is left fills the table
  REQUIRE(shell.click("table.head.0", MouseButton::right));
  REQUIRE(shell.click("table.columns.0"));
  CHECK_FALSE(gallery.table_state.hidden[0]);
  shell.key(Key::escape);
  const Rect row = *shell.find("table.row.1");
  shell.click({row.x0 + 60, row.centre().y}, MouseButton::right);
  REQUIRE(shell.click("table.menu.1"));
  CHECK(shell.clipboard() == "LDWEIGHTS");
  REQUIRE(shell.click("table.head.0", MouseButton::right));
  REQUIRE(shell.click("table.columns.all"));
  shell.frame(2);
  CHECK(shell.find("table.head.4") != nullptr);
}

TEST_CASE("widgets: a long table is filtered in steps, and anew when text, rows, order or columns change") {
  TableFilter filter;
  std::size_t asked = 0;
  bool is_slow = true;
  const auto contains = [&](std::size_t row, std::string_view text) {
    // The first row takes all the time that a frame has for them.
    const auto begin = std::chrono::steady_clock::now();
    while (is_slow && asked % TableFilter::kStep == 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <=
               TableFilter::kMostSeconds) {
    }
    ++asked;
    return contains_text("Row " + std::to_string(row), text);
  };
  TableFilter::Key key{.text = "ROW 1", .rows = 50'000};
  CHECK_FALSE(filter.update(key, contains));
  CHECK(asked == TableFilter::kStep);
  is_slow = false;
  while (!filter.update(key, contains)) CHECK(asked < 50'000);
  CHECK(filter.update(key, contains));
  CHECK(asked == 50'000);
  CHECK(filter.rows().size() == 11'111);
  CHECK(std::is_sorted(filter.rows().begin(), filter.rows().end()));
  key.sort_column = 1;
  is_slow = true;
  CHECK_FALSE(filter.update(key, contains));
  CHECK(asked == 50'000 + TableFilter::kStep);
  asked = 0;
  key.rows = 10;
  CHECK(filter.update(key, contains));
  CHECK(filter.update(key, contains));
  CHECK(asked == 20);  // short ones may change without notice
  CHECK(filter.rows() == std::vector<std::uint32_t>{1});
}

TEST_CASE("widgets: a table as CSV quotes what would break it") {
  const TableColumn columns[] = {{.title = "name"}, {.title = "note"}};
  const auto content = [](std::size_t, std::size_t column) {
    return TableCell{.text = column == 0 ? "a,b" : "say \"hi\""};
  };
  CHECK(table_text(columns, 1, content, ',') == "name,note\n\"a,b\",\"say \"\"hi\"\"\"\n");
}

TEST_CASE("widgets: a table as text has what its cells hold for programs, under the column's name for them") {
  const TableColumn columns[] = {{.title = "Busy", .data_title = "busy_ns"}, {.title = "Note"}};
  const auto content = [](std::size_t, std::size_t column) {
    if (column == 1) return TableCell{.text = "short", .exact = "the whole"};
    return TableCell{.text = "1.5 µs", .exact = "1,500 ns", .data = "1500"};
  };
  CHECK(table_text(columns, 1, content, ',') == "busy_ns,Note\n1500,short\n");
}

TEST_CASE("widgets: a table as JSON has numbers to their last digit, texts in quotes and null for nothing") {
  const TableColumn columns[] = {{.title = "Busy", .data_title = "busy_ns"}, {.title = "Note"}};
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"9007199254740993", "say \"hi\"\n"}, {"-1.5e-3", "01"}, {"", "1.e3"}, {"0", "-"}, {"1e", "NaN"}};
  const auto content = [&](std::size_t row, std::size_t column) {
    return TableCell{.data = column == 0 ? cells[row].first : cells[row].second};
  };
  CHECK(table_in_form(columns, 5, content, TableForm::json) ==
        "[\n{\"busy_ns\": 9007199254740993, \"Note\": \"say \\\"hi\\\"\\n\"},\n"
        "{\"busy_ns\": -1.5e-3, \"Note\": \"01\"},\n{\"busy_ns\": null, \"Note\": \"1.e3\"},\n"
        "{\"busy_ns\": 0, \"Note\": \"-\"},\n{\"busy_ns\": \"1e\", \"Note\": \"NaN\"}\n]\n");
  CHECK(table_in_form(columns, 0, content, TableForm::json) == "[]\n");
}

TEST_CASE("widgets: long work can be cancelled, and an empty panel offers a way on") {
  Gallery gallery;
  NullShell shell(gallery);
  REQUIRE(shell.click("progress.cancel"));
  CHECK(gallery.cancelled);
  REQUIRE(shell.click("empty.1"));
  CHECK(gallery.empty_action == 1);
}

TEST_CASE("widgets: a hover card never lies over what it explains") {
  const Rect window{0, 0, 800, 600};
  for (const Point corner : {Point{0, 0}, Point{700, 0}, Point{0, 580}, Point{700, 580}, Point{400, 300}}) {
    const Rect slice{corner.x, corner.y, corner.x + 90, corner.y + 16};
    const Rect label{0, corner.y, 200, corner.y + 16};
    const Rect card = place_beside(window, {240, 120}, slice, label, slice.centre(), 6);
    CHECK_FALSE(card.overlaps(slice));
    CHECK_FALSE(card.overlaps(label));
    CHECK(card.x0 >= window.x0);
    CHECK(card.y0 >= window.y0);
    CHECK(card.x1 <= window.x1);
    CHECK(card.y1 <= window.y1);
  }
}

namespace {

// A field with what explains it in reach below: its tooltip has its usual place over the field.
struct HintedField final : FrameClient {
  std::string typed;
  Rect field, hint;
  void frame(Ui& ui) override {
    field = {100, 160, 500, 186};
    hint = {100, 190, 500, 210};
    (void)text_input(ui, "field", field, typed);
    tooltip(ui, interact(ui, "hint", hint), hint, "name=matmul finds by the name, dur>2us by the duration");
  }
  [[nodiscard]] bool settled() const override { return true; }
};

}  // namespace

TEST_CASE("widgets: a hint keeps off the field that is typed into, at every edge of the window") {
  HintedField client;
  NullShell shell(client, {.width = 620, .height = 214});  // no room below
  const auto shown_hint = [&] {
    shell.wait(0.5);
    const auto& texts = shell.ui().texts();
    const auto found = std::ranges::find_if(
        texts, [](const VisibleText& text) { return text.text.find("by the") != std::string::npos; });
    REQUIRE(found != texts.end());
    return found->rect;
  };
  REQUIRE(shell.hover("hint"));
  CHECK(shown_hint().overlaps(client.field));  // nothing is typed: it lies where it has room
  REQUIRE(shell.click("field"));
  shell.type("dur");
  shell.move({200, 200});
  CHECK_FALSE(shown_hint().overlaps(client.field));
  CHECK_FALSE(shown_hint().overlaps(client.hint));
}
