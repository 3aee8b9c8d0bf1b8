#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "capture/probe/host/files.h"
#include "capture/probe/host/listener.h"
#include "capture/probe/host/reader.h"
#include "capture/system/supervised_child.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

using namespace std::chrono_literals;

const std::string kProbeProgram = accelscope::test::programs_folder() + "/probe_for_tests";

class QualitySink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    if (const auto* entry = std::get_if<QualityEntry>(&definition)) quality.push_back(*entry);
    return {};
  }
  Result<void> append(SealedChunk /*chunk*/) override { return {}; }
  [[nodiscard]] bool cancelled() const override { return is_cancelled; }
  [[nodiscard]] bool paused() const override { return is_paused; }
  [[nodiscard]] bool reported(std::string_view kind) const {
    return std::any_of(quality.begin(), quality.end(), [&](const QualityEntry& entry) { return entry.kind == kind; });
  }
  std::vector<QualityEntry> quality;
  std::atomic<bool> is_cancelled{false};
  std::atomic<bool> is_paused{false};
};

struct SeenThread {
  std::string name;
  std::uint64_t records = 0;
  std::uint64_t next = 0;  // the number that the next record must hold, or 0 when a burst begins anew
  std::uint64_t out_of_order = 0;
  std::int64_t last_ns = 0;
  std::uint64_t unsettled = 0;  // beyond the clock's last anchor, or before the record before
  bool ended = false;
};

struct SeenProcess {
  std::uint32_t id = 0;
  std::string command;
  std::map<std::uint32_t, SeenThread> threads;
  std::vector<std::pair<std::uint32_t, std::size_t>> definitions;
  std::uint64_t large = 0;
  std::uint64_t undefined = 0;  // records that came before any definition
  bool ended = false;
  bool by_capture = false;
  std::uint64_t dropped = 0;
  [[nodiscard]] std::uint64_t records() const {
    std::uint64_t all = 0;
    for (const auto& [index, thread] : threads) all += thread.records;
    return all;
  }
  [[nodiscard]] std::uint64_t out_of_order() const {
    std::uint64_t all = 0;
    for (const auto& [index, thread] : threads) all += thread.out_of_order;
    return all;
  }
};

class SeenReader final : public probes::ProcessReader {
 public:
  SeenReader(const probes::ProbeProcess& process, SeenProcess& seen, std::atomic<std::uint64_t>& total)
      : process_(process), seen_(seen), total_(total) {}
  void thread(const probes::ProbeThread& thread) override { seen_.threads[thread.index].name = thread.name; }
  void define(std::uint32_t type, std::string_view body) override { seen_.definitions.emplace_back(type, body.size()); }
  void record(const probes::ProbeThread& thread, probe::RecordHead head,
              std::span<const std::uint64_t> words) override {
    if (seen_.definitions.empty()) ++seen_.undefined;
    if (head.type == 2) {
      seen_.large += words.size() == probe::kMaxRecordBytes / 8 - 1 && words.back() == 5 ? 1 : 0;
      return;
    }
    SeenThread& of = seen_.threads[thread.index];
    ++of.records;
    if (words.front() == 0) of.next = 0;
    if (words.front() != of.next++) ++of.out_of_order;
    const std::int64_t ns = process_.clock->to_ns(words[1]);
    if (words[1] > process_.clock->last_ticks() || ns < of.last_ns) ++of.unsettled;
    of.last_ns = ns;
    ++total_;
  }
  void thread_ended(const probes::ProbeThread& thread, std::int64_t /*now_ns*/) override {
    seen_.threads[thread.index].ended = true;
  }
  void ended(const probes::ProbeEnd& end) override {
    seen_.ended = true;
    seen_.by_capture = end.by_capture;
    seen_.dropped = end.dropped;
  }

 private:
  const probes::ProbeProcess& process_;
  SeenProcess& seen_;
  std::atomic<std::uint64_t>& total_;
};

// A capture of the kind "test" that is read on a thread of its own.
class Reading {
 public:
  explicit Reading(bool with_program = true) {
    request_.kinds = {{"test", {}}};
    if (with_program) request_.program = kProbeProgram;
    Result<std::unique_ptr<probes::ProbeListener>> listener = probes::ProbeListener::open("test", folder_.path());
    REQUIRE_MESSAGE(listener.ok(), listener.message());
    listener_ = std::move(listener).value();
    run_.emplace(
        request::KindRun{request_,
                         request_.kinds[0],
                         std::chrono::steady_clock::now(),
                         "",
                         {},
                         {},
                         listener_.get(),
                         [this](request::CaptureIntent intent, const std::string&, std::function<void()> followed) {
                           {
                             const std::lock_guard lock(mutex_);
                             intents.push_back(intent);
                             unfollowed_.push_back(std::move(followed));
                           }
                           if (follows_intents) follow_intent();
                         }});
    handler.attach = [this](const probes::ProbeProcess& process) {
      const std::lock_guard lock(mutex_);
      processes.push_back(std::make_unique<SeenProcess>());
      processes.back()->id = process.id;
      processes.back()->command = process.command;
      return std::make_unique<SeenReader>(process, *processes.back(), total);
    };
  }
  ~Reading() { (void)end(); }

  void begin() {
    thread_ = std::thread([this] {
      SessionWriter writer(sink);
      outcome_ = probes::read_probes(*run_, writer, sink, handler);
    });
  }
  system::ChildStart start(std::vector<std::string> arguments) const {
    return {kProbeProgram, std::move(arguments), "", {"ACCELSCOPE_PROBES=" + folder_.path()}};
  }
  // Runs the program to its end.
  system::ChildEnd run(std::vector<std::string> arguments) {
    Result<std::unique_ptr<system::SupervisedChild>> child =
        system::SupervisedChild::start(start(std::move(arguments)));
    REQUIRE_MESSAGE(child.ok(), child.message());
    while (!(*child)->ended()) (*child)->wait(20ms);
    return (*child)->finish();
  }
  // As the capture does some time after it was asked.
  void follow_intent() {
    const std::lock_guard lock(mutex_);
    sink.is_paused = intents[intents.size() - unfollowed_.size()] == request::CaptureIntent::pause;
    unfollowed_.front()();
    unfollowed_.erase(unfollowed_.begin());
  }
  std::size_t asked() {
    const std::lock_guard lock(mutex_);
    return intents.size();
  }
  bool end() {
    sink.is_cancelled = true;
    if (thread_.joinable()) thread_.join();
    return outcome_.ok();
  }
  template <typename Condition>
  bool eventually(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + test::kPatience;
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return condition();
  }

  system::PrivateFolder folder_ = system::PrivateFolder::make("probe-test").value();
  QualitySink sink;
  probes::ProbeHandler handler;
  std::vector<std::unique_ptr<SeenProcess>> processes;
  std::vector<request::CaptureIntent> intents;
  bool follows_intents = true;
  std::atomic<std::uint64_t> total{0};

 private:
  request::CaptureRequest request_;
  std::unique_ptr<probes::ProbeListener> listener_;
  std::optional<request::KindRun> run_;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::function<void()>> unfollowed_;
  Result<void> outcome_;
};

}  // namespace

TEST_CASE("what four threads of a program tell is read to the last record, in each thread's order") {
  Reading reading;
  reading.begin();
  CHECK(reading.run({"threads", "300000"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  const SeenProcess& seen = *reading.processes[0];
  CHECK(seen.records() == 4 * 300'000);
  CHECK(seen.out_of_order() == 0);
  CHECK(seen.undefined == 0);
  CHECK(seen.dropped == 0);
  CHECK(seen.ended);
  CHECK_FALSE(seen.by_capture);
  CHECK(seen.command.ends_with("threads 300000"));
  REQUIRE(seen.threads.size() == 4);
  std::vector<std::string> names;
  for (const auto& [index, thread] : seen.threads) {
    names.push_back(thread.name);
    CHECK(thread.ended);
    CHECK(thread.unsettled == 0);
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"worker 0", "worker 1", "worker 2", "worker 3"});
  CHECK(reading.sink.quality.empty());
}

TEST_CASE("a program that crashes, leaves at once or becomes another one loses none of what it told") {
  for (const std::string way : {"crash", "exit", "exec"}) {
    CAPTURE(way);
    Reading reading;
    reading.begin();
    const system::ChildEnd end = reading.run({way, "5000"});
    CHECK(end.exit_code == (way == "crash" ? 139 : way == "exit" ? 3 : 0));
    REQUIRE(reading.end());
    REQUIRE(reading.processes.size() == (way == "exec" ? 2 : 1));
    CHECK(reading.processes[0]->records() == 5000);
    CHECK(reading.processes[0]->out_of_order() == 0);
    if (way == "exec") CHECK(reading.processes[1]->records() == 40);
  }
}

TEST_CASE("a forked child tells as a process of its own, and nothing is told twice") {
  Reading reading;
  reading.begin();
  CHECK(reading.run({"fork", "1000"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 2);
  const bool parent_first = reading.processes[0]->records() == 2000;
  CHECK(reading.processes[parent_first ? 0 : 1]->records() == 2000);
  CHECK(reading.processes[parent_first ? 1 : 0]->records() == 2000);
  CHECK(reading.processes[0]->id != reading.processes[1]->id);
  // The parent's definition is the parent's; a probe defines anew when its generation changes.
  CHECK(reading.processes[0]->definitions.size() + reading.processes[1]->definitions.size() == 1);
}

TEST_CASE("a program pauses and resumes its capture, and goes on at once") {
  Reading reading;
  reading.begin();
  CHECK(reading.run({"pause", "1000"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->records() == 2000);
  CHECK(reading.intents == std::vector{request::CaptureIntent::pause, request::CaptureIntent::resume});
}

TEST_CASE("what a program tells between its own resume and the capture's is kept") {
  Reading reading;
  reading.follows_intents = false;
  reading.begin();
  // Ends once it is paused.
  Result<std::unique_ptr<system::SupervisedChild>> child =
      system::SupervisedChild::start(reading.start({"until paused"}));
  REQUIRE(child.ok());
  REQUIRE(reading.eventually([&] { return reading.asked() == 2; }));
  reading.follow_intent();  // the pause, which the program has ended already
  const std::uint64_t before = reading.total;
  CHECK(reading.eventually([&] { return reading.total >= before + 1000; }));
  reading.follow_intent();
  CHECK_FALSE((*child)->ended());
  reading.sink.is_paused = true;
  while (!(*child)->ended()) (*child)->wait(20ms);
  CHECK((*child)->finish().exit_code == 0);
  REQUIRE(reading.end());
  CHECK(reading.processes[0]->records() == reading.total);
}

TEST_CASE("a program that detaches runs on and tells nothing more") {
  Reading reading;
  reading.begin();
  CHECK(reading.run({"detach", "1000"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->records() == 1000);
}

TEST_CASE("nothing is collected while the capture is paused") {
  Reading reading;
  reading.sink.is_paused = true;
  reading.begin();
  Result<std::unique_ptr<system::SupervisedChild>> child =
      system::SupervisedChild::start(reading.start({"pause", "1000"}));
  REQUIRE(child.ok());
  while (!(*child)->ended()) (*child)->wait(20ms);
  (void)(*child)->finish();
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->records() == 1000);  // after its own resume
}

TEST_CASE("records and definitions of the largest size go through a small ring") {
  Reading reading;
  reading.handler.ring_bytes = probe::kMinRingBytes;
  reading.begin();
  CHECK(reading.run({"large", "500"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->large == 500);
  REQUIRE(reading.processes[0]->definitions.size() == 2);
  CHECK(reading.processes[0]->definitions[1] == std::pair<std::uint32_t, std::size_t>{8, 3U << 20});
}

TEST_CASE("a probe is told the kind's settings") {
  Reading reading;
  reading.handler.settings = {"size=3", "colour=light blue"};
  reading.begin();
  Result<std::unique_ptr<system::SupervisedChild>> child = system::SupervisedChild::start(reading.start({"settings"}));
  REQUIRE(child.ok());
  std::string printed;
  std::array<char, 256> buffer{};
  while ((*child)->is_open(system::OutputStream::out)) {
    (*child)->wait(20ms);
    printed.append(buffer.data(), (*child)->read(system::OutputStream::out, buffer));
  }
  (void)(*child)->finish();
  CHECK(printed == "light blue|\n");
  REQUIRE(reading.end());
}

TEST_CASE("without an agent a probe collects nothing and the program runs as ever") {
  const system::PrivateFolder folder = system::PrivateFolder::make("probe-test").value();
  Result<std::unique_ptr<system::SupervisedChild>> child =
      system::SupervisedChild::start({kProbeProgram, {"threads", "1000"}, "", {"ACCELSCOPE_PROBES=" + folder.path()}});
  REQUIRE(child.ok());
  while (!(*child)->ended()) (*child)->wait(20ms);
  CHECK((*child)->finish().exit_code == 0);
}

TEST_CASE("a program that nobody reads any more runs to its end") {
  Reading reading(false);
  reading.handler.ring_bytes = probe::kMinRingBytes;
  reading.begin();
  Result<std::unique_ptr<system::SupervisedChild>> child =
      system::SupervisedChild::start(reading.start({"threads", "30000000"}));
  REQUIRE(child.ok());
  REQUIRE(reading.eventually([&] { return reading.total > 100'000; }));
  REQUIRE(reading.end());  // of the capture; the program was started by hand
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->by_capture);
  CHECK(reading.processes[0]->out_of_order() == 0);
  while (!(*child)->ended()) (*child)->wait(20ms);
  CHECK((*child)->finish().exit_code == 0);
}

TEST_CASE("a capture that ends first takes what a probe holds back, and says where it waited in vain") {
  for (const char* what : {"hold back", "hold back for ever"}) {
    CAPTURE(what);
    Reading reading(false);
    reading.begin();
    Result<std::unique_ptr<system::SupervisedChild>> child =
        system::SupervisedChild::start(reading.start({what, "5000"}));
    REQUIRE(child.ok());
    REQUIRE(reading.eventually([&] { return reading.total == 1; }));
    REQUIRE(reading.end());
    CHECK(reading.processes.at(0)->by_capture);
    CHECK(reading.total == (what == std::string("hold back") ? 5001 : 1));
    CHECK(reading.sink.reported("probe_late") == (what != std::string("hold back")));
    while (!(*child)->ended()) (*child)->wait(20ms);
    CHECK((*child)->finish().exit_code == 0);
  }
}

TEST_CASE("records that find no room are dropped and counted where the user wants that") {
  Reading reading;
  reading.handler.ring_bytes = probe::kMinRingBytes;
  reading.handler.drop_when_full = true;
  reading.begin();
  CHECK(reading.run({"threads", "2000000"}).exit_code == 0);
  REQUIRE(reading.end());
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0]->records() + reading.processes[0]->dropped == 4 * 2'000'000);
  CHECK(reading.sink.reported("dropped_events") == (reading.processes[0]->dropped > 0));
}

TEST_CASE("a capture in which no program told anything says so") {
  Reading reading;
  reading.begin();
  REQUIRE(reading.end());
  CHECK(reading.sink.reported("nothing_attached"));
}

TEST_CASE("two agents cannot wait for programs at one place") {
  const system::PrivateFolder folder = system::PrivateFolder::make("probe-test").value();
  const Result<std::unique_ptr<probes::ProbeListener>> first = probes::ProbeListener::open("test", folder.path());
  REQUIRE(first.ok());
  const Result<std::unique_ptr<probes::ProbeListener>> second = probes::ProbeListener::open("test", folder.path());
  REQUIRE_FALSE(second.ok());
  CHECK(second.message().find("another agent of this user waits there") != std::string::npos);
}

TEST_CASE("ticks become capture time that never goes back") {
  probes::TickClock clock(probe::ClockKind::monotonic, std::chrono::steady_clock::now());
  clock.anchor();
  std::int64_t last = INT64_MIN;
  const std::uint64_t begin = clock.last_ticks();
  for (int i = 0; i < 1000; ++i) {
    clock.anchor();
    const std::int64_t now = clock.to_ns(clock.last_ticks());
    CHECK(now >= last);
    last = now;
  }
  // These ticks are ns themselves. An anchor is as good as the time between its two readings.
  const std::int64_t ticks = static_cast<std::int64_t>(clock.last_ticks() - begin);
  CHECK(std::abs(clock.last_ns() - clock.to_ns(begin) - ticks) < 1'000'000);
}

TEST_CASE("probe: memory that a program could make smaller while it is read is no ring") {
  constexpr std::uint64_t kBytes = probe::kMinRingBytes;
  for (const bool sealed : {false, true}) {
    CAPTURE(sealed);
    const system::Descriptor memory(::memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(memory);
    probe::RingHead head{};
    head.magic = probe::kRingMagic;
    head.bytes = kBytes;
    REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(probe::kRingHeadBytes + kBytes)) == 0);
    REQUIRE(::pwrite(memory.get(), &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head));
    if (sealed) REQUIRE(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    CHECK(probes::ProbeRing::map(memory).ok() == sealed);
  }
}

}  // namespace accelscope::capture
