// What --filter, --tracks and --range leave of a session: the filter that the viewer's bar holds, from the command
// line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "core/scan/event_mask.h"
#include "core/store/store.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::app::terminal {

struct FilterOptions {
  std::vector<std::string> terms;   // searches; one that begins with - or ! excludes what it finds
  std::vector<std::string> tracks;  // numbers, or names or parts of them; what lies below a track belongs to it
  std::string range;

  [[nodiscard]] bool has_events() const noexcept { return !terms.empty() || !tracks.empty(); }
  [[nodiscard]] bool empty() const noexcept { return !has_events() && range.empty(); }
};

// Adds --filter, --tracks and --range.
void declare_filter(command_line::OptionSet& options, FilterOptions& filter);

// Errors name the option and what to try.
[[nodiscard]] Result<EventFilter> read_filter(const FilterOptions& options, const Store& store);

// The filter and its mask (null: all events pass), and how many events that leaves.
struct SessionFilter {
  EventFilter filter;
  std::shared_ptr<const EventMask> mask;
  std::uint64_t passing = 0, all = 0;
  [[nodiscard]] std::string text() const;  // "1,204 of 38,412 events pass"; "" without a filter
};
// `run`: where hints on the searches go, as that one found nothing because of its =; null: nowhere.
[[nodiscard]] Result<SessionFilter> make_filter(const FilterOptions& options, const Store& store,
                                                const CommandRun* run = nullptr);

}  // namespace accelscope::app::terminal
