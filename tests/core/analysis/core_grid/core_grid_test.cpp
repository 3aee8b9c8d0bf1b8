#include <map>
#include <random>
#include <tuple>

#include "core/analysis/core_grid/grid_frames.h"
#include "core/search/filter_mask.h"
#include "tests/support/core_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
using test::CoreEvent;
using test::CoreSession;

namespace {

using CoreKey = std::tuple<int, int, int>;  // chip, x, y

struct Asked {
  const CoreSession& session;
  std::shared_ptr<const Snapshot> snapshot = session.store->snapshot();
  WorkerPool pool{2};
  TaskControl control;
  [[nodiscard]] QueryContext context() { return {*session.store, snapshot, pool, control}; }
  std::shared_ptr<const GridFrames> frames(const GridMeasure& measure, const EventFilter& filter, std::size_t count) {
    QueryContext query = context();
    if (filter.needs_mask()) {
      EventFilter terms = filter;
      terms.range.reset();
      const auto mask = search::event_mask(query, terms, nullptr);
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    const auto made = core_grid_frames(query, filter, measure, count);
    REQUIRE(made.ok());
    return *made;
  }
};

// ns by ns: each that is covered, and what is added up, of one core (and part).
struct Naive {
  std::vector<bool> covered;
  double sum = 0;
  std::uint64_t events = 0;
};

Naive naive(const CoreSession& session, const CoreKey& core, const GridMeasure& measure, const TimeRange& range,
            const std::string& only_name) {
  Naive found;
  found.covered.resize(static_cast<std::size_t>(range.length_ns()));
  for (const CoreEvent& event : session.events) {
    if (CoreKey{event.chip, event.x, event.y} != core) continue;
    if (!measure.part.empty() && event.part != measure.part) continue;
    if (!only_name.empty() && event.name != only_name) continue;
    if (!range.holds(event.begin_ns, event.end_ns)) continue;
    const bool total = event.table == "zone_total";
    const bool waits = event.name == "CB_WAIT" || event.name == "WAIT_FRONT";
    if (!measure.zone.empty() && event.name != measure.zone) continue;
    if (measure.kind == GridMeasureKind::busy && ((measure.zone.empty() && (waits || total)))) continue;
    if (measure.kind == GridMeasureKind::wait && !waits) continue;
    if (measure.kind == GridMeasureKind::column && total) continue;
    ++found.events;
    const std::int64_t begin = std::max(event.begin_ns, range.begin_ns), end = std::min(event.end_ns, range.end_ns);
    for (std::int64_t at = begin; at < end; ++at) found.covered[static_cast<std::size_t>(at - range.begin_ns)] = true;
    if (measure.is_time() && total) found.sum += static_cast<double>(event.amount);
    if (measure.kind == GridMeasureKind::column && event.amount >= 0) {
      found.sum += static_cast<double>(event.amount) * static_cast<double>(end - begin) /
                   static_cast<double>(event.end_ns - event.begin_ns);
    }
  }
  return found;
}

double value_of(const Naive& found, const GridMeasure& measure) {
  if (measure.kind == GridMeasureKind::events) return static_cast<double>(found.events);
  const auto covered = static_cast<double>(std::count(found.covered.begin(), found.covered.end(), true));
  return measure.is_time() ? covered + found.sum : found.sum;
}

const std::vector<GridMeasure> kMeasures = {
    {},
    {.kind = GridMeasureKind::wait},
    {.kind = GridMeasureKind::events},
    {.zone = "MATMUL"},
    {.zone = "WAIT_FRONT"},
    {.part = "TRISC_1"},
    {.kind = GridMeasureKind::wait, .part = "BRISC"},
    {.kind = GridMeasureKind::column, .table = "zone", .column = "bytes"},
    {.kind = GridMeasureKind::column, .table = "zone", .column = "bytes", .zone = "READ"},
};

}  // namespace

TEST_CASE("core grid: cores lie where their names say, chip by chip, with the processors that work side by side") {
  const CoreSession session(1, 60);
  const CoreGrid grid = core_grid_of(*session.store->snapshot());
  REQUIRE(grid.chips.size() == 2);
  CHECK(grid.chips[0].name == "chip 0");
  CHECK(grid.chips[0].x0 == 1);
  CHECK(grid.chips[0].y0 == 7);
  CHECK(grid.chips[0].columns == 3);
  CHECK(grid.chips[0].rows == 2);
  CHECK(grid.chips[0].plan == nullptr);  // nothing says which chip it is
  REQUIRE(grid.cells.size() == 12);
  CHECK(grid.part_names() == std::vector<std::string>{"BRISC", "TRISC_0", "TRISC_1"});
  const auto cell = grid.find(1, 3, 8);
  REQUIRE(cell);
  CHECK(grid.cells[*cell].name == "core 3,8");
  CHECK(grid.cells[*cell].ticks_per_ns == 0.5);
  CHECK(grid.cells[*cell].part_count == 3);
  CHECK(grid.tracks_of(*cell).size() == 6);  // zones and totals of each
  CHECK_FALSE(grid.find(1, 4, 8));
}

TEST_CASE("core grid: values of any measure, range and filter are those of a plain count, and frames add up to them") {
  const CoreSession session(7, 120);
  Asked asked{session};
  std::mt19937_64 random(3);
  const std::int64_t end = asked.snapshot->end_ns;
  for (int i = 0; i < 27; ++i) {
    const GridMeasure& measure = kMeasures[static_cast<std::size_t>(i) % kMeasures.size()];
    CAPTURE(i);
    EventFilter filter;
    if (i >= 9) {
      const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)),
                 b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
      filter.range = TimeRange{std::min(a, b), std::max(a, b) + 1};
    }
    const std::string only = i >= 18 && measure.zone.empty() && measure.kind != GridMeasureKind::wait ? "KERNEL" : "";
    if (!only.empty()) filter.terms.push_back({.search = "name=" + only});
    const auto frames = asked.frames(measure, filter, 1 + random() % 60);
    const GridFrames& grid = *frames;
    REQUIRE(grid.grid.cells.size() == 12);
    double most = 0;
    for (std::size_t cell = 0; cell < grid.grid.cells.size(); ++cell) {
      const GridCell& at = grid.grid.cells[cell];
      const CoreKey core{static_cast<int>(at.chip), at.x, at.y};
      const Naive whole = naive(session, core, measure, grid.range, only);
      CHECK(grid.of_cell(cell, 0, grid.count) == doctest::Approx(value_of(whole, measure)));
      CHECK(grid.events(cell, 0, grid.count) == whole.events);
      const std::size_t a = random() % grid.count, b = a + 1 + random() % (grid.count - a);
      const Naive part = naive(session, core, measure, grid.stretch(a, b), only);
      CHECK(grid.of_cell(cell, a, b) == doctest::Approx(value_of(part, measure)));
      CHECK(grid.events(cell, a, b) == part.events);
      most = std::max(most, grid.of_cell(cell, 0, grid.count));
    }
    if (i < 9) CHECK(most > 0);
  }
}

TEST_CASE("core grid: a part has its own time, and a core no more than its parts together") {
  const CoreSession session(9, 100);
  Asked asked{session};
  const auto frames = asked.frames({}, {}, 40);
  for (std::size_t cell = 0; cell < frames->grid.cells.size(); ++cell) {
    const GridCell& at = frames->grid.cells[cell];
    double sum = 0, most = 0;
    for (std::size_t p = 0; p < at.part_count; ++p) {
      const std::size_t part = at.first_part + p;
      const GridMeasure alone{.part = frames->grid.parts[part].name};
      const Naive expected = naive(session, {static_cast<int>(at.chip), at.x, at.y}, alone, frames->range, "");
      const double value = frames->of_part(part, 0, frames->count);
      CHECK(value == value_of(expected, alone));
      sum += value;
      most = std::max(most, value);
    }
    const double core = frames->of_cell(cell, 0, frames->count);
    CHECK(core >= most);
    CHECK(core <= sum);
  }
}

TEST_CASE("core grid: frames of a range without events, of one ns and of a session without events") {
  const CoreSession session(2, 5);
  Asked asked{session};
  EventFilter filter;
  filter.range = TimeRange{10, 11};
  CHECK(asked.frames({}, filter, 256)->count == 1);
  filter.range = TimeRange{1'000'000'000, 2'000'000'000};
  CHECK(asked.frames({}, filter, 256)->count == 0);
  const std::shared_ptr<Store> empty = std::move(Store::create()).value();
  const auto made = core_grid_frames({*empty, empty->snapshot(), asked.pool, asked.control}, {}, GridMeasure{}, 16);
  REQUIRE(made.ok());
  CHECK((*made)->grid.empty());
}

TEST_CASE("core grid: engines of several devices are one grid where no track has coordinates") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "instruction"});
  for (const char* device : {"nc0", "nc1"}) {
    for (const char* engine : {"Tensor", "Vector"}) {
      const TrackNumber track =
          writer.add_track({.name = engine, .kind = "engine", .device = device, .schema = schema});
      writer.begin_event(track, 10, device[2] == '0' ? 30 : 20, writer.intern("MATMUL"));
    }
    const TrackNumber queue = writer.add_track({.name = "q0", .kind = "dma_queue", .device = device, .schema = schema});
    writer.begin_event(queue, 0, 100, writer.intern("w1"));
  }
  REQUIRE(writer.finish().ok());
  const CoreGrid grid = core_grid_of(*store->snapshot());
  REQUIRE(grid.chips.size() == 1);
  CHECK(grid.chips[0].column_labels == std::vector<std::string>{"Tensor", "Vector"});
  CHECK(grid.chips[0].row_labels == std::vector<std::string>{"nc0", "nc1"});
  REQUIRE(grid.cells.size() == 4);
  CHECK(grid.cells[3].name == "nc1 Vector");
  CHECK(grid.part_names().empty());
  WorkerPool pool(1);
  TaskControl control;
  const auto frames = core_grid_frames({*store, store->snapshot(), pool, control}, {}, GridMeasure{}, 4);
  REQUIRE(frames.ok());
  CHECK((*frames)->of_cell(0, 0, 4) == 30);
  CHECK((*frames)->of_cell(3, 0, 4) == 20);
}

TEST_CASE("core grid: a known chip shows what is no worker, unless a core lies where it has none") {
  for (const bool fits : {true, false}) {
    const std::shared_ptr<Store> store = std::move(Store::create()).value();
    StoreSink sink(*store);
    SessionWriter writer(sink);
    writer.set_meta("arch", "wormhole_b0");
    const SchemaNumber schema = writer.add_schema({.name = "zone"});
    const TrackNumber track = writer.add_track(
        {.name = fits ? "core 1,1 BRISC" : "core 18,18 BRISC", .kind = "engine", .device = "chip 0", .schema = schema});
    writer.begin_event(track, 0, 10, writer.intern("BRISC-FW"));
    REQUIRE(writer.finish().ok());
    const CoreGrid grid = core_grid_of(*store->snapshot());
    REQUIRE(grid.chips.size() == 1);
    CHECK((grid.chips[0].plan != nullptr) == fits);
    CHECK(grid.chips[0].columns == (fits ? 10 : 1));
    if (!fits) continue;
    CHECK(place_name(grid.chips[0].plan->at(5, 3)) == "DRAM");
    CHECK(place_name(grid.chips[0].plan->at(1, 6)) == "Ethernet");
  }
}

TEST_CASE("core grid: chips have as many workers as their makers say") {
  const std::map<std::string, int> workers = {{"wormhole_b0", 80}, {"blackhole", 140}, {"grayskull", 120}};
  for (const auto& [arch, expected] : workers) {
    const ChipPlan* plan = find_chip_plan(arch);
    REQUIRE(plan != nullptr);
    int found = 0;
    for (const std::string_view row : plan->rows) {
      CHECK(static_cast<int>(row.size()) == plan->columns());
      found += static_cast<int>(std::count(row.begin(), row.end(), kWorkerPlace));
    }
    CHECK(found == expected);
  }
  CHECK(find_chip_plan("trn2") == nullptr);
}

TEST_CASE("core grid: coordinates that lie far apart are ranks with their names, so that a picture stays small") {
  const std::shared_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber schema = writer.add_schema({.name = "zone"});
  for (const char* name : {"core 1,5 BRISC", "core 2000000000,5 BRISC", "core 99999999999,5 BRISC", "core 7 BRISC"}) {
    const TrackNumber track = writer.add_track({.name = name, .kind = "engine", .device = "chip 0", .schema = schema});
    writer.begin_event(track, 0, 10, writer.intern("BRISC-FW"));
  }
  REQUIRE(writer.finish().ok());
  const CoreGrid grid = core_grid_of(*store->snapshot());
  REQUIRE(grid.cells.size() == 2);  // the others have no coordinates
  CHECK(grid.chips[0].columns == 2);
  CHECK(grid.chips[0].column_labels == std::vector<std::string>{"1", "2000000000"});
}

TEST_CASE("core grid: the core that works longest is far from the others, and even cores have no outlier") {
  const CoreSession session(4, 200);
  Asked asked{session};
  EventFilter filter;
  filter.range = TimeRange{0, 12'000};  // in which all cores of chip 0 are at work
  const auto frames = asked.frames({.part = "TRISC_1"}, filter, 1);
  std::vector<double> values;
  for (std::size_t cell = 0; cell < 6; ++cell) values.push_back(frames->of_cell(cell, 0, 1));
  const CoreSpread spread = core_spread(values);
  const std::size_t slow = *frames->grid.find(0, 3, 8);
  CHECK(spread.most == slow);
  CHECK(spread.outliers == std::vector<std::size_t>{slow});
  CHECK(spread.imbalance > 1.3);
  const std::vector<double> even(10, 5.0);
  CHECK(core_spread(even).outliers.empty());
  CHECK(core_spread(even).imbalance == 1);
  CHECK(core_spread({}).imbalance == 0);
}

TEST_CASE("core grid: what a session offers, and words that it does not know say what there is") {
  const CoreSession session(5, 20);
  Asked asked{session};
  const CoreGrid grid = core_grid_of(*asked.snapshot);
  const auto offer = core_grid_offer(asked.context(), grid);
  REQUIRE(offer.ok());
  REQUIRE(offer->columns.size() == 1);
  CHECK(offer->columns[0].title == "NoC bytes");
  CHECK(offer->zones.size() == 5);
  CHECK(offer->waits);
  const auto parse = [&](const std::vector<std::string>& words) {
    return parse_grid_measure(words, *asked.snapshot, grid);
  };
  const auto measure = parse({"zone:MATMUL", "part:TRISC_1"});
  REQUIRE(measure.ok());
  CHECK(grid_measure_title(*measure, *asked.snapshot) == "MATMUL on TRISC_1");
  CHECK(parse({"zone.bytes"})->kind == GridMeasureKind::column);
  CHECK(grid_measure_unit(*parse({"zone.bytes"}), *asked.snapshot) == "B");
  CHECK(parse({"speed"}).message().find("zone.bytes") != std::string::npos);
  CHECK(parse({"part:ERISC"}).message().find("BRISC, TRISC_0, TRISC_1") != std::string::npos);
  CHECK_FALSE(parse({"zone:NONE"}).ok());
}
