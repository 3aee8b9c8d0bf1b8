// The real agent with its simulated accelerator and the real recorder, and what the two of them say.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/capture/wire/wire_support.h"
#include "tests/support/process.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {

using Argv = std::vector<std::string>;

[[nodiscard]] inline bool has_recorder() {
  const bool has = std::filesystem::exists(test::programs_folder() + "/accelscope");
  if (!has) MESSAGE("skipped: this build has no viewer");
  return has;
}

// Variables of a command, before it.
[[nodiscard]] inline Argv with_environment(const Argv& variables, const Argv& command) {
  Argv argv = {"/usr/bin/env"};
  argv.insert(argv.end(), variables.begin(), variables.end());
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

// All that a program keeps between runs, in one folder.
[[nodiscard]] inline Argv retained_in(const std::string& folder) {
  return {"HOME=" + folder, "XDG_STATE_HOME=" + folder, "XDG_CONFIG_HOME=" + folder, "XDG_RUNTIME_DIR=" + folder,
          "XDG_CACHE_HOME=" + folder};
}

[[nodiscard]] inline test::Process started_program(const Argv& argv) {
  Result<test::Process> process = test::Process::start(argv);
  REQUIRE_MESSAGE(process.ok(), process.message());
  return std::move(process).value();
}

// The text that follows the words, up to a blank, a comma or the end of a line.
[[nodiscard]] inline std::string word_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.rfind(words);
  if (at == std::string::npos) return {};
  const std::string word = text.substr(at + words.size());
  return word.substr(0, word.find_first_of(" \n"));
}

class SimulatingAgent {
 public:
  // The whole command, however it is started: on another host, with another disk.
  explicit SimulatingAgent(const Argv& argv) : process_(started_program(argv)) {
    const auto line = process_.wait_for("listening on ", kPatience);
    REQUIRE_MESSAGE(line.has_value(), process_.output());
    address_ = word_after(*line, "listening on ");
  }
  [[nodiscard]] static Argv command(const Argv& more) {
    Argv argv = {test::programs_folder() + "/accelscope-agent", "simulate"};
    argv.insert(argv.end(), more.begin(), more.end());
    if (std::find(argv.begin(), argv.end(), "--listen") == argv.end()) {
      argv.emplace_back("--listen");
      argv.emplace_back("127.0.0.1:0");
    }
    return argv;
  }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  [[nodiscard]] test::Process& process() noexcept { return process_; }
  // How many events it made, as it says once the capture has ended; nothing if it does not.
  [[nodiscard]] std::optional<std::uint64_t> made() {
    const std::string words = "the capture ends after ";
    if (process_.output().find(words) == std::string::npos) (void)process_.wait_for(words, kPatience);
    std::string number = word_after(process_.output(), words);
    std::erase(number, ',');
    if (number.empty()) return std::nullopt;
    return std::strtoull(number.c_str(), nullptr, 10);
  }

 private:
  test::Process process_;
  std::string address_;
};

struct Recorded {
  int status = -1;
  std::string output;  // both streams, the line of JSON among them
  // The number behind a key of that line.
  [[nodiscard]] std::uint64_t number(const std::string& key) const {
    return std::strtoull(word_after(output, "\"" + key + "\": ").c_str(), nullptr, 10);
  }
  // Where the session was saved.
  [[nodiscard]] std::string path() const {
    const std::string quoted = word_after(output, "\"output\": ");
    return quoted.size() < 3 ? "" : quoted.substr(1, quoted.rfind('"') - 1);
  }
  [[nodiscard]] bool complete() const { return word_after(output, "\"complete\": ") == "true,"; }
};

[[nodiscard]] inline Argv record_command(const std::string& address, const std::string& output, const Argv& more = {}) {
  Argv argv = {test::programs_folder() + "/accelscope", "record", address, "-o", output, "--json"};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

[[nodiscard]] inline Recorded finish_recording(test::Process& recorder) {
  const int status = recorder.finish(kPatience);
  return {status, recorder.output()};
}

[[nodiscard]] inline Recorded run_recorder(const Argv& argv) {
  test::Process recorder = started_program(argv);
  return finish_recording(recorder);
}

}  // namespace accelscope::capture
