// The arguments of an event - debug annotations, extra data of a GPU's work - as names and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/json/json_field.h"
#include "capture/sources/perfetto/read/sequence_state.h"

namespace accelscope::capture::sources::perfetto {

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

}  // namespace accelscope::capture::sources::perfetto
