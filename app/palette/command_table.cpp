#include "app/palette/command_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "core/base/text.h"

namespace accelscope::app::palette {
namespace {
constexpr std::array<std::string_view, kMenuCount> kMenuTitles = {"File", "View", "Record", "Analyse", "Help"};
}

std::string_view menu_title(MenuId menu) noexcept { return kMenuTitles[static_cast<std::size_t>(menu)]; }

void CommandTable::add(Command command) {
  assert(find(command.id) == nullptr && command.run);
  commands_.push_back(std::move(command));
}

void CommandTable::add_words(std::string_view id, std::string_view words) {
  const auto found = std::ranges::find_if(commands_, [&](const Command& c) { return c.id == id; });
  assert(found != commands_.end());
  found->words = words;
}

void CommandTable::remove(std::string_view id_prefix) {
  std::erase_if(commands_, [&](const Command& command) { return command.id.starts_with(id_prefix); });
}

const Command* CommandTable::find(std::string_view id) const noexcept {
  const auto found = std::ranges::find_if(commands_, [&](const Command& c) { return c.id == id; });
  return found == commands_.end() ? nullptr : &*found;
}

bool CommandTable::run(std::string_view id) const {
  const Command* command = find(id);
  if (command == nullptr || !can_run(*command)) return false;
  command->run();
  return true;
}

std::vector<const Command*> CommandTable::matching(std::string_view text) const {
  struct Found {
    const Command* command;
    int score;
  };
  std::vector<Found> found;
  for (const Command& command : commands_) {
    if (command.only_typed && text.empty()) continue;
    const std::string whole =
        command.title + " " + std::string(menu_title(command.menu)) + " " + command.submenu + " " + command.words;
    const int score = match_score(whole, text);
    if (score > 0) found.push_back({&command, score + (can_run(command) ? 10 : 0) - (command.only_typed ? 5 : 0)});
  }
  std::ranges::stable_sort(found, [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<const Command*> commands;
  commands.reserve(found.size());
  for (const Found& entry : found) commands.push_back(entry.command);
  return commands;
}

using render::Key;

namespace {

constexpr std::array<std::pair<std::string_view, Key>, 28> kNamedKeys = {{
    {"Tab", Key::tab},
    {"Left", Key::left},
    {"Right", Key::right},
    {"Up", Key::up},
    {"Down", Key::down},
    {"PageUp", Key::page_up},
    {"PageDown", Key::page_down},
    {"Home", Key::home},
    {"End", Key::end},
    {"Del", Key::del},
    {"Backspace", Key::backspace},
    {"Space", Key::space},
    {"Enter", Key::enter},
    {"Esc", Key::escape},
    {"Escape", Key::escape},
    {",", Key::comma},
    {".", Key::period},
    {"/", Key::slash},
    {";", Key::semicolon},
    {"'", Key::apostrophe},
    {"[", Key::bracket_left},
    {"]", Key::bracket_right},
    {"\\", Key::backslash},
    {"`", Key::grave},
    {"-", Key::minus},
    {"=", Key::equals},
    {"+", Key::equals},
    {"?", Key::slash},
}};

Key offset_key(Key first, int offset) { return static_cast<Key>(static_cast<int>(first) + offset); }

Key find_key(std::string_view name) {
  if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') return offset_key(Key::a, name[0] - 'A');
  if (name.size() == 1 && name[0] >= '0' && name[0] <= '9') return offset_key(Key::digit0, name[0] - '0');
  if (name.size() > 1 && name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
    const int number = std::stoi(std::string(name.substr(1)));
    return number <= 12 ? offset_key(Key::f1, number - 1) : Key::none;
  }
  for (const auto& [known, key] : kNamedKeys) {
    if (known == name) return key;
  }
  return Key::none;
}

}  // namespace

std::optional<KeyChord> parse_chord(std::string_view text) {
  KeyChord chord;
  const std::array<std::pair<std::string_view, bool*>, 3> modifiers = {
      {{"Ctrl+", &chord.modifiers.ctrl}, {"Shift+", &chord.modifiers.shift}, {"Alt+", &chord.modifiers.alt}}};
  for (const auto& [prefix, set] : modifiers) {
    if (!text.starts_with(prefix)) continue;
    *set = true;
    text.remove_prefix(prefix.size());
  }
  if (text == "?") chord.modifiers.shift = true;
  chord.key = find_key(text);
  return chord.key == Key::none ? std::nullopt : std::optional(chord);
}

bool works_while_typing(const KeyChord& chord) noexcept {
  constexpr std::array kEdits = {Key::a, Key::c, Key::v, Key::x, Key::y, Key::z};  // of the text itself
  if (chord.modifiers.ctrl && !chord.modifiers.alt && std::ranges::find(kEdits, chord.key) != kEdits.end()) {
    return chord.modifiers.shift && chord.key != Key::z;
  }
  return chord.modifiers.ctrl || chord.modifiers.alt || (chord.key >= Key::f1 && chord.key <= Key::f12);
}

}  // namespace accelscope::app::palette
