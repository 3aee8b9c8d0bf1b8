// Arrangements of the panels under names that the user gave, kept in the settings as one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope::app {

struct SavedLayout {
  std::string name;
  std::string text;  // as PanelLayout::to_text() has it
};

class SavedLayouts {
 public:
  void put(std::string_view name, std::string text);  // in the place of one of that name
  void remove(std::string_view name);
  [[nodiscard]] const SavedLayout* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<SavedLayout>& all() const noexcept { return layouts_; }  // oldest first

  [[nodiscard]] std::string to_text() const;
  static SavedLayouts from_text(std::string_view text);  // what it cannot read is left out

 private:
  std::vector<SavedLayout> layouts_;
};

}  // namespace accelscope::app
