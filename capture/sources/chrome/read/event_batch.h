// The events of one window of the file, read but not yet put in order: what the reading threads hand to the writing
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/chrome/read/tables.h"
#include "capture/sources/tracks/event_values.h"
#include "core/model/ids.h"

namespace accelscope::capture::sources::chrome {

using tracks::BoundValue;  // texts lie in EventBatch::text

struct ValueRange {
  std::uint32_t first = 0;  // in EventBatch::values
  std::uint32_t count = 0;
};

struct TextRange {
  std::uint32_t first = 0;  // in EventBatch::text
  std::uint32_t size = 0;
};

struct EventRecord {
  std::int64_t start = 0;     // ns, rounded down
  std::int64_t duration = 0;  // ns
  std::uint64_t id = 0;       // of a flow or an asynchronous event: a number, or a StringId if id_is_text
  std::uint64_t bind_id = 0;  // of a flow through this event: a number, or a StringId if bind_id_is_text
  std::uint64_t offset = 0;   // of the row in the file
  StringId name = 0;
  StringId category = 0;
  StringId scope = 0;        // of the id
  std::uint32_t thread = 0;  // number of the pair of pid and tid
  ValueRange values;
  TextRange raw_args;  // not bound yet
  ChromeTable table = ChromeTable::event;
  char phase = 'X';
  bool has_duration = false;
  bool bound = false;  // the args are in `values`
  bool has_id = false;
  bool id_is_text = false;
  bool binds_enclosing = false;  // "bp":"e"
  bool has_bind_id = false;
  bool bind_id_is_text = false;
  bool flow_in = false;  // the flow of bind_id leads to this event
  bool flow_out = false;
};

// Why a row could not become an event.
struct UnreadRow {
  std::string_view reason;
  std::uint64_t offset = 0;
};

struct EventBatch {
  std::vector<EventRecord> records;
  std::vector<BoundValue> values;
  std::string text;
  std::vector<UnreadRow> problems;
  std::uint64_t repaired_rows = 0;
  std::uint64_t broken_args = 0;   // events whose args were read in part
  std::uint64_t doubled_keys = 0;  // rows that name one key twice; the last one counts

  void clear() {
    records.clear();
    values.clear();
    text.clear();
    problems.clear();
    repaired_rows = 0;
    broken_args = 0;
    doubled_keys = 0;
  }
  [[nodiscard]] TextRange add_text(std::string_view added) {
    const TextRange range{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(added.size())};
    text += added;
    return range;
  }
  [[nodiscard]] std::string_view text_at(const TextRange& range) const noexcept {
    return std::string_view(text).substr(range.first, range.size);
  }
};

}  // namespace accelscope::capture::sources::chrome
