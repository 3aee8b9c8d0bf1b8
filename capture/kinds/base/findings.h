// What a session says was left out or shown otherwise than it happened.
#pragma once

#include <initializer_list>
#include <string>

#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds {

// Those that happened. `whose` stands before each: "python3 (1234): ".
inline void tell(SessionWriter& writer, const std::string& whose, std::initializer_list<QualityEntry> findings) {
  for (QualityEntry finding : findings) {
    if (finding.count == 0) continue;
    finding.detail = whose + finding.detail;
    writer.add_quality(std::move(finding));
  }
}

}  // namespace accelscope::capture::kinds
