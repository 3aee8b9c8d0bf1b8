#include "app/content/tab_titles.h"

#include <algorithm>
#include <string_view>

#include "core/names/short_names.h"

namespace accelscope::app::content {
namespace {

constexpr std::string_view kEllipsis = "\u2026";
constexpr std::size_t kLeastCut = 3;  // characters: less is not worth the ellipsis

bool separates(char c) noexcept { return std::string_view(" -_./:,=+").find(c) != std::string_view::npos; }

bool is_number(char c) noexcept { return c >= '0' && c <= '9'; }

// How many bytes all begin with, or end with where `reversed`; up to a separator, which stays with what is cut, or to
// where a number begins.
std::size_t common_words(const std::vector<std::string>& titles, bool reversed) {
  const auto at = [&](const std::string& title, std::size_t i) { return title[reversed ? title.size() - 1 - i : i]; };
  std::size_t common = 0;
  for (std::size_t i = 0;; ++i) {
    const bool same = std::ranges::all_of(
        titles, [&](const std::string& title) { return i < title.size() && at(title, i) == at(titles.front(), i); });
    if (!same) return common;
    const char c = at(titles.front(), i);
    const bool number_follows = !is_number(c) && std::ranges::all_of(titles, [&](const std::string& title) {
      return i + 1 < title.size() && is_number(at(title, i + 1));
    });
    if (separates(c) || number_follows) common = i + 1;
  }
}

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// The first so many characters in bytes, and the place where the last so many begin.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (; at < text.size() && characters > 0; --characters) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
  }
  return at;
}

// The end says more than the middle: that is where runs are numbered.
std::string cut_in_middle(const std::string& text, std::size_t characters) {
  const std::size_t count = character_count(text);
  if (count <= characters) return text;
  const std::size_t end = (characters - 1) / 2, begin = characters - 1 - end;
  return text.substr(0, bytes_of(text, begin)) + std::string(kEllipsis) + text.substr(bytes_of(text, count - end));
}

}  // namespace

std::vector<std::string> titles_that_differ(const std::vector<std::string>& titles, std::size_t characters) {
  if (titles.empty()) return {};
  std::vector<std::string> all = titles;
  if (titles.size() > 1) {
    const std::size_t begin = common_words(titles, false);
    std::size_t end = common_words(titles, true);
    const auto shortest = std::ranges::min_element(titles, {}, &std::string::size);
    if (begin + end >= shortest->size()) end = 0;
    for (std::string& title : all) {
      if (end >= kLeastCut) title.replace(title.size() - end, end, kEllipsis);
      if (begin >= kLeastCut && begin < title.size()) title.replace(0, begin, kEllipsis);
    }
  }
  std::vector<std::string> out;
  for (const std::string& title : all) out.push_back(cut_in_middle(title, std::max(characters, kLeastTitle)));
  for (std::size_t longer = std::max(characters, kLeastTitle) + 1;; ++longer) {
    bool differ = true;
    const std::vector<std::string> before = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (std::ranges::count(before, before[i]) < 2) continue;
      out[i] = cut_in_middle(all[i], longer);
      differ = false;
    }
    if (differ || out == before) return out;
  }
}

}  // namespace accelscope::app::content
