// Times that a driver tells of commands and that cannot be true, without OpenCL.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "capture/kinds/opencl/process.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture::opencl_times {
namespace {

namespace records = probe::opencl;

// A record's words as they come from a ring: without its head.
template <typename Record>
std::vector<std::uint64_t> words_of(const Record& record) {
  std::vector<std::uint64_t> words((sizeof record - sizeof record.head) / sizeof(std::uint64_t));
  std::memcpy(words.data(), reinterpret_cast<const char*>(&record) + sizeof record.head,
              words.size() * sizeof(std::uint64_t));
  return words;
}

}  // namespace

TEST_CASE("OpenCL commands at 0, of 2^63 or with an end taken late are set aside while they are captured") {
  RecordingSink sink;
  SessionWriter writer(sink);
  probes::TickClock clock(probe::ClockKind::monotonic, std::chrono::steady_clock::now());
  clock.anchor();
  probes::ProbeProcess process;
  process.program = "program";
  process.clock = &clock;
  kinds::opencl::OpenclSession session(writer, false);
  kinds::opencl::OpenclProcess reader(process, session);
  probe::BodyWriter device;
  device.number(1U).number(std::uint64_t{1}).number(std::uint64_t{1}).text("GPU").text("").text("");
  reader.define(1, device.bytes());
  probe::BodyWriter queue;
  queue.number(1U).number(1U).number(0U);
  reader.define(2, queue.bytes());

  constexpr std::uint64_t kUp = 5'000'000'000'000;  // ns since the device was reset
  constexpr std::uint64_t kCommands = 40;
  const std::uint64_t host = clock.last_ticks();
  for (std::uint64_t i = 1; i <= kCommands; ++i) {
    records::CommandRecord command{};
    command.command = i;
    command.begin_ticks = host + i * 1000;
    command.end_ticks = host + i * 1000 + 100;
    command.queue = 1;
    command.kind = records::CommandKind::native_kernel;
    reader.record({0, 0, "t"}, {static_cast<std::uint16_t>(records::RecordType::command), 0, 0}, words_of(command));
    records::CompletionRecord times{};
    times.command = i;
    times.queued = kUp + i * 1000;
    times.submit = times.queued + 10;
    times.start = i == 7 ? 0 : times.queued + 100;
    times.end = i == 7 ? 1 : i == 19 ? std::uint64_t{1} << 63 : times.start + (i == 11 ? 1'000'000 : 500);
    reader.record({0, 0, "t"}, {static_cast<std::uint16_t>(records::RecordType::completion), 0, 0}, words_of(times));
    if (i == kCommands / 2) reader.read_until(clock.to_ns(host));
  }
  reader.ended({clock.to_ns(host + 1'000'000), 0, false});
  REQUIRE(writer.finish().ok());

  std::map<std::string, std::size_t> found;  // by kind of track
  for (const RecordedEvent& event : sink.events()) {
    const Track& track = sink.tracks.at(event.track);
    ++found[track.kind];
    CHECK(event.end < std::int64_t{1} << 62);  // what lies beyond, a session does not take
    if (track.kind == "stream") CHECK(event.end < static_cast<std::int64_t>(kUp + kCommands * 2000));
  }
  CHECK(found["stream"] == kCommands - 3);
  CHECK(found["doubtful"] == 3);
  std::uint64_t reported = 0;
  for (const QualityEntry& entry : sink.qualities) reported += entry.kind == "impossible_times" ? entry.count : 0;
  CHECK(reported == 3);
}

}  // namespace accelscope::capture::opencl_times
