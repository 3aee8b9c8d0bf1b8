// `show-session`: the table of executors, of a session and of the vendor's own listing.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "capture/sources/neuron/read/session_listing.h"
#include "tests/app/program_run.h"
#include "tests/support/small_session.h"

using namespace accelscope;
using namespace accelscope::app;
using test::csv;
using test::holds;
using test::ProgramOutcome;
using test::run;
using test::write_file;

namespace {

constexpr const char* kListing = R"({"Version":1,"NeffNodes":[{"NodeInfo":{"Graphs":[
  {"Name":"sg00","Executor":"NC 0","CycleCount":2619457,"EventsCount":383,"ErrorCount":1,"TraceCount":770,
   "TimestampInfo":{"FirstTimestamp":100,"LastTimestamp":1871140},"DMAQueues":[{"Name":"qSync","QueueIndex":14}]},
  {"Name":"sg01","CycleCount":9007199254740993,"EventsCount":0,"ErrorCount":0}]},"NodeID":5}]})";

}  // namespace

TEST_CASE("show-session lists every executor once, with times, cycles and counts that add up") {
  const test::TemporaryFolder folder;
  const std::string session = folder.file("s.accel");
  REQUIRE(run({"simulate", "-o", session, "--kernels", "1"}).code == terminal::kExitDone);
  const ProgramOutcome table = run({"show-session", session});
  REQUIRE(table.code == terminal::kExitDone);
  for (const char* title : {"NODE ID", "EXEC TIME (NS)", "EXECUTOR", "NAME", "TRACE", "CYCLES", "EVENTS", "ERRORS"}) {
    CAPTURE(title);
    CHECK(holds(table.out.substr(0, table.out.find('\n')), title));
  }
  const std::string json = run({"show-session", session, "--executors", "--json"}).out;
  const auto row_of = [&](const std::string& executor) {
    const std::size_t at = json.find("\"executor\": \"" + executor + "\"");
    REQUIRE(at != std::string::npos);
    const std::size_t begin = json.rfind('{', at);
    return json.substr(begin, json.find('}', at) - begin);
  };
  const auto ask = [&](const std::string& what) {
    std::string answer = csv(session, what);
    return answer.substr(0, answer.find('\n'));
  };
  const std::string vector = row_of("Vector");
  const std::string of_vector = " FROM instruction WHERE label = 'Vector'";
  CHECK(holds(vector, "\"trace\": " + ask("SELECT count(*)" + of_vector)));
  CHECK(holds(vector, "\"exec_time_ns\": " + ask("SELECT max(ts_ns + dur_ns) - min(ts_ns)" + of_vector)));
  CHECK(holds(vector, "\"events\": " + ask("SELECT count(*) FROM semaphore_update s JOIN track t ON t.id = s.track_id "
                                           "WHERE t.name LIKE '%(Vector)'")));
  CHECK(holds(row_of("all"), "\"errors\": " + ask("SELECT count(*) FROM error")));
  CHECK_FALSE(holds(json, "-E0\""));  // the rings of a queue are one executor
}

TEST_CASE("show-session prints a row for each device, with the figures that its file states") {
  const test::TemporaryFolder folder;
  const std::string profile = folder.file("s.accel");
  REQUIRE(run({"simulate", "-o", profile, "--kernels", "1"}).code == terminal::kExitDone);
  const std::string json = run({"show-session", profile, "--json"}).out;
  const auto rows = std::count(json.begin(), json.end(), '{');
  const std::string every = run({"show-session", profile, "--executors", "--json"}).out;
  CHECK(rows < std::count(every.begin(), every.end(), '{'));
  CHECK(holds(json, "\"executor\": \"all\""));
  CHECK_FALSE(holds(json, "\"executor\": \"Vector\""));
}

TEST_CASE("show-session of a real file of two cores prints the maker's two rows") {
  const char* root = std::getenv("ACCELSCOPE_REAL_DATA");
  if (root == nullptr) return;
  const std::string json =
      run({"show-session", std::string(root) + "/neuron/allenkchau__fused_bf16_s512.json", "--json"}).out;
  CHECK(std::count(json.begin(), json.end(), '{') == 2);
  CHECK(holds(json, "\"trace\": 1711, \"cycles\": 43620, \"events\": 458"));
  CHECK(holds(json, "\"trace\": 459, \"cycles\": 19306, \"events\": 299"));
}

TEST_CASE("show-session reads the vendor's own listing, exact to the last digit") {
  const test::TemporaryFolder folder;
  write_file(folder.file("session.json"), kListing);
  const ProgramOutcome json = run({"show-session", folder.file("session.json"), "--json"});
  REQUIRE(json.code == terminal::kExitDone);
  CHECK(holds(json.out, R"({"node_id": "5", "exec_time_ns": 1871040, "executor": "NC 0", "name": "sg00", )"
                        R"("trace": 770, "cycles": 2619457, "events": 383, "errors": 1})"));
  CHECK(holds(json.out, "\"cycles\": 9007199254740993, \"events\": 0"));
  CHECK(holds(json.out, "\"exec_time_ns\": null"));
  write_file(folder.file("cut.json"), std::string(kListing).substr(0, 200));
  const ProgramOutcome cut = run({"show-session", folder.file("cut.json")});
  CHECK(cut.code == terminal::kExitFailed);
  CHECK(cut.err.starts_with("accelscope: " + folder.file("cut.json") + ": the listing breaks off"));
  CHECK_FALSE(capture::sources::neuron::read_session_listing("{\"a\":1}").ok());
}

TEST_CASE("executors of a session of any source are its tracks") {
  const test::TemporaryFolder folder;
  const std::string session = test::save_small_session(folder.path());
  const ProgramOutcome table = run({"show-session", session, "--executors"});
  CHECK(table.code == terminal::kExitDone);
  CHECK(holds(table.out, "Tensor"));
  CHECK_FALSE(holds(run({"show-session", session}).out, "Tensor"));
  CHECK(run({"show-session", folder.file("absent")}).code == terminal::kExitFailed);
}
