#include "app/terminal/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/file_system.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr int kQuietFrames = 2;  // of the three that a window draws after an input: this asks for none of its own

[[nodiscard]] std::string widgets_json(const render::Ui& ui) {
  std::vector<std::string> entries;
  for (const auto& [name, rect] : ui.widgets()) {
    entries.push_back(
        fmt::format("{}:[{:.0f},{:.0f},{:.0f},{:.0f}]", json_quote(name), rect.x0, rect.y0, rect.x1, rect.y1));
  }
  std::ranges::sort(entries);  // one order, whatever the table's
  return fmt::format("{{{}}}", fmt::join(entries, ","));
}

[[nodiscard]] std::string texts_json(const render::Ui& ui) {
  std::vector<std::string> texts;
  for (const render::VisibleText& shown : ui.texts()) texts.push_back(json_quote(shown.text));
  return fmt::format("[{}]", fmt::join(texts, ","));
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
  std::string text = fmt::format(
      "{{\"settled\":{},\"clicks\":{},\"keys\":{},\"notches\":{:.0f},\"widgets\":{},\"texts\":{},\"state\":{}}}\n",
      settled, clicks_, keys_, notches_, widgets_json(ui), texts_json(ui), state_);
  if (text == last_) return;
  written_ = write_state(path_, text);
  last_ = std::move(text);
}

}  // namespace accelscope::app
