#include "app/view/marker_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "app/persist/text_record.h"

namespace accelscope::app {
namespace {

constexpr const char* kMarkerSetsHead = "accelscope-marker-sets";
constexpr const char* kVersion = "1";

[[nodiscard]] bool same(const Marker& a, const Marker& b) {
  return a.ts_ns == b.ts_ns && a.end_ns == b.end_ns && a.name == b.name && a.note == b.note;
}

[[nodiscard]] bool read_ns(const std::string& text, std::int64_t& ns) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
  return error == std::errc() && end == text.data() + text.size();
}

// Nothing: the line is wrong.
[[nodiscard]] std::optional<Marker> read_marker(const TextRecord& record) {
  Marker marker;
  if (record.size() < 6 || !read_ns(record[1], marker.ts_ns)) return std::nullopt;
  if (!record[2].empty()) {
    std::int64_t end = 0;
    if (!read_ns(record[2], end) || end < marker.ts_ns) return std::nullopt;
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

}  // namespace

void MarkerSets::put(std::string_view name, std::vector<Marker> markers) {
  for (Marker& marker : markers) marker.id = 0;
  const auto known = std::find_if(sets_.begin(), sets_.end(), [&](const MarkerSet& set) { return set.name == name; });
  if (known != sets_.end()) {
    known->markers = std::move(markers);
  } else {
    sets_.push_back({std::string(name), std::move(markers)});
  }
}

bool MarkerSets::rename(std::string_view from, std::string_view to) {
  if (to.empty() || find(to) != nullptr) return false;
  const auto known = std::find_if(sets_.begin(), sets_.end(), [&](const MarkerSet& set) { return set.name == from; });
  if (known == sets_.end()) return false;
  known->name = to;
  return true;
}

void MarkerSets::remove(std::string_view name) {
  std::erase_if(sets_, [&](const MarkerSet& set) { return set.name == name; });
}

const MarkerSet* MarkerSets::find(std::string_view name) const noexcept {
  const auto known = std::find_if(sets_.begin(), sets_.end(), [&](const MarkerSet& set) { return set.name == name; });
  return known == sets_.end() ? nullptr : &*known;
}

bool MarkerSets::holds(const std::vector<Marker>& markers) const {
  return std::any_of(sets_.begin(), sets_.end(), [&](const MarkerSet& set) {
    return std::equal(set.markers.begin(), set.markers.end(), markers.begin(), markers.end(), same);
  });
}

std::string MarkerSets::to_text() const {
  std::string text = encode_record({kMarkerSetsHead, kVersion}) + '\n';
  for (const MarkerSet& set : sets_) {
    text += encode_record({"set", set.name}) + '\n';
    for (const Marker& marker : set.markers) {
      const std::string end = marker.end_ns ? std::to_string(*marker.end_ns) : "";
      text += encode_record({"marker", std::to_string(marker.ts_ns), end, marker.name, marker.note, marker.set_name});
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
    const TextRecord record = decode_record(own);
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

const MarkerSets& SessionMarkerSets::of(const SessionTab& tab) {
  if (std::exchange(read_, true)) return sets_;
  Result<MarkerSets> kept = MarkerSets::from_text(kept_value(tab, kMarkerSetsKey));
  if (kept) {
    sets_ = std::move(*kept);
  } else {
    problem_ = kept.message();
  }
  return sets_;
}

bool SessionMarkerSets::any_in(const SessionTab& tab) { return !kept_value(tab, kMarkerSetsKey).empty(); }

void SessionMarkerSets::keep(SessionTab& tab) {
  problem_.clear();
  note_kept_change(tab);
  keep_value(tab, kMarkerSetsKey, sets_.all().empty() ? "" : sets_.to_text());
}

Result<void> SessionMarkerSets::save(SessionTab& tab, const std::string& name) {
  (void)of(tab);
  if (name.empty()) return Error{"a set of markers needs a name"};
  sets_.put(name, tab.markers);
  keep(tab);
  return {};
}

Result<void> SessionMarkerSets::rename(SessionTab& tab, const std::string& from, const std::string& to) {
  (void)of(tab);
  if (sets_.rename(from, to)) {
    keep(tab);
    return {};
  }
  return Error{to.empty() ? "a set of markers needs a name"
                          : fmt::format("{}: there is a set of that name already", to)};
}

void SessionMarkerSets::remove(SessionTab& tab, const std::string& name) {
  (void)of(tab);
  sets_.remove(name);
  keep(tab);
}

Result<std::size_t> SessionMarkerSets::import_text(SessionTab& tab, std::string_view text) {
  (void)of(tab);
  const Result<MarkerSets> found = MarkerSets::from_text(text);
  if (!found) return found.error();
  if (found->all().empty()) return Error{"the file holds no set of markers; export one in the Markers panel"};
  for (const MarkerSet& set : found->all()) sets_.put(set.name, set.markers);
  keep(tab);
  return found->all().size();
}

Result<void> SessionMarkerSets::load(SessionTab& tab, const std::string& name, LoadMarkers how) {
  const MarkerSet* found = of(tab).find(name);
  if (found == nullptr) return Error{fmt::format("{}: there is no such set of markers", name)};
  const MarkerSet set = *found;
  if (how == LoadMarkers::replace) clear_for(tab, set);
  for (Marker marker : set.markers) {
    if (marker.set_name.empty()) marker.set_name = set.name;
    put_marker(tab, std::move(marker));
  }
  return {};
}

// Takes the session's markers away to make room for the set; those that are in no set become one.
void SessionMarkerSets::clear_for(SessionTab& tab, const MarkerSet& set) {
  const std::vector<Marker> before = tab.markers;
  if (!before.empty() && !sets_.holds(before)) {
    sets_.put(fmt::format("before {}", set.name), before);
    keep(tab);
  }
  for (const Marker& marker : before) remove_marker(tab, marker.id);
}

}  // namespace accelscope::app
