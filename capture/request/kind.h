// The registry of kinds of capture. A kind declares its options, tests what it needs on the host, and runs. The form
// of the viewer, the command line, --help and doctor are all made from the declaration; the agent sends it to the
// viewer, so a form shows what that host has. A new kind adds its folder to capture/kinds and a line to the list there.
//
//   for (const CaptureKind& kind : capture_kinds()) ... kind.declare(), kind.check() ...
//   Result<void> done = run_kind(KindRun{request, request.kinds[0], origin, folder, open_scope}, sink);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/request/request.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::probes {
class ProbeListener;  // capture/probe/host/listener.h
class ProbeFiles;     // capture/probe/host/files.h
}  // namespace accelscope::capture::probes

namespace accelscope::capture::request {

enum class OptionType : std::uint8_t {
  flag = 1,      // "on", "off"
  count = 2,     // a whole number: "3", "200k", "50M"
  number = 3,    // "0.5"
  duration = 4,  // "100ms", "2s"
  size = 5,      // "64MiB"
  rate = 6,      // events per second: "200k", "max"
  text = 7,
  choice = 8,  // one of `choices`
  file = 9,    // a path on the agent's host
};

// An option that another one decides about: it applies while `option` has one of the values, typed or by default.
struct OptionCondition {
  std::string option;
  std::vector<std::string> values;
  bool operator==(const OptionCondition&) const = default;
  static void fields(auto& walk, auto& c) { walk(c.option, c.values); }
};

struct KindOption {
  std::string name;  // "sample-interval"; on the command line --sample-interval
  OptionType type = OptionType::text;
  std::string default_value;  // as typed; "": not set
  std::string explanation;    // one sentence, with what it costs
  std::vector<std::string> choices;
  bool required = false;                    // has no default and must be given
  bool repeats = false;                     // may be given several times: a setting for each
  std::vector<OptionCondition> conditions;  // all must hold; a form shows the option only then
  bool operator==(const KindOption&) const = default;
  static void fields(auto& walk, auto& o) {
    walk(o.name);
    walk.choice(o.type, OptionType::flag, OptionType::file);
    walk(o.default_value, o.explanation, o.choices, o.required, o.repeats);  // conditions: at the message's end
  }
};

// One thing that a kind needs on the host, as found there.
struct KindCheck {
  bool ok = false;
  std::string text;  // what was found, or what is missing and how to get it
  bool operator==(const KindCheck&) const = default;
  static void fields(auto& walk, auto& c) { walk(c.ok, c.text); }
};

// What crosses the wire of a kind.
struct KindFacts {
  std::string name;   // "program"
  std::string title;  // "Program output and resources"
  std::string explanation;
  bool needs_program = false;  // it runs the program
  bool takes_program = false;  // one may be given: it looks into it, or runs it for something else
  std::vector<KindOption> options;
  std::vector<KindCheck> checks;
  [[nodiscard]] bool usable() const noexcept {
    for (const KindCheck& check : checks) {
      if (!check.ok) return false;
    }
    return true;
  }
  bool operator==(const KindFacts&) const = default;
  static void fields(auto& walk, auto& k) {
    walk(k.name, k.title, k.explanation, k.needs_program, k.takes_program, k.options, k.checks);
  }
};

// What the starter of a capture is told of its program, on the kind's thread.
struct ProgramWatch {
  std::function<void(bool is_error, std::string_view bytes)> printed;  // as it came; may block: the program waits
  std::function<void(int exit_status)> ended;                          // 128 + the signal's number if one ended it
};

// A sink in a further scope of the capture, for kinds that join several sources whose numbers may not meet. Its calls
// fail if the capture has no room for one more. It must not outlive the run.
using OpenScope = std::function<std::unique_ptr<EventSink>()>;

// What a program asks of the capture that it runs in, through a probe inside it.
enum class CaptureIntent : std::uint8_t { pause = 1, resume = 2, stop = 3 };
// `followed` is called on another thread once the capture does as it was asked, or has refused.
using AskCapture = std::function<void(CaptureIntent intent, const std::string& reason, std::function<void()> followed)>;

class OptionReader;  // capture/request/options.h

// What a kind is given to run with. Everything in here outlives the run.
struct KindRun {
  const CaptureRequest& request;
  const KindChoice& choice;                      // its options as typed
  std::chrono::steady_clock::time_point origin;  // capture time 0, the same for all kinds of a capture
  std::string work_folder;                       // of this capture; holds the files that the viewer sent
  OpenScope open_scope;
  ProgramWatch watch;                       // for kinds that run the program
  probes::ProbeListener* probes = nullptr;  // where programs attach, for kinds with an `environment`
  AskCapture ask;                           // any thread
  const OptionReader* options = nullptr;    // of the choice; run_kind() sets it

  // In capture time.
  [[nodiscard]] std::int64_t ns_of(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - origin).count();
  }
  [[nodiscard]] std::int64_t now_ns() const { return ns_of(std::chrono::steady_clock::now()); }
};

struct CaptureKind {
  // The declaration, without checks.
  KindFacts (*declare)();
  // What it needs, tested now. Must be quick (some 100 ms) and without side effects.
  std::vector<KindCheck> (*check)();
  // One line for people on what would be captured: "simulated accelerator: 2 devices, seed 1". Fails on what can be
  // seen to be wrong without running: a file or a program that does not exist. `work_folder` as in KindRun.
  Result<std::string> (*describe)(const CaptureRequest& request, const OptionReader& options,
                                  const std::string& work_folder);
  // Writes the capture into the sink until there is no more, or sink.cancelled(). While sink.paused() it collects
  // nothing. Runs on a thread of its own.
  Result<void> (*run)(const KindRun& run, EventSink& sink);
  // What must hold of the options beyond their declaration; wherever options are given it does.
  Result<void> (*accept)(const OptionReader& options) = nullptr;
  // Whether the same choice makes the same definitions and chunks each time, into one scope: then an agent that died
  // goes on where its spool ends. None: never.
  bool (*repeats)(const OptionReader& options) = nullptr;
  // For kinds that work through a probe inside the program: what the program's environment needs, as "NAME=VALUE",
  // beside the folder of the sockets. A variable that names several things is extended: `inherited` gives what the
  // program would have without. A kind with one needs no program: without one it waits for programs started by hand.
  Result<std::vector<std::string>> (*environment)(
      const OptionReader& options, const probes::ProbeFiles& files,
      const std::function<std::string(const std::string& name)>& inherited) = nullptr;
  // What kind_warnings() says of a choice.
  std::vector<std::string> (*warnings)(const KindChoice& choice) = nullptr;
  // Its events are in a time of their own, a simulated device's or a recording's, and not in capture time. What the
  // capture tells of itself is then placed by them.
  bool own_time = false;
};

[[nodiscard]] std::span<const CaptureKind> capture_kinds();
// Fails with the names that there are, the nearest one first.
[[nodiscard]] Result<const CaptureKind*> find_kind(std::string_view name);

// The same request, with the kind `program` beside kinds that only look into one.
[[nodiscard]] CaptureRequest complete_request(CaptureRequest request);

[[nodiscard]] std::vector<KindFacts> declared_kinds();  // without checks
[[nodiscard]] std::vector<KindFacts> checked_kinds();   // with the checks made now
// All, with the checks of those that are chosen: a capture does not wait for what others need.
[[nodiscard]] std::vector<KindFacts> checked_kinds(std::span<const KindChoice> chosen);

// Of all kinds of the request, in their order, joined by "; ".
[[nodiscard]] Result<std::string> describe_request(const CaptureRequest& request, const std::string& work_folder);
[[nodiscard]] Result<void> run_kind(KindRun run, EventSink& sink);
[[nodiscard]] bool repeats(const KindChoice& choice);  // as CaptureKind says it

}  // namespace accelscope::capture::request
