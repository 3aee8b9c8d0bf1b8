// What is in a trace is in the session, whatever the version of Tracy and the packing.
#include <fmt/format.h>

#include <algorithm>

#include "tests/capture/sources/tracy/imported_trace.h"

namespace accelscope::capture {
namespace {

std::string place_name(const test::TracyModelPlace& place) { return place.name.empty() ? place.function : place.name; }
std::string place_source(const test::TracyModelPlace& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

void add_zone_lines(const test::TracyModel& model, const test::TracyModelThread& thread,
                    const std::vector<test::TracyModelZone>& zones, std::uint32_t depth,
                    std::vector<std::string>& lines) {
  for (const test::TracyModelZone& zone : zones) {
    const test::TracyModelPlace& place = model.places[zone.place];
    const std::string row = thread.id == 7 ? "Thread 7" : fmt::format("{} ({})", thread.name, thread.id);
    lines.push_back(fmt::format("{} {} {} {} {}-{} {} '{}' '{}' {}", row, depth, place_name(place), place_source(place),
                                zone.begin, zone.end < 0 ? model.last_time : zone.end, place.function, zone.text,
                                zone.name, zone.stack));
    add_zone_lines(model, thread, zone.inner, depth + 1, lines);
  }
}

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

template <typename Line>
std::vector<std::string> lines_of(const Imported& session, std::string_view table, Line line) {
  std::vector<std::string> lines;
  for (const EventValues& event : session.events(table)) lines.push_back(line(event));
  return sorted(std::move(lines));
}

std::string time_and_name(const EventValues& event) {
  return fmt::format("{} {}-{} {}", event.track, event.begin, event.end, event.name);
}

void check_locks(const Imported& session) {
  const auto found = lines_of(session, "tracy_lock", [](const EventValues& event) {
    return fmt::format("{} {} {}-{} {}", event.track, *event.integer("thread"), event.begin, event.end, event.name);
  });
  CHECK(found ==
        sorted({"Lock 1 queue 41353 100-110 wait", "Lock 1 queue 41353 110-200 hold", "Lock 1 queue 41645 120-200 wait",
                "Lock 1 queue 41645 200-260 hold", "Lock 2 run 41353 300-305 wait to share",
                "Lock 2 run 41353 305-400 share", "Lock 2 run 41645 306-307 wait to share",
                "Lock 2 run 41645 307-500 share", "Lock 2 run 41353 600-10000 wait"}));
}

void check_gpu(const Imported& session, const test::TracyRelease& release) {
  const auto found = lines_of(session, "tracy_gpu_zone", [](const EventValues& event) {
    return fmt::format("{} {} {} {}-{} {} {}", event.device, event.track, event.kind, event.begin, event.end,
                       event.name, *event.integer("cpu_begin"));
  });
  CHECK(found ==
        sorted({"GPU Vulkan context 0 stream 400-900 step 100", "GPU Vulkan context 0 stream 410-500 run 102",
                "GPU Vulkan context 0 stream 300-380 step 200", "chip 0 core 3,1 TRISC_0 engine 5000-5400 dynamic 7000",
                "chip 0 core 3,1 TRISC_0 engine 5100-5200 dynamic 7010",
                "chip 0 core 3,1 BRISC engine 5000-5300 dynamic 7000"}));
  CHECK(quality_count(session, "missing_duration") == 1);
  const auto calls = lines_of(session, "tracy_gpu_call", time_and_name);
  CHECK(calls == sorted({"worker 41353 (41353) GPU calls 100-110 step", "worker 41353 (41353) GPU calls 102-104 run",
                         "worker 41645 (41645) GPU calls 200-210 step"}));
  CHECK(session.count("dependency") == 3);
  std::vector<std::pair<std::int64_t, std::int64_t>> ends;
  for (const EventValues& flow : session.events("dependency")) {
    const auto of = [&](std::string_view table, std::string_view column) {
      for (const EventValues& event : session.events(table)) {
        if (static_cast<std::int64_t>(event.id) == *flow.integer(column)) return event;
      }
      return EventValues{};
    };
    const EventValues call = of("tracy_gpu_call", "source_event");
    const EventValues zone = of("tracy_gpu_zone", "target_event");
    CHECK(call.name == zone.name);
    CHECK(call.begin == zone.integer("cpu_begin"));
    CHECK(call.integer("correlation") == zone.integer("correlation"));
  }
  const bool has_notes = release >= test::TracyRelease{12, 4};
  CHECK(session.count("tracy_gpu_note") == (has_notes ? 1 : 0));
  CHECK(session.count("tracy_gpu_marker") == (release.tenstorrent ? 2 : 0));
}

void check_memory(const Imported& session) {
  const auto found = lines_of(session, "memory", [](const EventValues& event) {
    return fmt::format("{} {} {} {:x} {}", event.track, event.begin, *event.integer("Bytes"), *event.integer("Addr"),
                       *event.integer("thread"));
  });
  CHECK(found == sorted({"Memory 100 256 7fff0000 41353", "Memory 900 -256 7fff0000 41353",
                         "Memory 150 64 7fff1000 41645", "Memory 950 32 7fff0000 41353",
                         "Memory 960 -32 7fff0000 41353", "device 500 4096 10 41645", "device 800 -4096 10 41645"}));
}

void check_frames(const Imported& session, const test::TracyRelease& release) {
  CHECK(lines_of(session, "tracy_frame", time_and_name) ==
        sorted({"Frame 0-1000 Frame", "Frame 1000-2500 Frame", "Frame 2500-10000 Frame", "pass 10-200 pass",
                "pass 300-900 pass"}));
  const bool has_sections = release >= test::TracyRelease{13, 4} && !release.tenstorrent;
  CHECK(lines_of(session, "tracy_section", time_and_name) ==
        (has_sections ? sorted({"Sections 100-900 warm up", "Sections 1000-9000 measured"})
                      : std::vector<std::string>{}));
}

void check_messages(const Imported& session, const test::TracyModel& model, const test::TracyRelease& release) {
  const bool graded = release >= test::TracyRelease{13, 2};
  constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info", "warning", "error", "fatal"};
  std::vector<std::string> said;
  for (const test::TracyModelThread& thread : model.threads) {
    for (const test::TracyModelMessage& message : thread.messages) {
      const bool operation = message.text.starts_with('`');
      said.push_back(fmt::format("{} {} {} {} {}", thread.id, message.time, operation ? "Matmul" : message.text,
                                 message.text, graded ? kNames[message.severity] : ""));
    }
  }
  CHECK(lines_of(session, "tracy_message", [](const EventValues& event) {
          return fmt::format("{} {} {} {} {}", *event.integer("thread"), event.begin, event.name,
                             event.string("message"), event.string("severity"));
        }) == sorted(said));
}

void check_system(const Imported& session, const test::TracyModel& model, const test::TracyRelease& release) {
  std::size_t samples = 0;
  std::size_t switches = 0;
  for (const test::TracyModelThread& thread : model.threads) {
    samples += thread.samples.size();
    switches += thread.ran.size();
  }
  CHECK(session.count("tracy_sample") == samples);
  CHECK(session.count("tracy_context_switch") == switches);
  for (const EventValues& event : session.events("tracy_context_switch")) {
    CHECK(event.end - event.begin == 790);
    CHECK(event.integer("waited") == 10);
    CHECK(event.integer("cpu") == 3);
    CHECK(event.integer("wakeup_cpu").value_or(-1) == (release >= test::TracyRelease{11, 3} ? 9 : -1));
  }
  CHECK(lines_of(session, "tracy_cpu", time_and_name) ==
        sorted({"CPU 3 0-500 worker 41353 (41353)", "CPU 3 500-700 first text"}));
  CHECK(lines_of(session, "tracy_callstack", [](const EventValues& event) {
          return fmt::format("{} {}", *event.integer("callstack"), event.string("stack"));
        }) == sorted({"1 inner (first text:7)\nmain (first text:7)", "2 main (first text:7)"}));
  CHECK(lines_of(session, "tracy_plot", [](const EventValues& event) {
          return fmt::format("{} {} {}", event.track, event.begin, *event.real("value"));
        }) == sorted({"CPU usage 100 3.25", "queue depth 10 1.5", "queue depth 15 4", "queue depth 20 -2"}));
  REQUIRE(session.snapshot().sources.size() == 1);
}

}  // namespace

std::vector<std::string> zone_lines(const Imported& session) {
  return lines_of(session, "tracy_zone", [](const EventValues& event) {
    return fmt::format("{} {} {} {} {}-{} {} '{}' '{}' {}", event.track, event.depth, event.name,
                       event.string("source"), event.begin, event.end, event.string("function"),
                       event.string("zone_text"), event.string("zone_name"), event.integer("callstack").value_or(0));
  });
}

std::vector<std::string> zone_lines(const test::TracyModel& model) {
  std::vector<std::string> lines;
  for (const test::TracyModelThread& thread : model.threads) add_zone_lines(model, thread, thread.zones, 0, lines);
  return sorted(std::move(lines));
}

TEST_CASE("all that a trace of any version holds is in the session") {
  std::uint64_t seed = 1;
  for (const test::TracyRelease& release : test::tracy_releases()) {
    CAPTURE(release.minor);
    CAPTURE(release.patch);
    CAPTURE(release.tenstorrent);
    const test::TracyModel model = test::rich_tracy_model(seed++);
    const Imported session = import_tracy_trace(test::tracy_trace(model, release));
    CHECK(zone_lines(session) == zone_lines(model));
    check_messages(session, model, release);
    check_frames(session, release);
    check_locks(session);
    check_gpu(session, release);
    check_memory(session);
    check_system(session, model, release);
    CHECK(quality_count(session, "truncated") == 0);
    CHECK(quality_count(session, "trailing_bytes") == 0);
    CHECK(quality_count(session, "rows_mended") == 0);
    CHECK(quality_count(session, "tasks_unfinished") == 2);  // a zone and a wait
    CHECK(quality_count(session, "frame_images_left_out") == 2);
    CHECK(quality_count(session, "rows_left_out") == 3 + 4);
  }
}

TEST_CASE("a trace is the same whether LZ4 or zstd packed it, in one stream or several") {
  const test::TracyModel small = test::rich_tracy_model(9);
  const std::string zones_alone = test::tracy_trace_of_zones(20'000, {});  // some blocks
  const Imported one = import_tracy_trace(zones_alone);
  REQUIRE(one.count("tracy_zone") == 20'000);
  const std::vector<std::string> wanted = zone_lines(one);
  for (const bool zstd : {false, true}) {
    for (const unsigned streams : {0U, 1U, 2U, 4U, 7U}) {
      CAPTURE(zstd);
      CAPTURE(streams);
      const test::TracyPacking packing = {zstd, static_cast<std::uint8_t>(streams)};
      CHECK(zone_lines(import_tracy_trace(test::tracy_trace_of_zones(20'000, packing))) == wanted);
      CHECK(zone_lines(import_tracy_trace(test::tracy_trace(small, {13, 0}, packing))) == zone_lines(small));
    }
  }
}

TEST_CASE("zones of a GPU at times that their calls and the others belie are set aside") {
  test::TracyModel model;
  model.places = {{"pass", "draw", "a.cc", 3}};
  constexpr std::int64_t kBegin = 5'000'000'000'000;
  test::TracyModelGpu gpu{.name = "stream"};
  constexpr std::int64_t kFarAhead = kBegin + 30 * 86'400 * std::int64_t{1'000'000'000};
  for (std::int64_t i = 0; i < 20; ++i) {
    test::TracyModelGpuZone zone{.place = 0, .cpu_begin = kBegin + i * 1000, .cpu_end = kBegin + i * 1000 + 100};
    zone.begin = i == 3 ? 0 : zone.cpu_begin + 300;  // the stamp was never taken
    zone.end = i == 3 ? 0 : i == 7 ? kFarAhead : zone.begin + 500;
    zone.thread = 1;
    gpu.threads[1].push_back(zone);
  }
  model.gpus = {gpu};
  const Imported session = import_tracy_trace(test::tracy_trace(model, test::tracy_releases().back()));
  CHECK(session.snapshot().end_ns - session.snapshot().begin_ns < 30'000);
  CHECK(quality_count(session, "impossible_times") == 2);
  const std::vector<EventValues> zones = session.events("tracy_gpu_zone");
  CHECK(zones.size() == 20);
  for (const EventValues& zone : zones) {
    CAPTURE(*zone.integer("cpu_begin"));
    const std::int64_t which = (*zone.integer("cpu_begin") - kBegin) / 1000;
    CHECK((zone.kind == "doubtful") == (which == 3 || which == 7));
  }
}

TEST_CASE("a trace is recognised by its first bytes") {
  const test::TracyModel model = test::rich_tracy_model(2);
  for (const test::TracyPacking packing : {test::TracyPacking{false, 0}, {true, 0}, {false, 4}, {true, 4}}) {
    CHECK(sources::tracy::probe_tracy(test::tracy_trace(model, {11, 0}, packing), "") == 95);
  }
  CHECK(sources::tracy::probe_tracy("tracy", "") == 0);
  CHECK(sources::tracy::probe_tracy("name,src_file,src_line\n", "") == 0);
  CHECK((*sources::find_format("tracy"))->name == "tracy");
}

}  // namespace accelscope::capture
