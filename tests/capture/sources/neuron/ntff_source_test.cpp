// Raw traces, converted by a stand-in for the vendor's tool that each case writes into a folder on PATH.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "capture/sources/neuron/tool.h"
#include "capture/system/shown_command.h"
#include "tests/capture/imported.h"
#include "tests/capture/recording_sink.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfile = R"({"instruction":[{"timestamp":5,"duration":3,"opcode":"MATMUL","label":"Tensor"}]})";

// A folder with a trace, its program and a folder of tools that alone is on PATH (with the shell's own).
class Bench {
 public:
  Bench() : path_(fs::temp_directory_path() / ("accelscope ntff " + std::to_string(std::random_device{}()))) {
    fs::create_directories(path_ / "tools");
    fs::create_directories(path_ / "tmp");
    write("run 1.ntff", "\x01\x02raw");
    set("PATH", path_ / "tools", old_path_);
    set("TMPDIR", path_ / "tmp", old_tmp_);
  }
  ~Bench() {
    restore("PATH", old_path_);
    restore("TMPDIR", old_tmp_);
    fs::remove_all(path_);
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  void install(const std::string& tool, const std::string& script) const {
    write("tools/" + tool, "#!/bin/sh\nPATH=/bin:/usr/bin\n" + script);
    ::chmod((path_ / "tools" / tool).c_str(), 0755);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] bool left_nothing() const { return fs::is_empty(path_ / "tmp"); }
  Result<void> import(EventSink& sink, const std::string& neff = {}) const {
    sources::InputOptions options;
    options.import.neff = neff;
    return sources::import_input({sources::recognise(file("run 1.ntff"))}, options,
                                 [&] { return std::make_unique<ForwardingSink>(sink); });
  }

 private:
  static void set(const char* name, const fs::path& value, std::string& old) {
    if (const char* before = std::getenv(name)) old = before;
    ::setenv(name, value.c_str(), 1);
  }
  static void restore(const char* name, const std::string& old) {
    if (old.empty()) {
      ::unsetenv(name);
    } else {
      ::setenv(name, old.c_str(), 1);
    }
  }
  fs::path path_;
  std::string old_path_;
  std::string old_tmp_;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Cancelled as soon as a file is there, which the stand-in makes when it has begun.
class CancelOnFile final : public EventSink {
 public:
  explicit CancelOnFile(std::string file) : file_(std::move(file)) {}
  Result<void> define(const Definition&) override { return {}; }
  Result<void> append(SealedChunk) override { return {}; }
  [[nodiscard]] bool cancelled() const override { return fs::exists(file_) && fs::file_size(file_) > 0; }

 private:
  std::string file_;
};

}  // namespace

TEST_CASE("a raw trace is converted by the vendor's tool and read, and the conversion leaves nothing behind") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  bench.write("converted.json", kProfile);
  bench.install("neuron-profile",
                "echo \"$@\" > '" + bench.file("arguments") + "'\ncp '" + bench.file("converted.json") + "' \"$9\"\n");
  RecordingSink sink;
  const Result<void> done = bench.import(sink);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
  const auto events = sink.events();
  CHECK(std::count_if(events.begin(), events.end(), [](const auto& event) { return event.name == "MATMUL"; }) == 1);
  CHECK(sink.meta["source.file"] == "run 1.ntff");
  CHECK(holds(bench.read("arguments"), "view -n " + bench.file("run 1.neff") + " -s " + bench.file("run 1.ntff") +
                                           " --output-format json --output-file "));
  CHECK(bench.left_nothing());
}

TEST_CASE("a tool that fails shows what it printed and the command to try by hand") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  bench.install("neuron-explorer", "echo working\necho 'NTFF version 9 not supported' >&2\nexit 3\n");
  RecordingSink sink;
  const Result<void> done = bench.import(sink);
  REQUIRE_FALSE(done.ok());
  CHECK(done.message().starts_with(bench.file("run 1.ntff") + ": "));
  CHECK(holds(done.message(), "exit code 3"));
  CHECK(holds(done.message(), "NTFF version 9 not supported"));
  CHECK(holds(done.message(), "use the tool of the release that made the trace"));
  CHECK(holds(done.message(), " -s '" + bench.file("run 1.ntff") + "' --ingest-only --output-format parquet "));
  CHECK(bench.left_nothing());
}

TEST_CASE("a tool that ends well but writes nothing is told of") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  bench.install("neuron-profile", "exit 0\n");
  RecordingSink sink;
  const Result<void> done = bench.import(sink);
  REQUIRE_FALSE(done.ok());
  CHECK(holds(done.message(), "wrote no profile"));
  CHECK(bench.left_nothing());
}

TEST_CASE("cancelling ends a tool that hangs") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  bench.install("neuron-profile", "echo $$ > '" + bench.file("started") + "'\nwhile :; do sleep 1; done\n");
  CancelOnFile sink(bench.file("started"));
  const Result<void> done = bench.import(sink);
  REQUIRE_FALSE(done.ok());
  CHECK(holds(done.message(), "cancelled"));
  const int id = std::stoi(bench.read("started"));
  CHECK(::kill(id, 0) == -1);
  CHECK(bench.left_nothing());
}

TEST_CASE("without the tool the error names the exact command with the files quoted for the shell") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  RecordingSink sink;
  const Result<void> done = bench.import(sink);
  REQUIRE_FALSE(done.ok());
  CHECK(holds(done.message(), "neuron-explorer view -n '" + bench.file("run 1.neff") + "' -s '" +
                                  bench.file("run 1.ntff") + "' --ingest-only --output-format parquet --output-file '" +
                                  bench.file("run 1") + "' --display-name 'run 1'"));
}

TEST_CASE("the program of a trace is found beside it: same name, same number, or the only one") {
  const Bench bench;
  CHECK(sources::neuron::find_neff(bench.file("run 1.ntff")).empty());
  bench.write("neff_123456789.neff", "program");
  CHECK(sources::neuron::find_neff(bench.file("run 1.ntff")) == bench.file("neff_123456789.neff"));
  bench.write("neff_555555555.neff", "program");
  CHECK(sources::neuron::find_neff(bench.file("run 1.ntff")).empty());
  CHECK(sources::neuron::find_neff(bench.file("ntff_555555555_vnc_0.ntff")) == bench.file("neff_555555555.neff"));
  bench.write("run 1.neff", "program");
  CHECK(sources::neuron::find_neff(bench.file("run 1.ntff")) == bench.file("run 1.neff"));
  fs::create_directories(bench.file("lone/profile_rank_0"));
  bench.write("lone/graph.neff", "program");
  CHECK(sources::neuron::find_neff(bench.file("lone/profile_rank_0/x.ntff")) == bench.file("lone/graph.neff"));
  // vLLM puts programs beside the folders of the processes.
  fs::create_directories(bench.file("served/i-0123_pid_42"));
  fs::create_directories(bench.file("served/neffs"));
  bench.write("served/neffs/neff_777777777.neff", "program");
  bench.write("served/neffs/neff_888888888.neff", "program");
  CHECK(sources::neuron::find_neff(bench.file("served/i-0123_pid_42/888888888_instid_0_vnc_0.ntff")) ==
        bench.file("served/neffs/neff_888888888.neff"));
  CHECK(sources::neuron::find_neffs(bench.file("served/i-0123_pid_42/profile_nc_0_session_1.ntff")).size() == 2);
  RecordingSink sink;
  bench.install("neuron-profile", "exit 0\n");
  fs::remove(bench.file("run 1.neff"));
  CHECK(holds(bench.import(sink).message(), "-n PROGRAM.neff -s '"));
}

TEST_CASE("traces are recognised by their ending, programs lead to their trace, JSON is JSON under any name") {
  const Bench bench;
  bench.write("run 1.neff", "program");
  bench.write("text.ntff", kProfile);
  CHECK(std::string(sources::recognise(bench.file("run 1.ntff")).name()) == "ntff");
  CHECK(std::string(sources::recognise(bench.file("run 1.neff")).name()) == "ntff");
  CHECK(std::string(sources::recognise(bench.file("text.ntff")).name()) == "neuron-json");
  bench.write("alone.neff", "program");
  fs::remove(bench.file("run 1.ntff"));
  fs::remove(bench.file("text.ntff"));
  CHECK(holds(Imported::input_failure(bench.file("alone.neff")),
              "neuron-explorer capture -n '" + bench.file("alone.neff") + "'"));
}

TEST_CASE("shell words are quoted where a shell would split or change them") {
  CHECK(system::shell_quote("plain-1.0/x=y") == "plain-1.0/x=y");
  CHECK(system::shell_quote("") == "''");
  CHECK(system::shell_quote("a b") == "'a b'");
  CHECK(system::shell_quote("it's") == "'it'\\''s'");
  CHECK(system::shell_quote("$HOME;rm") == "'$HOME;rm'");
}
