// The text of a query -> its terms.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/search/search.h"

namespace accelscope::search {
namespace {

constexpr std::array<std::pair<std::string_view, Compare>, 8> kOperators = {{{"!=", Compare::unequal},
                                                                             {"<=", Compare::less_equal},
                                                                             {">=", Compare::greater_equal},
                                                                             {"==", Compare::equal},
                                                                             {"=", Compare::equal},
                                                                             {"<", Compare::less},
                                                                             {">", Compare::greater},
                                                                             {"~", Compare::contains}}};

bool is_column_letter(char c) noexcept {
  return c == '_' || c == '.' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "file.py:33": a dot in the last part of the path, then a colon and digits.
bool names_source_line(std::string_view word) noexcept {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return false;
  for (const char c : word.substr(colon + 1)) {
    if (!is_digit(c)) return false;
  }
  const std::string_view path = word.substr(0, colon);
  const std::size_t dot = path.rfind('.');
  return dot != std::string_view::npos && dot > 0 && dot + 1 < path.size() && path.find('/', dot) == path.npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<SearchQuery> run() {
    SearchQuery query;
    query.text = text_;
    while (true) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ == text_.size()) return query;
      SearchTerm term;
      TRY(parse_term(term));
      query.terms.push_back(std::move(term));
    }
  }

 private:
  Result<void> parse_term(SearchTerm& term) {
    std::size_t begin = at_, end = at_;
    while (end < text_.size() && is_column_letter(text_[end])) ++end;
    std::size_t after = end;
    if (at_ < text_.size() && text_[at_] == '"') {  // a column whose name has blanks in it
      begin = at_ + 1;
      end = std::min(text_.find('"', begin), text_.size());
      after = std::min(end + 1, text_.size());
    }
    if (end > begin) {
      for (const auto& [symbol, compare] : kOperators) {
        if (text_.substr(after).starts_with(symbol)) {
          term.column = text_.substr(begin, end - begin);
          term.compare = compare;
          at_ = after + symbol.size();
          return parse_value(term);
        }
      }
    }
    return parse_value(term);
  }

  Result<void> parse_value(SearchTerm& term) {
    const bool name = term.column.empty();
    if (at_ < text_.size() && text_[at_] == '/' && term.compare == Compare::contains) return parse_expression(term);
    if (at_ < text_.size() && text_[at_] == '"') return parse_quoted(term);
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    term.value = text_.substr(begin, at_ - begin);
    if (term.value.empty()) {
      return Error{
          fmt::format("search: \"{}\" is compared with nothing; write a value, or \"\" for an empty one", term.column)};
    }
    term.source_location = name && names_source_line(term.value);
    term.ignore_case = term.compare == Compare::contains && !term.source_location;
    return {};
  }

  Result<void> parse_quoted(SearchTerm& term) {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) {
      return Error{fmt::format("search: the quote in {} has no end; add a closing \"", text_.substr(at_))};
    }
    term.value = text_.substr(at_ + 1, end - at_ - 1);
    term.ignore_case = term.compare == Compare::contains;
    at_ = end + 1;
    return {};
  }

  Result<void> parse_expression(SearchTerm& term) {
    const std::size_t begin = at_ + 1;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != '/') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      return Error{fmt::format("search: the expression {} has no end; add a closing /", text_.substr(at_))};
    }
    term.compare = Compare::matches;
    term.value = text_.substr(begin, end - begin);
    at_ = end + 1;
    while (at_ < text_.size() && !is_blank(text_[at_])) {
      if (text_[at_] != 'i') {
        return Error{
            fmt::format("search: unknown letter '{}' after the expression /{}/; only i (upper and lower case "
                        "alike) may stand there; write \\/ for a slash inside it",
                        text_[at_], term.value)};
      }
      term.ignore_case = true;
      ++at_;
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<SearchQuery> parse_search(std::string_view text) { return Parser(text).run(); }

}  // namespace accelscope::search
