#include "core/search/lane_terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace accelscope {
namespace {

constexpr std::size_t kMostLanesListed = 12;

bool same_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

}  // namespace

Result<LaneTerms> LaneTerms::prepare(const SearchQuery& query) {
  LaneTerms all;
  for (const SearchTerm& term : query.terms) {
    Term made;
    made.compare = term.compare;
    made.value = term.value;
    if (same_ignoring_case(term.column, "lane") || same_ignoring_case(term.column, "track")) made.about = About::lane;
    if (same_ignoring_case(term.column, "device")) made.about = About::device;
    if (same_ignoring_case(term.column, "host")) made.about = About::host;
    const bool of_text = term.compare == Compare::contains || term.compare == Compare::matches;
    if (made.about != About::event && of_text) {
      auto test = text_test(term);
      if (!test) return test.error();
      made.test = std::move(*test);
    }
    all.terms_.push_back(std::move(made));
  }
  return all;
}

std::string LaneTerms::text_of(About about, const Track& track) {
  if (about == About::device) return track.device;
  return about == About::host ? track.host : track.name;
}

bool LaneTerms::passes(std::size_t term, const TrackSnapshot* track) const {
  if (track == nullptr) return false;
  const Term& wanted = terms_[term];
  const std::string text = text_of(wanted.about, *track->track);
  const auto is_called = [&](const std::string& name) { return same_ignoring_case(name, wanted.value); };
  switch (wanted.compare) {
    case Compare::contains:
    case Compare::matches:
      return wanted.test(text);
    case Compare::equal:
    case Compare::unequal: {
      bool called = is_called(text);
      if (wanted.about == About::lane) {  // as it is called where several devices or hosts have one
        called = called || is_called(track->track->device + " " + text) || is_called(track->track->host + " " + text);
      }
      return called == (wanted.compare == Compare::equal);
    }
    default:
      return false;
  }
}

Error LaneTerms::no_such(std::size_t term, const Snapshot& snapshot, const LaneIndices& lanes) const {
  const Term& wanted = terms_[term];
  const std::string_view word = wanted.about == About::lane     ? "lane"
                                : wanted.about == About::device ? "device"
                                                                : "host";
  std::vector<std::string> names;
  for (const std::uint32_t index : lanes) {
    const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[index].track);
    if (track == nullptr) continue;
    std::string name = text_of(wanted.about, *track->track);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string known;
  for (std::size_t i = 0; i < std::min(names.size(), kMostLanesListed); ++i) known += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostLanesListed) known += ", ...";
  return Error{fmt::format("search: no {} is called \"{}\"; there are {}", word, wanted.value,
                           known.empty() ? "none with a name" : known)};
}

}  // namespace accelscope
