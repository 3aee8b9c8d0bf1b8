#include "app/view/marker_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/persist/persist.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::view {
namespace {

constexpr const char* kMarkerSetsHead = "accelscope-marker-sets";
constexpr const char* kVersion = "1";

[[nodiscard]] bool same(const Marker& a, const Marker& b) {
  return a.ts_ns == b.ts_ns && a.end_ns == b.end_ns && a.name == b.name && a.note == b.note;
}

// Nothing: the line is wrong.
[[nodiscard]] std::optional<Marker> read_marker(const persist::TextRecord& record) {
  Marker marker;
  if (record.size() < 6 || !read_number(record[1], marker.ts_ns)) return std::nullopt;
  if (!record[2].empty()) {
    std::int64_t end = 0;
    if (!read_number(record[2], end) || end < marker.ts_ns) return std::nullopt;
    marker.end_ns = end;
  }
  marker.name = record[3];
  marker.note = record[4];
  marker.set_name = record[5];
  return marker;
}

[[nodiscard]] Error wrong_line(std::size_t line, std::string_view why) {
  return Error{fmt::format("line {} of the marker sets is wrong: {}; export them again", line, why)};
}

constexpr std::size_t kListedMarkers = 20;

[[nodiscard]] Error unknown_marker(std::string_view name, const std::vector<Marker>& markers) {
  if (markers.empty()) {
    return Error{fmt::format("#{}: the session has no markers; set some in the viewer (M) and save it", name)};
  }
  std::string known;
  for (std::size_t i = 0; i < markers.size() && i < kListedMarkers; ++i)
    known += (i > 0 ? ", #" : "#") + marker_called(markers[i]);
  if (markers.size() > kListedMarkers) known += ", ...";
  return Error{fmt::format("#{}: there is no such marker; there are {}", name, known)};
}

Result<Marker> find_marker(std::string_view name, const std::vector<Marker>& markers) {
  const auto has_name = [&](const Marker& m) { return m.name == name && !name.empty(); };
  auto found = std::ranges::find_if(markers, has_name);
  if (found == markers.end()) {
    found = std::ranges::find_if(markers, [&](const Marker& m) { return marker_letter(m) == name; });
  }
  if (found == markers.end()) return unknown_marker(name, markers);
  return *found;
}

// Where the two sides part: at a colon that no marker's name holds.
[[nodiscard]] std::size_t middle_of(std::string_view text, const std::vector<Marker>& markers) {
  if (!text.starts_with('#')) return text.find(':');
  std::optional<std::size_t> best;
  for (const Marker& marker : markers) {
    for (const std::string& name : {marker.name, marker_letter(marker)}) {
      if (name.empty()) continue;
      if (text.substr(1) == name) return std::string_view::npos;
      const std::size_t end = name.size() + 1;
      if (text.substr(1).starts_with(name) && end < text.size() && text[end] == ':')
        best = std::max(best.value_or(0), end);
    }
  }
  return best ? *best : text.find(':');
}

Result<std::int64_t> side(std::string_view text, bool is_end, const TimeRange& session,
                          const std::vector<Marker>& markers) {
  if (text.empty()) return is_end ? session.end_ns : session.begin_ns;
  if (!text.starts_with('#')) return parse_time(text, session.begin_ns, session.end_ns);
  const Marker marker = TRY(find_marker(text.substr(1), markers));
  return is_end ? marker.end_ns.value_or(marker.ts_ns) : marker.ts_ns;
}

}  // namespace

void MarkerSets::put(std::string_view name, std::vector<Marker> markers) {
  for (Marker& marker : markers) marker.id = 0;
  const auto known = std::ranges::find_if(sets_, [&](const MarkerSet& set) { return set.name == name; });
  if (known != sets_.end()) {
    known->markers = std::move(markers);
  } else {
    sets_.push_back({std::string(name), std::move(markers)});
  }
}

bool MarkerSets::rename(std::string_view from, std::string_view to) {
  if (to.empty() || find(to) != nullptr) return false;
  const auto known = std::ranges::find_if(sets_, [&](const MarkerSet& set) { return set.name == from; });
  if (known == sets_.end()) return false;
  known->name = to;
  return true;
}

void MarkerSets::remove(std::string_view name) {
  std::erase_if(sets_, [&](const MarkerSet& set) { return set.name == name; });
}

const MarkerSet* MarkerSets::find(std::string_view name) const noexcept {
  const auto known = std::ranges::find_if(sets_, [&](const MarkerSet& set) { return set.name == name; });
  return known == sets_.end() ? nullptr : &*known;
}

bool MarkerSets::holds(const std::vector<Marker>& markers) const {
  return std::ranges::any_of(sets_, [&](const MarkerSet& set) {
    return std::equal(set.markers.begin(), set.markers.end(), markers.begin(), markers.end(), same);
  });
}

std::string MarkerSets::to_text() const {
  std::string text = persist::encode_record({kMarkerSetsHead, kVersion}) + '\n';
  for (const MarkerSet& set : sets_) {
    text += persist::encode_record({"set", set.name}) + '\n';
    for (const Marker& marker : set.markers) {
      const std::string end = marker.end_ns ? std::to_string(*marker.end_ns) : "";
      text += persist::encode_record(
          {"marker", std::to_string(marker.ts_ns), end, marker.name, marker.note, marker.set_name});
      text += '\n';
    }
  }
  return text;
}

Result<MarkerSets> MarkerSets::from_text(std::string_view text) {
  MarkerSets sets;
  std::string current;  // set
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view own = text.substr(0, end);
    if (own.ends_with('\r')) own.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    const persist::TextRecord record = persist::decode_record(own);
    if (line == 1) {
      if (record[0] != kMarkerSetsHead) return Error{"this is no file of marker sets; export one in the Markers panel"};
      if (record.size() < 2 || record[1] != kVersion) {
        return Error{"the marker sets were exported by a newer version; update Accelscope"};
      }
    } else if (record[0] == "set") {
      if (record.size() < 2 || record[1].empty()) return wrong_line(line, "the set has no name");
      current = record[1];
      sets.put(current, {});
    } else if (record[0] == "marker") {
      const std::optional<Marker> marker = read_marker(record);
      if (current.empty()) return wrong_line(line, "a marker before the first set");
      if (!marker)
        return wrong_line(line,
                          "a marker needs a time in ns, an end after it or nothing, a name, a note and "
                          "a label");
      for (MarkerSet& set : sets.sets_) {
        if (set.name == current) set.markers.push_back(*marker);
      }
    }
  }
  return sets;
}

// ---- Of a session

const MarkerSets& SessionMarkerSets::of(const session::SessionTab& tab) {
  std::string text = session::retained_value(tab, session::kMarkerSetsKey);
  if (read_ == text) return sets_;
  Result<MarkerSets> retained = MarkerSets::from_text(text);
  read_ = std::move(text);
  if (retained) {
    sets_ = std::move(*retained);
  } else {
    problem_ = retained.message();
  }
  return sets_;
}

bool SessionMarkerSets::any_in(const session::SessionTab& tab) {
  return !session::retained_value(tab, session::kMarkerSetsKey).empty();
}

void SessionMarkerSets::keep(session::SessionTab& tab) {
  problem_.clear();
  session::note_retained_change(tab);
  read_ = sets_.all().empty() ? "" : sets_.to_text();
  session::keep_value(tab, session::kMarkerSetsKey, *read_);
}

Result<void> SessionMarkerSets::save(session::SessionTab& tab, const std::string& name) {
  (void)of(tab);
  if (name.empty()) return Error{"a set of markers needs a name"};
  sets_.put(name, tab.markers);
  keep(tab);
  return {};
}

Result<void> SessionMarkerSets::rename(session::SessionTab& tab, const std::string& from, const std::string& to) {
  (void)of(tab);
  if (sets_.rename(from, to)) {
    keep(tab);
    return {};
  }
  return Error{to.empty() ? "a set of markers needs a name"
                          : fmt::format("{}: there is a set of that name already", to)};
}

void SessionMarkerSets::remove(session::SessionTab& tab, const std::string& name) {
  (void)of(tab);
  sets_.remove(name);
  keep(tab);
}

Result<std::size_t> SessionMarkerSets::import_text(session::SessionTab& tab, std::string_view text) {
  (void)of(tab);
  const MarkerSets found = TRY(MarkerSets::from_text(text));
  if (found.all().empty()) return Error{"the file holds no set of markers; export one in the Markers panel"};
  for (const MarkerSet& set : found.all()) sets_.put(set.name, set.markers);
  keep(tab);
  return found.all().size();
}

Result<void> SessionMarkerSets::load(session::SessionTab& tab, const std::string& name, LoadMarkers how) {
  const MarkerSet* found = of(tab).find(name);
  if (found == nullptr) return Error{fmt::format("{}: there is no such set of markers", name)};
  const MarkerSet set = *found;
  if (how == LoadMarkers::replace) clear_for(tab, set);
  for (Marker marker : set.markers) {
    if (marker.set_name.empty()) marker.set_name = set.name;
    session::put_marker(tab, std::move(marker));
  }
  return {};
}

// Takes the session's markers away to make room for the set; those that are in no set become one.
void SessionMarkerSets::clear_for(session::SessionTab& tab, const MarkerSet& set) {
  const std::vector<Marker> before = tab.markers;
  if (!before.empty() && !sets_.holds(before)) {
    sets_.put(fmt::format("before {}", set.name), before);
    keep(tab);
  }
  for (const Marker& marker : before) session::remove_marker(tab, marker.id);
}

std::int64_t marker_ordinal(const Marker& marker) {
  constexpr std::int64_t kOfOwnStore = 1 << 20;  // which counts from 1
  return marker.id < kOfOwnStore ? std::max<std::int64_t>(marker.id - 1, 0) : marker.id % kMarkersOfTab;
}

std::string marker_letter(const Marker& marker) {
  const std::int64_t index = marker_ordinal(marker);
  std::string letter(1, static_cast<char>('A' + index % 26));
  if (index >= 26) letter += std::to_string(index / 26);
  return letter;
}

std::string marker_called(const Marker& marker) { return marker.name.empty() ? marker_letter(marker) : marker.name; }

Result<TimeRange> parse_marker_range(std::string_view text, const TimeRange& session,
                                     const std::vector<Marker>& markers) {
  if (text.find('#') == std::string_view::npos) return parse_time_range(text, session);
  TimeRange range;
  const std::size_t middle = middle_of(text, markers);
  if (middle == std::string_view::npos) {
    const Marker span = TRY(find_marker(text.substr(1), markers));
    if (!span.end_ns) {
      return Error{fmt::format("{} is one point in time; a range has two sides, such as {}:#other", text, text)};
    }
    range = {span.ts_ns, *span.end_ns};
  } else {
    const std::int64_t begin = TRY(side(text.substr(0, middle), false, session, markers));
    const std::int64_t end = TRY(side(text.substr(middle + 1), true, session, markers));
    range = {begin, end};
  }
  if (range.empty()) {
    return Error{fmt::format("the range \"{}\" is empty: {} is not before {}", text, format_time_exact(range.begin_ns),
                             format_time_exact(range.end_ns))};
  }
  return range;
}

Result<TimeRange> parse_place(std::string_view text, const TimeRange& session, const std::vector<Marker>& markers,
                              std::int64_t span_ns) {
  const bool one = middle_of(text, markers) == std::string_view::npos;
  const Result<Marker> marker =
      text.starts_with('#') ? find_marker(text.substr(1), markers) : Result<Marker>(Error{""});
  if (!one || (marker && marker->end_ns)) return parse_marker_range(text, session, markers);
  const std::int64_t at = TRY(side(text, false, session, markers));
  const std::int64_t half = std::max<std::int64_t>(1, span_ns / 2);
  return TimeRange{at - half, at + half};
}

}  // namespace accelscope::app::view
