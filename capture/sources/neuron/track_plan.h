// The tracks that an import finds out about while it reads. They are numbered as they turn up and written to the
// session at the end, when all are known, in the order in which people look for them: natural order of names within
// a kind (queue 2 before queue 10), engines in the order of the data through them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/session_writer.h"

namespace accelscope::capture {

class TrackPlan {
 public:
  // The number of the track of that kind, name and physical core; a new one if there is none yet. `core` is the
  // physical core within a logical one, -1 if the file does not say.
  [[nodiscard]] std::uint32_t track(SchemaNumber schema, std::string_view kind, std::string_view name,
                                    std::int64_t core = -1);
  void set_unit(std::uint32_t track, std::string unit) { tracks_[track].track.unit = std::move(unit); }
  void set_untimed(std::uint32_t track) { tracks_[track].timed = false; }
  void set_host(std::uint32_t track, std::string host) { tracks_[track].track.host = std::move(host); }
  [[nodiscard]] const std::string& name(std::uint32_t track) const noexcept { return tracks_[track].track.name; }
  [[nodiscard]] SchemaNumber schema(std::uint32_t track) const noexcept { return tracks_[track].track.schema; }
  [[nodiscard]] std::int64_t core(std::uint32_t track) const noexcept { return tracks_[track].core; }

  // Puts a track below another in the timeline if a track of that kind, name and physical core exists at the end.
  void set_parent_name(std::uint32_t track, SchemaNumber schema, std::string name);

  // Defines every track; the names get "(nc0)" and "(nc1)" if more than one physical core was seen.
  void write(SessionWriter& writer, const std::string& device, ClockNumber clock);
  [[nodiscard]] TrackNumber written(std::uint32_t track) const noexcept { return tracks_[track].number; }
  [[nodiscard]] std::size_t size() const noexcept { return tracks_.size(); }

 private:
  struct Planned {
    Track track;
    std::int64_t core = -1;
    bool timed = true;  // rows of a table have no time that a clock could tell
    TrackNumber number = kNone;
    std::string parent_name;  // among the tracks of parent_schema
    SchemaNumber parent_schema = kNone;
  };
  [[nodiscard]] std::string key_of(SchemaNumber schema, std::string_view kind, std::string_view name,
                                   std::int64_t core) const;
  [[nodiscard]] TrackNumber parent_of(const Planned& planned) const;
  [[nodiscard]] bool comes_before(std::size_t a, std::size_t b) const;

  std::vector<Planned> tracks_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
};

}  // namespace accelscope::capture
