// A session in a list: what it is called, which device, its main figures, when, and how busy it was over time. The
// lists of recent sessions and of the library are made of such rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "render/base/ui.h"
#include "render/widgets/interact.h"

namespace accelscope::app {

struct SessionRow {
  std::string title;
  std::vector<std::string> tags;  // those that fit
  std::string below;              // the path
  std::string device;
  std::string work, events, when;  // "–" where unknown
  std::string activity;            // as in Headline, below the figures; "": none is drawn
  std::uint64_t warnings = 0;
  bool is_fine = true;     // else with a sign; without warnings it is an error
  std::string remark;      // in place of the figures: why it cannot be read, what to do with it
  bool is_chosen = false;  // by the keyboard or a click
};

// The heads of a list, over rows of the same width. Returns the column that was clicked, -1: none; columns register as
// NAME.head.0 (session) to 4 (when).
struct SessionListHead {
  std::string_view when;  // "Opened", "Saved"
  bool can_sort = false;
  int sorted_by = -1;
  bool descending = true;
};
int draw_session_head(render::Ui& ui, std::string_view name, const render::Rect& row, const SessionListHead& head);

// Registers as `name`.
render::Interaction draw_session_row(render::Ui& ui, std::string_view name, const render::Rect& row,
                                     const SessionRow& session);

}  // namespace accelscope::app
