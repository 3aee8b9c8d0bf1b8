// What `accelscope top` shows of a session, on a terminal or as JSON: what runs now, the busiest kernels, memory, what
// is missing. Asks SessionAnalysis as the viewer does, so the numbers are those of its panels.
//
//   figures.update(tab, choices.recent);                       // once per picture; never waits
//   screen.show(top_lines(figures.shown(), choices, terminal_size()));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "app/terminal/screen.h"
#include "core/analysis/hotspots/hotspots.h"

namespace accelscope::app::commands {

enum class TopSort : std::uint8_t { total, calls, mean, name };
inline constexpr std::size_t kTopSorts = 4;

struct TopChoices {
  TopSort sort = TopSort::total;
  bool recent = false;  // kernels of the last kRecentSeconds, not of the whole session
  bool help = false;
  bool still = false;      // the picture stands still
  std::size_t scroll = 0;  // kernels above the first that is shown
};

// A row of work of a device, over the last second of the session.
struct EngineNow {
  std::string device, name;
  double busy_share = 0;
  std::string runs;  // the event that began last, if it has not ended long ago
};
struct DeviceNow {
  std::string device;
  double busy_share = 0;
  std::vector<EngineNow> engines;  // the busiest first
};
struct TopKernel {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  double share = 0, mean_ns = 0;
};
struct TopPool {
  std::string name;
  std::uint64_t used_bytes = 0, peak_bytes = 0;
  std::optional<std::uint64_t> capacity_bytes;
};

// All of it, as plain values: a picture that stands still is one of these.
struct TopShown {
  std::string title, host, phase, message;
  double seconds = 0;
  std::uint64_t events = 0;
  double events_per_second = 0;
  std::uint64_t lost_events = 0, dropped_events = 0;
  std::string active, quality, warning, verdict;
  std::int64_t now_ns = 0;  // how long the last second is: less in a shorter session
  std::vector<DeviceNow> devices;
  std::vector<TopKernel> kernels;  // largest total first
  bool kernels_are_recent = false;
  std::vector<TopPool> pools;  // highest peak first
  std::string error;           // of an answer
};

class TopFigures {
 public:
  static constexpr double kRecentSeconds = 10;

  void update(session::SessionTab& tab, bool recent);
  [[nodiscard]] const TopShown& shown() const noexcept { return shown_; }
  // Every answer is there and of the newest data.
  [[nodiscard]] bool settled(const session::SessionTab& tab) const;

 private:
  template <typename T>
  using OfFilter =
      session::SessionAnalysis::Retained<T, session::SessionAnalysis::Filtered<session::SessionAnalysis::NoKey>>;

  OfFilter<std::vector<DeviceNow>> now_;
  OfFilter<std::vector<TopKernel>> kernels_;
  TopShown shown_;
};

[[nodiscard]] std::vector<terminal::ScreenLine> top_lines(const TopShown& shown, const TopChoices& choices,
                                                          terminal::ScreenSize size);
[[nodiscard]] std::string top_json(const TopShown& shown);

}  // namespace accelscope::app::commands
