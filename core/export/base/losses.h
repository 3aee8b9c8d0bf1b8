// What a format leaves out of a session, counted: the sentences that every format says in the same words.
#pragma once

#include <string>
#include <vector>

#include "core/export/base/event_pieces.h"
#include "core/export/base/flow_ends.h"

namespace accelscope {

// What of a session a format has no place for.
struct FormatLimits {
  bool rows_without_time = true;  // tables without time are left out
  bool samples = false;           // counters are
  bool moments = false;           // events without a length are, and what was allocated and released
  bool flows = false;             // dependencies are
  bool source_files = true;       // the text of source files is
  bool markers = true;            // the user's marks are
};

// Sentences on tracks, source files and marks that the format leaves out.
[[nodiscard]] std::vector<std::string> losses_by_kind(const ExportRequest& request, const FormatLimits& limits);
// On what samples have beside their values, and those that have none; nothing to say of none.
void add_sample_losses(std::uint64_t values_beside, std::uint64_t without_value, std::vector<std::string>& losses);
// On dependencies with an end that is not exported, or that name no event.
void add_flow_losses(const FlowEnds& flows, std::vector<std::string>& losses);

}  // namespace accelscope
