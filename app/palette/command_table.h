// Everything that can be commanded, once: menus, the palette, the key list and the key handler all read this table.
// A command knows its name, its key, whether it can run now and what it does; nothing in here draws.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/base/input.h"

namespace accelscope::app::palette {

enum class MenuId : std::uint8_t { file, view, record, analyse, help };
inline constexpr std::size_t kMenuCount = 5;
[[nodiscard]] std::string_view menu_title(MenuId menu) noexcept;

// Only while no text is being typed (single letters), or always (Ctrl+... and function keys).
struct Command {
  std::string id;     // stable: "open", "zoom_in"
  std::string title;  // "Open a file..."
  MenuId menu = MenuId::file;
  std::string submenu = {};  // of the menu; "" for none
  std::string key = {};      // "Ctrl+O", "?"; "" for none
  std::string second_key = {};
  std::function<void()> run = {};
  std::function<bool()> enabled = {};      // empty: always
  std::function<bool()> checked = {};      // empty: not a switch
  bool separator_before = false;           // in its menu
  std::string words = {};                  // by which the palette finds it, too: "divergence difference"
  bool only_typed = false;                 // in no menu: the palette has it once something is typed
  std::function<std::string()> note = {};  // what the palette says behind it, in place of its menu; empty: nothing
};

class CommandTable {
 public:
  void add(Command command);
  void add_words(std::string_view id, std::string_view words);
  void remove(std::string_view id_prefix);  // all whose id begins with it; never from inside of one
  [[nodiscard]] std::span<const Command> all() const noexcept { return commands_; }
  [[nodiscard]] const Command* find(std::string_view id) const noexcept;
  [[nodiscard]] static bool can_run(const Command& command) { return !command.enabled || command.enabled(); }
  // False when there is no such command or it cannot run now.
  bool run(std::string_view id) const;
  // Best matches first; disabled ones last.
  [[nodiscard]] std::vector<const Command*> matching(std::string_view text) const;

 private:
  std::vector<Command> commands_;
};

// Keys as the command table writes them ("Ctrl+Shift+P", "F12", "[") and as the input reports them.
struct KeyChord {
  render::Key key = render::Key::none;
  render::Modifiers modifiers;
};

// Nothing for a text that names no key; "?" is Shift+/.
[[nodiscard]] std::optional<KeyChord> parse_chord(std::string_view text);

// Whether the key may run a command while a text is being typed.
[[nodiscard]] bool works_while_typing(const KeyChord& chord) noexcept;

}  // namespace accelscope::app::palette
