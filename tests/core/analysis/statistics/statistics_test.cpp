// Statistics of any columns, against the same computed naively from the events as plain rows.
#include "core/analysis/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "core/analysis/statistics/value_details.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// As NumPy's percentile.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = static_cast<double>(sorted.size() - 1) * share;
  const auto rank = static_cast<std::size_t>(place);
  if (rank + 1 >= sorted.size()) return sorted[rank];
  return sorted[rank] + (sorted[rank + 1] - sorted[rank]) * (place - static_cast<double>(rank));
}

bool is_near(double a, double b, double share = 1e-9) {
  return std::abs(a - b) <= 1e-9 + share * std::max(std::abs(a), std::abs(b));
}

void check_figures(const ValueFigures& found, std::vector<double> values, double share = 1e-9) {
  std::sort(values.begin(), values.end());
  REQUIRE(found.count == values.size());
  double total = 0, squares = 0;
  for (const double value : values) total += value;
  const double mean = total / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  CHECK(is_near(found.total, total));
  CHECK(is_near(found.mean, mean));
  CHECK(is_near(found.deviation, std::sqrt(squares / static_cast<double>(values.size())), 1e-6));
  CHECK(found.min == values.front());
  CHECK(found.max == values.back());
  CHECK(is_near(found.q1, quantile_of(values, 0.25), share));
  CHECK(is_near(found.median, quantile_of(values, 0.5), share));
  CHECK(is_near(found.q3, quantile_of(values, 0.75), share));
  CHECK(is_near(found.p90, quantile_of(values, 0.9), share));
  CHECK(is_near(found.p99, quantile_of(values, 0.99), share));
}

std::string key_text(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::holds_alternative<std::monostate>(value) ? "(none)" : "?";
}

using NaiveGroups = std::map<std::vector<std::string>, std::vector<double>>;
using KeyOf = std::function<std::optional<std::string>(const PlainEvent&)>;

struct NaiveQuestion {
  StatisticsQuestion asked;
  std::vector<KeyOf> keys;
  std::function<std::optional<double>(const PlainEvent&)> value;
  std::function<bool(const PlainEvent&)> passes = [](const PlainEvent&) { return true; };
};

NaiveGroups naive(const RandomSession& session, const NaiveQuestion& question) {
  NaiveGroups groups;
  for (const PlainEvent& event : session.events) {
    const LaneSnapshot& lane = session.snapshot->lanes[event.lane];
    const TickRange ticks = tick_range(lane, question.asked.filter.range.value_or(TimeRange{}));
    if (!ticks.holds(event.begin_ticks, event.end_ticks) || !question.passes(event)) continue;
    const auto value = question.value(event);
    std::vector<std::string> keys;
    for (const KeyOf& key_of : question.keys) {
      if (const auto key = key_of(event)) keys.push_back(*key);
    }
    if (value && keys.size() == question.keys.size()) groups[keys].push_back(*value);
  }
  return groups;
}

void check_statistics(const Statistics& found, const NaiveGroups& expected) {
  REQUIRE(found.rows.size() == expected.size());
  std::vector<double> all;
  for (const StatisticsRow& row : found.rows) {
    std::vector<std::string> keys;
    for (const FieldValue& key : row.keys) keys.push_back(key_text(key));
    const auto group = expected.find(keys);
    REQUIRE(group != expected.end());
    check_figures(row.figures, group->second);
    all.insert(all.end(), group->second.begin(), group->second.end());
  }
  for (std::size_t i = 1; i < found.rows.size(); ++i)
    CHECK(found.rows[i - 1].figures.total >= found.rows[i].figures.total);
  if (!all.empty()) check_figures(found.all, all);
}

std::string table_of(const RandomSession& session, const PlainEvent& event) {
  return session.snapshot->lanes[event.lane].schema->name;
}

KeyOf name_key() {
  return [](const PlainEvent& event) { return std::optional(event.name_text); };
}
std::optional<double> duration_of(const PlainEvent& event) {
  return static_cast<double>(event.end_ns - event.begin_ns);
}
std::optional<double> bytes_of(const PlainEvent& event) {
  return event.bytes < 0 ? std::nullopt : std::optional(static_cast<double>(event.bytes));
}

}  // namespace

TEST_CASE("statistics: by any columns, of any range and mask, they are what the events give one by one") {
  RandomSession session(11, 8000);
  const KeyOf line = [](const PlainEvent& event) {
    return std::optional(event.location.empty() ? "(none)" : event.location);
  };
  const KeyOf bytes = [](const PlainEvent& event) {
    return std::optional(event.bytes < 0 ? std::string("(none)") : std::to_string(event.bytes));
  };
  const KeyOf table = [&](const PlainEvent& event) { return std::optional(table_of(session, event)); };
  const KeyOf dma_line = [&, line](const PlainEvent& event) {
    return table_of(session, event) == "dma" ? line(event) : std::nullopt;
  };
  const std::vector<NaiveQuestion> questions = {
      {{.by = {"name"}}, {name_key()}, duration_of},
      {{.by = {}}, {}, duration_of},
      {{.by = {"source", "table"}}, {line, table}, duration_of},
      {{.by = {"bytes"}}, {bytes}, duration_of},
      {{.by = {"name", "line"}, .value = "bytes"}, {name_key(), line}, bytes_of},
      {{.by = {"dma.line"}, .value = "duration"}, {dma_line}, duration_of},
      {{.by = {"opcode"}, .value = "bytes"}, {name_key()}, bytes_of}};
  for (int round = 0; round < 6; ++round) {
    for (NaiveQuestion question : questions) {
      if (round > 0) question.asked.filter.range = session.random_range();
      QueryContext query = session.context();
      if (round % 2 == 1) {
        question.asked.filter.terms = {{"name~Copy", false}};
        auto mask = search::event_mask(query, question.asked.filter);
        REQUIRE(mask.ok());
        query.mask = *mask;
        question.passes = [](const PlainEvent& event) { return event.name_text.find("Copy") != std::string::npos; };
      }
      CAPTURE(round);
      CAPTURE(question.asked.by.size());
      const auto found = statistics(query, question.asked);
      REQUIRE(found.ok());
      check_statistics(**found, naive(session, question));
    }
  }
}

TEST_CASE("statistics: quantiles of more values than are kept lie within the error that is promised") {
  std::mt19937_64 random(5);
  Distribution folded, other;
  std::vector<double> values;
  std::lognormal_distribution<double> spread(8, 2);
  for (int i = 0; i < 50'000; ++i) {
    const double value = i % 7 == 0 ? -spread(random) : std::floor(spread(random)) + 1e9 * (i % 1000 == 0 ? 1 : 0);
    values.push_back(value);
    (i % 3 == 0 ? other : folded).add(value, Distribution::kFolded);
  }
  folded.merge(std::move(other), Distribution::kFolded);
  const ValueFigures figures = folded.figures();
  CHECK_FALSE(figures.exact);
  check_figures(figures, values, 1.0 / 256);
}

TEST_CASE("statistics: small whole numbers stay exact however many there are, and large ones keep their deviation") {
  std::mt19937_64 random(6);
  Distribution small, large;
  std::vector<double> values, large_values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<double>(random() % 500));
    small.add(values.back(), Distribution::kFolded);
    large_values.push_back(1e12 + static_cast<double>(random() % 3));
    large.add(large_values.back(), Distribution::kFolded);
  }
  const ValueFigures figures = small.figures();
  CHECK(figures.exact);
  check_figures(figures, values);
  CHECK(is_near(large.figures().deviation, std::sqrt(2.0 / 3), 0.02));
}

TEST_CASE("statistics: many whole numbers that lie close together are exact, in whatever order and parts they come") {
  std::mt19937_64 random(7);
  for (const std::int64_t step : {1, 8, 4096, 65'536}) {
    for (const int far : {0, 20, 3}) {  // every so-many'th value lies elsewhere
      CAPTURE(step);
      CAPTURE(far);
      std::vector<Distribution> parts(3);
      std::vector<double> values;
      for (int i = 0; i < 30'000; ++i) {
        const auto near = static_cast<std::int64_t>(random() % (i < 100 ? 3 : 1500)) - 200;
        std::int64_t value = near * step + 5;
        if (far > 0 && i < 400 * far && i % far == 0) value = 1'000'000'000 + i;
        values.push_back(static_cast<double>(value));
        parts[random() % parts.size()].add(values.back(), Distribution::kFolded);
      }
      Distribution all;
      for (Distribution& part : parts) all.merge(std::move(part), Distribution::kFolded);
      CHECK(all.count() == values.size());
      const ValueFigures figures = all.figures();
      if (far == 0) CHECK(figures.exact);
      check_figures(figures, values, figures.exact ? 1e-9 : 1.0 / 256);
    }
  }
}

TEST_CASE("statistics: kept values stay exact beside those that are counted, and a group of two takes no memory more") {
  CHECK(sizeof(Distribution) <= 32);
  std::mt19937_64 random(8);
  Distribution all, other;
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(i % 10 == 0 ? static_cast<double>(random() % 1'000'000'000) + 0.5
                                 : static_cast<double>(random() % 900));
    (i % 2 == 0 ? all : other).add(values.back(), values.max_size());
  }
  all.merge(other, values.max_size());
  const ValueFigures figures = all.figures();
  CHECK(figures.exact);
  check_figures(figures, values);
}

TEST_CASE("statistics: of more groups than are told apart those of most events stay whole, and it is said") {
  auto created = Store::create();
  REQUIRE(created.ok());
  StoreSink sink(**created);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema(
      {.name = "call", .columns = {{.name = "request"}, {.name = "words", .type = ColumnType::text}}});
  const TrackNumber track = writer.add_track({.name = "q", .kind = "engine", .schema = schema});
  // More than all threads together keep, however the chunks fall to them.
  constexpr std::int64_t kOnce = 3 * GroupReader::kMostGroups, kFrequent = 50;
  for (std::int64_t i = 0; i < kOnce; ++i) {
    const bool frequent = i % 1'000 < kFrequent;
    Row row = writer.begin_event(track, 10 * i, 5, writer.intern("call"));
    row.integer(0, frequent ? i % 1'000 : 1'000 + i);
    row.text(1, std::to_string(frequent ? i % 1'000 : 1'000 + i));
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{**created, (*created)->snapshot(), pool, control};
  for (const char* column : {"request", "words"}) {
    CAPTURE(column);
    const StatisticsQuestion question{.by = {column}};
    const auto found = statistics(query, question);
    REQUIRE(found.ok());
    const Statistics& all = **found;
    CHECK_FALSE(all.counts_all_groups);
    REQUIRE(all.has_rest);
    REQUIRE(all.rows.size() == Statistics::kMostGroups + 1);
    std::uint64_t events = 0;
    for (const StatisticsRow& row : all.rows) events += row.figures.count;
    CHECK(events == kOnce);
    CHECK(all.all.count == kOnce);
    for (std::size_t i = 0; i < kFrequent; ++i)
      CHECK(all.rows[i].figures.count >= static_cast<std::uint64_t>(kOnce / 1'000));
    // The last row's values are in the histogram as well.
    const auto details = value_details(query, question, BinScale::linear, nullptr, *found);
    REQUIRE(details.ok());
    std::uint64_t binned = 0;
    for (const std::uint64_t count : (*details)->bins.counts) binned += count;
    CHECK(binned == kOnce);
  }
}

TEST_CASE("statistics: a column that is a string in one table and a number in another mixes neither") {
  auto created = Store::create();
  REQUIRE(created.ok());
  StoreSink sink(**created);
  SessionWriter writer(sink);
  const auto track_of = [&](const char* name, ColumnType type) {
    return writer.add_track({.name = name,
                             .kind = "engine",
                             .schema = writer.add_schema({.name = name, .columns = {{.name = "tag", .type = type}}})});
  };
  const TrackNumber words = track_of("words", ColumnType::string), numbers = track_of("numbers", ColumnType::int64);
  for (std::int64_t i = 0; i < 200; ++i) {
    writer.begin_event(words, 10 * i, 5, writer.intern("a")).string(0, writer.intern("word" + std::to_string(i % 10)));
    writer.begin_event(numbers, 10 * i, 5, writer.intern("b")).integer(0, i % 40);
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(1);
  TaskControl control;
  const QueryContext query{**created, (*created)->snapshot(), pool, control};
  const auto found = statistics(query, {.by = {"tag"}});
  REQUIRE(found.ok());
  CHECK((*found)->rows.size() == 50);
  for (const StatisticsRow& row : (*found)->rows) {
    CAPTURE(key_text(row.keys[0]));
    CHECK(row.figures.count == (std::holds_alternative<std::string>(row.keys[0]) ? 20U : 5U));
  }
}

TEST_CASE("statistics: without events there are no rows, and an unknown column says what there is") {
  RandomSession session(12, 500);
  StatisticsQuestion question{.by = {"name"}};
  question.filter.range = TimeRange{session.snapshot->end_ns + 1000, session.snapshot->end_ns + 2000};
  const auto none = statistics(session.context(), question);
  REQUIRE(none.ok());
  CHECK((*none)->rows.empty());
  CHECK((*none)->all.count == 0);
  const auto wrong = statistics(session.context(), {.by = {"opcod"}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.message().find("did you mean opcode?") != std::string::npos);
  CHECK_FALSE(statistics(session.context(), {.by = {"name"}, .value = "line"}).ok());  // holds texts
  auto store = Store::create();
  REQUIRE(store.ok());
  WorkerPool pool(1);
  TaskControl control;
  const auto empty = statistics({**store, (*store)->snapshot(), pool, control}, {.by = {"name"}});
  REQUIRE(empty.ok());
  CHECK((*empty)->rows.empty());
}

TEST_CASE("statistics: self time of a host's calls is what their callees leave, by any column") {
  auto created = Store::create();
  REQUIRE(created.ok());
  StoreSink sink(**created);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "python", .columns = {{.name = "module"}}});
  const TrackNumber track =
      writer.add_track({.name = "7 python", .kind = "host_thread", .host = "p", .schema = schema});
  const auto call = [&](std::uint32_t depth, std::int64_t begin, std::int64_t end, const char* name,
                        std::int64_t module) {
    writer.begin_event_at(track, depth, begin, end - begin, writer.intern(name)).integer(0, module);
  };
  call(0, 0, 100, "outer", 1);
  call(1, 10, 40, "inner", 2);
  call(2, 20, 30, "leaf", 1);
  call(1, 50, 60, "inner", 2);
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{**created, (*created)->snapshot(), pool, control};
  const auto self_of = [&](const StatisticsQuestion& question, const FieldValue& key) -> std::int64_t {
    const auto found = statistics(query, question);
    REQUIRE(found.ok());
    for (const StatisticsRow& row : (*found)->rows) {
      if (row.keys[0] == key) return row.self_ns.value_or(-1);
    }
    return -2;
  };
  CHECK(self_of({.by = {"name"}}, std::string("outer")) == 60);
  CHECK(self_of({.by = {"name"}}, std::string("inner")) == 30);
  CHECK(self_of({.by = {"module"}}, std::int64_t{1}) == 70);
  CHECK(self_of({.filter = {.range = TimeRange{0, 45}}, .by = {"name"}}, std::string("outer")) == 15);
  const auto of_modules = statistics(query, {.by = {"name"}, .value = "module"});
  REQUIRE(of_modules.ok());
  CHECK_FALSE((*of_modules)->rows[0].self_ns);
}

TEST_CASE("value details: every value lies in its bin, and outliers are those beyond their group's fences") {
  RandomSession session(13, 6000);
  for (const BinScale scale : {BinScale::linear, BinScale::log}) {
    for (const char* value : {"duration", "bytes"}) {
      const StatisticsQuestion question{.by = {"name"}, .value = value};
      const std::vector<FieldValue> wanted = {std::string("WAIT")};
      for (const std::vector<FieldValue>* keys : {static_cast<const std::vector<FieldValue>*>(nullptr), &wanted}) {
        const auto details = value_details(session.context(), question, scale, keys);
        REQUIRE(details.ok());
        const ValueBins& bins = (*details)->bins;
        REQUIRE(bins.edges.size() == bins.size() + 1);
        REQUIRE(bins.size() <= ValueDetails::kMostBins + 2);
        CHECK(std::is_sorted(bins.edges.begin(), bins.edges.end()));
        std::vector<std::uint64_t> counts(bins.size());
        std::uint64_t below = 0, values = 0;
        for (const PlainEvent& event : session.events) {
          if (keys != nullptr && event.name_text != "WAIT") continue;
          const auto measured = std::string_view(value) == "bytes" ? bytes_of(event) : duration_of(event);
          if (!measured) continue;
          ++values;
          const auto bin = std::upper_bound(bins.edges.begin(), bins.edges.end(), *measured) - bins.edges.begin();
          if (bin == 0) {
            ++below;
          } else {
            ++counts.at(static_cast<std::size_t>(bin - 1));
          }
        }
        CHECK(values == (*details)->figures.count);
        CHECK(below == bins.below);
        CHECK(counts == bins.counts);
        if (scale == BinScale::linear) CHECK(below == 0);
      }
    }
  }
}

TEST_CASE(
    "value details: a call of a thousand that takes ten times as long is an outlier, the spread of the rest is not") {
  auto created = Store::create();
  REQUIRE(created.ok());
  StoreSink sink(**created);
  SessionWriter writer(sink);
  const TrackNumber track =
      writer.add_track({.name = "q", .kind = "engine", .schema = writer.add_schema({.name = "work"})});
  std::int64_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t steady = i == 500 ? 10'000 : 1000 + i % 10;
    writer.begin_event(track, at, steady, writer.intern("steady"));
    at += steady;
    const std::int64_t slow = 100'000 + 1000 * (i % 100);
    writer.begin_event(track, at, slow, writer.intern("slow"));
    at += slow;
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{**created, (*created)->snapshot(), pool, control};
  const auto details = value_details(query, {.by = {"name"}}, BinScale::log);
  REQUIRE(details.ok());
  REQUIRE((*details)->outlier_count == 1);
  REQUIRE((*details)->outliers.size() == 1);
  CHECK((*details)->outliers[0].value == 10'000);
  CHECK((*details)->outliers[0].name == "steady");
  CHECK((*details)->outliers[0].event == make_event_id(query.snapshot->lanes[0].number(), 1000));
  CHECK((*details)->outliers[0].quartile_distances > 100);
  const std::vector<FieldValue> slow = {std::string("slow")};
  CHECK((*value_details(query, {.by = {"name"}}, BinScale::log, &slow))->outlier_count == 0);
}

TEST_CASE("bins: numbers that no edges hold have none") {
  const double most = std::numeric_limits<double>::max();
  CHECK(bin_edges(-most, most, BinScale::linear, false).empty());
  CHECK(bin_edges(0, 3e-322, BinScale::linear, false).empty());
  CHECK(bin_edges(1, most, BinScale::log, false).empty());
  CHECK(bin_edges(5e-324, 1, BinScale::log, false).empty());
}

TEST_CASE("bins: their edges are round and hold everything") {
  for (const auto& [min, max] : std::vector<std::pair<double, double>>{{1, 1},
                                                                       {0, 0},
                                                                       {5, 6},
                                                                       {1000, 1007},
                                                                       {1, 1e9},
                                                                       {3, 4'000'000'000},
                                                                       {123456, 123457},
                                                                       {-5, 17},
                                                                       {0.001, 0.0011}}) {
    for (const bool whole : {true, false}) {
      for (const BinScale scale : {BinScale::linear, BinScale::log}) {
        CAPTURE(min);
        CAPTURE(max);
        CAPTURE(whole);
        const std::vector<double> edges = bin_edges(min, max, scale, whole);
        if (whole && std::floor(min) != min) continue;
        if (scale == BinScale::log && min <= 0) {
          CHECK(edges.empty());
          continue;
        }
        REQUIRE(edges.size() >= 2);
        CHECK(edges.size() <= ValueDetails::kMostBins + 2);
        CHECK(edges.front() <= min);
        CHECK(edges.back() > max);
        for (std::size_t i = 1; i < edges.size(); ++i) CHECK(edges[i] > edges[i - 1]);
      }
    }
  }
}
