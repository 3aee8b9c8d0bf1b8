// Tries the agents that are being typed, off the UI thread: a little after the last key, again while one cannot be
// reached, and never one that is not wanted any more.
//
//   probe.update(places, token_file, ui.time());    // once per frame while the form is shown
//   for (const PlaceVerdict& verdict : probe.verdicts()) ...
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/client/capture_session.h"
#include "core/base/result.h"

namespace accelscope::app {

struct PlaceVerdict {
  enum class State : std::uint8_t {
    unknown,  // not asked yet
    malformed,
    unasked,  // well formed; it is reached only when the capture starts (local, ssh)
    asking,   // for the first time
    reached,
    failed,
  };
  std::string place;
  State state = State::unknown;
  std::string text;  // a sentence for the user
  std::optional<capture::client::Reached> reached;
};

class PlaceProbe {
 public:
  using Reach = std::function<Result<capture::client::Reached>(const std::string& place, const std::string& token_file,
                                                               const std::function<bool()>& cancelled)>;
  static constexpr double kPause = 0.35;  // seconds without a key before a place is tried
  static constexpr double kAgain = 3;     // seconds after which a failed place is tried again

  // reach may wait; it runs on threads of the probe. wake is called from them when there is something new.
  PlaceProbe(Reach reach, std::function<void()> wake);
  ~PlaceProbe();
  PlaceProbe(const PlaceProbe&) = delete;
  PlaceProbe& operator=(const PlaceProbe&) = delete;

  void update(const std::vector<std::string>& places, const std::string& token_file, double now_s);
  [[nodiscard]] const std::vector<PlaceVerdict>& verdicts() const noexcept { return verdicts_; }
  // Seconds until update() has something to do; nothing when only a thread or the user can change anything.
  [[nodiscard]] std::optional<double> due_in(double now_s) const;
  [[nodiscard]] const PlaceVerdict* first_reached() const noexcept;

 private:
  struct Shared;
  struct Run {
    std::string place;
    std::shared_ptr<Shared> shared;
    std::thread thread;
  };
  void begin_runs(double now_s);
  void take_answers(double now_s);
  void drop_runs();
  void reap();

  Reach reach_;
  std::function<void()> wake_;
  std::vector<std::string> places_;
  std::string token_file_;
  std::vector<PlaceVerdict> verdicts_;
  std::vector<Run> runs_;
  std::vector<Run> dropped_;  // cancelled; joined once they have ended
  std::optional<double> ask_at_s_;
};

// "Reached in 41 ms. accelscope-agent 0.1.0 on trn1-07, Linux x86_64; program, simulate, replay"
[[nodiscard]] std::string describe_reached(const capture::client::Reached& reached);

}  // namespace accelscope::app
