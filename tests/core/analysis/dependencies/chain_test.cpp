#include "core/analysis/dependencies/wait_causes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/chunk/session_writer.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct Span {
  std::int64_t begin, end;
};

// Events with these times, the index as their key, and flows between them.
struct ChainSession {
  ChainSession(const std::vector<Span>& spans, const std::vector<std::pair<std::size_t, std::size_t>>& flows) {
    auto created = Store::create();
    REQUIRE(created.ok());
    store = std::move(*created);
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber work =
        writer.add_schema({.name = "work", .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key}}});
    const SchemaNumber flow =
        writer.add_schema({.name = "flow",
                           .kind = EventKind::flow,
                           .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                       {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
    const TrackNumber arrows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const TrackNumber track = writer.add_track({.name = "t" + std::to_string(i), .kind = "engine", .schema = work});
      Row row = writer.begin_event(track, spans[i].begin, spans[i].end - spans[i].begin, writer.intern("work"));
      row.unsigned_integer(0, i);
      events.push_back(row.id());
    }
    for (const auto& [from, to] : flows) {
      Row row = writer.begin_event(arrows, spans[from].end, 0, writer.intern("semaphore"));
      row.unsigned_integer(0, from);
      row.unsigned_integer(1, to);
    }
    REQUIRE(writer.finish().ok());
    auto built = Dependencies::build({*store, store->snapshot(), pool, control});
    REQUIRE(built.ok());
    dependencies = *built;
    reader.emplace(*store, store->snapshot());
  }
  [[nodiscard]] std::size_t index(EventId id) const {
    return static_cast<std::size_t>(std::find(events.begin(), events.end(), id) - events.begin());
  }
  [[nodiscard]] DependencyChain chain(std::size_t event, std::size_t limit) {
    return dependency_chain(*dependencies, events[event], *reader, limit, control);
  }
  [[nodiscard]] std::vector<std::size_t> before(const DependencyChain& chain) const {
    std::vector<std::size_t> found;
    for (const Dependency& link : chain.before) found.push_back(index(link.source));
    return found;
  }
  [[nodiscard]] std::vector<std::size_t> after(const DependencyChain& chain) const {
    std::vector<std::size_t> found;
    for (const Dependency& link : chain.after) found.push_back(index(link.target));
    return found;
  }

  WorkerPool pool{2};
  TaskControl control;
  std::unique_ptr<Store> store;
  std::vector<EventId> events;
  std::shared_ptr<const Dependencies> dependencies;
  std::optional<EventReader> reader;
};

using Indices = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a chain goes back along what ended last and forward along what began first") {
  // 0 and 1 feed 2, 1 ends later; 2 feeds 3 and 4, 4 begins first.
  ChainSession session({{0, 10}, {5, 30}, {40, 50}, {90, 95}, {60, 70}}, {{0, 2}, {1, 2}, {2, 3}, {2, 4}, {0, 1}});
  const DependencyChain chain = session.chain(2, 64);
  CHECK(session.before(chain) == Indices{1, 0});
  CHECK(session.after(chain) == Indices{4});
  CHECK(chain.before_total == 2);
  CHECK(chain.after_total == 1);
  CHECK(session.index(last_predecessor(*session.dependencies, session.events[2], *session.reader)->source) == 1);
  CHECK(session.index(first_successor(*session.dependencies, session.events[2], *session.reader)->target) == 4);
  CHECK_FALSE(last_predecessor(*session.dependencies, session.events[0], *session.reader).has_value());
  CHECK_FALSE(first_successor(*session.dependencies, session.events[3], *session.reader).has_value());
}

TEST_CASE("a cycle of dependencies ends the chain, and an event that names itself is none of its own links") {
  ChainSession session({{0, 10}, {10, 20}, {20, 30}}, {{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  const DependencyChain chain = session.chain(1, 64);
  CHECK(session.before(chain) == Indices{0, 2});
  CHECK(session.after(chain) == Indices{2, 0});
}

TEST_CASE("a long chain is cut at the limit and counted to its end") {
  std::vector<Span> spans;
  std::vector<std::pair<std::size_t, std::size_t>> flows;
  for (std::int64_t i = 0; i < 300; ++i) {
    spans.push_back({i * 10, i * 10 + 8});
    if (i > 0) flows.emplace_back(i - 1, i);
  }
  ChainSession session(spans, flows);
  const DependencyChain chain = session.chain(200, 64);
  CHECK(chain.before.size() == 64);
  CHECK(chain.before_total == 200);
  CHECK(session.index(chain.before.back().source) == 136);
  CHECK(chain.after.size() == 64);
  CHECK(chain.after_total == 99);
  session.control.cancel();
  CHECK(session.chain(200, 64).before_total == 0);
}

TEST_CASE("chains of random graphs are those that a plain walk finds") {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < 30; ++i) {
      const auto begin = static_cast<std::int64_t>(random() % 1000);
      spans.push_back({begin, begin + static_cast<std::int64_t>(random() % 100)});
    }
    std::set<std::pair<std::size_t, std::size_t>> flows;
    for (int i = 0; i < 60; ++i) flows.emplace(random() % 30, random() % 30);
    ChainSession session(spans, {flows.begin(), flows.end()});
    const std::size_t start = random() % 30;
    const auto plain = [&](bool back) {
      Indices links;
      std::set<std::size_t> seen{start};
      for (std::size_t at = start;;) {
        std::optional<std::size_t> best;
        for (const auto& [from, to] : flows) {
          const std::size_t other = back ? from : to;
          if ((back ? to : from) != at || seen.contains(other)) continue;
          const bool better =
              !best || (back ? spans[other].end > spans[*best].end : spans[other].begin < spans[*best].begin);
          if (better) best = other;
        }
        if (!best) return links;
        links.push_back(at = *best);
        seen.insert(at);
      }
    };
    const DependencyChain chain = session.chain(start, 1000);
    CHECK(session.before(chain) == plain(true));
    CHECK(session.after(chain) == plain(false));
  }
}
