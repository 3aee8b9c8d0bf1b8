#include "app/view/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/persist/persist.h"
#include "core/base/text.h"

namespace accelscope::app::view {
namespace {

constexpr std::string_view kViewLinkHead = "accelscope-view:";
constexpr int kViewLinkVersion = 1;
constexpr double kFarthestNs = 9e18;  // beyond it ns are no int64
constexpr std::size_t kQuoted = 40;   // of a wrong value, in errors

using Element = persist::TextRecord;
using Elements = std::vector<Element>;

// ---- Writing

[[nodiscard]] bool is_plain(char c) noexcept {
  constexpr std::string_view kPlain = "-_.~:/@!()[]{}|";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

void add_encoded(std::string& text, std::string_view plain) {
  for (const char c : plain) {
    if (is_plain(c)) {
      text += c;
    } else {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

void add_part(std::string& text, std::string_view name, const Elements& elements) {
  if (elements.empty()) return;
  text.append(";").append(name);
  char before = '=';
  for (const Element& element : elements) {
    for (const std::string& each : element) {
      text += before;
      add_encoded(text, each);
      before = '+';
    }
    before = ',';
  }
}

[[nodiscard]] Elements rows_to_elements(const rows::RowChoices& rows) {
  Elements elements;
  const std::string lines = rows.to_text();
  for (std::string_view rest = lines; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    elements.push_back(persist::decode_record(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
  }
  return elements;
}

// ---- Reading

struct Part {
  std::string_view name;
  std::string_view value;
  std::size_t at = 0;  // of the name, in the text without white space
};

[[nodiscard]] Error wrong(const Part& part, std::string_view why) {
  std::string quoted(part.value.substr(0, kQuoted));
  if (part.value.size() > kQuoted) quoted += "...";
  return Error{fmt::format("the link is wrong at character {}, \"{}={}\": {}; copy it again as a whole", part.at + 1,
                           part.name, quoted, why)};
}

[[nodiscard]] int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Nothing: a % is not followed by two digits.
[[nodiscard]] std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

[[nodiscard]] Result<Elements> elements_of(const Part& part) {
  Elements elements(1);
  std::string_view rest = part.value;
  while (true) {
    const std::size_t end = rest.find_first_of(",+");
    const auto plain = decoded(rest.substr(0, end));
    if (!plain) return wrong(part, "a % must be followed by two hexadecimal digits");
    elements.back().push_back(*plain);
    if (end == std::string_view::npos) return elements;
    if (rest[end] == ',') elements.emplace_back();
    rest.remove_prefix(end + 1);
  }
}

template <typename Number>
[[nodiscard]] bool read_stretch(const Elements& elements, Number& begin, Number& end) {
  return elements.size() == 2 && elements[0].size() == 1 && elements[1].size() == 1 &&
         read_number(elements[0][0], begin) && read_number(elements[1][0], end);
}

Result<void> read_range(const Part& part, const Elements& elements, ViewLink& link) {
  session::ViewRange range;
  const bool numbers = read_stretch(elements, range.begin_ns, range.end_ns);
  const bool in_reach = std::abs(range.begin_ns) <= kFarthestNs && std::abs(range.end_ns) <= kFarthestNs;
  if (!numbers || !in_reach) return wrong(part, "two times in ns are needed");
  if (range.begin_ns >= range.end_ns) return wrong(part, "it must begin before it ends");
  link.range = range;
  return {};
}

Result<void> read_filter_range(const Part& part, const Elements& elements, ViewLink& link) {
  TimeRange range;
  if (!read_stretch(elements, range.begin_ns, range.end_ns)) return wrong(part, "two times in whole ns are needed");
  link.choices.filter.range = range;
  return {};
}

Result<void> read_filter_tracks(const Part& part, const Elements& elements, ViewLink& link) {
  for (const Element& element : elements) {
    if (element.size() != 1) return wrong(part, "names of tracks stand between commas");
    link.filter_tracks.push_back(element[0]);
  }
  return {};
}

Result<void> read_terms(const Part& part, const Elements& elements, ViewLink& link) {
  for (const Element& element : elements) {
    const bool excluded = element.size() == 2 && element[1] == "not";
    if (element.size() != 1 && !excluded) return wrong(part, "a term is a search, or one followed by +not");
    link.choices.filter.terms.push_back({element[0], excluded});
  }
  return {};
}

Result<void> read_search(const Part& part, const Elements& elements, ViewLink& link) {
  if (elements.size() != 1 || elements[0].size() != 1) return wrong(part, "a search is one text");
  link.choices.search = elements[0][0];
  return {};
}

Result<void> read_colours(const Part& part, const Elements& elements, ViewLink& link) {
  for (const Element& element : elements) {
    if (element.size() != 2) return wrong(part, "colours are pairs of a schema and a column");
    link.choices.colour_by[element[0]] = element[1];
  }
  return {};
}

Result<void> read_rows(const Part& part, const Elements& elements, ViewLink& link) {
  (void)part;
  std::string lines;
  for (const Element& element : elements) lines += persist::encode_record(element) + '\n';
  std::vector<std::string> passed_over;
  link.choices.rows = rows::RowChoices::from_text(lines, &passed_over);
  for (const std::string& line : passed_over) {
    const std::string name = "rows: " + line;
    const auto known = std::ranges::find(link.passed_over, name);
    if (known == link.passed_over.end()) link.passed_over.push_back(name);
  }
  return {};
}

Result<void> read_selected(const Part& part, const Elements& elements, ViewLink& link) {
  LinkedEvent event;
  const bool pair = elements.size() == 1 && elements[0].size() == 2;
  if (!pair || !read_number(elements[0][0], event.id)) return wrong(part, "the id of an event and its name are needed");
  event.name = elements[0][1];
  link.selected = std::move(event);
  return {};
}

using ReadPart = Result<void> (*)(const Part& part, const Elements& elements, ViewLink& link);
constexpr std::array<std::pair<std::string_view, ReadPart>, 8> kParts = {{{"range", read_range},
                                                                          {"filter_range", read_filter_range},
                                                                          {"filter_tracks", read_filter_tracks},
                                                                          {"filter", read_terms},
                                                                          {"search", read_search},
                                                                          {"colours", read_colours},
                                                                          {"rows", read_rows},
                                                                          {"selected", read_selected}}};

Result<void> read_part(const Part& part, ViewLink& link) {
  for (const auto& [name, read] : kParts) {
    if (name != part.name) continue;
    const Elements elements = TRY(elements_of(part));
    return read(part, elements, link);
  }
  link.passed_over.emplace_back(part.name);
  return {};
}

[[nodiscard]] std::string without_white_space(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') result += c;
  }
  return result;
}

// The version in front of the parts.
Result<void> check_head(std::string_view text) {
  if (!text.starts_with(kViewLinkHead)) {
    return Error{fmt::format("a link to a view begins with {}{}; copy one with \"Copy link to this view\"",
                             kViewLinkHead, kViewLinkVersion)};
  }
  const std::string version(text.substr(kViewLinkHead.size(), text.find(';') - kViewLinkHead.size()));
  int number = 0;
  if (!read_number(version, number) || number < 1) {
    return Error{fmt::format("the link is wrong at character {}: a version is needed, such as {}{}",
                             kViewLinkHead.size() + 1, kViewLinkHead, kViewLinkVersion)};
  }
  if (number > kViewLinkVersion) {
    return Error{
        fmt::format("the link was copied from a newer version (links of version {}, this program knows {}); "
                    "update Accelscope",
                    number, kViewLinkVersion)};
  }
  return {};
}

}  // namespace

std::string to_text(const ViewLink& link) {
  // All fields by name: one that is added does not compile until it is written here and read above.
  const auto& [range, choices, filter_tracks, selected, passed_over] = link;
  const auto& [filter, search, colour_by, rows] = choices;
  const auto& [filter_range, tracks, terms] = filter;
  (void)tracks;
  (void)passed_over;
  std::string text = fmt::format("{}{}", kViewLinkHead, kViewLinkVersion);
  if (range) add_part(text, "range", {{fmt::format("{}", range->begin_ns)}, {fmt::format("{}", range->end_ns)}});
  if (filter_range) {
    add_part(text, "filter_range", {{std::to_string(filter_range->begin_ns)}, {std::to_string(filter_range->end_ns)}});
  }
  Elements elements;
  for (const std::string& track : filter_tracks) elements.push_back({track});
  add_part(text, "filter_tracks", std::exchange(elements, {}));
  for (const FilterTerm& term : terms) {
    elements.push_back(term.excluded ? Element{term.search, "not"} : Element{term.search});
  }
  add_part(text, "filter", std::exchange(elements, {}));
  if (!search.empty()) add_part(text, "search", {{search}});
  for (const auto& [schema, column] : colour_by) elements.push_back({schema, column});
  add_part(text, "colours", elements);
  add_part(text, "rows", rows_to_elements(rows));
  if (selected) add_part(text, "selected", {{std::to_string(selected->id), selected->name}});
  return text;
}

Result<ViewLink> read_view_link(std::string_view typed) {
  const std::string text = without_white_space(typed);
  TRY(check_head(text));
  ViewLink link;
  for (std::size_t at = text.find(';'); at != std::string::npos;) {
    const std::size_t begin = at + 1;
    at = text.find(';', begin);
    const std::string_view whole = std::string_view(text).substr(begin, at == std::string::npos ? at : at - begin);
    if (whole.empty()) continue;
    const std::size_t equals = whole.find('=');
    if (equals == std::string_view::npos) {
      return Error{
          fmt::format("the link is wrong at character {}, \"{}\": NAME=VALUE is needed; copy it again as a "
                      "whole",
                      begin + 1, whole.substr(0, kQuoted))};
    }
    const Part part{whole.substr(0, equals), whole.substr(equals + 1), begin};
    TRY(read_part(part, link));
  }
  return link;
}

}  // namespace accelscope::app::view
