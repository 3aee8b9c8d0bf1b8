#include "core/search/hint.h"

#include <doctest/doctest.h>

#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::search;

namespace {

SearchHint hint_for(RandomSession& session, std::string_view text) {
  const auto query = parse_search(text);
  REQUIRE_MESSAGE(query.ok(), text);
  const LaneIndices lanes = all_lanes(*session.snapshot);
  const auto search = EventSearch::run(session.context(), *query, lanes);
  REQUIRE_MESSAGE(search.ok(), text);
  const auto hint = search_hint(session.context(), *query, lanes, search->total());
  REQUIRE(hint.ok());
  return *hint;
}

std::uint64_t hits_of(RandomSession& session, std::string_view text) {
  const auto search = EventSearch::run(session.context(), *parse_search(text), all_lanes(*session.snapshot));
  REQUIRE(search.ok());
  return search->total();
}

}  // namespace

TEST_CASE("search hints: = that finds nothing says how many contain it, and the search that finds those") {
  RandomSession session(31, 3'000);
  const SearchHint hint = hint_for(session, "name=matmu");
  CHECK(hint.text.starts_with("No name is exactly matmu; "));
  CHECK(hint.instead == "name~matmu");
  CHECK(hits_of(session, hint.instead) > 0);
  const SearchHint second = hint_for(session, "duration>1ns name=\"atmul\"");
  CHECK(second.instead == "duration>1ns name~atmul");
  CHECK(hint_for(session, "name=no_such_name").text.empty());
  CHECK(hint_for(session, "bytes=1.5").text.empty());  // numbers contain nothing
  CHECK(hint_for(session, "matmul").text.empty());
}

TEST_CASE("search hints: a term that every event passes is named, and what is left without it") {
  RandomSession session(32, 3'000);
  CHECK(hint_for(session, "duration>=0ns").text == "duration>=0ns matches every event");
  const SearchHint hint = hint_for(session, "matmul start>=-1");
  CHECK(hint.text == "start>=-1 matches every event");
  CHECK(hint.instead == "matmul");
}

TEST_CASE("search: /./ finds the events that have a source line, where events can have one") {
  RandomSession session(33, 3'000);
  std::uint64_t with_line = 0;
  for (const PlainEvent& event : session.events) with_line += event.location.empty() ? 0 : 1;
  REQUIRE(with_line > 0);
  REQUIRE(with_line < session.events.size());
  CHECK(hits_of(session, "/./") == with_line);
  CHECK(hits_of(session, "/./ matmul") < with_line);
  CHECK(hint_for(session, "/./").text == "/./ finds events that have a source line");
  CHECK(hits_of(session, "name~/./") == session.events.size());
}

TEST_CASE("search hints: a term is written as it is read") {
  for (const char* text : {"matmul", "\"two words\"", "/mat(mul|vec)/i", "layer~/up/", "mlp.py:33", "bytes>=1MiB",
                           "\"In msg nelems\"=5", "layer!=\"\"", "\"a=b\""}) {
    const auto query = parse_search(text);
    REQUIRE(query.ok());
    REQUIRE(query->terms.size() == 1);
    CHECK(term_text(query->terms.front()) == text);
  }
}
