// Sets of markers under names that the user gave: a snapshot of the session's markers that can be put back, kept with
// the session and carried as a text file to other sessions of the same program. Times are ns of session time.
//
//   accelscope-marker-sets <tab> 1
//   set     <tab> NAME
//   marker  <tab> BEGIN <tab> END or nothing <tab> NAME <tab> NOTE <tab> LABEL
//
// Tab, line end and backslash in names are written \t, \n and \\.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/tab.h"
#include "core/model/time_range.h"
#include "core/store/store.h"

namespace accelscope::app::view {

struct MarkerSet {
  std::string name;
  std::vector<Marker> markers;  // without ids
};

class MarkerSets {
 public:
  void put(std::string_view name, std::vector<Marker> markers);  // in the place of one of that name
  // False: there is no such set, or another one has the name already.
  [[nodiscard]] bool rename(std::string_view from, std::string_view to);
  void remove(std::string_view name);
  [[nodiscard]] const MarkerSet* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<MarkerSet>& all() const noexcept { return sets_; }  // oldest first
  [[nodiscard]] bool holds(const std::vector<Marker>& markers) const;                 // as one of the sets

  [[nodiscard]] std::string to_text() const;
  // Records of other kinds are passed over; a wrong line is an error that names it.
  [[nodiscard]] static Result<MarkerSets> from_text(std::string_view text);

 private:
  std::vector<MarkerSet> sets_;
};

enum class LoadMarkers : std::uint8_t { replace, add };

// The sets of one session: read from it when they are asked for, kept in it with every change.
class SessionMarkerSets {
 public:
  [[nodiscard]] const MarkerSets& of(const session::SessionTab& tab);
  [[nodiscard]] static bool any_in(const session::SessionTab& tab);
  // Why the sets that the session keeps cannot be read; they stay there until a set is saved.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  Result<void> save(session::SessionTab& tab,
                    const std::string& name);  // the session's markers, in the place of one of that name
  Result<void> rename(session::SessionTab& tab, const std::string& from, const std::string& to);
  void remove(session::SessionTab& tab, const std::string& name);
  // Puts the set's markers among those of the session, or in their place. Markers without a label get the set's name.
  // Markers that are in no set are kept as the set "before NAME" when they are replaced.
  Result<void> load(session::SessionTab& tab, const std::string& name, LoadMarkers how);
  Result<std::size_t> import_text(session::SessionTab& tab, std::string_view text);  // how many sets came

 private:
  void keep(session::SessionTab& tab);
  void clear_for(session::SessionTab& tab, const MarkerSet& set);

  MarkerSets sets_;
  std::optional<std::string> read_;  // the text that they are of
  std::string problem_;
};

// Time ranges as users write them: 12.5us:40us, 10%:20%, and by markers, #start:#end. A marker that spans time stands
// for its beginning on the left side and its end on the right; #span alone is the whole of it.

// Ids of the new markers of a tab on a store that others write to begin at a multiple of this, beyond 2^20.
inline constexpr std::int64_t kMarkersOfTab = 1 << 10;
[[nodiscard]] std::int64_t marker_ordinal(const Marker& marker);  // 0 is A
// What its flag calls a marker: A to Z, then A1, B1 ... in the order in which they were made. A marker keeps its letter
// wherever it is moved and whichever others come and go.
[[nodiscard]] std::string marker_letter(const Marker& marker);
// Its name, else its letter; #A and #start both find it.
[[nodiscard]] std::string marker_called(const Marker& marker);

// An unknown marker is an error that lists the known ones.
[[nodiscard]] Result<TimeRange> parse_marker_range(std::string_view text, const TimeRange& session,
                                                   const std::vector<Marker>& markers);

// The same, and a single time (12.5us, 10%, #marker), which stands for `span_ns` around it.
[[nodiscard]] Result<TimeRange> parse_place(std::string_view text, const TimeRange& session,
                                            const std::vector<Marker>& markers, std::int64_t span_ns);

}  // namespace accelscope::app::view
