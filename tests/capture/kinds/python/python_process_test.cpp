// What a collector tells, read without a program: calls that lose their ends, regions, and bytes that mean nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "capture/kinds/python/process.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture {
namespace {

namespace records = probe::python;
using probe::RecordHead;

// A process whose ticks are told by the test.
class ReportedPython {
 public:
  ReportedPython() : reader_(process(), session_) {
    clock_.anchor();  // of one alone all ticks would be the same time
    ticks_ = clock_.last_ticks();
  }

  void define(const std::string& name) {
    probe::BodyWriter body;
    body.number(codes_++).number(1U).number(0U).text("").text(name).text("");
    reader_.define(records::kDefineCode, body.bytes());
  }
  void tell(std::uint16_t type, std::uint32_t value, std::uint64_t after = 0, std::uint32_t thread = 0) {
    const std::uint64_t words[] = {ticks_, after};
    reader_.record({thread, thread, "t"}, {type, 3, value}, words);
    ticks_ += 1'000;
  }
  void tell_words(RecordHead head, std::span<const std::uint64_t> words) { reader_.record({0, 0, "t"}, head, words); }
  void define_raw(std::uint32_t type, std::string_view body) { reader_.define(type, body); }
  void read_until_now() { reader_.read_until(clock_.to_ns(ticks_)); }
  void end() {
    reader_.ended({clock_.to_ns(ticks_), 0, false});
    REQUIRE(writer_.finish().ok());
  }
  [[nodiscard]] std::uint64_t now() const { return ticks_; }
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const { return clock_.to_ns(ticks); }
  [[nodiscard]] std::uint32_t depth(const RecordedEvent& event) const { return sink.lanes.at(event.lane).depth; }
  kinds::python::PythonSession& session() { return session_; }

  RecordingSink sink;

 private:
  const probes::ProbeProcess& process() {
    process_.program = "python3";
    process_.clock = &clock_;
    return process_;
  }
  std::uint32_t codes_ = 0;
  probes::TickClock clock_{probe::ClockKind::monotonic, std::chrono::steady_clock::now()};
  std::uint64_t ticks_ = 0;
  probes::ProbeProcess process_;
  SessionWriter writer_{sink};
  kinds::python::PythonSession session_{writer_};
  kinds::python::PythonProcess reader_;
};

TEST_CASE("python: whatever ends are lost, every call is one slice, within its caller, begun when it began") {
  std::mt19937 random(1);
  for (const int lost_of_hundred : {0, 5, 60}) {
    ReportedPython reported;
    for (const char* name : {"a", "b", "c", "d"}) reported.define(name);
    std::vector<std::uint32_t> stack;
    std::vector<std::int64_t> begins;
    for (int i = 0; i < 5'000; ++i) {
      if (stack.size() < 12 && (stack.empty() || random() % 2 == 0)) {
        stack.push_back(static_cast<std::uint32_t>(random() % 4));
        begins.push_back(reported.ns(reported.now()));
        reported.tell(records::kCall, stack.back());
      } else {
        if (random() % 100 >= static_cast<unsigned>(lost_of_hundred)) reported.tell(records::kReturn, stack.back());
        stack.pop_back();
      }
    }
    reported.end();
    std::vector<RecordedEvent> events = reported.sink.events();
    REQUIRE(events.size() == begins.size());
    std::sort(events.begin(), events.end(), [&](const RecordedEvent& a, const RecordedEvent& b) {
      return std::pair(a.start, reported.depth(a)) < std::pair(b.start, reported.depth(b));
    });
    std::vector<RecordedEvent> open;
    for (std::size_t i = 0; i < events.size(); ++i) {
      CHECK(events[i].start == begins[i]);
      const std::uint32_t depth = reported.depth(events[i]);
      REQUIRE(depth <= open.size());
      open.resize(depth);
      if (depth > 0) CHECK(events[i].end <= open.back().end);
      open.push_back(events[i]);
    }
    CHECK(reported.session().open_calls >= stack.size());
    if (lost_of_hundred == 0) CHECK(reported.session().open_calls == stack.size());
  }
}

TEST_CASE("python: the end of a region ends the calls of all threads there, those of a later region stay") {
  ReportedPython reported;
  reported.define("f");
  reported.tell(records::kBase, 0, 0, 0);
  reported.tell(records::kRunning, 0, 0, 0);
  reported.tell(records::kBase, 0, 0, 1);
  reported.tell(records::kRunning, 0, 0, 1);
  reported.tell(records::kCall, 0, 0, 2);  // of a thread that tells of its new region first
  const std::uint64_t end = reported.now();
  reported.tell(records::kRegionEnd, 0, 0, 0);
  reported.tell(records::kBase, 0, end, 2);
  reported.tell(records::kRunning, 0, 0, 2);
  reported.read_until_now();
  CHECK(reported.session().open_calls == 0);
  reported.end();
  CHECK(reported.session().open_calls == 1);
  std::size_t at_end = 0;
  for (const RecordedEvent& event : reported.sink.events()) at_end += event.end == reported.ns(end) ? 1 : 0;
  CHECK(at_end == 3);
  CHECK(reported.sink.events().size() == 4);
}

TEST_CASE("python: lines beside their function and returns to nowhere are left out, the rest stays in order") {
  ReportedPython reported;
  reported.define("f");
  reported.define("g");
  reported.tell(records::kReturn, 1);
  reported.tell(records::kCall, 0);
  reported.tell(records::kLine, 1, 7);
  reported.tell(records::kLine, 0, 3);
  reported.tell(records::kCall, 1);
  reported.tell(records::kLine, 0, 4);  // g has ended without saying so
  reported.tell(records::kReturn, 0);
  reported.end();
  std::vector<std::string> names;
  for (const RecordedEvent& event : reported.sink.events()) names.push_back(event.name);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{":3", ":4", "f", "g"});
  CHECK(reported.session().broken_records == 0);
}

TEST_CASE("python: bytes that no collector writes are counted, never read past their end") {
  std::mt19937_64 random(2);
  ReportedPython reported;
  reported.define("f");
  std::uint64_t reported_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint64_t> words(random() % 6);
    for (std::uint64_t& word : words) word = random() % 3 == 0 ? random() : random() % 64;
    reported.tell_words({static_cast<std::uint16_t>(random() % 16), static_cast<std::uint16_t>(words.size() + 1),
                         static_cast<std::uint32_t>(random() % 6)},
                        words);
    ++reported_count;
    std::string body(random() % 40, '\0');
    for (char& c : body) c = static_cast<char>(random());
    reported.define_raw(static_cast<std::uint32_t>(random() % 5), body);
    ++reported_count;
  }
  reported.end();
  CHECK(reported.session().broken_records > reported_count / 4);
  CHECK(reported.session().broken_records < reported_count);
}

}  // namespace
}  // namespace accelscope::capture
