#include "capture/system/shown_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace accelscope::capture::system {
namespace {

constexpr std::string_view kHidden = "***";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string_view::npos;
}

// "--hf-token", "DB_PASSWORD", "apiKey": a word of it says that what follows is for nobody else; --token-count=7
// is a number of them.
bool hides(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 12> kWords = {"password",   "passwd",      "pwd",   "passphrase",
                                                       "secret",     "secrets",     "token", "apikey",
                                                       "credential", "credentials", "auth",  "authorization"};
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool hump = i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (std::isalnum(c) == 0 || hump) words.emplace_back();
    if (std::isalnum(c) != 0) words.back() += static_cast<char>(std::tolower(c));
  }
  std::erase(words, "");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool counted = words[i] == "token" && i + 1 < words.size() && is_number(value);
    if (!counted && std::find(kWords.begin(), kWords.end(), words[i]) != kWords.end()) return true;
    const bool key = words[i] == "key" && i > 0;
    if (key && (words[i - 1] == "api" || words[i - 1] == "access" || words[i - 1] == "secret")) return true;
  }
  return false;
}

std::string without_url_password(std::string argument) {
  const std::size_t scheme = argument.find("://");
  if (scheme == std::string::npos) return argument;
  const std::size_t host_end = argument.find_first_of("/?# ", scheme + 3);
  const std::size_t at = argument.rfind('@', host_end);
  const std::size_t colon = argument.find(':', scheme + 3);
  if (at == std::string::npos || at < scheme + 3 || colon >= at) return argument;
  return argument.replace(colon + 1, at - colon - 1, kHidden);
}

}  // namespace

std::string shell_quote(std::string_view argument) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shown_command(const std::vector<std::string>& argv) {
  std::vector<std::string> shown;
  std::string_view before;  // an option whose value may follow
  for (const std::string& argument : argv) {
    const std::size_t equals = argument.find('=');
    const bool option = argument.starts_with('-');
    const std::string_view name = std::exchange(before, {});
    if (!name.empty() && !option && hides(name, argument)) {
      shown.emplace_back(kHidden);
    } else if (equals != std::string::npos &&
               hides(std::string_view(argument).substr(0, equals), std::string_view(argument).substr(equals + 1))) {
      shown.push_back(argument.substr(0, equals + 1) + std::string(kHidden));
    } else {
      if (option && equals == std::string::npos) before = argument;
      shown.push_back(without_url_password(argument));
    }
  }
  return shell_command(shown);
}

std::string shell_command(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& argument : argv) command += (command.empty() ? "" : " ") + shell_quote(argument);
  return command;
}

}  // namespace accelscope::capture::system
