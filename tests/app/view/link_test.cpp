#include "app/view/link.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace accelscope::app::view {
namespace {

// Random views with every field in use, out of texts that have all signs with a meaning in them.
class RandomViews {
 public:
  explicit RandomViews(unsigned seed) : random_(seed) {}

  ViewLink link() {
    ViewLink link;
    // By name, so that a field that is added does not compile until it is made here.
    auto& [range, choices, filter_tracks, selected, passed_over] = link;
    if (chance()) {
      const double begin = time();
      range = session::ViewRange{begin, begin + std::abs(begin) * 0.001 + 0.3};
    }
    fill(choices);
    repeat([&] { filter_tracks.push_back(text()); });
    if (chance()) selected = LinkedEvent{random_() >> 1U, text()};
    passed_over.clear();  // only ever read
    return link;
  }

 private:
  void fill(session::ViewChoices& choices) {
    auto& [filter, search, colour_by, rows] = choices;
    auto& [range, tracks, terms] = filter;
    if (chance()) range = TimeRange{static_cast<std::int64_t>(random_()), static_cast<std::int64_t>(random_())};
    tracks.clear();  // they go by name
    repeat([&] { terms.push_back({text(), chance()}); });
    search = text();
    repeat([&] { colour_by[text()] = text(); });
    fill(rows);
  }
  void fill(rows::RowChoices& rows) {
    auto& [open, hidden, pinned, sizes, order, name_filter, counter_mode, shared_scale, counter_lines, layer_depth,
           only, minimal, platform] = rows;
    repeat([&] { open[text()] = chance(); });
    repeat([&] { hidden.insert(text()); });
    repeat([&] { pinned.push_back(text()); });
    repeat([&] { sizes[text()] = static_cast<rows::RowSize>(random_() % 3); });
    repeat([&] {
      std::vector<std::string>& keys = order[text()];
      keys.clear();
      repeat([&] { keys.push_back(text()); });
    });
    name_filter = text();
    repeat([&] { counter_mode[text()] = static_cast<rows::CounterMode>(random_() % 3); });
    repeat([&] { shared_scale.insert(text()); });
    repeat([&] { counter_lines.insert(text()); });
    layer_depth = static_cast<std::uint32_t>(random_() % 5);
    only.clear();  // for the time being: neither kept nor in links
    minimal = chance();
    platform = chance();
  }
  template <typename Make>
  void repeat(const Make& make) {
    for (std::uint64_t i = random_() % 4; i > 0; --i) make();
  }
  bool chance() { return random_() % 2 == 0; }
  double time() { return static_cast<double>(static_cast<std::int64_t>(random_()) % 4'000'000'000'000'000'000); }
  std::string text() {
    constexpr std::string_view kSigns = "ab9;,+=%:/@#\\\t\n \"'<>é\x01()\xff";
    std::string result;
    for (std::uint64_t i = random_() % 9; i > 0; --i) result += kSigns[random_() % kSigns.size()];
    return result;
  }
  std::mt19937_64 random_;
};

[[nodiscard]] std::string error_of(std::string_view text) {
  const Result<ViewLink> link = read_view_link(text);
  return link ? "" : link.message();
}

TEST_CASE("view links: any view comes back from its text as it was, also when a chat has broken the line") {
  RandomViews views(7);
  for (int i = 0; i < 2'000; ++i) {
    const ViewLink link = views.link();
    const std::string text = to_text(link);
    for (const char c : text) CHECK_UNARY(c > ' ' && c < 0x7f);
    const Result<ViewLink> read = read_view_link(text);
    REQUIRE_MESSAGE(read.ok(), text << "\n" << read.message());
    REQUIRE_MESSAGE(*read == link, text);
    std::string broken = "  ";
    for (std::size_t at = 0; at < text.size(); at += 20) broken += text.substr(at, 20) + "\r\n ";
    const Result<ViewLink> again = read_view_link(broken);
    REQUIRE(again.ok());
    CHECK(*again == link);
  }
}

TEST_CASE("view links: the text is one that a person can read and write") {
  ViewLink link;
  link.range = session::ViewRange{1'000, 2'500.5};
  link.choices.search = "matmul bytes>=1MiB";
  link.choices.filter.terms = {{"/mat/", false}, {"WAIT", true}};
  link.choices.colour_by = {{"instruction", "source"}};
  link.choices.rows.pinned = {"track:engine/Tensor@nc0"};
  link.filter_tracks = {"engine/Tensor@nc0"};
  link.selected = LinkedEvent{7, "MATMUL"};
  CHECK(to_text(link) ==
        "accelscope-view:1;range=1000,2500.5;filter_tracks=engine/Tensor@nc0;filter=/mat/,WAIT+not;"
        "search=matmul%20bytes%3E%3D1MiB;colours=instruction+source;rows=pinned+track:engine/Tensor@nc0;"
        "selected=7+MATMUL");
  const Result<ViewLink> only_search = read_view_link("accelscope-view:1;search=gelu");
  REQUIRE(only_search.ok());
  CHECK_FALSE(only_search->range);
  CHECK(only_search->choices.search == "gelu");
  CHECK(read_view_link("accelscope-view:1").ok());
}

TEST_CASE("view links: parts of a newer version are passed over by name") {
  const Result<ViewLink> link =
      read_view_link("accelscope-view:1;sound=loud%zz;search=x;rows=tilted+group:A,hidden+group:A,tilted+b;");
  REQUIRE(link.ok());
  CHECK(link->passed_over == std::vector<std::string>{"sound", "rows: tilted"});
  CHECK(link->choices.search == "x");
  CHECK(link->choices.rows.hidden.count("group:A") == 1);
}

TEST_CASE("view links: a wrong text is told with its place") {
  const auto contains_words = [](std::string_view text, std::string_view part) {
    const std::string error = error_of(text);
    CHECK_MESSAGE(error.find(part) != std::string::npos, text << " -> " << error);
  };
  contains_words("", "begins with accelscope-view:1");
  contains_words("https://example.org", "begins with accelscope-view:1");
  contains_words("accelscope-view:", "character 17: a version");
  contains_words("accelscope-view:x;range=1,2", "character 17: a version");
  contains_words("accelscope-view:2;range=1,2", "newer version");
  contains_words("accelscope-view:1;range=1", "character 19, \"range=1\": two times");
  contains_words("accelscope-view:1;range=1,nan", "two times");
  contains_words("accelscope-view:1;range=-1e19,1e19", "two times");
  contains_words("accelscope-view:1;range=5,5", "before it ends");
  contains_words("accelscope-view:1;filter_range=1,2.5", "whole ns");
  contains_words("accelscope-view:1;filter=a+maybe", "+not");
  contains_words("accelscope-view:1;search=a,b", "one text");
  contains_words("accelscope-view:1;search=a%2", "two hexadecimal digits");
  contains_words("accelscope-view:1;colours=a", "pairs");
  contains_words("accelscope-view:1;selected=MATMUL", "id of an event");
  contains_words("accelscope-view:1;search=ok;half", "character 29, \"half\": NAME=VALUE");
}

}  // namespace
}  // namespace accelscope::app::view
