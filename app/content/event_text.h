// What one event says on its slice beyond its name: a transfer its part of the tensor, direction and size; a wait what
// it waits for. Texts, longest first. No drawing, no reading.
#pragma once

#include <string>
#include <vector>

#include "core/scan/event_reader.h"

namespace accelscope::app {

// Whether events of the schema say more than their names do.
[[nodiscard]] bool has_event_text(const Schema& schema, bool waits);

// Whether a source wrote the name because it had none: "unknown".
[[nodiscard]] bool names_nothing(std::string_view name) noexcept;

// "w1 WEIGHT→SB 64 KiB", "w1 64 KiB", "w1"; "software dynamic 4 KiB", "4 KiB" where the tensor is not known. `names`:
// forms of the event's name, longest first. Empty: nothing beyond the names.
[[nodiscard]] std::vector<std::string> transfer_texts(const EventRecord& event, const std::vector<std::string>& names);

// "wait MATMUL", "MATMUL"; of a transfer "wait DMA w1", "DMA w1".
[[nodiscard]] std::vector<std::string> wait_texts(const std::string& cause);
// What the waiting event itself says that it waits for, where no dependency does: "stream 7", "Vector", "S[2]"; "" if
// nothing.
[[nodiscard]] std::string stated_cause(const EventRecord& event);

}  // namespace accelscope::app
