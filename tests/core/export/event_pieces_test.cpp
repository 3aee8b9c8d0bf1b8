// A session in pieces: every event once, stacks that open and close across pieces, ranges and masks.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/export/base/event_pieces.h"
#include "core/search/filter_mask.h"
#include "tests/core/export/export_session.h"

using namespace accelscope;
using namespace accelscope::exporting;
using test::ExportedEvent;
using test::ExportSession;

namespace {

struct Walked {
  std::vector<ExportedEvent> events;  // as they end; without arguments
  std::size_t left_open = 0;
  bool in_order = true;  // times never fall, and what ends is what began last
};

// Walks all pieces of a plan as an export does: a stack for each track.
Walked walk_all(ExportSession& session, const ExportRequest& request, std::uint64_t piece_events) {
  Walked walked;
  const auto plan = plan_export(
      request, [](const TrackSnapshot& track) { return track.schema->kind == EventKind::slice; }, PieceOrder::stacks,
      piece_events);
  REQUIRE(plan.ok());
  PieceReader reader(request.query, request.range);
  std::vector<ExportedEvent> stack;
  std::uint32_t track = ~0U;
  for (const EventPiece& piece : plan->pieces) {
    if (piece.track != track) {
      walked.left_open += stack.size();
      stack.clear();
      track = piece.track;
    }
    REQUIRE(reader.open(plan->tracks[piece.track], piece).ok());
    if (plan->tracks[piece.track].nested) CHECK(reader.open_before().size() == stack.size());
    std::int64_t now = std::numeric_limits<std::int64_t>::min();
    const auto pass = [&](std::int64_t ticks) {
      walked.in_order = walked.in_order && ticks >= now;
      now = ticks;
    };
    reader.walk(
        [&](const PieceEvent& event) {
          pass(event.begin);
          stack.push_back({reader.schema().name,
                           std::string(session.snapshot->strings->text(reader.name(event))),
                           event.begin,
                           event.end,
                           {}});
        },
        [&](const PieceEvent& event) {
          pass(event.end);
          if (stack.empty() || stack.back().begin != event.begin || stack.back().end != event.end) {
            walked.in_order = false;
            return;
          }
          walked.events.push_back(stack.back());
          stack.pop_back();
        });
  }
  walked.left_open += stack.size();
  std::sort(walked.events.begin(), walked.events.end());
  return walked;
}

std::vector<ExportedEvent> plain(const ExportSession& session, const TimeRange& range, std::string_view part = {}) {
  std::vector<ExportedEvent> events;
  for (const ExportedEvent& event : session.events) {
    if (event.table == "mark" || !range.holds(event.begin, event.end)) continue;
    if (event.name.find(part) == std::string::npos) continue;
    events.push_back({event.table, event.name, event.begin, event.end, {}});
  }
  std::sort(events.begin(), events.end());
  return events;
}

}  // namespace

TEST_CASE("pieces of a session hold every event once, and stacks go on from one to the next") {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    ExportSession session(seed);
    CAPTURE(seed);
    for (const std::uint64_t size : {std::uint64_t{500}, kPieceEvents}) {
      const Walked walked = walk_all(session, session.request(), size);
      CHECK(walked.left_open == 0);
      CHECK(walked.in_order);
      CHECK((walked.events == plain(session, {})));
    }
  }
}

TEST_CASE("tracks whose calls lie within each other are told from those that overlap anyhow") {
  ExportSession session(4);
  const auto plan = plan_export(session.request(), [](const TrackSnapshot&) { return true; });
  REQUIRE(plan.ok());
  int nested = 0;
  for (const ExportTrack& track : plan->tracks) {
    const bool should = track.snapshot->track->kind == "host_thread" && track.snapshot->schema->name == "runtime_call";
    CAPTURE(track.snapshot->track->name);
    CHECK(track.nested == should);
    nested += track.nested ? 1 : 0;
  }
  CHECK(nested == 1);
}

TEST_CASE("pieces of a range or of what passes a filter hold the events that share time with it, each of them whole") {
  ExportSession session(5);
  const std::int64_t length = session.snapshot->end_ns - session.snapshot->begin_ns;
  for (const std::int64_t at : {std::int64_t{0}, length / 3, length / 2}) {
    ExportRequest request = session.request();
    request.range = {session.snapshot->begin_ns + at, session.snapshot->begin_ns + at + length / 5};
    for (const std::uint64_t size : {std::uint64_t{500}, kPieceEvents}) {
      const Walked walked = walk_all(session, request, size);
      CHECK(walked.left_open == 0);
      CHECK(walked.in_order);
      CHECK((walked.events == plain(session, request.range)));
    }
    EventFilter filter;
    filter.terms.push_back({"name=\"call 7\"", false});
    auto mask = search::filter_mask(request.query, filter);
    REQUIRE(mask.ok());
    request.query.mask = *mask;
    std::vector<ExportedEvent> expected;
    for (const ExportedEvent& event : plain(session, request.range)) {
      if (event.name == "call 7") expected.push_back(event);
    }
    CHECK((walk_all(session, request, 500).events == expected));
  }
}
