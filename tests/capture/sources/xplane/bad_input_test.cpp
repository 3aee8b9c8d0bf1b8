// Damaged XPlane files: what they still hold, what is said of the rest, and never a crash.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"
#include "tests/capture/sources/xplane/imported_space.h"
#include "tests/support/files.h"

namespace accelscope::capture {
namespace {

using test::XLine;
using test::XPlane;
using test::XSpace;

// As Imported, of bytes that may well be refused. The number of events; -1: refused.
std::int64_t events_in(const std::string& bytes, bool* reported = nullptr) {
  std::unique_ptr<Store> store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done =
      sources::xplane::XPlaneImporter("t.xplane.pb", {}, sink).run(*sources::xplane::SpaceBytes::from_memory(bytes));
  if (!done) {
    CHECK_FALSE(done.message().empty());
    return -1;
  }
  const auto snapshot = store->snapshot();
  std::int64_t events = 0;
  for (const LaneSnapshot& lane : snapshot->lanes) events += static_cast<std::int64_t>(lane.event_count);
  if (reported != nullptr) *reported = !snapshot->quality.empty();
  return events;
}

}  // namespace

TEST_CASE("an XPlane file that breaks off anywhere gives what comes before, and says where it breaks off") {
  const std::string whole = test::small_tpu_space();
  const std::int64_t all = events_in(whole);
  std::int64_t most = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bool reported = false;
    const std::int64_t events = events_in(whole.substr(0, size), &reported);
    CAPTURE(size);
    CHECK(events <= all);
    if (events >= 0) CHECK(reported);
    most = std::max(most, events);
  }
  CHECK(most >= all - 1);
  const std::string cut = failure_of_space(whole.substr(0, 30));
  CHECK(cut.find("breaks off at byte") != std::string::npos);
  const Imported part = imported_space(whole.substr(0, whole.size() - 60));
  CHECK(part.quality("truncated")->detail.find("breaks off at byte") != std::string::npos);
}

TEST_CASE("flipped bytes of an XPlane file never do more than lose events") {
  const std::string whole = test::small_tpu_space();
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same bytes each time
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int flips = 0; flips < 1 + round % 4; ++flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    read += events_in(bytes) > 0 ? 1 : 0;
  }
  CHECK(read > 2'900);  // of 3,000
}

TEST_CASE("an event that is no message is skipped and counted, those around it are read") {
  XPlane host("/host:CPU");
  host.event_name(1, "a");
  host.add(
      XLine(1, "t", 0).event(1, 0, 1'000).raw_event("\x08\x01\x22\x7f").raw_event("\xff\xff").event(1, 5'000, 1'000));
  const Imported session = imported_space(XSpace().add(host).bytes());
  CHECK(session.count("host_event") == 2);
  CHECK(quality_count(session, "unreadable_events") == 2);
}

TEST_CASE("times that cannot be are skipped, lengths below nothing are none") {
  XPlane host("/host:CPU");
  host.event_name(1, "a");
  XLine line(1, "t", 0);
  for (int i = 0; i < 500; ++i) line.event(1, i * 10'000, 1'000);
  line.event(1, 0x7FFFFFFFFFFFFFFF, 5).event(1, 0, 0x7FFFFFFFFFFFFFFF).event(1, 0, -5'000);
  const Imported session = imported_space(XSpace().add(host.add(line)).bytes());
  CHECK(session.count("host_event") == 501);
  CHECK(quality_count(session, "times_out_of_capture") == 2);
  CHECK(quality_count(session, "negative_duration") == 1);
}

TEST_CASE("a file that was copied as text is refused with what happened to it") {
  std::string mangled;
  for (const char c : test::small_tpu_space()) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      mangled += "\xEF\xBF\xBD";
    } else {
      mangled += c;
    }
  }
  CHECK(failure_of_space(mangled).find("copied as if it were text") != std::string::npos);
  CHECK(failure_of_space("").find("empty") != std::string::npos);
  CHECK_FALSE(failure_of_space("not a profile at all").empty());
}

TEST_CASE("XPlane files are known by their content, whatever they are called") {
  const std::string space = test::small_tpu_space();
  CHECK(sources::xplane::probe_xplane(space, "trace.bin") > 90);
  CHECK(sources::xplane::probe_xplane(std::string_view(space).substr(0, 40), "x") > 90);
  CHECK(sources::xplane::probe_xplane(std::string("\x0a\x02\x50\x01\x0a\x02\x50\x01", 8), "a.pftrace") == 0);
  CHECK(sources::xplane::probe_xplane("{\"traceEvents\":[]}", "a.json") == 0);
  CHECK(sources::xplane::probe_xplane("junk", "a.xplane.pb") > 0);  // so that its import says what is wrong
  CHECK(sources::xplane::probe_xplane("", "a.xplane.pb") == 0);
}

TEST_CASE("a log directory opens as the hosts of its last run, and nothing in it twice") {
  const test::TemporaryFolder folder;
  const std::string runs = "plugins/profile/";
  test::write_file(folder.file(runs + "2026_01_01_00_00_00/old.xplane.pb"), test::small_tpu_space());
  const std::string last = runs + "2026_01_02_00_00_00/";
  for (const char* host : {"h0", "h1"}) {
    test::write_file(folder.file(last + host + ".xplane.pb"), test::small_tpu_space());
    test::write_file(folder.file(last + host + ".trace.json"),
                     R"({"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"a"}]})");
  }
  test::write_file(folder.file(last + "module.hlo_proto.pb"), test::small_tpu_space());
  const Result<sources::InputParts> found = sources::find_input_parts(sources::recognise(folder.path()));
  REQUIRE(found.ok());
  REQUIRE(found->parts.size() == 2);
  CHECK(found->parts[0].label == "h0");
  CHECK(found->parts[1].label == "h1");
  CHECK(found->skipped.size() == 4);
}

TEST_CASE("figures that are no numbers, and a release of less than any memory, cost no event") {
  XPlane host("/host:CPU");
  host.event_name(1, "MemoryDeallocation");
  host.add_stat(host.real("profile_start_time", std::numeric_limits<double>::quiet_NaN()));
  XLine line(1, "t", 0);
  line.event(1, 1000, 5,
             {host.number("addr", 4096), host.number("index_on_host", 0),
              host.number("allocation_bytes", std::numeric_limits<std::int64_t>::min())});
  const Imported session = imported_space(XSpace().add(host.add(line)).bytes());
  const std::vector<EventValues> memory = session.events("memory");
  REQUIRE(memory.size() == 1);
  CHECK(memory[0].integer("Bytes") == std::numeric_limits<std::int64_t>::max());
}

}  // namespace accelscope::capture
