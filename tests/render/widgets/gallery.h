// Every widget in every state on one screen, for pictures to look at and for clicks by name. Nothing here is about
// profiles: the words are only there to be drawn.
#pragma once

#include <string>

#include "render/shell/shell.h"
#include "render/widgets/table.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {

class Gallery final : public FrameClient {
 public:
  void frame(Ui& ui) override;

  // What the user did, for tests.
  int presses = 0;
  bool checked = true;
  bool unchecked = false;
  int segment = 2;
  int choice = 0;
  float level = 0.45F;
  std::string typed;
  std::string search;
  std::string chosen_menu_item;
  std::string last_link;
  int closed_tab = -1;
  std::size_t active_tab = 0;
  bool cancelled = false;
  bool chip_closed = false;
  int empty_action = -1;
  TableState table_state;
  TableResult last_table;
  std::size_t selected_row = 2;
  bool focus_field = false;
  bool show_card = true;

 private:
  void draw_text_styles(Ui& ui, Rect area);
  void draw_marks(Ui& ui, Rect area);
  void draw_controls(Ui& ui, Rect area);
  void draw_states(Ui& ui, Rect area);
  void draw_table(Ui& ui, Rect area);
};

}  // namespace accelscope::render
