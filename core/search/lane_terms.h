// The terms of a search that are about the lane of an event and not the event itself: lane="stream 7", device=nc4,
// host~trn1. Upper and lower case alike. A schema's own column of such a name comes first.
#pragma once

#include <string>
#include <vector>

#include "core/search/condition.h"
#include "core/search/search.h"

namespace accelscope {

class LaneTerms {
 public:
  // Fails if an expression is wrong, or such a term asks for more or less.
  [[nodiscard]] static Result<LaneTerms> prepare(const SearchQuery& query);

  [[nodiscard]] bool is_one(std::size_t term) const noexcept { return terms_[term].about != About::event; }
  [[nodiscard]] bool passes(std::size_t term, const TrackSnapshot* track) const;
  // That no lane is called so, and what they are called.
  [[nodiscard]] Error no_such(std::size_t term, const Snapshot& snapshot, const LaneIndices& lanes) const;

 private:
  enum class About : std::uint8_t { event, lane, device, host };
  struct Term {
    About about = About::event;
    Compare compare = Compare::equal;
    std::string value;
    TextTest test;  // for contains and matches
  };
  [[nodiscard]] static std::string text_of(About about, const Track& track);

  std::vector<Term> terms_;  // one for each of the query
};

}  // namespace accelscope
