// What is to be captured: the viewer's form and the command line fill one in, it crosses the wire when a capture is
// started, a saved configuration holds one, and a session keeps the one it was made with.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace accelscope::capture::request {

inline constexpr std::size_t kMaxScriptBytes = 256U << 10;

struct OptionSetting {
  std::string name;   // as declared by the kind: "sample-interval"
  std::string value;  // as typed: "100ms"; flags: "on" or "off"
  bool operator==(const OptionSetting&) const = default;
  static void fields(auto& walk, auto& o) { walk(o.name, o.value); }
};

struct KindChoice {
  std::string name;  // "program"
  std::vector<OptionSetting> options;
  bool operator==(const KindChoice&) const = default;
  static void fields(auto& walk, auto& k) { walk(k.name, k.options); }
};

struct CaptureRequest {
  std::string name;               // of the capture, for people and for `accelscope-agent stop NAME`; "": the agent's
  std::vector<KindChoice> kinds;  // each in a scope of its own, in this order; none: what the agent was started with
  std::string program;            // "": the kinds need none
  std::vector<std::string> arguments;
  std::string directory;                 // in which the program runs; "": the folder of the files that were sent
  std::vector<std::string> environment;  // "NAME=VALUE", added to the agent's own
  std::string script;                    // text of a shell script that is run in place of a program
  bool paused = false;                   // starts paused
  double duration_seconds = 0;           // ends in order after so long; 0: no limit
  std::vector<std::string> results;      // files to bring back: paths or patterns, relative to `directory`
  bool operator==(const CaptureRequest&) const = default;
  static void fields(auto& walk, auto& r) {
    walk(r.name, r.kinds, r.program, r.arguments, r.directory, r.environment);
    walk.text(r.script, kMaxScriptBytes);
    walk(r.paused, r.duration_seconds, r.results);
    walk.check(std::isfinite(r.duration_seconds), "with a number that is none");
  }
};

// What settings that are right do to a capture, said while they are typed: outputs that will mean nothing, a figure
// that will be missing. Known from the settings alone, so that a form can show it for any host.

// Sentences for the user, at most one for each thing; none: nothing is to be said.
[[nodiscard]] std::vector<std::string> kind_warnings(const KindChoice& choice);

}  // namespace accelscope::capture::request
