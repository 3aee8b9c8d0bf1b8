// The tables of a Perfetto trace's events and their columns. Which columns there are is read off the first packets:
// learn() for each of their arguments, then open(). What comes later and fits none of them is kept as JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/inferred_columns.h"
#include "capture/sources/chrome/read/tables.h"
#include "capture/sources/perfetto/read/sequence_state.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::perfetto {

// The arguments of an event - debug annotations, extra data of a GPU's work - as names and values.

struct Argument {
  enum class Kind : std::uint8_t { none, boolean, integer, whole, real, text, nested };
  Kind kind = Kind::none;
  std::uint64_t bits = 0;  // of a number or a truth value
  std::string_view text;   // a text, or the JSON of what is nested
  std::string_view name;
  InternedText* entry = nullptr;        // of the name, where it has a number
  InternedText* value_entry = nullptr;  // of the text, where it has one
};

// A message DebugAnnotation. Texts lie in the message, in the state or in `scratch`, whose former content goes.
[[nodiscard]] Argument read_annotation(std::string_view message, SequenceState& state, std::string& scratch);
// A message ExtraComputeArg of a kernel.
[[nodiscard]] Argument read_compute_argument(std::string_view message, SequenceState& state);

// The value as JSON has it, and as a field whose text may lie in `scratch`.
void append_json_value(std::string& out, const Argument& argument);
[[nodiscard]] json::JsonField json_field_of(const Argument& argument, std::string& scratch);
// Two values of one name: arrays one behind the other, objects member by member, else the later one.
[[nodiscard]] std::string merged_json(std::string_view earlier, std::string_view later);

using EventTableKind = chrome::ChromeTable;
inline constexpr std::size_t kEventTableCount = chrome::kChromeTableCount;

// Columns for what the format itself knows of an event.
enum class OwnColumn : std::uint8_t {
  source_location,
  function,
  unfinished,
  thread_time,
  thread_duration,
  instructions,
  instruction_count,
  stack,
  correlation_number,
  correlation_text,
  log_message,
  gpu_api,
  phase,
  kernel_name,
  architecture,
  grid,
  block,
  queue,
  stage,
  description,
  context,
  submission,
  render_target,
  render_pass,
  command_buffer,
  event_id,
  process,
  category,
  rest,
};
inline constexpr std::size_t kOwnColumnCount = static_cast<std::size_t>(OwnColumn::rest) + 1;

struct EventTable {
  static constexpr std::uint32_t kNoColumn = ~0U;
  EventTableKind kind = EventTableKind::event;
  std::uint32_t number = 0;  // in the session
  const Schema* schema = nullptr;
  std::array<std::uint32_t, kOwnColumnCount> own{};
  std::unordered_map<std::string, std::uint32_t> by_name;
  [[nodiscard]] std::uint32_t column(OwnColumn column) const noexcept { return own[static_cast<std::size_t>(column)]; }
};

class EventTables {
 public:
  explicit EventTables(tracks::UnorderedSession& session) : session_(session) {}

  void learn(EventTableKind kind, const Argument& argument);
  void learn(EventTableKind kind, OwnColumn column) {
    learnt_[index(kind)].own[static_cast<std::size_t>(column)] = true;
  }
  // Columns that mean something, under the names that they have in the trace. Of several names for one role the first
  // is the column's.
  void add_roles(EventTableKind kind, const chrome::AllocationColumns& columns) {
    chrome::AllocationColumns& roles = learnt_[index(kind)].roles;
    for (const auto& column : columns) {
      if (std::find(roles.begin(), roles.end(), column) == roles.end()) roles.push_back(column);
    }
  }
  [[nodiscard]] const EventTable& open(EventTableKind kind) {
    const std::unique_ptr<EventTable>& table = tables_[index(kind)];
    return table != nullptr ? *table : make(kind);
  }
  [[nodiscard]] bool is_open(EventTableKind kind) const noexcept { return tables_[index(kind)] != nullptr; }

  // Sets the value's column; what has none goes, as a member of a JSON object, to `rest`.
  void bind(const EventTable& table, const Argument& argument, tracks::EventValues& values, std::string& rest);
  void set_text(const EventTable& table, OwnColumn column, std::string_view text, tracks::EventValues& values,
                std::string& rest);
  void set_number(const EventTable& table, OwnColumn column, std::int64_t number, tracks::EventValues& values,
                  std::string& rest);
  // Values that the end of an event has beside those of its begin. Of two for one column the later one counts, unless
  // both are nested: they become one.
  void merge(const EventTable& table, const tracks::EventValues& later, tracks::EventValues& values);
  // The members of `rest` to the column for them.
  static void set_rest(const EventTable& table, const std::string& rest, tracks::EventValues& values);
  [[nodiscard]] std::uint64_t arguments_left_out() const noexcept { return arguments_left_out_; }  // for their size

 private:
  struct Learnt {
    InferredColumns found{{.most_columns = 64, .any_text_recurs = true}};
    std::array<bool, kOwnColumnCount> own{};
    chrome::AllocationColumns roles;
  };
  [[nodiscard]] static std::size_t index(EventTableKind kind) noexcept { return static_cast<std::size_t>(kind); }
  const EventTable& make(EventTableKind kind);
  [[nodiscard]] std::uint32_t column_of(const EventTable& table, const Argument& argument) const;
  [[nodiscard]] bool set(const EventTable& table, std::uint32_t column, const Argument& argument,
                         tracks::EventValues& values);

  tracks::UnorderedSession& session_;
  std::array<Learnt, kEventTableCount> learnt_;
  std::array<std::unique_ptr<EventTable>, kEventTableCount> tables_;
  std::string scratch_;
  std::unordered_map<StringId, std::string> nested_;  // texts of nested values
  std::uint64_t arguments_left_out_ = 0;
};

}  // namespace accelscope::capture::sources::perfetto
