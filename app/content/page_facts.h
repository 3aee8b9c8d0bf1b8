// Which pages a session may have something for, as its tracks, schemas and names tell: known before anybody opens the
// page, and without a pass over the events.
#pragma once

#include "core/scan/chunk_scan.h"

namespace accelscope::app::content {

// False: the session certainly has nothing for it.
struct PageFacts {
  bool layers = true, hotspots = true, iterations = true, compilation = true, roofline = true, collectives = true;
};
[[nodiscard]] Result<std::shared_ptr<const PageFacts>> page_facts(const QueryContext& query);

// What a session consists of, for the page that it opens with.
struct SessionContent {
  bool grows = false;     // a capture that is under way
  bool timeline = false;  // it has rows of a timeline
  bool figures = false;   // it has metrics
  bool work = false;      // of a device, or of a host's threads more than there are allocations
  bool memory = false;    // allocations
  bool errors = false;    // its hardware reported some
};
// Of its tracks; the first three are the caller's to say.
[[nodiscard]] SessionContent content_of_tracks(const Snapshot& snapshot);

}  // namespace accelscope::app::content
