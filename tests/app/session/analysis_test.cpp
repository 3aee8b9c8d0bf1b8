// When answers about a session are made, of which state of it, and when they are asked for again.
#include "app/session/analysis.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/chunk/session_writer.h"
#include "tests/support/wait.h"

namespace accelscope::app::session {
namespace {

// A session that grows when a test wants it, and frames of a clock that a test turns.
struct Growing {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  TrackNumber track = add_track("Tensor", "work", {{.name = "rows", .type = ColumnType::int64, .title = "Rows"}});
  WorkerPool pool{2};
  SessionAnalysis analysis{pool, store};
  bool grows = true;
  double now_s = 1;
  std::int64_t at_ns = 0;

  Growing() {
    grow();
    frame();
  }
  TrackNumber add_track(const char* name, const char* table, std::vector<Column> columns) {
    Schema schema;
    schema.name = table;
    schema.columns = std::move(columns);
    Track made{.name = name, .kind = "engine", .device = "nc0"};
    made.schema = writer.add_schema(schema);
    return writer.add_track(made);
  }
  void grow(int events = 10) {
    for (int i = 0; i < events; ++i, at_ns += 100) {
      (void)writer.begin_event(track, at_ns, 50, writer.intern("MATMUL"));
    }
    writer.flush();
  }
  void frame(double later_s = 0) {
    now_s += later_s;
    analysis.begin_frame(store->snapshot(), now_s, grows);
  }
};

// An answer whose work tells of which state it is; it may be held up.
struct Question {
  SessionAnalysis::Retained<std::uint64_t> retained;
  std::atomic<bool> held = false;
  std::atomic<int> works = 0;

  void ask(Growing& session, const SessionAnalysis::Renewal& renewal = {}) {
    const auto work = [this](const QueryContext& query) -> SessionAnalysis::Found<std::uint64_t> {
      ++works;
      while (held && !query.control.cancelled()) std::this_thread::yield();
      return std::make_shared<const std::uint64_t>(query.snapshot->event_count);
    };
    (void)session.analysis.ask(retained, SessionAnalysis::NoKey{}, renewal, work);
  }
  // Frames in which nothing comes and no time passes.
  [[nodiscard]] bool answer(Growing& session, const SessionAnalysis::Renewal& renewal = {}) {
    return test::step_until([&] { return !retained.task.valid(); },
                            [&] {
                              session.frame();
                              ask(session, renewal);
                            });
  }
};

TEST_CASE_FIXTURE(Growing,
                  "answers: one of older data says so, and is asked for again at a bounded pace while data come") {
  Question question;
  question.ask(*this);
  REQUIRE(question.answer(*this));
  CHECK(*question.retained.value == 10);
  CHECK_FALSE(question.retained.is_older());
  CHECK_FALSE(analysis.take_older());
  for (int i = 0; i < 100; ++i) {
    grow(1);
    frame(0.01);
    question.ask(*this);
    while (question.retained.task.valid() && !question.retained.task.ready()) std::this_thread::yield();
  }
  CHECK(question.retained.is_older());
  CHECK(analysis.take_older());
  CHECK_FALSE(analysis.take_older());
  CHECK(question.works >= 2);
  CHECK(question.works <= 4);  // in a second
}

TEST_CASE_FIXTURE(Growing,
                  "answers: at the end of the data they are asked for at once, also in the middle of older work") {
  Question rests, works;
  rests.ask(*this);
  REQUIRE(rests.answer(*this));
  works.held = true;
  works.ask(*this);
  while (works.works == 0) std::this_thread::yield();
  grow();
  grows = false;
  frame();
  rests.ask(*this);
  works.ask(*this);  // in the place of what was of older data
  works.held = false;
  REQUIRE(rests.answer(*this));
  REQUIRE(works.answer(*this));
  for (const Question* each : {&rests, &works}) {
    CHECK(*each->retained.value == 20);
    CHECK(each->works == 2);
    CHECK_FALSE(each->retained.is_older());
  }
  CHECK_FALSE(analysis.pending());
}

TEST_CASE_FIXTURE(Growing,
                  "answers: what is made of an older answer is as old, and is made again when that is renewed") {
  Question base, made;
  const auto renewal = [&] { return SessionAnalysis::Renewal{.of = analysis.made_of(base.retained)}; };
  made.ask(*this, renewal());
  CHECK(made.works == 0);  // there is nothing to make it of
  base.ask(*this);
  REQUIRE(base.answer(*this));
  const std::uint64_t first = base.retained.value_version;
  grow();
  base.held = true;
  frame(1);
  base.ask(*this);
  made.ask(*this, renewal());
  REQUIRE(made.answer(*this, renewal()));
  CHECK(made.retained.value_version == first);
  CHECK(*made.retained.value == 10);  // it meets nothing that the other does not know
  CHECK(made.retained.is_older());
  grows = false;
  base.held = false;
  REQUIRE(base.answer(*this));
  made.ask(*this, renewal());
  REQUIRE(made.answer(*this, renewal()));
  CHECK(made.works == 2);
  CHECK_FALSE(made.retained.is_older());
  CHECK(*made.retained.value == 20);
}

TEST_CASE_FIXTURE(Growing, "answers: all that are renewed while data come take less than one worker's time") {
  std::array<Question, 4> questions;
  for (Question& each : questions) {
    each.ask(*this);
    REQUIRE(each.answer(*this));
    each.retained.took_s = 1;  // as of a large session
  }
  const double begin_s = now_s;
  while (now_s < begin_s + 40) {
    grow(1);
    frame(0.25);
    for (Question& each : questions) {
      each.ask(*this);
      while (each.retained.task.valid() && !each.retained.task.ready()) std::this_thread::yield();
      if (each.retained.task.valid()) each.ask(*this);
      each.retained.took_s = 1;
    }
  }
  int works = 0;
  for (const Question& each : questions) works += each.works - 1;
  CHECK(works >= 4 * 4);
  CHECK(works <= 24);  // of a second each, in 40
}

TEST_CASE_FIXTURE(Growing, "answers: a verdict of a capture is that of all of it, whatever was known before its end") {
  const auto look = [&] {
    (void)analysis.verdict();
    (void)analysis.advice();
    (void)analysis.memory();
  };
  analysis.timeline_drawn();
  for (int i = 0; i < 50; ++i) {
    grow(i);
    at_ns += 1'000 * i;  // idle, more each time
    frame(0.2);
    look();
    std::this_thread::yield();
  }
  grows = false;
  frame();
  look();  // what is not asked for is not pending
  REQUIRE(test::step_until([&] { return !analysis.pending() && analysis.verdict() != nullptr; },
                           [&] {
                             frame(0.2);
                             look();
                           }));
  SessionAnalysis anew(pool, store);
  anew.timeline_drawn();
  std::shared_ptr<const analysis::Verdict> of_file;
  REQUIRE(test::step_until([&] { return of_file != nullptr; },
                           [&] {
                             anew.begin_frame(store->snapshot(), now_s += 0.2);
                             of_file = anew.verdict();
                           }));
  CHECK(analysis.verdict()->bound == of_file->bound);
  CHECK(analysis.verdict()->cause == of_file->cause);
  CHECK(analysis.verdict()->missing == of_file->missing);
  CHECK(analysis.active() == anew.active());
}

TEST_CASE_FIXTURE(Growing, "answers: a term that is wrong is asked again when the schema that it needs has come") {
  EventFilter filter;
  filter.terms = {{"late_rows>=3", false}};
  analysis.set_filter(filter);
  analysis.search("late_rows>=3");
  const auto look = [&] {
    frame(1);
    (void)analysis.mask(MaskUse::filter, filter);
    analysis.search("late_rows>=3");
  };
  REQUIRE(test::step_until(
      [&] { return !analysis.mask_error(MaskUse::filter).empty() && !analysis.search_error().empty(); }, look));
  CHECK(analysis.mask(MaskUse::filter, filter) == nullptr);

  const TrackNumber rows =
      add_track("Late", "late", {{.name = "late_rows", .type = ColumnType::int64, .title = "Rows"}});
  for (int i = 0; i < 6; ++i) writer.begin_event(rows, 100 * i, 10, writer.intern("MATMUL")).integer(0, i);
  writer.flush();
  REQUIRE(test::step_until([&] { return analysis.mask(MaskUse::filter, filter) && analysis.hits() != nullptr; }, look));
  CHECK(analysis.mask_error(MaskUse::filter).empty());
  CHECK(analysis.search_error().empty());
  CHECK(analysis.mask(MaskUse::filter, filter)->total() == 3);
  CHECK(analysis.hits()->total() == 3);
}

TEST_CASE_FIXTURE(Growing, "answers: masks, hits and colours that are not wanted any more are freed by a worker") {
  std::weak_ptr<const EventMask> mask;
  std::weak_ptr<const colour::EventColours> colours;
  std::weak_ptr<const search::EventSearch> hits;
  EventFilter filter;
  filter.terms = {{"MATMUL", false}};
  const colour::ColourChoice choice = {{"work", "rows"}};
  REQUIRE(test::step_until([&] { return !mask.expired() && !colours.expired() && !hits.expired(); },
                           [&] {
                             frame();
                             mask = analysis.mask(MaskUse::region, filter);
                             colours = analysis.colours(choice);
                             analysis.search("MATMUL");
                             hits = analysis.shared_hits();
                           }));
  filter.terms = {{"ACTIVATE", false}};
  (void)analysis.mask(MaskUse::region, filter);
  (void)analysis.colours({});
  analysis.search("");
  CHECK(analysis.hits() == nullptr);
  CHECK_FALSE(mask.expired());  // nothing is freed in the frame
  CHECK_FALSE(colours.expired());
  CHECK_FALSE(hits.expired());
  REQUIRE(test::step_until([&] { return mask.expired() && colours.expired() && hits.expired(); }, [&] { frame(2); }));
}

}  // namespace
}  // namespace accelscope::app::session
