// A capture that does what a test says: every status is scripted, every wish is noted, and events come when they are
// made. Stands where CaptureSession stands in the viewer.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/workspace/workspace.h"
#include "core/chunk/session_writer.h"

namespace accelscope::test {

// Shared by the test, the services and the link; any thread.
class FakeCapture {
 public:
  // ---- What the test scripts
  void set_phase(capture::client::CapturePhase phase, const std::string& message = "") {
    const std::scoped_lock lock(mutex_);
    status_.phase = phase;
    status_.message = message;
    for (capture::client::AgentStatus& agent : status_.agents) {
      agent.phase = phase;
      agent.message = message;
    }
  }
  template <typename Change>
  void change(Change change) {
    const std::scoped_lock lock(mutex_);
    change(status_);
  }
  void ask(capture::client::CaptureQuestion question) {
    const std::scoped_lock lock(mutex_);
    question_ = std::move(question);
  }
  // So many events of 500 ns each, one per microsecond, on the lane of an engine.
  void make_events(int count) {
    for (int i = 0; i < count; ++i) {
      static_cast<void>(writer_->begin_event(track_, next_ns_, 500, writer_->intern("work")));
      next_ns_ += 1'000;
    }
    writer_->flush();
  }
  // Lines of a program, one per microsecond, every third on stderr.
  void make_lines(int count, const std::string& text = "line ") {
    if (!lines_) {
      const SchemaNumber schema = writer_->add_schema({.number = 0,
                                                       .name = "output_line",
                                                       .kind = EventKind::instant,
                                                       .name_column = "",
                                                       .name_explanation = "",
                                                       .wait_names = {},
                                                       .columns = {{"text", ColumnType::text, "", "", "Text", ""}}});
      const auto track = [&](const char* name) {
        return writer_->add_track(
            {.name = name, .kind = "output", .device = "run", .host = "h", .unit = "", .schema = schema});
      };
      lines_.emplace(track("stdout"), track("stderr"));
    }
    for (int i = 0; i < count; ++i, ++line_, next_ns_ += 1'000) {
      auto row = writer_->begin_event(line_ % 3 == 2 ? lines_->second : lines_->first, next_ns_, 0, 0);
      row.text(0, text + std::to_string(line_));
    }
    writer_->flush();
  }
  SessionWriter& writer() { return *writer_; }

  std::optional<capture::wire::Welcome> welcome_of_check;
  std::vector<capture::client::HostFinding> findings;  // of a test of a host
  std::atomic<bool> holds_checks = false;              // a test goes on until it is cancelled

  // ---- What the viewer did
  struct Seen {
    std::vector<capture::client::CapturePlan> plans;
    std::vector<std::pair<std::string, std::string>> checked;  // hosts that were tested: the place, the key file
    int cancelled_checks = 0;
    std::vector<std::string> intents;  // "pause", "add tls://b:1"
    std::map<std::uint64_t, std::optional<std::string>> answers;
    std::vector<std::string> recovered, discarded;
    std::vector<std::string> reached;
  };
  [[nodiscard]] Seen seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }
  [[nodiscard]] bool was(const std::string& intent) const {
    const std::scoped_lock lock(mutex_);
    return std::find(seen_.intents.begin(), seen_.intents.end(), intent) != seen_.intents.end();
  }

  // ---- What the viewer gets
  std::map<std::string, capture::client::Reached> hosts;  // that answer when they are tried
  std::vector<capture::request::KindFacts> kinds;         // that this program knows
  std::vector<capture::client::Recoverable> left;
  std::string begin_error;

  [[nodiscard]] std::unique_ptr<app::workspace::LiveLink> link(const capture::client::CapturePlan& plan,
                                                               std::shared_ptr<Store> store) {
    const std::scoped_lock lock(mutex_);
    seen_.plans.push_back(plan);
    status_ = {};
    for (const std::string& place : plan.places) {
      capture::client::AgentStatus agent;
      agent.place = agent.peer = place;
      agent.controls = plan.mode != capture::wire::StartMode::watch;
      status_.agents.push_back(std::move(agent));
    }
    store_ = std::move(store);
    sink_ = std::make_unique<StoreSink>(*store_);
    writer_ = std::make_unique<SessionWriter>(*sink_);
    const SchemaNumber schema = writer_->add_schema({.number = 0,
                                                     .name = "zone",
                                                     .kind = EventKind::slice,
                                                     .name_column = "",
                                                     .name_explanation = "",
                                                     .wait_names = {},
                                                     .columns = {}});
    track_ =
        writer_->add_track({.name = "T", .kind = "engine", .device = "nc0", .host = "h", .unit = "", .schema = schema});
    return std::make_unique<Link>(*this);
  }

  // The fake must outlive them.
  [[nodiscard]] app::workspace::CaptureServices services() {
    app::workspace::CaptureServices services;
    services.begin =
        [this](const capture::client::CapturePlan& plan, std::shared_ptr<Store> store,
               const capture::client::CaptureSessionOptions&) -> Result<std::unique_ptr<app::workspace::LiveLink>> {
      if (!begin_error.empty()) return Error{begin_error};
      return link(plan, std::move(store));
    };
    services.recover =
        [this](const capture::client::Recoverable& what, std::shared_ptr<Store> store,
               const capture::client::CaptureSessionOptions&) -> Result<std::unique_ptr<app::workspace::LiveLink>> {
      auto made = link(what.plan, std::move(store));
      make_events(static_cast<int>(what.events));
      const std::scoped_lock lock(mutex_);
      seen_.recovered.push_back(what.folder);
      return made;
    };
    services.reach = [this](const std::string& place, const std::string&,
                            const std::function<bool()>&) -> Result<capture::client::Reached> {
      const std::scoped_lock lock(mutex_);
      seen_.reached.push_back(place);
      const auto found = hosts.find(place);
      if (found == hosts.end()) return Error{place + ": nobody listens there; start accelscope-agent"};
      return found->second;
    };
    services.check_host = [this](const std::string& place, const capture::client::HostCheckOptions& options,
                                 const std::function<bool()>& cancelled) -> capture::client::HostCheck {
      {
        const std::scoped_lock lock(mutex_);
        seen_.checked.emplace_back(place, options.ssh_identity_file);
      }
      while (holds_checks && !cancelled()) std::this_thread::yield();
      if (cancelled()) {
        const std::scoped_lock lock(mutex_);
        seen_.cancelled_checks += 1;
      }
      return {findings, welcome_of_check};
    };
    services.find_recoverable = [this](const std::string&) { return left; };
    services.discard = [this](const capture::client::Recoverable& what) {
      const std::scoped_lock lock(mutex_);
      seen_.discarded.push_back(what.folder);
      return Result<void>{};
    };
    services.kinds = [this] { return kinds; };
    return services;
  }

 private:
  class Link final : public app::workspace::LiveLink {
   public:
    explicit Link(FakeCapture& fake) : fake_(fake) {}
    [[nodiscard]] capture::client::CaptureStatus status() const override {
      const std::scoped_lock lock(fake_.mutex_);
      return fake_.status_;
    }
    void add(const std::string& place) override {
      note("add " + place);
      capture::client::AgentStatus agent;
      agent.place = place;
      fake_.change([&](capture::client::CaptureStatus& status) { status.agents.push_back(agent); });
    }
    void leave(const std::string& place) override { note("leave " + place); }
    void pause() override { note("pause"); }
    void resume() override { note("resume"); }
    void stop() override { note("stop"); }
    [[nodiscard]] std::optional<capture::client::CaptureQuestion> question() const override {
      const std::scoped_lock lock(fake_.mutex_);
      return fake_.question_;
    }
    void answer(std::uint64_t id, const std::optional<std::string>& answer) override {
      const std::scoped_lock lock(fake_.mutex_);
      fake_.seen_.answers[id] = answer;
      fake_.question_.reset();
    }
    void saved() override { note("saved"); }
    void discard() override { note("discard"); }

   private:
    void note(const std::string& intent) {
      const std::scoped_lock lock(fake_.mutex_);
      fake_.seen_.intents.push_back(intent);
    }
    FakeCapture& fake_;
  };

  mutable std::mutex mutex_;
  capture::client::CaptureStatus status_;
  std::optional<capture::client::CaptureQuestion> question_;
  Seen seen_;
  std::shared_ptr<Store> store_;
  std::unique_ptr<StoreSink> sink_;
  std::unique_ptr<SessionWriter> writer_;
  TrackNumber track_ = 0;
  std::int64_t next_ns_ = 0;
  std::optional<std::pair<TrackNumber, TrackNumber>> lines_;
  int line_ = 0;
};

// A kind that runs a program, with an option of every type; and one that runs nothing.
[[nodiscard]] inline std::vector<capture::request::KindFacts> two_kinds() {
  using capture::request::OptionType;
  capture::request::KindFacts program{.name = "program",
                                      .title = "Program output",
                                      .explanation = "Its lines and its use of the machine.",
                                      .needs_program = true,
                                      .options = {},
                                      .checks = {}};
  program.options = {
      {.name = "resources",
       .type = OptionType::flag,
       .default_value = "on",
       .explanation = "CPU and memory.",
       .choices = {}},
      {.name = "sample-interval",
       .type = OptionType::duration,
       .default_value = "100ms",
       .explanation = "How often.",
       .choices = {}},
      {.name = "detail",
       .type = OptionType::choice,
       .default_value = "full",
       .explanation = "How much.",
       .choices = {"full", "slim"}},
      {.name = "limit", .type = OptionType::count, .default_value = "", .explanation = "Lines kept.", .choices = {}},
  };
  capture::request::KindFacts simulate{.name = "simulate",
                                       .title = "Simulated accelerator",
                                       .explanation = "Needs no hardware.",
                                       .needs_program = false,
                                       .options = {},
                                       .checks = {}};
  return {program, simulate};
}

[[nodiscard]] inline capture::client::Reached reached_host(const std::string& host) {
  capture::client::Reached reached;
  reached.milliseconds = 41;
  reached.peer = host + ":7420 (accelscope-agent 0.1.0)";
  reached.welcome.host = host;
  reached.welcome.system = "Linux x86_64";
  reached.welcome.may_run = true;
  reached.welcome.kinds = two_kinds();
  return reached;
}

}  // namespace accelscope::test
