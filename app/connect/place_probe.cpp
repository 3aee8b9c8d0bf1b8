#include "app/connect/place_probe.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "app/plan/form_model.h"
#include "core/base/format.h"

namespace accelscope::app {

struct PlaceProbe::Shared {
  std::atomic<bool> cancelled = false;
  std::atomic<bool> finished = false;
  std::optional<Result<capture::client::Reached>> result;  // written before finished
};

PlaceProbe::PlaceProbe(Reach reach, std::function<void()> wake) : reach_(std::move(reach)), wake_(std::move(wake)) {}

PlaceProbe::~PlaceProbe() {
  drop_runs();
  for (Run& run : dropped_) run.thread.join();
}

void PlaceProbe::update(const std::vector<std::string>& places, const std::string& token_file, double now_s) {
  if (places != places_ || token_file != token_file_) {
    drop_runs();
    places_ = places;
    token_file_ = token_file;
    std::vector<PlaceVerdict> verdicts;
    for (const std::string& place : places) {
      PlaceVerdict verdict{.place = place, .text = place};
      if (auto good = check_place(place); !good) {
        verdict.state = PlaceVerdict::State::malformed;
        verdict.text = good.message();
      } else if (place == "local") {
        verdict.state = PlaceVerdict::State::unasked;
        verdict.text = "Ready: the agent beside this program is started with the capture, and ends with it.";
      } else if (place.starts_with("ssh://") || !reach_) {
        verdict.state = PlaceVerdict::State::unasked;
        verdict.text = "Well formed. It is reached, and may ask you something, when the capture starts.";
      }
      verdicts.push_back(std::move(verdict));
    }
    verdicts_ = std::move(verdicts);
    ask_at_s_ = now_s + kPause;
  }
  take_answers(now_s);
  if (ask_at_s_ && now_s >= *ask_at_s_) begin_runs(now_s);
  reap();
}

std::optional<double> PlaceProbe::due_in(double now_s) const {
  if (!ask_at_s_) return std::nullopt;
  return std::max(0.0, *ask_at_s_ - now_s);
}

const PlaceVerdict* PlaceProbe::first_reached() const noexcept {
  const auto found = std::find_if(verdicts_.begin(), verdicts_.end(), [](const PlaceVerdict& verdict) {
    return verdict.state == PlaceVerdict::State::reached;
  });
  return found == verdicts_.end() ? nullptr : &*found;
}

void PlaceProbe::begin_runs(double now_s) {
  ask_at_s_.reset();
  for (PlaceVerdict& verdict : verdicts_) {
    const bool fresh = verdict.state == PlaceVerdict::State::unknown;
    if (!fresh && verdict.state != PlaceVerdict::State::failed) continue;
    if (fresh) {
      verdict.state = PlaceVerdict::State::asking;
      verdict.text = "Trying " + verdict.place;
    }
    Run run{verdict.place, std::make_shared<Shared>(), {}};
    run.thread =
        std::thread([reach = reach_, wake = wake_, place = verdict.place, token = token_file_, shared = run.shared] {
          shared->result = reach(place, token, [shared] { return shared->cancelled.load(); });
          shared->finished = true;
          if (wake) wake();
        });
    runs_.push_back(std::move(run));
  }
  if (runs_.empty() && std::any_of(verdicts_.begin(), verdicts_.end(), [](const PlaceVerdict& verdict) {
        return verdict.state == PlaceVerdict::State::failed;
      })) {
    ask_at_s_ = now_s + kAgain;
  }
}

void PlaceProbe::take_answers(double now_s) {
  for (std::size_t i = runs_.size(); i-- > 0;) {
    if (!runs_[i].shared->finished) continue;
    runs_[i].thread.join();
    Result<capture::client::Reached>& result = *runs_[i].shared->result;
    for (PlaceVerdict& verdict : verdicts_) {
      if (verdict.place != runs_[i].place) continue;
      if (result) {
        verdict.state = PlaceVerdict::State::reached;
        verdict.text = describe_reached(*result);
        verdict.reached = *result;
      } else {
        verdict.state = PlaceVerdict::State::failed;
        verdict.text = result.message();
        ask_at_s_ = now_s + kAgain;
      }
    }
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void PlaceProbe::drop_runs() {
  for (Run& run : runs_) {
    run.shared->cancelled = true;
    dropped_.push_back(std::move(run));
  }
  runs_.clear();
}

void PlaceProbe::reap() {
  for (std::size_t i = dropped_.size(); i-- > 0;) {
    if (!dropped_[i].shared->finished) continue;
    dropped_[i].thread.join();
    dropped_.erase(dropped_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string describe_reached(const capture::client::Reached& reached) {
  std::string program = reached.peer;  // "127.0.0.1:7420 (accelscope-agent 0.1.0)"
  if (const std::size_t open = program.find('('); open != std::string::npos && program.ends_with(')')) {
    program = program.substr(open + 1, program.size() - open - 2);
  }
  std::string text = "Reached in " + format_duration(std::round(reached.milliseconds) * 1e6) + ". " + program;
  const capture::wire::Welcome& welcome = reached.welcome;
  if (!welcome.host.empty()) text += " on " + welcome.host;
  if (!welcome.system.empty()) text += ", " + welcome.system;
  std::string offers = welcome.fixed;
  for (const capture::request::KindFacts& kind : welcome.kinds) {
    if (welcome.fixed.empty()) offers += (offers.empty() ? "" : ", ") + kind.name;
  }
  return offers.empty() ? text : text + "; " + offers;
}

}  // namespace accelscope::app
