// Reports as HTML and Markdown: hostile texts stay texts, pages are whole and ask for nothing, timelines hold every
// event or say how many are drawn as one.
#include "core/export/report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/export/report/lane_boxes.h"
#include "core/export/report/report_pages.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"
#include "tests/support/files.h"

namespace accelscope::exporting {
namespace {

const std::string kHostile =
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\x01\x7f\xff\xc3(\xe2\x80\xae"
    "evil\n|`*_@user #12";

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// What is wrong with a page: elements that are not closed in their order, attributes without quotes, control bytes.
// Scripts and styles end at their end tags, whatever is in them, as a browser has it. "" for nothing.
std::string fault_of(const std::string& page) {
  constexpr std::string_view kVoid[] = {"meta", "img", "br"};
  std::vector<std::string> open;
  for (const char c : page) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control byte";
  }
  for (std::size_t at = page.find("<html"); at < page.size();) {
    if (page[at] != '<') {
      ++at;
      continue;
    }
    if (page.compare(at, 2, "</") == 0) {
      const std::size_t end = page.find('>', at);
      const std::string name = page.substr(at + 2, end - at - 2);
      if (open.empty() || open.back() != name)
        return "</" + name + "> does not close " + (open.empty() ? "" : open.back());
      open.pop_back();
      at = end + 1;
      continue;
    }
    std::size_t name_end = at + 1;
    while (name_end < page.size() && page[name_end] >= 'a' && page[name_end] <= 'z') ++name_end;
    while (name_end < page.size() && page[name_end] >= '0' && page[name_end] <= '9') ++name_end;
    const std::string name = page.substr(at + 1, name_end - at - 1);
    if (name.empty()) return "a < that begins no element";
    std::size_t end = name_end;
    bool quoted = false;
    for (; end < page.size() && (quoted || page[end] != '>'); ++end) {
      if (page[end] == '"') quoted = !quoted;
      if (!quoted && page[end] == '\'') return "an attribute in other quotes";
      if (!quoted && page[end] == '<') return "an element within an element's tag";
    }
    at = end + 1;
    if (std::find(std::begin(kVoid), std::end(kVoid), name) != std::end(kVoid)) continue;
    open.push_back(name);
    if (name == "script" || name == "style") at = page.find("</" + name, at);
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

Report hostile_report() {
  Report report{.title = kHostile, .facts = {{kHostile, kHostile}}, .verdict = kHostile, .sections = {}};
  const auto add = [&](auto body) { report.sections.push_back({kHostile, kHostile, false, std::move(body)}); };
  add(ReportText{{{ReportTone::error, kHostile}}});
  add(ReportFigures{{{kHostile, kHostile, kHostile, kHostile, kHostile, kHostile}}});
  add(ReportTable{.columns = {{kHostile, kHostile, false}, {"n", "", true}},
                  .rows = {{{.text = kHostile, .exact = kHostile}, {.text = "2", .number = 2, .bar = 7}}},
                  .left_out = 3});
  add(ReportFindings{{{kHostile, kHostile, {{kHostile, kHostile}}}}});
  add(ReportBars{{{kHostile, kHostile, {{kHostile, kHostile, 0.5, 3}, {kHostile, kHostile, 0.5, kIdleSlot}}}}});
  ReportTimeline timeline{.end_ns = 100, .shown_end_ns = 100, .names = {kHostile}, .rows = {}};
  timeline.rows.push_back({.label = kHostile, .lanes = {{{.begin_ns = 3, .length_ns = 4}}}});
  timeline.rows.push_back({.label = kHostile, .values = {{1, 2, 3, 4}}, .unit = kHostile});
  add(std::move(timeline));
  return report;
}

}  // namespace

TEST_CASE("report: hostile texts are neither markup nor script, wherever they stand in a page") {
  const std::string page = html_report(hostile_report());
  CHECK(fault_of(page) == "");
  CHECK(times(page, "<script") == 2);  // the timeline's values and the page's own
  CHECK(times(page, "</script") == 2);
  CHECK(times(page, "<img") == 0);
  CHECK(times(page, "alert(1)") == times(page, "script&gt;alert(1)") + times(page, "onerror=alert(1)&gt;") +
                                       times(page, "script\\u003ealert(1)") + times(page, "onerror=alert(1)\\u003e"));
  CHECK(times(page, "\xff") == 0);
  CHECK(times(page, "\xe2\x80\xae") == 0);  // it would turn what follows round
  CHECK(times(page, "\xef\xbf\xbd") > 10);
}

TEST_CASE("report: a page is one file: it names no address, loads nothing and forbids itself to") {
  const std::string page = html_report(hostile_report());
  for (const char* part :
       {"http:", "https:", "//cdn", "@import", "url(", " src=\"", " href=", "<link", "fetch(", "XMLHttp"}) {
    CAPTURE(part);
    CHECK(times(page, part) == 0);
  }
  CHECK(times(page, "default-src 'none'") == 1);
}

TEST_CASE("report: the faults of pages that the test looks for are found") {
  CHECK(fault_of("<html><p></html>") != "");
  CHECK(fault_of("<html><p title=\"a\"b<></p></html>") != "");
  CHECK(fault_of("<html>a < b</html>") != "");
  CHECK(fault_of("<html>") != "");
}

TEST_CASE("report: the script of a page is JavaScript, where node is there to say so") {
  if (std::system("command -v node >/dev/null 2>&1") != 0) return;
  const test::TemporaryFolder folder;
  test::write_file(folder.file("page.js"), std::string(report_script()));
  CHECK(std::system(("node --check " + folder.file("page.js")).c_str()) == 0);
  test::write_file(folder.file("data.json"),
                   timeline_json(std::get<ReportTimeline>(hostile_report().sections.back().body)));
  const std::string parse = "node -e 'const d=JSON.parse(require(\"fs\").readFileSync(\"" + folder.file("data.json") +
                            "\"));process.exit(d.names.length===1&&d.rows[0].lanes[0].e[1]===4?0:1)'";
  CHECK(std::system(parse.c_str()) == 0);
}

TEST_CASE("report: Markdown holds texts as they are, and neither mentions users nor breaks its tables") {
  const std::string text = markdown_report(hostile_report());
  CHECK(times(text, "<script") == times(text, "\\<script"));
  CHECK(times(text, "@user") == 0);
  CHECK(times(text, "#12") == 0);
  for (std::size_t at = text.find("evil"); at != std::string::npos; at = text.find("evil", at + 1)) {
    CHECK(text[at + 4] == ' ');  // no line end
    CHECK(text.substr(at + 5, 2) == "\\|");
  }
  CHECK(times(text, "3 more rows are not shown") == 1);
}

TEST_CASE("report: characters are kept, and what is no UTF-8 becomes a sign of its own") {
  CHECK(plain_text("Grüße 测试 \xF0\x9F\x98\x80") == "Grüße 测试 \xF0\x9F\x98\x80");
  const std::string sign = "\xef\xbf\xbd";
  CHECK(plain_text("\xed\xa0\x80") == sign + sign + sign);  // half of a pair
  CHECK(plain_text("a\xc0\xaf") == "a" + sign + sign);      // longer than need be
  CHECK(plain_text("a\xe2\x82") == "a" + sign + sign);      // cut
  CHECK(plain_text(std::string("a\0b", 3)) == "a" + sign + "b");
  CHECK(plain_text("\xf4\x90\x80\x80").find("\xf4") == std::string::npos);  // beyond the last
  CHECK(html_text("<a b=\"c\" d='e'>&") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
}

TEST_CASE("report: with room for all of them a lane's boxes are its events, to the ns") {
  RandomSession session(3, 2'000);
  const QueryContext query = session.context();
  const TimeRange range{session.snapshot->begin_ns, session.snapshot->end_ns + 1};
  std::size_t lanes = 0;
  for (std::uint32_t lane = 0; lane < session.snapshot->lanes.size(); ++lane) {
    if (session.snapshot->lanes[lane].data->kind == EventKind::counter) continue;
    TimelineNames names(*session.snapshot->strings);
    const LaneBoxes made = lane_boxes(query, lane, range, 1'000'000, names);
    const std::vector<std::string> texts = names.take();
    std::vector<const PlainEvent*> wanted;
    for (const PlainEvent& event : session.events) {
      if (event.lane == lane) wanted.push_back(&event);
    }
    REQUIRE(made.boxes.size() == wanted.size());
    CHECK(made.merged_events == 0);
    CHECK(made.events == wanted.size());
    std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> a, b;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      a.emplace_back(wanted[i]->begin_ns - range.begin_ns, wanted[i]->end_ns - wanted[i]->begin_ns,
                     wanted[i]->name_text);
      b.emplace_back(made.boxes[i].begin_ns, made.boxes[i].length_ns, texts[made.boxes[i].name]);
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    CHECK(a == b);
    ++lanes;
  }
  CHECK(lanes > 2);
}

TEST_CASE("report: a lane of many events keeps to its room, and its boxes count them all") {
  RandomSession session(4, 40'000);
  const QueryContext query = session.context();
  const TimeRange range{session.snapshot->begin_ns, session.snapshot->end_ns + 1};
  for (std::uint32_t lane = 0; lane < session.snapshot->lanes.size(); ++lane) {
    const LaneSnapshot& each = session.snapshot->lanes[lane];
    if (each.data->kind == EventKind::counter || each.event_count < 5'000) continue;
    for (const std::size_t most : {300U, 1'000U, 4'000U}) {
      TimelineNames names(*session.snapshot->strings);
      const LaneBoxes made = lane_boxes(query, lane, range, most, names);
      CHECK(made.boxes.size() <= most);
      CHECK(made.boxes.size() > most / 4);
      CHECK(made.events == each.event_count);
      std::uint64_t merged = 0;
      for (std::size_t i = 0; i < made.boxes.size(); ++i) {
        if (made.boxes[i].count > 1) merged += made.boxes[i].count;
        if (i > 0) CHECK(made.boxes[i].begin_ns >= made.boxes[i - 1].begin_ns);
      }
      CHECK(merged == made.merged_events);
    }
  }
}

TEST_CASE("report: a timeline of a range or a filter holds the events that share time with it or pass") {
  RandomSession session(5, 3'000);
  for (int i = 0; i < 20; ++i) {
    const TimeRange range = session.random_range();
    QueryContext query = session.context();
    const bool filtered = i % 2 == 1;
    if (filtered) {
      const auto mask = search::event_mask(query, {.terms = {{"bytes>=3000"}}});
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    for (std::uint32_t lane = 0; lane < session.snapshot->lanes.size(); ++lane) {
      if (session.snapshot->lanes[lane].data->kind == EventKind::counter) continue;
      TimelineNames names(*session.snapshot->strings);
      const LaneBoxes made = lane_boxes(query, lane, range, 1'000'000, names);
      std::size_t wanted = 0;
      for (const PlainEvent& event : session.events) {
        if (event.lane != lane || (filtered && event.bytes < 3000)) continue;
        wanted += range.holds(event.begin_ns, event.end_ns) ? 1 : 0;
      }
      CHECK(made.events == wanted);
    }
  }
}

TEST_CASE("report: names of a timeline are limited, and those beyond share one that says so") {
  StringPool strings;
  TimelineNames names(strings);
  for (StringId id = 1; id <= TimelineNames::kMost; ++id) CHECK(names.index(id) == id - 1);
  CHECK(names.all_retained());
  CHECK(names.index(100'000) == TimelineNames::kMost);
  CHECK(names.index(100'001) == TimelineNames::kMost);
  CHECK(names.index(1) == 0);
  CHECK_FALSE(names.all_retained());
  CHECK(names.take().size() == TimelineNames::kMost + 1);
}

}  // namespace accelscope::exporting
