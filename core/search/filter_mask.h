// A session's filter as a mask of its events: tracks, terms in the grammar of searches, and a range of time.
#pragma once

#include <memory>

#include "core/model/event_filter.h"
#include "core/scan/event_mask.h"

namespace accelscope::search {

// Of the filter's tracks and terms; its range is not part of it.
// Fails when a term is wrong (an unknown field, a bad expression), a chunk cannot be read, or when cancelled.
// `previous` is a mask of the same filter from an earlier snapshot of the same store, or null.
[[nodiscard]] Result<std::shared_ptr<const EventMask>> event_mask(const QueryContext& query, const EventFilter& filter,
                                                                  const EventMask* previous = nullptr);

// The query, of what passes the filter's tracks and terms; its range is left to whoever asks. known: the mask if the
// caller has it, or null.
[[nodiscard]] Result<QueryContext> masked(const QueryContext& query, const EventFilter& filter,
                                          const std::shared_ptr<const EventMask>& known = {});

// All of a filter as one mask, its range too: an event cut by an edge passes, as it shares time with the range. Null
// where everything passes. `terms` is the mask of the filter's tracks and terms if the caller has it, or null. Rows of
// tables without time are in every range.
[[nodiscard]] Result<std::shared_ptr<const EventMask>> filter_mask(const QueryContext& query, const EventFilter& filter,
                                                                   const std::shared_ptr<const EventMask>& terms = {});

}  // namespace accelscope::search
