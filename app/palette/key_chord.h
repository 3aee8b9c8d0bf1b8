// Keys as the command table writes them ("Ctrl+Shift+P", "F12", "[") and as the input reports them.
#pragma once

#include <optional>
#include <string_view>

#include "render/base/input.h"

namespace accelscope::app {

struct KeyChord {
  render::Key key = render::Key::none;
  render::Modifiers modifiers;
};

// Nothing for a text that names no key; "?" is Shift+/.
[[nodiscard]] std::optional<KeyChord> parse_chord(std::string_view text);

// Whether the key may run a command while a text is being typed.
[[nodiscard]] bool works_while_typing(const KeyChord& chord) noexcept;

}  // namespace accelscope::app
