// Whether an import has brought anything that can be named: an event with a name, a sample of a counter, a figure. A
// file that is read as what it is not yields rows, but nothing that anybody could call by a name.
#pragma once

#include <cstdint>
#include <map>

#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

class NameWatch {
 public:
  void see(const Definition& definition);
  void see(const SealedChunk& chunk);
  [[nodiscard]] bool found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t nameless_events() const noexcept { return nameless_; }  // none is counted once found

 private:
  bool found_ = false;
  std::uint64_t nameless_ = 0;
  std::map<SchemaNumber, EventKind> kinds_;
  std::map<TrackNumber, EventKind> tracks_;
  std::map<LaneNumber, EventKind> lanes_;
};

}  // namespace accelscope::capture::sources
