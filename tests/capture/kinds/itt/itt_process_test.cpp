// The agent's side alone: records as a probe writes them, and records that no probe writes.
#include "capture/kinds/itt/process.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "tests/capture/recording_sink.h"

namespace accelscope::capture {
namespace {

using namespace probe::itt;

// One process. Its times are given in us, so that what the clock rounds puts nothing out of order.
class Fed {
 public:
  Fed() {
    process_.id = 7;
    process_.program = "/bin/fed";
    process_.clock = &clock_;
    // Times follow from two anchors; close ones make a poor line.
    while (std::chrono::steady_clock::now() - begun_ < std::chrono::microseconds(100)) {
    }
    clock_.anchor();
    reader_.emplace(process_, writer_, schemas_);
    for (std::uint32_t id = 1; id <= 3; ++id) define_site(id, 1, "site " + std::to_string(id));
  }
  void define_site(std::uint32_t id, std::uint32_t domain, const std::string& name) {
    probe::BodyWriter body;
    body.number(id).number(domain).number(0U).number(0U).text(name).text("").text("");
    reader_->define(static_cast<std::uint32_t>(DefinitionType::site), body.bytes());
  }
  template <typename Record>
  void put(std::uint32_t thread, const Record& record) {
    std::uint64_t words[sizeof(Record) / 8];
    std::memcpy(words, &record, sizeof record);
    put(thread, record.head, std::span(words).subspan(1));
  }
  void put(std::uint32_t thread, probe::RecordHead head, std::span<const std::uint64_t> words) {
    reader_->record(probes::ProbeThread{thread, 100 + thread, "thread " + std::to_string(thread)}, head, words);
  }
  // From 1 ms after the capture's begin.
  [[nodiscard]] std::uint64_t ticks(std::int64_t us) const {
    return origin_ + 1000 * static_cast<std::uint64_t>(1000 + us);
  }
  [[nodiscard]] std::int64_t ns(std::int64_t us) const { return clock_.to_ns(ticks(us)); }
  void end(std::int64_t us) {
    reader_->ended({ns(us), 0, false});
    CHECK(writer_.finish().ok());
  }
  kinds::itt::IttProcess& reader() { return *reader_; }
  RecordingSink sink;

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::uint64_t origin_ = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(begun_.time_since_epoch()).count());
  probes::TickClock clock_{probe::ClockKind::monotonic, begun_};
  probes::ProbeProcess process_;
  SessionWriter writer_{sink};
  kinds::itt::IttSchemas schemas_{writer_};
  std::optional<kinds::itt::IttProcess> reader_;
};

TEST_CASE("overlapped tasks told by several threads come out as they were, each on a lane of its own") {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    Fed fed;
    struct Reported {
      std::int64_t ns;
      std::uint32_t thread;
      bool begins;
      std::uint64_t id;
    };
    std::vector<Reported> all;
    std::multiset<std::pair<std::int64_t, std::int64_t>> expected;
    const auto count = static_cast<std::uint64_t>(random() % 60);
    for (std::uint64_t id = 1; id <= count; ++id) {
      const auto begin = static_cast<std::int64_t>(random() % 1000);
      const std::int64_t end = begin + 1 + static_cast<std::int64_t>(random() % 300);
      all.push_back({begin, static_cast<std::uint32_t>(random() % 3), true, id});
      all.push_back({end, static_cast<std::uint32_t>(random() % 3), false, id});
      expected.insert({fed.ns(begin), fed.ns(end)});
    }
    // Each thread tells in its order; the agent reads them one after the other, in turns.
    std::stable_sort(all.begin(), all.end(), [](const Reported& a, const Reported& b) { return a.ns < b.ns; });
    for (std::int64_t turn = 0; turn <= 1400; turn += 100) {
      for (std::uint32_t thread = 0; thread < 3; ++thread) {
        for (const Reported& reported : all) {
          if (reported.thread != thread || reported.ns < turn || reported.ns >= turn + 100) continue;
          const Id id{reported.id, 0, 0};
          if (reported.begins) {
            fed.put(thread,
                    IdsRecord{head_of<IdsRecord>(RecordType::overlapped_begin, 1), fed.ticks(reported.ns), id, {}});
          } else {
            fed.put(thread, IdRecord{head_of<IdRecord>(RecordType::overlapped_end, 1), fed.ticks(reported.ns), id});
          }
        }
      }
      fed.reader().read_until(fed.ns(turn + 99));
    }
    fed.end(2000);
    std::multiset<std::pair<std::int64_t, std::int64_t>> seen;
    std::map<LaneNumber, std::int64_t> lane_ends;
    const std::vector<RecordedEvent> events = fed.sink.events();
    std::size_t deepest = 0;
    for (const RecordedEvent& event : events) {
      CHECK(event.start >= lane_ends[event.lane]);
      lane_ends[event.lane] = event.end;
      deepest = std::max<std::size_t>(deepest, fed.sink.lanes.at(event.lane).depth + 1);
      seen.insert({event.start, event.end});
    }
    CHECK(seen == expected);
    // No more lanes than ever ran at once.
    std::size_t at_once = 0;
    for (const auto& [begin, end] : expected) {
      std::size_t running = 0;
      for (const auto& [other_begin, other_end] : expected)
        running += other_begin <= begin && other_end >= begin ? 1 : 0;
      at_once = std::max(at_once, running);
    }
    CHECK(deepest <= at_once);
    for (const QualityEntry& entry : fed.sink.qualities) FAIL_CHECK(entry.kind, " ", entry.count);
  }
}

TEST_CASE("records and definitions that no probe writes are left out and counted, not believed") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Fed fed;
    for (int i = 0; i < 60; ++i) {
      std::vector<std::uint64_t> words(random() % 12);
      for (std::uint64_t& word : words) {
        word = random() % 3 == 0 ? random() % 5 : std::uint64_t{random()} << 32U | random();
        if (random() % 4 == 0) word = fed.ticks(static_cast<std::int64_t>(random() % 1000));
      }
      if (random() % 5 == 0) {
        const std::string_view body(reinterpret_cast<const char*>(words.data()), words.size() * 8);
        fed.reader().define(static_cast<std::uint32_t>(random() % 7), body.substr(0, random() % (body.size() + 1)));
        continue;
      }
      const probe::RecordHead head{
          static_cast<std::uint16_t>(random() % 36), static_cast<std::uint16_t>(words.size() + 1),
          random() % 2 == 0 ? static_cast<std::uint32_t>(random() % 5) : static_cast<std::uint32_t>(random())};
      fed.put(static_cast<std::uint32_t>(random() % 3), head, words);
      if (random() % 10 == 0) fed.reader().read_until(fed.ns(static_cast<std::int64_t>(random() % 1000)));
    }
    fed.end(5000);
    for (const RecordedEvent& event : fed.sink.events()) {
      CHECK(event.start >= 0);
      CHECK(event.end >= event.start);
    }
  }
  Fed fed;
  fed.put(0, {static_cast<std::uint16_t>(RecordType::task_begin), 1, 1}, {});
  fed.put(0, {999, 1, 1}, {});
  fed.end(10);
  REQUIRE(fed.sink.qualities.size() == 1);
  CHECK(fed.sink.qualities.front().kind == "bad_records");
  CHECK(fed.sink.qualities.front().count == 2);
}

TEST_CASE("a program with threads and names without end leaves room for its tasks and frames in the session") {
  Fed fed;
  constexpr std::uint32_t kThreads = 20'000;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    const std::int64_t us = thread / 3;  // three run at once
    fed.put(thread, TaskRecord{head_of<TaskRecord>(RecordType::task_begin, 1), fed.ticks(us)});
    fed.put(thread, TaskRecord{head_of<TaskRecord>(RecordType::task_end, 1), fed.ticks(us + 1)});
    if (thread >= 2) fed.reader().thread_ended({thread - 2, 100 + thread - 2, ""}, fed.ns(us + 1));
  }
  // The same for frames of ever new names.
  for (std::uint32_t name = 10; name < 20'010; ++name) {
    fed.define_site(name, 1, "frame " + std::to_string(name));
    fed.put(0, FrameSubmitRecord{head_of<FrameSubmitRecord>(RecordType::frame_submit, name), fed.ticks(name),
                                 fed.ticks(name), Id{}});
  }
  fed.end(2 * kThreads);
  CHECK(fed.sink.event_count == 2 * kThreads);
  CHECK(fed.sink.tracks.size() < 2300);
  CHECK(fed.sink.tracks.at(0).name == "thread 0");
  CHECK(fed.sink.tracks.rbegin()->second.name == "further names");
  CHECK(fed.sink.qualities.empty());
}

TEST_CASE("an end closes the task of its own domain, and what was begun inside it") {
  Fed fed;
  fed.define_site(4, 2, "of another domain");
  const auto begin = [&](std::uint32_t site, std::int64_t ns) {
    fed.put(0, TaskRecord{head_of<TaskRecord>(RecordType::task_begin, site), fed.ticks(ns)});
  };
  const auto end = [&](std::uint32_t domain, std::int64_t ns) {
    fed.put(0, TaskRecord{head_of<TaskRecord>(RecordType::task_end, domain), fed.ticks(ns)});
  };
  begin(1, 10);
  begin(4, 20);
  end(1, 30);  // its inner task never ends
  end(2, 40);  // that one is gone
  begin(2, 50);
  end(1, 60);
  fed.end(100);
  const std::vector<RecordedEvent> events = fed.sink.events();
  REQUIRE(events.size() == 3);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times;
  for (const RecordedEvent& event : events) times[event.name] = {event.start, event.end};
  CHECK(times["site 1"] == std::pair{fed.ns(10), fed.ns(30)});
  CHECK(times["of another domain"] == std::pair{fed.ns(20), fed.ns(30)});
  CHECK(times["site 2"] == std::pair{fed.ns(50), fed.ns(60)});
  std::map<std::string, std::uint64_t> quality;
  for (const QualityEntry& entry : fed.sink.qualities) quality[entry.kind] = entry.count;
  CHECK(quality == std::map<std::string, std::uint64_t>{{"ends_without_begin", 1}, {"tasks_unfinished", 1}});
}

TEST_CASE("figures that OpenMP tells are called by what they are of, however they differ") {
  Fed fed;
  fed.define_site(9, 1, "omp_metadata_imbalance");
  const auto tell = [&](std::int64_t us, std::uint64_t value) {
    const std::uint64_t words[] = {fed.ticks(us), 0, 0, 0, std::uint64_t{8} << 32U | 1U, value};
    fed.put(1, {static_cast<std::uint16_t>(RecordType::metadata), std::size(words) + 1, 9}, words);
  };
  for (std::int64_t i = 0; i < 5'000; ++i) tell(i, static_cast<std::uint64_t>(17 * i));
  fed.end(6'000);
  std::set<std::string> names;
  for (const RecordedEvent& event : fed.sink.events()) names.insert(event.name);
  CHECK(names == std::set<std::string>{"omp_metadata_imbalance"});
  CHECK(fed.sink.events().size() == 5'000);
  const RecordedEvent second = fed.sink.events().at(1);
  CHECK(fed.sink.view(second).text(0, second.row) == "omp_metadata_imbalance: 17");
}

}  // namespace
}  // namespace accelscope::capture
