// How rows.cpp puts the rows together: sections, each a group of one device, and what opens and names them. Private to
// the files that define it.
#pragma once

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/rows/groups.h"
#include "app/rows/rows.h"
#include "app/rows/track_names.h"
#include "core/base/text.h"

namespace accelscope::app {

// A group of one device while its rows are put together.
struct RowSection {
  TimelineRow heading;
  const RowGroup* group = nullptr;
  std::string words;  // what the name filter knows its rows by
  std::string device;
  int phase = 0;  // as TrackPlace has it
  std::size_t group_index = 0;
  std::vector<const TrackPlace*> tracks;
  DerivedCounters derived;
  bool pools = false;
  bool bundles = false;         // its rows are threads or cores: few of them are opened
  bool of_profiler = false;     // what it did itself is nobody's work
  std::size_t top_rows = 0;     // those that stand by themselves
  float height = 0;             // units, as it is by default
  std::size_t used = 0;         // top rows with events
  std::set<TrackNumber> quiet;  // of many rows those that do next to nothing: one row stands for them
  std::size_t matching = 0;     // members that the filter leaves
};

[[nodiscard]] TimelineRow track_row(const TrackPlace& place, std::string key, RowSize row_size,
                                    std::size_t most_levels);

// labels.cpp
[[nodiscard]] std::string heading_label(const RowSection& section, const std::string& full);
[[nodiscard]] std::string label_below(const std::string& above, const std::string& name);
void shorten_labels(const RowSection& section, std::vector<RowBlock>& blocks);

class RowComposer {
 public:
  RowComposer(const Snapshot& snapshot, const MemoryUsage* memory, const RowChoices& choices,
              const DerivedCounters& derived)
      : snapshot_(snapshot),
        memory_(memory),
        choices_(choices),
        derived_(derived),
        names_(snapshot),
        places_(placed_tracks(snapshot)) {
    if (!choices.only.empty()) keep_only(places_, choices.only);
    if (choices.minimal) keep_essential(places_);
  }

  std::vector<TimelineRow> run(RowCount* count);

 private:
  [[nodiscard]] std::string key_of(const TrackPlace& place) const {
    return row_key(names_, place.track->track->number);
  }
  [[nodiscard]] bool is_hidden(const std::string& key) const { return choices_.hidden.count(key) > 0; }
  [[nodiscard]] bool is_pinned(const std::string& key) const {
    return std::find(choices_.pinned.begin(), choices_.pinned.end(), key) != choices_.pinned.end();
  }
  [[nodiscard]] bool is_open(const std::string& key, bool by_default) const {
    const auto chosen = choices_.open.find(key);
    return chosen == choices_.open.end() ? by_default : chosen->second;
  }
  [[nodiscard]] bool matches(const RowSection& section, std::string_view label) const {
    if (choices_.name_filter.empty()) return true;
    return matches_words(section.words + std::string(label), choices_.name_filter);
  }
  // Levels that a track may show.
  [[nodiscard]] std::size_t most_levels(const RowSection& section) const {
    const bool limited = is_layer_group(section.heading.group) && choices_.layer_depth > 0;
    return limited ? choices_.layer_depth : std::numeric_limits<std::size_t>::max();
  }
  // Itself or one below it.
  [[nodiscard]] bool any_matches(const RowSection& section, const TrackSnapshot& track, int depth = 0) const {
    if (matches(section, track.track->name)) return true;
    const auto below = children_.find(track.track->number);
    if (below == children_.end() || depth >= kDeepest) return false;
    return std::any_of(below->second.begin(), below->second.end(),
                       [&](const TrackPlace* child) { return any_matches(section, *child->track, depth + 1); });
  }

  // Itself and all below it, in the order of rows.
  template <typename Visit>
  void visit(const TrackSnapshot& track, const Visit& at, int depth = 0) const {
    at(track);
    const auto below = children_.find(track.track->number);
    if (below == children_.end() || depth >= kDeepest) return;
    for (const TrackPlace* child : below->second) visit(*child->track, at, depth + 1);
  }
  [[nodiscard]] bool has_events(const TrackSnapshot& track) const {
    bool any = false;
    visit(track, [&](const TrackSnapshot& each) {
      any = any || std::any_of(each.lanes.begin(), each.lanes.end(),
                               [&](std::uint32_t lane) { return snapshot_.lanes[lane].event_count > 0; });
    });
    return any;
  }
  [[nodiscard]] bool is_bundle(const TrackSnapshot& track) const {
    return is_container(track) && children_.contains(track.track->number);
  }

  // opened.cpp
  void close_large_sections();
  void close_before_fold();
  void open_bundles();

  // rows.cpp
  void make_sections();
  void add_derived();
  [[nodiscard]] RowSection& counter_section(const std::string& device);
  void name(RowSection& section) const;
  void measure(RowSection& section);
  void find_quiet(RowSection& section) const;
  [[nodiscard]] RowBlock quiet_rows(const RowSection& section, std::vector<RowBlock> blocks) const;
  void add_pinned();
  [[nodiscard]] std::vector<RowSection*> ordered_sections();
  void add_section(RowSection& section);
  [[nodiscard]] std::vector<TimelineRow> pool_rows(const RowSection& section) const;
  void add_track(const RowSection& section, const TrackPlace& place, int depth, std::vector<TimelineRow>& rows) const;
  [[nodiscard]] std::string count_text(const RowSection& section) const;

  static constexpr int kDeepest = 8;  // sources may nest tracks in a circle

  const Snapshot& snapshot_;
  const MemoryUsage* memory_;
  const RowChoices& choices_;
  const DerivedCounters& derived_;
  TrackNames names_;
  std::vector<TrackPlace> places_;
  std::unordered_map<TrackNumber, std::vector<const TrackPlace*>> children_;
  std::set<TrackNumber> opened_;  // bundles that are open unless the user says otherwise
  std::vector<RowSection> sections_;
  std::vector<TimelineRow> rows_;
  std::size_t all_ = 0;
  std::size_t matching_ = 0;
};

}  // namespace accelscope::app
