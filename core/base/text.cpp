#include "core/base/text.h"

#include <algorithm>

namespace accelscope {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_case(c);
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) all += between;
    all += part;
  }
  return all;
}

bool matches_words(std::string_view text, std::string_view words) {
  const std::string haystack = lower_case(text);
  const std::string needles = lower_case(words);
  std::size_t at = 0;
  while (at < needles.size()) {
    const std::size_t begin = needles.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(needles.find(' ', begin), needles.size());
    if (haystack.find(needles.substr(begin, end - begin)) == std::string::npos) return false;
    at = end;
  }
  return true;
}

int match_score(std::string_view text, std::string_view words) {
  if (!matches_words(text, words)) return 0;
  const std::string haystack = lower_case(text);
  const std::string needle = lower_case(words);
  if (needle.empty()) return 1;
  const std::size_t found = haystack.find(needle);
  if (found == 0) return 4;
  if (found != std::string::npos && haystack[found - 1] == ' ') return 3;
  return found != std::string::npos ? 2 : 1;
}

Result<std::vector<std::string>> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    std::string name;
    while (at < list.size() && list[at] == ' ') ++at;
    if (at < list.size() && list[at] == '"') {
      for (++at; at < list.size() && (list[at] != '"' || list.substr(at).starts_with("\"\"")); ++at) {
        name += list[at];
        if (list[at] == '"') ++at;
      }
      if (at >= list.size()) return Error{"the quote in " + std::string(list) + " has no end; add a closing \""};
      for (++at; at < list.size() && list[at] == ' ';) ++at;
      if (at < list.size() && list[at] != ',')
        return Error{"after the closing quote in " + std::string(list) + " only a comma may follow"};
    } else {
      const std::size_t end = std::min(list.find(',', at), list.size());
      name = trimmed(list.substr(at, end - at));
      at = end;
    }
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace accelscope
