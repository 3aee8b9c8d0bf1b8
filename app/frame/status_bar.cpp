// The status bar: what is loaded, how well, how fast it comes in, where it is saved, what went wrong last.
#include <fmt/format.h>

#include <filesystem>

#include "app/frame/app_state.h"
#include "app/panels/quality/panel.h"
#include "app/session/analysis.h"
#include "app/session/shown_advice.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"
#include "render/base/icons.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

std::string events_text(const SessionTab& tab) {
  const std::uint64_t count = count_passing(*tab.snapshot, nullptr);
  return format_count(count) + (count == 1 ? " event" : " events");
}

std::string active_text(const SessionTab& tab) {
  const Snapshot& snapshot = *tab.snapshot;
  const std::string whole = format_duration(static_cast<double>(snapshot.end_ns - snapshot.begin_ns));
  if (!tab.analysis) return whole + " recorded";
  (void)tab.analysis->take_older();
  const auto activity = tab.analysis->activity();
  if (!activity || activity->active_ns == 0) return whole + " recorded";
  const std::string active = "active " + format_duration(static_cast<double>(activity->active_ns));
  return active + (tab.analysis->take_older() ? " ... of " : " of ") + whole;
}

std::string saved_text(const SessionTab& tab, bool saving) {
  if (saving) return "Saving";
  const std::string name = std::filesystem::path(tab.path).filename().string();
  if (tab.path.empty()) return tab.modified ? "Not saved" : "Imported, not saved";
  return (tab.modified ? "Changed  " : "Saved  ") + name;
}

namespace {

constexpr float kLeastForStore = 520;  // units of width below which only the counts are shown

struct Chip {
  const char* icon = nullptr;
  Colour icon_colour = Colour::text2;
  std::string text;
  Colour colour = Colour::text2;
  std::string tooltip = {};
};

float chip_width_of(const Ui& ui, const Chip& chip) {
  return text_width(ui, TextStyle::small, chip.text) + (chip.icon != nullptr ? ui.px(20) : 0);
}

// Draws it in the place; true when clicked.
bool draw_chip(Ui& ui, const char* name, Rect place, const Chip& chip) {
  const Interaction hand = interact(ui, name, place);
  if (hand.hovered && !chip.tooltip.empty()) fill(ui, place.inset(-ui.px(4), 0), ui.colour(Colour::bg4));
  if (!chip.tooltip.empty()) tooltip(ui, hand, place, chip.tooltip);
  if (chip.icon != nullptr) {
    draw_icon(ui, place.cut_left(ui.px(14)), chip.icon, ui.colour(chip.icon_colour), TextStyle::icon13);
    place.cut_left(ui.px(6));
  }
  draw_text(ui, place, chip.text, {.style = TextStyle::small, .colour = chip.colour});
  return hand.clicked;
}

bool left_chip(Ui& ui, const char* name, Rect& row, const Chip& chip, bool line_before = true) {
  if (line_before) {
    vertical_line(ui, row.x0, row.y0 + ui.px(6), row.y1 - ui.px(6), ui.colour(Colour::line2));
    row.cut_left(ui.px(9));
  }
  const Rect place = row.cut_left(std::min(chip_width_of(ui, chip) + 1, row.width()));
  row.cut_left(ui.px(8));
  return draw_chip(ui, name, place, chip);
}

Chip quality_chip(const Snapshot& snapshot) {
  const QualitySummary summary = summarise_quality(snapshot);
  Chip chip{.icon = icon::kCheckCircle,
            .icon_colour = Colour::ok,
            .text = quality_text(summary),
            .tooltip = "What was lost, skipped or estimated; click to see it"};
  if (summary.notes > 0) chip.icon = icon::kInfo, chip.icon_colour = Colour::text2;
  if (summary.warnings > 0) chip.icon = icon::kWarning, chip.icon_colour = Colour::warning_line;
  if (summary.errors > 0) chip.icon = icon::kError, chip.icon_colour = Colour::error;
  return chip;
}

std::string where_it_lies(const StoreStatus& status) {
  if (status.in_memory) return "The session lies in memory";
  if (status.file_bytes == 0) return "The session lies in " + status.path;
  return fmt::format(
      "The session has passed its memory budget: {} of it lie in a file without a name in {}, until it is saved",
      format_bytes(static_cast<double>(status.file_bytes)), status.path);
}

void draw_session_status(AppState& state, Ui& ui, Rect& row, SessionTab& tab) {
  const std::size_t index = *state.workspace.active_index();
  if (row.width() > ui.px(kLeastForStore)) {
    const StoreStatus& status = tab.analysis->store_status();
    const Chip memory{.icon = icon::kDatabase,
                      .text = format_bytes(static_cast<double>(status.memory_bytes)) + " in memory",
                      .tooltip = where_it_lies(status)};
    draw_chip(ui, "status.memory", row.cut_right(chip_width_of(ui, memory)), memory);
    row.cut_right(ui.px(16));
    const Chip saved{.text = saved_text(tab, state.workspace.saving(index)),
                     .tooltip = tab.path.empty() ? "Save it with Ctrl+S" : tab.path};
    if (draw_chip(ui, "status.saved", row.cut_right(chip_width_of(ui, saved)), saved)) state.commands.run("save");
    row.cut_right(ui.px(16));
  }

  // Before all else: times of a run that went wrong say little.
  const std::shared_ptr<const Advice> advice = shown_advice(tab);
  const Finding* const error = advice ? reported_error(*advice) : nullptr;
  if (error != nullptr) {
    const Chip chip{.icon = icon::kError,
                    .icon_colour = Colour::error,
                    .text = error->tab,
                    .colour = Colour::error,
                    .tooltip = error->headline};
    if (left_chip(ui, "status.hardware_error", row, chip, false)) {
      tab.chosen_warning = error->key;
      state.layout.show("warnings");
    }
  }
  std::string events = events_text(tab);
  std::string explained = "Of all tracks; rows of tables without times are none";
  if (const auto counted = tab.analysis->passing()) {
    events = format_count(counted->passing) + " of " + format_count(counted->all) + " events pass";
    explained = "Rows of tables without time are not counted: no filter concerns them";
  }
  left_chip(ui, "status.events", row, {.text = events, .tooltip = explained}, error != nullptr);
  const Chip quality = quality_chip(*tab.snapshot);
  const Chip active{.text = active_text(tab),
                    .tooltip =
                        "At least one device works, or a thread where there is none; each moment counts once, "
                        "waits do not count"};
  const Chip rate{.icon = icon::kDownload,
                  .icon_colour = Colour::accent,
                  .text = format_count(static_cast<std::uint64_t>(tab.events_per_second)) + " events/s"};
  const bool recording = tab.live == LiveState::recording;
  // What is missing is said first where there is no room for all.
  const float kept = chip_width_of(ui, quality) + ui.px(17) + (recording ? chip_width_of(ui, rate) + ui.px(17) : 0);
  if (row.width() >= chip_width_of(ui, active) + ui.px(17) + kept) left_chip(ui, "status.active", row, active);
  if (recording && row.width() >= kept) left_chip(ui, "status.rate", row, rate);
  if (left_chip(ui, "status.quality", row, quality)) state.layout.show("quality");
}

}  // namespace

void draw_status_bar(AppState& state, Ui& ui, Rect bar) {
  fill(ui, bar, ui.colour(Colour::bg3));
  horizontal_line(ui, bar.x0, bar.x1, bar.y0, ui.colour(Colour::line2));
  Rect row = bar.inset(ui.px(size::kPanelPadding), 0);
  SessionTab* tab = state.tab();
  if (tab != nullptr) {
    draw_session_status(state, ui, row, *tab);
  } else {
    const std::string version = std::string("Accelscope ") + ACCELSCOPE_VERSION;
    draw_text(ui, row.cut_right(text_width(ui, TextStyle::small, version)), version,
              {.style = TextStyle::small, .colour = Colour::text3});
    const std::string& problem = ui.fonts().problem();
    left_chip(ui, "status.ready", row,
              problem.empty() ? Chip{.icon = icon::kCheckCircle, .icon_colour = Colour::ok, .text = "Ready"}
                              : Chip{.icon = icon::kWarning, .icon_colour = Colour::warning_line, .text = problem},
              false);
  }
  if (state.now_s < state.toast_until_s) {
    left_chip(ui, "status.toast", row,
              {.icon = icon::kCheck, .icon_colour = Colour::accent, .text = state.toast, .colour = Colour::text1});
  } else if (!state.workspace.last_error().empty()) {
    left_chip(ui, "status.error", row,
              {.icon = icon::kError,
               .icon_colour = Colour::error,
               .text = state.workspace.last_error(),
               .colour = Colour::error,
               .tooltip = state.workspace.last_error()});
  }
}

}  // namespace accelscope::app
