#include "app/persist/saved_layouts.h"

#include <algorithm>

namespace accelscope::app {

namespace {

constexpr char kSeparator = '|';

// A name that the text can hold.
std::string plain(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), kSeparator, '/');
  return result;
}

}  // namespace

void SavedLayouts::put(std::string_view name, std::string text) {
  const auto known =
      std::find_if(layouts_.begin(), layouts_.end(), [&](const SavedLayout& l) { return l.name == plain(name); });
  if (known != layouts_.end()) {
    known->text = std::move(text);
  } else {
    layouts_.push_back({plain(name), std::move(text)});
  }
}

void SavedLayouts::remove(std::string_view name) {
  std::erase_if(layouts_, [&](const SavedLayout& l) { return l.name == plain(name); });
}

const SavedLayout* SavedLayouts::find(std::string_view name) const noexcept {
  const auto known =
      std::find_if(layouts_.begin(), layouts_.end(), [&](const SavedLayout& l) { return l.name == name; });
  return known == layouts_.end() ? nullptr : &*known;
}

std::string SavedLayouts::to_text() const {
  std::string text;
  for (const SavedLayout& layout : layouts_) text += layout.name + kSeparator + layout.text + kSeparator;
  return text;
}

SavedLayouts SavedLayouts::from_text(std::string_view text) {
  SavedLayouts layouts;
  while (true) {
    const std::size_t middle = text.find(kSeparator);
    const std::size_t end = middle == std::string_view::npos ? middle : text.find(kSeparator, middle + 1);
    if (end == std::string_view::npos) return layouts;
    if (middle > 0) layouts.put(text.substr(0, middle), std::string(text.substr(middle + 1, end - middle - 1)));
    text.remove_prefix(end + 1);
  }
}

}  // namespace accelscope::app
