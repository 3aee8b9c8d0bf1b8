#include "app/terminal/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/file_system.h"
#include "core/base/json.h"

namespace accelscope::app::terminal {
namespace {

constexpr int kQuietFrames = 2;  // of the three that a window draws after an input: this asks for none of its own

void add_widgets(JsonWriter& json, const render::Ui& ui) {
  std::vector<std::pair<std::string, render::Rect>> widgets(ui.widgets().begin(), ui.widgets().end());
  std::ranges::sort(widgets, {}, [](const auto& each) { return each.first; });  // one order, whatever the table's
  json.key("widgets").begin_object();
  for (const auto& [name, rect] : widgets)
    json.array(name, std::array{rect.x0, rect.y0, rect.x1, rect.y1}, [&](float side) { json.value(std::lrint(side)); });
  json.end();
}

// A reader never sees half of it. It is of this moment alone: nothing waits for the disk.
[[nodiscard]] Result<void> write_state(const std::string& path, const std::string& text) {
  const std::string draft = TRY(draft_beside(path));
  std::ofstream file(draft, std::ios::binary);
  file << text;
  file.close();
  std::error_code failure;
  if (file) std::filesystem::rename(draft, path, failure);
  if (file && !failure) return {};
  remove_file(draft);
  return Error{path + ": cannot be written; check the folder"};
}

}  // namespace

void StateFile::count(const render::Input& input) {
  const auto same = [&] {
    return input.keys == before_.keys && input.buttons == before_.buttons && input.text.empty() &&
           input.mouse.x == before_.mouse.x && input.mouse.y == before_.mouse.y && input.wheel.y == 0;
  };
  quiet_frames_ = same() ? quiet_frames_ + 1 : 0;
  for (std::size_t i = 0; i < input.buttons.size(); ++i) clicks_ += before_.buttons[i] && !input.buttons[i] ? 1 : 0;
  keys_ += static_cast<int>((input.keys & ~before_.keys).count());
  notches_ += std::abs(static_cast<double>(input.wheel.y));
  before_ = input;
}

void StateFile::frame(render::Ui& ui) {
  ui.record_text(true);
  app_.frame(ui);
  count(ui.input());
  // What an input begins is under way a frame later, and a view may still be moving.
  std::string state = app_.dump_state();
  const bool settled = app_.settled() && quiet_frames_ >= kQuietFrames && state == state_;
  state_ = std::move(state);
  if (!settled) ui.request_frame_after(0.01);  // the file must come to say that it has
  JsonWriter json;
  json.begin_object("settled", settled, "clicks", clicks_, "keys", keys_, "notches", std::lrint(notches_));
  add_widgets(json, ui);
  json.array("texts", ui.texts(), [&](const render::VisibleText& shown) { json.value(shown.text); });
  std::string text = json.add("state", JsonValue::raw(state_)).done() + '\n';
  if (text == last_) return;
  written_ = write_state(path_, text);
  last_ = std::move(text);
}

}  // namespace accelscope::app::terminal
