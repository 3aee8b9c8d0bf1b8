#include "core/analysis/selection/summary.h"

#include <cmath>
#include <map>

#include "core/analysis/selection/summary_tally.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct ExpectedSummary {
  std::uint64_t count = 0;
  double busy = 0;
  double bytes = 0;
  std::uint64_t cut = 0;  // events cut by an edge, each of which may be off by one byte
};

// The same summary, event by event.
struct Naive {
  ExpectedSummary all;
  double wait = 0;
  std::map<std::string, ExpectedSummary> names, lines;
  std::map<TrackNumber, ExpectedSummary> tracks;
  std::map<std::uint64_t, ExpectedSummary> sizes, durations;  // by begin of the bin

  Naive(const RandomSession& session, const EventFilter& filter, const std::string& wanted_name) {
    for (const PlainEvent& event : session.events) {
      const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
      const TickRange ticks = tick_range(lane, filter.range.value_or(TimeRange{}));
      if (!filter.has_track(lane.track) || !ticks.holds(event.begin_ticks, event.end_ticks)) continue;
      if (!wanted_name.empty() && event.name_text != wanted_name) continue;
      const double rate = lane.clock->is_affine() ? lane.clock->ns_per_tick() : 2.0;
      const auto duration = static_cast<double>(event.end_ticks - event.begin_ticks);
      const auto shared = static_cast<double>(ticks.shared(event.begin_ticks, event.end_ticks));
      const bool cut = shared != duration;
      const double part = cut ? shared / duration : 1.0;
      const double bytes = event.bytes > 0 ? static_cast<double>(event.bytes) * part : 0;
      const auto add = [&](ExpectedSummary& to, bool without_waits) {
        ++to.count;
        to.busy += without_waits && event.waits ? 0 : rate * shared;
        to.bytes += bytes;
        to.cut += cut;
      };
      add(all, true);
      if (event.waits) wait += rate * shared;
      add(names[event.name_text], false);
      if (!event.location.empty()) add(lines[event.location], true);
      add(tracks[lane.track], true);
      if (event.bytes >= 0) add(sizes[std::bit_floor(static_cast<std::uint64_t>(event.bytes))], false);
      std::uint64_t bin = 0;
      const std::uint64_t ns = static_cast<std::uint64_t>(event.end_ns - event.begin_ns);
      for (std::uint64_t decade = 1; decade <= 1'000'000; decade *= 10) {
        for (const std::uint64_t begin : {decade, 2 * decade, 5 * decade}) {
          if (begin <= ns) bin = begin;
        }
      }
      add(durations[bin], false);
    }
  }
};

bool close(double ours, double theirs) { return std::abs(ours - theirs) <= 2 + theirs * 2e-4; }

void check_rows(const SummaryRows& rows, const std::map<std::string, ExpectedSummary>& expected) {
  REQUIRE(rows.rows.size() == expected.size());
  CHECK(rows.distinct == expected.size());
  for (const SummaryRow& row : rows.rows) {
    const ExpectedSummary& sum = expected.at(row.text);
    CHECK(row.count == sum.count);
    CHECK(close(static_cast<double>(row.busy_ns), sum.busy));
    CHECK(std::abs(static_cast<double>(row.bytes) - sum.bytes) <= static_cast<double>(sum.cut) + 0.5);
  }
  for (std::size_t i = 1; i < rows.rows.size(); ++i) CHECK(rows.rows[i - 1].busy_ns >= rows.rows[i].busy_ns);
}

void check_bins(const std::vector<SummaryBin>& bins, const std::map<std::uint64_t, ExpectedSummary>& expected) {
  REQUIRE(bins.size() == expected.size());
  auto each = expected.begin();
  for (const SummaryBin& bin : bins) {
    CHECK(bin.begin == each->first);
    CHECK(bin.end > bin.begin);
    CHECK(bin.count == each->second.count);
    CHECK(close(static_cast<double>(bin.busy_ns), each->second.busy));
    ++each;
  }
}

void check(const SelectionSummary& summary, const Naive& naive) {
  CHECK(summary.event_count == naive.all.count);
  CHECK(close(static_cast<double>(summary.busy_ns), naive.all.busy));
  CHECK(close(static_cast<double>(summary.wait_ns), naive.wait));
  CHECK(std::abs(static_cast<double>(summary.bytes) - naive.all.bytes) <= static_cast<double>(naive.all.cut) + 0.5);
  CHECK(summary.flops == 0);
  check_rows(summary.names, naive.names);
  check_rows(summary.lines, naive.lines);
  check_bins(summary.sizes, naive.sizes);
  check_bins(summary.durations, naive.durations);
  REQUIRE(summary.tracks.size() == naive.tracks.size());
  for (const SummaryTrack& track : summary.tracks) CHECK(track.count == naive.tracks.at(track.track).count);
}

std::shared_ptr<const SummaryIndex> build_index(RandomSession& session, std::shared_ptr<const SummaryIndex> previous) {
  auto index = SummaryIndex::build(session.context(), previous);
  REQUIRE(index.ok());
  return *index;
}

}  // namespace

TEST_CASE("a summary from the index and one without it are what adding up every event gives") {
  RandomSession session(91);
  const auto index = build_index(session, nullptr);
  std::mt19937_64 random(3);
  for (int i = 0; i < 24; ++i) {
    EventFilter filter;
    if (i != 0) filter.range = session.random_range();
    if (i % 3 == 1) {
      for (const TrackSnapshot& track : session.snapshot->tracks) {
        if (random() % 2 == 0) filter.tracks.push_back(track.track->number);
      }
    }
    const Naive naive(session, filter, "");
    const auto fast = selection_summary(session.context(), filter, index.get());
    REQUIRE(fast.ok());
    CHECK_FALSE((*fast)->scanned);
    check(**fast, naive);
    if (i % 4 != 0) continue;
    const auto slow = selection_summary(session.context(), filter);
    REQUIRE(slow.ok());
    CHECK((*slow)->scanned);
    CHECK((*slow)->decoded_chunks >= (*fast)->decoded_chunks);
    check(**slow, naive);
  }
}

TEST_CASE("a whole session of few names is summed up from the index alone") {
  RandomSession session(92);
  const auto index = build_index(session, nullptr);
  EventFilter filter;
  for (const TrackSnapshot& track : session.snapshot->tracks) {
    // Five names, twenty lines.
    if (track.track->name == "track 0" && track.schema->name == "instruction") {
      filter.tracks.push_back(track.track->number);
    }
  }
  REQUIRE(filter.tracks.size() == 1);
  const auto summary = selection_summary(session.context(), filter, index.get());
  REQUIRE(summary.ok());
  CHECK((*summary)->event_count == 160'000);
  const auto chunks = session.snapshot->lanes[lanes_of_track(*session.snapshot, filter.tracks[0])[0]].chunk_count;
  CHECK((*summary)->decoded_chunks < chunks / 2);  // only those that were cut short hold too little for an index
  CHECK(index->memory_bytes() < 2 * session.snapshot->event_count + 100'000);
}

TEST_CASE("an index that is carried on gives what one made at once gives") {
  RandomSession session(93, 30'000);
  // As if most of the session had not come yet.
  auto early = std::make_shared<Snapshot>(*session.snapshot);
  for (std::size_t i = 0; i < early->lanes.size(); ++i) {
    LaneSnapshot& lane = early->lanes[i];
    lane.chunk_count = std::min<std::uint32_t>(lane.chunk_count, 1 + static_cast<std::uint32_t>(i));
  }
  const auto whole = session.snapshot;
  session.snapshot = early;
  std::shared_ptr<const SummaryIndex> index;
  index = build_index(session, index);
  const auto first = index->lane(0, early->lanes[0].number())->chunks[0];
  session.snapshot = whole;
  // What the early one does not know is decoded.
  const Naive naive(session, {}, "");
  const auto partly = selection_summary(session.context(), {}, index.get());
  REQUIRE(partly.ok());
  check(**partly, naive);
  index = build_index(session, index);
  CHECK(index->snapshot_version() == whole->version);
  const auto all = selection_summary(session.context(), {}, index.get());
  REQUIRE(all.ok());
  check(**all, naive);
  CHECK((*all)->decoded_chunks < (*partly)->decoded_chunks);
  const auto at_once = build_index(session, nullptr);
  const auto reference = selection_summary(session.context(), {}, at_once.get());
  REQUIRE(reference.ok());
  CHECK((*all)->decoded_chunks == (*reference)->decoded_chunks);
}

TEST_CASE("a condition is followed event by event") {
  RandomSession session(94, 8'000);
  const auto index = build_index(session, nullptr);
  for (int i = 0; i < 6; ++i) {
    EventFilter filter;
    filter.terms.push_back({.search = "name=WAIT"});
    if (i != 0) filter.range = session.random_range();
    auto query = session.context();
    const auto mask = search::event_mask(query, filter);
    REQUIRE(mask.ok());
    query.mask = *mask;
    const auto summary = selection_summary(query, filter, index.get());
    REQUIRE(summary.ok());
    CHECK((*summary)->scanned);
    check(**summary, Naive(session, filter, "WAIT"));
  }
}

TEST_CASE("bins of durations and sizes hold what lies between their edges") {
  std::uint32_t before = 0;
  for (std::int64_t ns : {0LL, 1LL, 2LL, 4LL, 5LL, 9LL, 10LL, 19LL, 20LL, 999LL, 1000LL, 4'999'999LL, 5'000'000LL,
                          999'999'999'999LL, 1'000'000'000'000'000'000LL, 9'223'372'036'854'775'807LL}) {
    const std::uint32_t bin = duration_bin(ns);
    CAPTURE(ns);
    CHECK(bin >= before);
    CHECK(duration_bin_begin(bin) <= ns);
    CHECK(duration_bin_begin(bin + 1) >= ns);
    if (duration_bin_begin(bin + 1) == ns) CHECK(ns == INT64_MAX);
    before = bin;
  }
  CHECK(duration_bin_begin(duration_bin(1'999)) == 1'000);
  CHECK(duration_bin_begin(duration_bin(1'000'000'000'000'000'000)) == 1'000'000'000'000'000'000);
  CHECK(size_bin_begin(size_bin(65'536)) == 65'536);
  CHECK(size_bin_begin(size_bin(131'071)) == 65'536);
  CHECK(size_bin_begin(size_bin(0)) == 0);
}

TEST_CASE("layers hold their FLOPs, cut events their part, and commentary no work") {
  auto store = Store::create();
  REQUIRE(store.ok());
  StoreSink sink(**store);
  SessionWriter writer(sink);
  const SchemaNumber schema =
      writer.add_schema({.name = "instruction",
                         .wait_names = {"SEMAPHORE"},
                         .columns = {{.name = "line", .type = ColumnType::text, .role = Role::source_location},
                                     {.name = "waited", .type = ColumnType::int64, .role = Role::wait_ns},
                                     {.name = "layer", .type = ColumnType::string, .role = Role::layer},
                                     {.name = "flops", .type = ColumnType::float64, .role = Role::flops},
                                     {.name = "bytes", .type = ColumnType::uint64, .role = Role::bytes}}});
  const TrackNumber work = writer.add_track({.name = "Tensor", .kind = "engine", .schema = schema});
  const TrackNumber layers = writer.add_track({.name = "Layers", .kind = "layer", .schema = schema});
  const auto add = [&](TrackNumber track, std::int64_t at, std::int64_t duration, const char* name, const char* layer) {
    Row row = writer.begin_event(track, at, duration, writer.intern(name));
    row.text(0, "a.py:7:3");
    row.integer(1, 3);
    row.string(2, writer.intern(layer));
    row.real(3, 1000);
    row.unsigned_integer(4, 64);
  };
  add(work, 0, 100, "MATMUL", "up");
  add(work, 100, 50, "SEMAPHORE", "up");
  add(work, 200, 100, "MATMUL", "down");
  add(layers, 0, 300, "up", "up");
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{**store, (*store)->snapshot(), pool, control};
  const auto index = SummaryIndex::build(query, nullptr);
  REQUIRE(index.ok());
  EventFilter box;
  box.range = TimeRange{25, 250};
  const auto summary = selection_summary(query, box, index->get());
  REQUIRE(summary.ok());
  const SelectionSummary& s = **summary;
  CHECK(s.event_count == 4);
  CHECK(s.range == TimeRange{25, 250});
  CHECK(s.busy_ns == 75 + 50);
  CHECK(s.wait_ns == 50);
  CHECK(s.waited_ns == 6);
  CHECK(s.bytes == 48 + 64 + 32);
  CHECK(s.flops == 750 + 1000 + 500);
  REQUIRE(s.lines.rows.size() == 1);
  CHECK(s.lines.rows[0].text == "a.py:7");
  CHECK(s.lines.rows[0].count == 3);
  REQUIRE(s.layers.rows.size() == 2);
  CHECK(s.layers.rows[0].text == "up");
  CHECK(s.layers.rows[0].flops == 1750);
  REQUIRE(s.tracks.size() == 2);
  // Alone, the layers are what is asked about.
  box.tracks = {layers};
  const auto alone = selection_summary(query, box, index->get());
  REQUIRE(alone.ok());
  CHECK((*alone)->event_count == 1);
  CHECK((*alone)->busy_ns == 225);
}

namespace {

// Two lanes of so many names that nothing finer than a chunk is kept, and all their events.
struct ManyNames {
  static constexpr int kNames = 3000;
  struct Event {
    TrackNumber track;
    std::int64_t begin, end;
    int name;
    std::uint64_t bytes;
  };
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  std::vector<Event> events;
  WorkerPool pool{1};
  TaskControl control;

  explicit ManyNames(int per_lane, std::uint64_t most_bytes = 4) {
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(
        {.name = "slice", .columns = {{.name = "bytes", .type = ColumnType::uint64, .role = Role::bytes}}});
    std::vector<StringId> names;
    for (int i = 0; i < kNames; ++i) names.push_back(writer.intern("name " + std::to_string(i)));
    std::mt19937_64 random(5);
    for (int lane = 0; lane < 2; ++lane) {
      const TrackNumber track =
          writer.add_track({.name = "q" + std::to_string(lane), .kind = "dma_queue", .schema = schema});
      std::int64_t at = 0;
      for (int i = 0; i < per_lane; ++i) {
        at += static_cast<std::int64_t>(random() % 20);
        const auto length = random() % 9 == 0 ? 0 : static_cast<std::int64_t>(random() % 60);
        const Event event{track, at, at + length, static_cast<int>(random() % kNames),
                          65536 * (1 + random() % most_bytes)};
        writer.begin_event(track, at, length, names[static_cast<std::size_t>(event.name)])
            .unsigned_integer(0, event.bytes);
        events.push_back(event);
        at += length;
      }
    }
    REQUIRE(writer.finish());
  }
  [[nodiscard]] QueryContext context() { return {*store, store->snapshot(), pool, control}; }
  // An edge of a box: any time, or where an event begins or ends.
  [[nodiscard]] std::int64_t edge(std::mt19937_64& random) const {
    const Event& event = events[random() % events.size()];
    const std::uint64_t kind = random() % 3;
    return kind == 0 ? event.begin : kind == 1 ? event.end : (event.begin + event.end) / 2;
  }
  void check(const SelectionSummary& summary, const TimeRange& range) const {
    std::map<std::string, ExpectedSummary> names;
    std::map<std::uint64_t, ExpectedSummary> sizes;
    ExpectedSummary all;
    std::map<TrackNumber, ExpectedSummary> tracks;
    for (const Event& event : events) {
      if (!range.holds(event.begin, event.end)) continue;
      const auto shared =
          static_cast<double>(std::min(event.end, range.end_ns) - std::max(event.begin, range.begin_ns));
      const bool cut = event.begin < range.begin_ns || event.end > range.end_ns;
      const double part = cut ? shared / static_cast<double>(event.end - event.begin) : 1;
      for (ExpectedSummary* sum : {&names["name " + std::to_string(event.name)], &all, &tracks[event.track],
                                   &sizes[std::bit_floor(event.bytes)]}) {
        ++sum->count;
        sum->busy += shared;
        sum->bytes += part * static_cast<double>(event.bytes);
        sum->cut += cut;
      }
    }
    CHECK(summary.event_count == all.count);
    CHECK(summary.busy_ns == std::llround(all.busy));
    CHECK(std::abs(static_cast<double>(summary.bytes) - all.bytes) <= static_cast<double>(all.cut) + 0.5);
    check_rows(summary.names, names);
    for (const SummaryRow& row : summary.names.rows) CHECK(row.busy_ns == std::llround(names.at(row.text).busy));
    check_bins(summary.sizes, sizes);
    REQUIRE(summary.tracks.size() == tracks.size());
    for (const SummaryTrack& track : summary.tracks) {
      CHECK(track.count == tracks.at(track.track).count);
      CHECK(track.busy_ns == std::llround(tracks.at(track.track).busy));
    }
  }
};

}  // namespace

TEST_CASE("boxes in a session of many names are exact, however their edges cut what is kept") {
  ManyNames session(150'000);  // nine chunks a lane, the last cut short
  const auto index = SummaryIndex::build(session.context(), nullptr);
  REQUIRE(index.ok());
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    std::int64_t a = session.edge(random), b = session.edge(random);
    if (i % 5 == 0) b = a + static_cast<std::int64_t>(random() % 100'000);  // both edges in one chunk
    EventFilter box;
    box.range = TimeRange{std::min(a, b), std::max(a, b)};
    const auto summary = selection_summary(session.context(), box, index->get());
    REQUIRE(summary.ok());
    CAPTURE(i);
    CHECK((*summary)->decoded_chunks <= 4);  // one at each edge of each lane
    session.check(**summary, *box.range);
  }
  const auto whole = selection_summary(session.context(), {}, index->get());
  REQUIRE(whole.ok());
  CHECK((*whole)->decoded_chunks == 2);  // the last of each lane holds too few events for its names
  session.check(**whole, {});
}

TEST_CASE(
    "an index of many names that is carried on answers from stretches of several chunks as one made at once does") {
  ManyNames session(330'000);  // 21 chunks a lane
  const auto snapshot = session.store->snapshot();
  std::shared_ptr<const SummaryIndex> index;
  for (const std::uint32_t chunks : {1U, 3U, 6U, 17U, 21U}) {
    auto early = std::make_shared<Snapshot>(*snapshot);
    for (LaneSnapshot& lane : early->lanes) lane.chunk_count = std::min(lane.chunk_count, chunks);
    const QueryContext query{*session.store, early, session.pool, session.control};
    const auto next = SummaryIndex::build(query, index);
    REQUIRE(next.ok());
    index = *next;
  }
  const auto at_once = SummaryIndex::build(session.context(), nullptr);
  REQUIRE(at_once.ok());
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    const auto& ours = *index->lane(lane, snapshot->lanes[lane].number());
    const auto& theirs = *(*at_once)->lane(lane, snapshot->lanes[lane].number());
    CHECK(ours.levels[2][0] != nullptr);
    CHECK(ours.head != nullptr);
    CHECK(ours.head_chunks == 20);  // the last one is cut short: too many names for its events
    for (std::size_t level = 0; level < SummaryIndex::kLevels; ++level) {
      REQUIRE(ours.levels[level].size() == theirs.levels[level].size());
      for (std::size_t i = 0; i < ours.levels[level].size(); ++i) {
        CHECK((ours.levels[level][i] == nullptr) == (theirs.levels[level][i] == nullptr));
      }
    }
  }
  std::mt19937_64 random(8);
  for (int i = 0; i < 6; ++i) {
    const std::int64_t a = session.edge(random), b = session.edge(random);
    EventFilter box;
    box.range = TimeRange{std::min(a, b), std::max(a, b)};
    const auto summary = selection_summary(session.context(), box, index.get());
    REQUIRE(summary.ok());
    session.check(**summary, *box.range);
  }
}

TEST_CASE("nothing is taken off sums that reached the largest number there is") {
  ManyNames session(40'000, std::uint64_t{1} << 47);  // up to 2^63 bytes each: two of them are more than can be counted
  const auto index = SummaryIndex::build(session.context(), nullptr);
  REQUIRE(index.ok());
  const auto& events = session.events;
  EventFilter box;
  box.range = TimeRange{0, events[1].end};  // two events of the first lane, a few of the second
  const auto ours = selection_summary(session.context(), box, index->get());
  const auto scanned = selection_summary(session.context(), box);
  REQUIRE(ours.ok());
  REQUIRE(scanned.ok());
  box.range = TimeRange{events[1].begin, events[16'000].begin};  // most of the first chunk
  for (const auto* from : {index->get(), static_cast<const SummaryIndex*>(nullptr)}) {
    const auto most = selection_summary(session.context(), box, from);
    REQUIRE(most.ok());
    CHECK((*most)->bytes == ~std::uint64_t{0});
  }
  REQUIRE((*ours)->names.rows.size() == (*scanned)->names.rows.size());
  for (std::size_t i = 0; i < (*ours)->names.rows.size(); ++i) {
    CHECK((*ours)->names.rows[i].bytes == (*scanned)->names.rows[i].bytes);
    CHECK((*ours)->names.rows[i].count == (*scanned)->names.rows[i].count);
  }
}
