#include "app/palette/command_table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "core/base/text.h"

namespace accelscope::app {

namespace {
constexpr std::array<std::string_view, kMenuCount> kMenuTitles = {"File", "View", "Record", "Analyse", "Help"};
}

std::string_view menu_title(MenuId menu) noexcept { return kMenuTitles[static_cast<std::size_t>(menu)]; }

void CommandTable::add(Command command) {
  assert(find(command.id) == nullptr && command.run);
  commands_.push_back(std::move(command));
}

void CommandTable::remove(std::string_view id_prefix) {
  std::erase_if(commands_, [&](const Command& command) { return command.id.starts_with(id_prefix); });
}

const Command* CommandTable::find(std::string_view id) const noexcept {
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.id == id; });
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
    const std::string whole = command.title + " " + std::string(menu_title(command.menu));
    const int score = match_score(whole, text);
    if (score > 0) found.push_back({&command, score + (can_run(command) ? 10 : 0)});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<const Command*> commands;
  commands.reserve(found.size());
  for (const Found& entry : found) commands.push_back(entry.command);
  return commands;
}

}  // namespace accelscope::app
