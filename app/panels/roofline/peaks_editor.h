// The peaks of a device as fields: what is typed and entered holds for all sessions of a device of that name. An empty
// field, or the arrow beside it, goes back to what is built in.
#pragma once

#include <map>
#include <string>

#include "app/panels/context.h"
#include "app/persist/peak_book.h"
#include "core/analysis/peaks/peaks.h"

namespace accelscope::app {

class PeaksEditor {
 public:
  explicit PeaksEditor(PeakBook& book) : book_(book) {}
  // True when the user is done.
  [[nodiscard]] bool draw(const PanelContext& context, render::Rect area, const PeakList& peaks);

 private:
  struct Field {
    std::string text;
    std::string error;
    bool touched = false;  // typed into since it was last entered
    bool refocus = false;  // what was entered is wrong: it keeps the keyboard
  };
  void draw_row(const PanelContext& context, render::Rect row, const PeakList& peaks, const Peak& peak);
  void enter(const PanelContext& context, const PeakList& peaks, const Peak& peak, Field& field);
  void told(const PanelContext& context, const Result<void>& done) const;

  PeakBook& book_;
  std::string model_;                    // that the fields are of
  std::map<std::string, Field> fields_;  // by Peak::what
};

}  // namespace accelscope::app
