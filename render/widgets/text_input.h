// Text fields: a line with an optional icon, placeholder and key hints (a search box), and a block of several lines.
// The focus ring is 1.5 px accent. Editing, selection and the clipboard are ImGui's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "render/base/draw.h"
#include "render/widgets/interact.h"

namespace accelscope::render {

struct TextInputOptions {
  std::string_view placeholder = {};
  const char* icon = nullptr;                       // on the left
  std::span<const std::string_view> key_caps = {};  // on the right while empty and not focused: "Ctrl+F"
  bool mono = false;                                // numbers, paths, code
  bool password = false;
  bool disabled = false;
  bool error = false;      // red outline; say why beside it
  bool focus_now = false;  // takes the keyboard in this frame
  bool select_all = true;  // when it takes the keyboard
};
struct TextInputResult {
  bool changed = false;
  bool submitted = false;  // Enter
  bool focused = false;
  bool cancelled = false;  // Esc while focused; the text is as it was before
};
TextInputResult text_input(Ui& ui, std::string_view name, const Rect& rect, std::string& text,
                           const TextInputOptions& options = {});
// What a text area tells of its caret, and what it is asked to do, for completion.
struct TextCaret {
  std::size_t at = 0;      // bytes into the text
  bool hold_keys = false;  // in: Up and Down belong to a list, they leave the caret where it is
  bool tab = false;        // out: Tab was pressed, and it was not typed
  // In: bytes [begin, end) become `text` and the caret goes behind it. Cleared when done.
  struct Replacement {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
  };
  std::optional<Replacement> replace;
};
// Several lines in mono; Ctrl+Enter submits.
TextInputResult text_area(Ui& ui, std::string_view name, const Rect& rect, std::string& text, TextCaret& caret,
                          const TextInputOptions& options = {});

}  // namespace accelscope::render
