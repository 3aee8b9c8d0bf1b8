// The real programs on a file system whose calls fail, one after the other: whatever fails, there is the old file or
// the new one, and what a message promises is there. The same with the program killed at each call, and with the power
// cut. ACCELSCOPE_FAULTS_STEP=N takes every N-th call only, 1 all of them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

#include "capture/ingest/stream_ingest.h"
#include "core/store/store.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/faults/faulty_place.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecordedEvents = 60'000;
constexpr const char* kOldContent = "what was there before";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The path that follows the words, up to a blank or the end of a sentence.
std::string path_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return {};
  std::string path = text.substr(at + words.size());
  path.resize(std::min(path.size(), path.find_first_of(" ;\n")));
  return path;
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (std::size_t each = next++; each < count; each = next++) work(each);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<Fault> faults_at_every_call(long calls, const std::vector<std::string>& kinds, long most) {
  std::vector<Fault> faults;
  for (const std::string& kind : kinds) {
    for (long at = 1; at <= calls; at += step_of_calls(calls, most)) faults.push_back({kind, at});
  }
  return faults;
}

void check_nothing_wrong(const std::vector<Fault>& faults, const std::vector<std::string>& wrong, long calls) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    CAPTURE(faults[i].kind);
    CAPTURE(faults[i].at);
    CHECK_MESSAGE(wrong[i].empty(), wrong[i]);
  }
  MESSAGE(fmt::format("{} calls, {} faults", calls, faults.size()));
}

}  // namespace

TEST_CASE("whatever call of a capture and its save fails, there is the old file or the whole new one") {
  if (!has_programs(false)) return;
  const auto command = [](const FaultyPlace& place) {
    return std::vector<std::string>{kAgentProgram, "run",    "-o",       (place.disk / "run.accel").string(),
                                    "--force",     "--kind", "simulate", "--events",
                                    "20000"};
  };
  std::uint64_t events = 0;
  long calls = 0;
  {
    const FaultyPlace place;
    const Ended whole = place.run(command(place), {});
    REQUIRE_MESSAGE(whole.status == 0, whole.output);
    events = events_in_session(place.disk / "run.accel");
    calls = place.calls();
    REQUIRE(events >= 20'000);
    REQUIRE(calls > 20);
  }
  const std::vector<Fault> faults = faults_at_every_call(calls, {"ENOSPC", "EIO", "full", "kill"}, 60);
  std::vector<std::string> wrong(faults.size());
  in_parallel(faults.size(), [&](std::size_t i) {
    const FaultyPlace place;
    const fs::path file = place.disk / "run.accel";
    std::ofstream(file) << kOldContent;
    const Ended ended = place.run(command(place), faults[i]);
    const bool old_file = text_of(file) == kOldContent;
    const bool new_file = !old_file && events_in_session(file) == events;
    const std::string rescued = path_after(ended.output, "All of it is in ");
    if (!old_file && !new_file) wrong[i] = "neither the old file nor the new one";
    if (faults[i].kind == "kill") return;
    if (ended.status < 0) wrong[i] = "the program crashed or hung";
    if (ended.status == 0 && !new_file) wrong[i] = "success is reported for no new file";
    if (ended.status != 0 && !new_file && events_in_session(rescued) != events) wrong[i] = "the capture is lost";
    for (const auto& entry : fs::directory_iterator(place.disk)) {
      if (entry.path().extension() == ".part") wrong[i] = "a draft stayed behind";
    }
    if (!wrong[i].empty()) wrong[i] += "\n" + ended.output;
  });
  check_nothing_wrong(faults, wrong, calls);
}

TEST_CASE("whatever call of an export of text fails, there is the old text or the whole new one") {
  if (!has_programs(true)) return;
  const auto save = [](const fs::path& path, std::uint64_t events) {
    const auto store = Store::create();
    if (!store) return;
    StoreSink sink(**store);
    if (write_stream({.events = events, .lanes = 2}, sink)) (void)(*store)->save(path.string());
  };
  const auto command = [](const FaultyPlace& place) {
    return std::vector<std::string>{
        kViewerProgram, "view", (place.other / "run.accel").string(), "--table", "statistics", "--output-format", "csv",
        "--force",      "-o",   (place.disk / "table.csv").string()};
  };
  std::string whole_text;
  long calls = 0;
  {
    const FaultyPlace place;
    save(place.other / "run.accel", 3'000);
    const Ended whole = place.run(command(place), {});
    REQUIRE_MESSAGE(whole.status == 0, whole.output);
    whole_text = text_of(place.disk / "table.csv");
    calls = place.calls();
    REQUIRE_FALSE(whole_text.empty());
  }
  const std::vector<Fault> faults = faults_at_every_call(calls, {"ENOSPC", "EIO", "full", "kill"}, 20);
  std::vector<std::string> wrong(faults.size());
  in_parallel(faults.size(), [&](std::size_t i) {
    const FaultyPlace place;
    save(place.other / "run.accel", 3'000);
    std::ofstream(place.disk / "table.csv") << kOldContent;
    const Ended ended = place.run(command(place), faults[i]);
    const std::string found = text_of(place.disk / "table.csv");
    if (found != kOldContent && found != whole_text) wrong[i] = "neither the old text nor the new one:\n" + found;
    if (faults[i].kind == "kill") return;
    if (ended.status < 0) wrong[i] = "the program crashed or hung";
    if (ended.status == 0 && found != whole_text) wrong[i] = "success is reported for no new text";
    for (const auto& entry : fs::directory_iterator(place.disk)) {
      if (entry.path().filename() != "table.csv") wrong[i] = "a draft stayed behind: " + entry.path().string();
    }
    if (!wrong[i].empty()) wrong[i] += "\n" + ended.output;
  });
  check_nothing_wrong(faults, wrong, calls);
}

TEST_CASE("a memory budget whose file meets a full disk costs no capture, and nothing is called malformed") {
  if (!has_programs(false)) return;
  // The temporary folder is the faulty one; the session goes to a sound one.
  const auto command = [](const FaultyPlace& place) {
    return std::vector<std::string>{"/usr/bin/env",
                                    "TMPDIR=" + place.disk.string(),
                                    kAgentProgram,
                                    "run",
                                    "-o",
                                    (place.other / "run.accel").string(),
                                    "--memory-budget",
                                    "256KiB",
                                    "--kind",
                                    "simulate",
                                    "--events",
                                    "60000"};
  };
  long calls = 0;
  std::uint64_t events = 0;
  {
    const FaultyPlace place;
    const Ended whole = place.run(command(place), {});
    REQUIRE_MESSAGE(whole.status == 0, whole.output);
    events = events_in_session(place.other / "run.accel");
    calls = place.calls();
    REQUIRE(calls > 10);
  }
  const std::vector<Fault> faults = faults_at_every_call(calls, {"ENOSPC", "full"}, 25);
  std::vector<std::string> wrong(faults.size());
  in_parallel(faults.size(), [&](std::size_t i) {
    const FaultyPlace place;
    const Ended ended = place.run(command(place), faults[i]);
    const std::uint64_t saved = events_in_session(place.other / "run.accel");
    if (saved != events) wrong[i] = fmt::format("{} of {} events are saved", saved, events);
    if (ended.status != 0) wrong[i] = fmt::format("it ends with {}", ended.status);
    if (contains(ended.output, "malformed")) wrong[i] = "the disk is full, not malformed";
    if (!wrong[i].empty()) wrong[i] += "\n" + ended.output;
  });
  check_nothing_wrong(faults, wrong, calls);
}

namespace {

// What would be on the disk after a power cut: names and bytes as they were synced.
void restore_synced(const fs::path& shadow, const fs::path& to, const std::string& inode) {
  std::ifstream names(shadow / ("names-" + inode));
  std::string line;
  std::getline(names, line);  // the folder's path
  while (std::getline(names, line)) {
    std::istringstream words(line);
    std::string number, type, name;
    words >> number >> type >> std::ws;
    std::getline(words, name);
    if (type == "d") {
      fs::create_directory(to / name);
      restore_synced(shadow, to / name, number);
    } else {
      std::ofstream(to / name, std::ios::binary) << text_of(shadow / ("inode-" + number));
      fs::permissions(to / name, fs::perms::owner_read | fs::perms::owner_write);
    }
  }
}

// An agent that serves until this object goes; a token-free one, as it starts no programs.
struct ServedAgent {
  explicit ServedAgent(const fs::path& spool)
      : agent(synthetic_source({.events = kRecordedEvents, .lanes = 3}), with(spool)) {}
  ~ServedAgent() {
    agent.stop();
    (void)agent.join();
  }
  static agent::AgentOptions with(const fs::path& spool) {
    agent::AgentOptions options;
    options.limits = quick_limits();
    options.spool_folder = spool.string();
    return options;
  }
  RunningAgent agent;
};

std::vector<std::string> record_from(const ServedAgent& agent, const FaultyPlace& place) {
  return {kViewerProgram, "record", agent.agent.address().text(), "-o", (place.disk / "run.accel").string(), "--force"};
}

}  // namespace

TEST_CASE("whatever call of a recording fails, and wherever it is killed, the next try has every event") {
  if (!has_programs(true)) return;
  long calls = 0;
  {
    const FaultyPlace place;
    const ServedAgent agent(place.other / "spool");
    const Ended whole = place.run(record_from(agent, place), {});
    REQUIRE_MESSAGE(whole.status == 0, whole.output);
    REQUIRE(events_in_session(place.disk / "run.accel") == kRecordedEvents);
    calls = place.calls();
  }
  const std::vector<Fault> faults = faults_at_every_call(calls, {"ENOSPC", "EIO", "full", "kill"}, 150);
  std::vector<std::string> wrong(faults.size());
  in_parallel(faults.size(), [&](std::size_t i) {
    const FaultyPlace place;
    const ServedAgent agent(place.other / "spool");
    const fs::path file = place.disk / "run.accel";
    std::ofstream(file) << kOldContent;
    const Ended ended = place.run(record_from(agent, place), faults[i]);
    const bool killed = faults[i].kind == "kill";
    const bool old_file = text_of(file) == kOldContent;
    const bool new_file = !old_file && events_in_session(file) == kRecordedEvents;
    if (!old_file && !new_file) wrong[i] = "neither the old file nor the new one";
    if (!killed && ended.status < 0) wrong[i] = "the program crashed or hung";
    if (ended.status == 0 && !new_file) wrong[i] = "success is reported for no new file";
    const std::string rescued = path_after(ended.output, "All of it is in ");
    if (wrong[i].empty() && !new_file && events_in_session(rescued) != kRecordedEvents) {
      const Ended again = place.run(record_from(agent, place), {});
      if (again.status != 0 || events_in_session(file) != kRecordedEvents) {
        wrong[i] = "the next try has not every event\n" + again.output + agent.agent.log();
      }
    }
    if (!wrong[i].empty()) wrong[i] += "\n" + ended.output;
  });
  check_nothing_wrong(faults, wrong, calls);
}

TEST_CASE(
    "after a power cut at any call of a recording, the recovery and the agent's spool together have every event") {
  if (!has_programs(true)) return;
  long calls = 0;
  {
    const FaultyPlace place;
    const ServedAgent agent(place.other / "spool");
    REQUIRE(place.run(record_from(agent, place), {}).status == 0);
    calls = place.calls();
  }
  const std::vector<Fault> faults = faults_at_every_call(calls, {"kill"}, 150);
  std::vector<std::string> wrong(faults.size());
  in_parallel(faults.size(), [&](std::size_t i) {
    const FaultyPlace place;
    const ServedAgent agent(place.other / "spool");
    (void)place.run(record_from(agent, place), faults[i]);
    struct stat facts {};
    (void)::stat(place.disk.c_str(), &facts);
    fs::remove_all(place.disk / "run.accel.recovery");
    for (const auto& entry : fs::directory_iterator(place.disk)) fs::remove_all(entry.path());
    restore_synced(place.shadow, place.disk, std::to_string(facts.st_ino));
    if (events_in_session(place.disk / "run.accel") == kRecordedEvents) return;  // it was saved, and that is synced
    Ended again = place.run(record_from(agent, place), {});
    if (again.status != 0) {  // nothing was on the disk yet, and so nothing was let go
      std::vector<std::string> take_up = record_from(agent, place);
      take_up.emplace_back("--take-up");
      again = place.run(take_up, {});
    }
    if (again.status != 0 || events_in_session(place.disk / "run.accel") != kRecordedEvents) {
      wrong[i] =
          fmt::format("{} events\n{}{}", events_in_session(place.disk / "run.accel"), again.output, agent.agent.log());
    }
  });
  check_nothing_wrong(faults, wrong, calls);
}

}  // namespace accelscope::capture
