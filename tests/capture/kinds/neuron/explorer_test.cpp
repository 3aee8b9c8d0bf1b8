// Captures and raw traces through neuron-explorer, by the manners and failures of its releases.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "capture/request/kind.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/neuron/tool.h"
#include "tests/capture/kinds/neuron/local_run.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"
#include "tests/support/parquet/parquet_writer.h"

namespace accelscope::capture {
namespace {

using test::StandInTool;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

bool uses(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What comes through Parquet: names, times and tracks of every event.
void check_same_times(const Imported& session, const Imported& wanted, const std::string& label = "") {
  for (const char* table : {"instruction", "dma", "semaphore_update", "pending_dma"}) {
    CAPTURE(table);
    const auto ordered = [](std::vector<EventValues> events) {
      std::ranges::stable_sort(events, {}, [](const EventValues& event) {
        return std::tuple(event.track, event.begin, event.end, event.name);
      });
      return events;
    };
    const std::vector<EventValues> got = ordered(of_device(session, table, label));
    const std::vector<EventValues> expected = ordered(wanted.events(table));
    REQUIRE(got.size() == expected.size());
    CHECK_FALSE(expected.empty());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool same = got[i].name == expected[i].name && got[i].track == expected[i].track &&
                        got[i].begin == expected[i].begin && got[i].end == expected[i].end;
      REQUIRE_MESSAGE(same, i);
    }
  }
}

}  // namespace

TEST_CASE("a capture by each release of neuron-explorer is the same session") {
  for (const char* release : {"2.29", "2.31", "2.33", "2.34"}) {
    CAPTURE(release);
    StandInTool tool("neuron-explorer");
    tool.of_release(release);
    NeuronCapture capture(Options{{"neff", tool.write("mlp.neff", "program")}});
    const Imported session = capture.session();
    check_same_times(session, simulated(1));
    CHECK(session.quality("table_unreadable") == nullptr);
    const Words view = tool.commands().back();
    CHECK(uses(view, "parquet"));
    CHECK_FALSE(uses(view, "json"));
    // A release that does not know the options is asked again, one option fewer each time.
    const bool is_old = std::string(release) == "2.29";
    CHECK(tool.commands().size() == (is_old ? 4 : 2));
    CHECK(uses(view, "--ingest-only") != is_old);
    CHECK(uses(view, "--disable-ui") == is_old);
    CHECK(uses(view, "--display-name") != is_old);
  }
}

TEST_CASE("several workers and a profiled execution are one session of neuron-explorer") {
  const StandInTool tool("neuron-explorer");
  NeuronCapture capture(Options{
      {"neff", tool.write("mlp.neff", "program")}, {"profile-nth-exec", "2"}, {"collectives-workers-per-node", "2"}});
  const std::string folder = capture.stay_in("host");
  const Imported session = capture.session();
  CHECK(fs::exists(folder + "profile_rank_1_exec_2.ntff"));
  check_same_times(session, simulated(1), "rank 0");
  check_same_times(session, simulated(2), "rank 1");
}

TEST_CASE("a tool of the old name that has no JSON any more is asked for tables") {
  StandInTool tool("neuron-profile");
  tool.of_release("2.34");
  tool.write("run.neff", "program");
  check_same_times(Imported::input(tool.write("run.ntff", "stand-in trace\n5\nend\n")), simulated(5));
  REQUIRE(tool.commands().size() == 2);
  CHECK(uses(tool.commands()[0], "json"));
  CHECK(uses(tool.commands()[1], "parquet"));
}

TEST_CASE("a raw trace is whole although the tool found its port taken, or goes on serving") {
  StandInTool tool("neuron-explorer");
  tool.write("run.neff", "program");
  const std::string trace = tool.write("run.ntff", "stand-in trace\n5\nend\n");
  tool.play("port-taken");
  check_same_times(Imported::input(trace), simulated(5));
  tool.play("");
  tool.of_release("2.29");
  check_same_times(Imported::input(trace), simulated(5));
  tool.play("fail", "view");
  CHECK(contains(Imported::input_failure(trace), "exit code 3"));
}

TEST_CASE("an export counts as whole once its summary and every other table have their footers and rest") {
  const ScratchFolder scratch;
  const auto column = [](std::size_t columns) {
    std::vector<test::ParquetColumn> all;
    for (std::size_t i = 0; i < columns; ++i)
      all.push_back({"figure_" + std::to_string(i), test::kParquetInt64, {std::int64_t{1}}});
    return test::parquet_file(all);
  };
  const auto write = [&](const char* name, const std::string& content) {
    std::ofstream(scratch.file(name), std::ios::binary) << content;
  };
  using Clock = sources::neuron::ExportWatch::Clock;
  sources::neuron::ExportWatch watch(scratch.path.string());
  Clock::time_point now{};
  const auto rests = [&] { return watch.whole_and_at_rest(now += 1s, 1500ms); };
  CHECK_FALSE(watch.whole());  // nothing yet
  CHECK_FALSE(rests());
  write("Instruction.parquet", column(3));
  CHECK_FALSE(watch.whole());  // no summary
  write("Summary.parquet", "PAR1" + std::string(2000, '\0'));
  CHECK_FALSE(watch.whole());  // the summary is there, but it is filled last
  for (int i = 0; i < 4; ++i) CHECK_FALSE(rests());
  const std::string summary = column(60);
  write("Summary.parquet", summary.substr(0, summary.size() - 5));
  CHECK_FALSE(watch.whole());
  write("Summary.parquet", summary);
  write("DmaPacket_0.parquet", "PAR1");
  CHECK_FALSE(watch.whole());  // another table grows
  write("DmaPacket_0.parquet", column(2));
  CHECK(watch.whole());
  CHECK_FALSE(rests());  // it has just changed
  CHECK_FALSE(rests());
  CHECK(rests());
}

TEST_CASE("what devices there are is asked of neuron-ls as its release wants to be asked") {
  for (const char* release : {"2.29", "2.33", "2.34"}) {
    CAPTURE(release);
    StandInTool tool("neuron-explorer");
    tool.of_release(release);
    tool.install("neuron-ls");
    std::string text;
    for (const request::KindFacts& facts : request::checked_kinds()) {
      if (facts.name == "neuron") text = facts.checks.at(1).text;
    }
    const bool is_old = std::string(release) == "2.29";
    CHECK(text == (is_old ? "1 Neuron device with 8 cores (neuron-ls)"
                          : "1 Neuron device with 8 cores (neuron-ls), trn2.48xlarge"));
  }
}

TEST_CASE("a session trace is converted with every program near it") {
  const StandInTool tool("neuron-explorer");
  const std::string trace = tool.write("out/i-0123_pid_42/profile_nc_0_session_1.ntff", "stand-in trace\n5\nend\n");
  CHECK(contains(Imported::input_failure(trace), "no .neff beside it"));
  tool.write("out/neffs/neff_1.neff", "program");
  tool.write("out/neffs/neff_2.neff", "program");
  check_same_times(Imported::input(trace), simulated(5));
  CHECK(tool.commands().back().at(1) == "-d");
  // Programs within the trace's own folder: that one is given as it is.
  tool.write("lone/neffs/neff_1.neff", "program");
  tool.write("lone/neff_2.neff", "program");
  const std::string lone = tool.write("lone/profile_nc_0_session_1.ntff", "stand-in trace\n6\nend\n");
  check_same_times(Imported::input(lone), simulated(6));
  CHECK(tool.commands().back().at(2) == fs::path(lone).parent_path().string());
  // Of two traces in a folder each is converted alone.
  const std::string second = tool.write("lone/profile_nc_1_session_1.ntff", "stand-in trace\n7\nend\n");
  check_same_times(Imported::input(second), simulated(7));
}

TEST_CASE("a message of an unknown option takes out that option and no other") {
  const sources::neuron::ViewRequest request{.neff = "a.neff", .ntff = "a.ntff", .folder = "", .output = "out"};
  const Words whole = sources::neuron::view_arguments(request, sources::neuron::ViewFormat::parquet);
  CHECK(whole == Words{"view", "-n", "a.neff", "-s", "a.ntff", "--ingest-only", "--output-format", "parquet",
                       "--output-file", "out", "--display-name", "a"});
  const auto without = [&](const Words& words, const char* message) {
    return sources::neuron::without_unknown(request, words, message);
  };
  CHECK_FALSE(without(whole, "cannot open a.ntff"));
  CHECK_FALSE(without(whole, "unknown flag `other'"));
  const auto unnamed = without(whole, "reading\nunknown flag `display-name'\n");
  REQUIRE(unnamed);
  CHECK(unnamed->back() == "out");
  CHECK(uses(*without(whole, "error: unrecognized option --ingest-only"), "--disable-ui"));
  const auto json = without(whole, "Invalid value `parquet' for option `--output-format'");
  REQUIRE(json);
  CHECK(uses(*json, "json"));
  const auto parquet = without(*json, "--output-format json is no longer supported");
  REQUIRE(parquet);
  CHECK(*parquet == whole);
}

TEST_CASE("dropped system events are told with the variable that raises their limit") {
  StandInTool tool("neuron-explorer");
  tool.play("dropped", "view");
  NeuronCapture capture(Options{{"profile", "system"}});
  capture.script("echo hello");
  const Imported session = capture.session();
  CHECK(session.count("trace_event") == 1);
  REQUIRE(session.quality("buffer_overflow") != nullptr);
  CHECK(contains(session.quality("buffer_overflow")->detail, "1234 system trace events were dropped on nc 0"));
  CHECK(contains(session.quality("buffer_overflow")->detail, "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC"));
}

TEST_CASE("a program's system and device profile come as the tables of several profiles") {
  const StandInTool tool("neuron-explorer");
  NeuronCapture capture(Options{{"profile", "system+device"}});
  capture.script("echo from a script");
  const Imported session = capture.session();
  CHECK(session.count("trace_event") == 1);
  CHECK(session.count("instruction") == simulated(7).count("instruction"));
  CHECK(tool.commands().at(0).at(0) == "inspect");
  CHECK(tool.commands().at(1).at(1) == "-d");
}

namespace {

// What a recorded program leaves: two programs, a session trace, a system trace. $1 is the folder.
constexpr const char* kLeaveTraces = R"(
leave() {
  mkdir -p "$1/i-0123_pid_42" "$1/neffs"
  printf 'stand-in trace\n7\nend\n' > "$1/i-0123_pid_42/profile_nc_0_session_1.ntff"
  date +%s%N > "$1/i-0123_pid_42/ntrace.pb"
  echo program > "$1/neffs/neff_1.neff"
  echo program > "$1/neffs/neff_2.neff"
}
)";

// One that the system has just given.
std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(socket);
  return std::to_string(ntohs(address.sin_port));
}

void check_recorded(const Imported& session) {
  CHECK(session.count("trace_event") == 1);
  CHECK(session.count("instruction") == simulated(7).count("instruction"));
}

}  // namespace

TEST_CASE("the runtime records a program by its environment, a session trace with every program") {
  const StandInTool tool("neuron-explorer");
  NeuronCapture capture(Options{{"record-by", "environment"}, {"profile", "system+device"}});
  capture.script(
      std::string(kLeaveTraces) +
      "leave \"$NEURON_RT_INSPECT_OUTPUT_DIR\"; echo mode $NEURON_RT_INSPECT_DEVICE_PROFILE $NKI_DEBUG_INFO");
  check_recorded(capture.session());
  CHECK(contains(capture.printed, "mode session True"));
  REQUIRE(tool.commands().size() == 1);  // the program runs without the tool
  CHECK(tool.commands()[0][0] == "view");
  CHECK(contains(NeuronCapture(Options{{"record-by", "environment"}}).script("true").failure(), "wrote no profile"));
}

TEST_CASE("a program that profiles itself is read where it was to write, and else where it wrote") {
  const StandInTool tool("neuron-explorer");
  NeuronCapture meant(Options{{"record-by", "torch"}, {"profile", "system+device"}});
  meant.script(std::string(kLeaveTraces) + "leave \"$ACCELSCOPE_NEURON_OUTPUT\"");
  check_recorded(meant.session());
  NeuronCapture own(Options{{"record-by", "jax"}, {"profile", "system+device"}});
  own.script(std::string(kLeaveTraces) + "leave mine; echo jax $NEURON_RT_INSPECT_DEVICE_PROFILE");
  (void)own.stay_in("host");
  check_recorded(own.session());  // with the programs that lie beside the folder of the traces
  CHECK(contains(own.printed, "jax 1"));
  CHECK(contains(NeuronCapture(Options{{"record-by", "torch"}}).script("true").failure(), "NeuronConfig("));
}

TEST_CASE("debug variables that are off are told of before the program runs") {
  const StandInTool tool("neuron-explorer");
  NeuronCapture capture(Options{{"profile", "system"}});
  capture.script("echo the program runs");
  capture.request().environment = {"NKI_DEBUG_INFO=0"};
  const Imported session = capture.session();
  const std::size_t told = capture.printed.find("without NKI_DEBUG_INFO=True");
  REQUIRE(told != std::string::npos);
  CHECK(told < capture.printed.find("the program runs"));
  CHECK(session.quality("missing_source_locations") != nullptr);
}

TEST_CASE("a vLLM server is profiled from when it answers until its time is over, and ended") {
  if (!fs::exists("/usr/bin/python3")) return;
  const StandInTool tool("neuron-explorer");
  const std::string server = tool.write("server.py", R"(
import http.server, json, os, sys, time
folder = json.loads(sys.argv[sys.argv.index('--additional-config') + 1])['neuron_profiler']['output_dir']
asked = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append(self.path)
        print('asked', self.path, flush=True)
        if self.path == '/stop_profile':
            os.makedirs(folder + '/i-0123_pid_42')
            os.makedirs(folder + '/neffs')
            for name in ('neff_1', 'neff_2'):
                open(folder + '/neffs/%s.neff' % name, 'w').write('program')
            open(folder + '/i-0123_pid_42/ntrace.pb', 'w').write(str(time.time_ns()))
            open(folder + '/i-0123_pid_42/profile_nc_0_session_1.ntff', 'w').write('stand-in trace\n7\nend\n')
        # The first start comes while the model is still loaded.
        self.send_response(503 if len(asked) == 1 else 200)
        self.end_headers()
    def log_message(self, *arguments): pass
class Server(http.server.HTTPServer):
    allow_reuse_address = True
Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
)");
  const std::string port = free_port();
  NeuronCapture capture(
      Options{{"record-by", "vllm"}, {"profile", "system+device"}, {"vllm-port", port}, {"vllm-time", "100ms"}});
  capture.request().program = "python3";
  capture.request().arguments = {server, port};
  check_recorded(capture.session());
  CHECK(contains(capture.printed, "asked /start_profile"));
  CHECK(contains(capture.printed, "asked /stop_profile"));
  CHECK(contains(capture.printed, "the server has written its profile"));
}

}  // namespace accelscope::capture
