// What is made of a system profile: rows, arrows, rates of transfers, the use of HBM, and where device profiles lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "capture/sources/neuron/system_profile.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/memory/usage.h"
#include "core/analysis/time/executors.h"
#include "core/analysis/time/session_activity.h"
#include "tests/capture/imported.h"
#include "tests/capture/recording_sink.h"
#include "tests/support/files.h"
#include "tests/support/neuron/system_profile.h"
#include "tests/support/torch/allocator_model.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;
using test::SystemRun;

Imported import_tables(const std::string& folder) {
  return Imported::by([&](EventSink& sink) { return sources::neuron::import_neuron_parquet(folder, {}, sink); });
}

Imported system_session() {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.path());
  return import_tables(folder.path());
}

// All inputs as one session, as the program opens them, in a store of its own.
class Opened {
 public:
  explicit Opened(const std::vector<std::string>& paths) : store_(std::move(Store::create().value())) {
    std::vector<sources::RecognisedFile> files;
    for (const std::string& path : paths) files.push_back(sources::recognise(path));
    const Result<void> done = sources::import_input(files, {}, [this] { return std::make_unique<StoreSink>(*store_); });
    message_ = done.ok() ? "" : done.message();
    snapshot_ = store_->snapshot();
  }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const QualityEntry* quality(std::string_view kind) const {
    const auto found =
        std::ranges::find_if(snapshot_->quality, [&](const QualityEntry& entry) { return entry.kind == kind; });
    return found == snapshot_->quality.end() ? nullptr : &*found;
  }
  // The session's time at which events of a table begin.
  [[nodiscard]] std::int64_t first_ns(std::string_view table) const {
    std::int64_t first = INT64_MAX;
    for (const LaneSnapshot& lane : snapshot_->lanes) {
      if (lane.schema->name == table && lane.event_count > 0)
        first = std::min(first, lane.clock->to_ns(lane.begin_ticks));
    }
    return first;
  }
  [[nodiscard]] std::int64_t begin_unix_ns() const {
    return std::stoll(std::string(snapshot_->meta_value("begin_unix_ns")));
  }
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] analysis::Verdict verdict() {
    const QueryContext query{*store_, snapshot_, pool_, control_};
    const auto active = analysis::find_active_stretch(query);
    REQUIRE(active.ok());
    const auto found = analysis::session_verdict(query, *active, {});
    REQUIRE(found.ok());
    return *found;
  }
  [[nodiscard]] std::shared_ptr<const analysis::MemoryUsage> memory() {
    const auto found = analysis::memory_usage({*store_, snapshot_, pool_, control_});
    REQUIRE(found.ok());
    return *found;
  }

 private:
  std::unique_ptr<Store> store_;
  std::string message_;
  std::shared_ptr<const Snapshot> snapshot_;
  WorkerPool pool_{1};
  TaskControl control_;
};

// Bytes under the curve of a counter: of its rate over time.
double integral(std::vector<EventValues> samples) {
  std::ranges::sort(samples, {}, &EventValues::begin);
  double bytes = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    bytes +=
        samples[i - 1].real("rate").value_or(0) * static_cast<double>(samples[i].begin - samples[i - 1].begin) / 1e9;
  }
  return bytes;
}

}  // namespace

TEST_CASE(
    "a system profile has the framework's and the runtime's threads below their process, and devices of their own") {
  const Imported session = system_session();
  std::set<std::string> framework, runtime, device;
  for (const EventValues& event : session.events("framework_event"))
    framework.insert(event.host + "/" + event.track + "/" + event.kind);
  for (const EventValues& event : session.events("trace_event")) {
    if (event.kind == "host_thread") runtime.insert(event.host + "/" + event.track);
    if (event.kind != "host_thread")
      device.insert(event.host + "/" + event.device + "/" + event.kind + "/" + event.track);
  }
  CHECK(framework == std::set<std::string>{"i-0a/process 41 thread 7 framework/host_thread",
                                           "i-0a/process 42 thread 7 framework/host_thread",
                                           "i-0b/process 41 thread 9 framework/host_thread"});
  CHECK(runtime == std::set<std::string>{"i-0a/process 41 thread 7 runtime", "i-0a/process 42 thread 7 runtime",
                                         "i-0b/process 41 thread 9 runtime"});
  // Number 0 of two processes of one machine are different cores.
  CHECK(device.size() == 9);
  CHECK(device.contains("i-0a/nc0 worker 0/stream/Executions"));
  CHECK(device.contains("i-0a/nc0 worker 1/collective/Collectives"));
  CHECK(device.contains("i-0b/nc0/barrier/Collective barriers"));
  // Thread below source below process.
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.track->name != "process 42 thread 7 runtime") continue;
    const TrackSnapshot* source = session.snapshot().find_track(track.track->parent);
    REQUIRE(source != nullptr);
    CHECK(source->track->name == "process 42 runtime");
    const TrackSnapshot* process = session.snapshot().find_track(source->track->parent);
    REQUIRE(process != nullptr);
    CHECK(process->track->name == "process 42");
    CHECK(process->track->host == "i-0a");
  }
  // Framework and runtime rows of one thread are one thread; calls within calls lie deeper.
  const analysis::HostThreads threads(session.snapshot());
  std::set<std::size_t> found;
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.schema && track.track->kind == "host_thread") found.insert(*threads.of_track(track.track->number));
  }
  CHECK(found.size() == 3);
  for (const EventValues& event : session.events("trace_event")) {
    if (event.name == "dmem_buf_copyin" || event.name == "dmem_buf_copyout") CHECK(event.depth == 1);
  }
}

TEST_CASE("attributes of a call become values of columns, and those without one stay in the text") {
  const Imported session = system_session();
  for (const EventValues& event : session.events("trace_event")) {
    if (event.name == "nrt_tensor_write") {
      CHECK(event.integer("size") == SystemRun::kWritten);
      CHECK(event.string("tensor_name") == "input");
      CHECK(event.string("extra_attributes_json").empty());
    } else if (event.name == "nrt_tensor_write_batch") {
      CHECK(event.integer("total_size") == SystemRun::kBatch);
      CHECK(event.integer("num_batches") == 2);
      CHECK(event.string("extra_attributes_json") == R"({"colour":"red"})");
    } else if (event.name == "nc_exec_running") {
      CHECK(event.integer("model_id") == 7);
    }
  }
  CHECK(session.quality("unknown_fields") == nullptr);
}

TEST_CASE("events that share a flow are joined by arrows, from the framework to the runtime to the device") {
  const Imported session = system_session();
  WorkerPool pool(1);
  TaskControl control;
  const auto built = analysis::Dependencies::build({session.store(), session.shared_snapshot(), pool, control});
  REQUIRE(built.ok());
  const analysis::Dependencies& dependencies = **built;
  CHECK(dependencies.total() == 12);  // two for each of two steps of three workers
  CHECK(dependencies.unresolved() == 0);
  std::size_t chains = 0;
  const auto calls = session.events("trace_event");
  for (const EventValues& event : session.events("framework_event")) {
    const auto to = dependencies.successors(event.id, 10);
    if (to.total == 0) continue;
    REQUIRE(to.total == 1);
    const auto on = dependencies.successors(to.dependencies[0].target, 10);
    REQUIRE(on.total == 1);
    const auto end = std::ranges::find(calls, on.dependencies[0].target, &EventValues::id);
    REQUIRE(end != calls.end());
    CHECK(end->name == "nc_exec_running");
    ++chains;
  }
  CHECK(chains == 6);
}

TEST_CASE("bytes between host and device are counted once, by core and direction, though calls lie within calls") {
  const Imported session = system_session();
  const auto samples = session.events("host_transfer");
  const auto of = [&](const std::string& host, const std::string& device, const std::string& name) {
    std::vector<EventValues> found;
    std::ranges::copy_if(samples, std::back_inserter(found), [&](const EventValues& sample) {
      return sample.host == host && sample.device == device && sample.track == name;
    });
    return found;
  };
  for (const auto& [host, device] : {std::pair("i-0a", "nc0 worker 0"), {"i-0a", "nc0 worker 1"}, {"i-0b", "nc0"}}) {
    CAPTURE(host);
    CAPTURE(device);
    CHECK(integral(of(host, device, "Host to device")) == doctest::Approx(3'200'000));
    CHECK(integral(of(host, device, "Device to host")) == doctest::Approx(500'000));
  }
  // A copy of 1,000,000 bytes in 80 µs.
  CHECK(of("i-0b", "nc0", "Host to device").front().real("rate").value_or(0) == doctest::Approx(1.25e10));
  std::map<std::string, double> stated;
  for (const Metric& metric : session.snapshot().metrics) stated[metric.device + " " + metric.name] = metric.value;
  CHECK(stated[" host_to_device_bytes"] == 9'600'000);
  CHECK(stated[" device_to_host_bytes"] == 1'500'000);
  CHECK(stated["nc0 worker 1 host_to_device_bytes"] == 3'200'000);
}

TEST_CASE("the use of HBM is shown by category, with its capacity, as counters and in the memory tracker") {
  const Imported session = system_session();
  std::map<std::string, std::vector<std::int64_t>> counters;
  for (const EventValues& sample : session.events("hbm_usage")) {
    CHECK(sample.device == "nd0");
    CHECK(sample.host == "i-0a");
    counters[sample.track].push_back(sample.integer("bytes").value_or(-1));
  }
  constexpr std::int64_t kMiB = 1 << 20;
  CHECK(counters["HBM 1 weights"] == std::vector<std::int64_t>{64 * kMiB, 64 * kMiB, 64 * kMiB});
  CHECK(counters["HBM 1 tensors"] == std::vector<std::int64_t>{0, 16 * kMiB, 8 * kMiB});
  CHECK(counters["HBM 1 total"] == std::vector<std::int64_t>{64 * kMiB, 80 * kMiB, 72 * kMiB});
  CHECK(counters.size() == 3);  // what is never above 0 has none
  CHECK(session.count("SystemProfileHbmUsage") == 0);
  WorkerPool pool(1);
  TaskControl control;
  const auto memory = analysis::memory_usage({session.store(), session.shared_snapshot(), pool, control});
  REQUIRE(memory.ok());
  REQUIRE((*memory)->pool_count() == 1);
  const analysis::PoolUsage& hbm = (*memory)->pool(0);
  CHECK(hbm.base_name == "HBM 1");
  CHECK(hbm.peak_bytes == 80 * kMiB);
  CHECK(hbm.capacity_bytes == SystemRun::kCapacity);
  CHECK(hbm.estimated);
  const auto stacked = (*memory)->stacked(0, {0, 1'900'000}, 10, 8);
  CHECK(stacked.names == std::vector<std::string>{"weights", "tensors"});
  CHECK(stacked.values[1][4] == 16 * kMiB);
}

TEST_CASE("functions of the framework that name their place have a source line and keep their name") {
  const Imported session = system_session();
  std::size_t placed = 0;
  for (const EventValues& event : session.events("framework_event")) {
    if (event.name == "torch_neuronx/x.py(83): step") {
      CHECK(event.string("source_location") == "torch_neuronx/x.py:83");
      ++placed;
    } else {
      CHECK(event.string("source_location").empty());
    }
  }
  CHECK(placed == 6);
}

TEST_CASE("a system profile of JSON has the same rows, bytes and arrows") {
  const Imported session = Imported::text(test::system_json(test::system_run()));
  CHECK(session.count("framework_event") == 12);
  std::set<std::string> devices;
  for (const EventValues& event : session.events("trace_event")) {
    if (event.name == "nc_exec_running") devices.insert(event.host + "/" + event.device + "/" + event.kind);
  }
  CHECK(devices ==
        std::set<std::string>{"i-0a/nc0 process 41/stream", "i-0a/nc0 process 42/stream", "i-0b/nc0/stream"});
  CHECK(session.count("dependency") == 12);
  std::map<std::string, double> stated;
  for (const Metric& metric : session.snapshot().metrics) stated[metric.device + " " + metric.name] = metric.value;
  CHECK(stated[" host_to_device_bytes"] == 9'600'000);
  CHECK(stated[" device_to_host_bytes"] == 1'500'000);
}

TEST_CASE("a device profile that counts from 0 lies at the first execution of its core that is about as long") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("run/system_profile@latest"));
  test::write_device_tables(folder.file("run/device_a@latest"), 500, 398'000, "1970-01-01 00:00:00.0000005 +0000 UTC");
  const Opened session({folder.file("run")});  // one run, though nobody said so
  REQUIRE(session.message() == "");
  CHECK(session.begin_unix_ns() == SystemRun::kBegin);
  // Worker 2 begins 2 µs later, and executes from 250 µs on.
  CHECK(session.first_ns("instruction") == 252'000);
  CHECK(session.quality("clocks_not_aligned") == nullptr);
  REQUIRE(session.quality("device_clock_estimated") != nullptr);
  const std::string& how = session.quality("device_clock_estimated")->detail;
  CHECK(how.find("execution 1 of 2") != std::string::npos);
  CHECK(how.find("lasts 400 µs there and 398 µs here, 2 µs apart") != std::string::npos);
}

TEST_CASE("a device profile whose times are of the device's clock lies where the system profile's pairs put it") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("run/system_profile@latest"));
  // Of the second execution, 3 µs after its begin.
  const std::int64_t first = SystemRun::kBegin + 2'000 + SystemRun::kStep + 253'000 - SystemRun::kDeviceBehind;
  test::write_device_tables(folder.file("run/device_a@latest"), first, 390'000, "1970-01-01 00:00:00 +0000 UTC");
  const Opened session({folder.file("run")});
  REQUIRE(session.message() == "");
  CHECK(session.first_ns("instruction") == 1'255'000);
  REQUIRE(session.quality("device_clock_estimated") != nullptr);
  CHECK(session.quality("device_clock_estimated")->detail.find("by the clock of the device") != std::string::npos);
}

TEST_CASE("a device profile with a real date lies there, and one that fits no execution says that it lies nowhere") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("run/system_profile@latest"));
  test::write_device_tables(folder.file("run/device_a@latest"), 500, 398'000, "2025-12-18 15:35:56.0007 +0000 UTC");
  const Opened dated({folder.file("run")});
  REQUIRE(dated.message() == "");
  CHECK(dated.first_ns("instruction") == 700'000);
  CHECK(dated.quality("device_clock_estimated") == nullptr);
  fs::remove_all(folder.file("run/device_a@latest"));
  test::write_device_tables(folder.file("run/device_a@latest"), 500, 40'000, "1970-01-01 00:00:00.0000005 +0000 UTC");
  const Opened apart({folder.file("run")});
  REQUIRE(apart.message() == "");
  CHECK(apart.quality("device_clock_estimated") == nullptr);
  CHECK(apart.quality("clocks_not_aligned") != nullptr);
}

TEST_CASE("a folder whose system profile lists other profiles than those in it is no one run") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("run/system_profile@latest"));
  test::write_device_tables(folder.file("run/stranger@latest"), 500, 398'000, "1970-01-01 00:00:00 +0000 UTC");
  const Opened session({folder.file("run")});
  CHECK(session.message().find("holds 2 profiles, each of them a session of its own") != std::string::npos);
}

TEST_CASE("the use of HBM stands beside a memory snapshot of PyTorch in one session") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("system"));
  test::write_file(folder.file("snapshot.pickle"), test::TorchModel({}).pickle());
  Opened session({folder.file("system"), folder.file("snapshot.pickle")});
  REQUIRE(session.message() == "");
  const auto memory = session.memory();
  std::set<std::string> pools;
  for (const analysis::PoolUsage& pool : memory->pools) pools.insert(pool.base_name);
  CHECK(pools.contains("HBM 1"));
  CHECK(pools.size() > 1);
  const auto hbm = std::ranges::find(memory->pools, "HBM 1", &analysis::PoolUsage::base_name);
  CHECK(hbm->peak_bytes == 80 << 20);
}

TEST_CASE("the verdict says how much of the time cores execute, and what engines did inside the profiled execution") {
  const test::TemporaryFolder folder;
  test::write_system_tables(test::system_run(), folder.file("run/system_profile@latest"));
  Opened alone({folder.file("run/system_profile@latest")});
  // Of the 1401 µs from the first execution of a host's cores to the end of the last, each core executes 800 µs.
  const analysis::Verdict system = alone.verdict();
  CHECK(system.bound.find("idle 42.9 % of 1.4") != std::string::npos);
  CHECK(system.cause.find("600 µs after nc_exec_running") != std::string::npos);
  CHECK(system.cause.find("runtime in dmem_buf_copyin") != std::string::npos);
  CHECK(system.cause.find("9.155 MiB to the devices, 1.431 MiB back") != std::string::npos);
  test::write_device_tables(folder.file("run/device_a@latest"), 500, 398'000, "1970-01-01 00:00:00.0000005 +0000 UTC");
  Opened both({folder.file("run")});
  const analysis::Verdict run = both.verdict();
  CHECK(run.bound.find("idle 42.9 %") != std::string::npos);  // the engines are no core beside the one they are in
  CHECK(run.cause.find("inside the profiled execution") != std::string::npos);
  CHECK(run.cause.find("bound by Tensor") != std::string::npos);
}

TEST_CASE("dates of profiles are read with their fraction and zone") {
  using sources::neuron::unix_ns_of_date;
  CHECK(unix_ns_of_date("2025-12-18 15:35:56.592459482 +0000 UTC") == 1'766'072'156'592'459'482);
  CHECK(unix_ns_of_date("2025-12-18T15:35:56Z") == 1'766'072'156'000'000'000);
  CHECK(unix_ns_of_date("2025-12-18 17:35:56.5 +0200 CEST") == 1'766'072'156'500'000'000);
  CHECK_FALSE(unix_ns_of_date("1970-01-01 00:00:00.000000500 +0000 UTC"));
  CHECK_FALSE(unix_ns_of_date("soon"));
}

TEST_CASE("clocks and executions that a session file made up move to the ends of time and no farther") {
  RecordingSink target;
  sources::SharedFacts facts;
  sources::LabelledSink sink(target, "rank 1", facts);
  Clock clock;
  clock.anchors = {{0, INT64_MAX}};
  REQUIRE(sink.define(clock).ok());
  REQUIRE(sink.delay(1000).ok());
  CHECK(target.clocks.at(clock.number).anchors.front().ns == INT64_MAX);
  REQUIRE(sink.define(MetaEntry{sources::executions_fact("p", 1),
                                "-9223372036854775808 9223372036854775807 -9223372036854775808;5 -7;5 10 3;"})
              .ok());
  REQUIRE(sink.executions().size() == 1);
  CHECK(sink.executions()[0].executions == std::vector<sources::ProfileExecution>{{5, 10, 3}});
  REQUIRE(sink.define(MetaEntry{sources::own_span_fact("p"), "-9223372036854775808 9223372036854775807 0"}).ok());
  CHECK_FALSE(sink.own_span());
}

}  // namespace accelscope::capture
