// What the Details panel says about one event: groups of labelled values out of its schema, with what each means.
// No drawing; the same content is copied and exported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/neuron/facts/operands.h"
#include "core/scan/event_reader.h"

namespace accelscope::app::content {

enum class FieldLook : std::uint8_t { plain, source_link, warning, such_link, operands };

struct DetailField {
  std::string label;
  std::string value;        // as shown, exact
  std::string explanation;  // may be empty
  std::string field;        // the vendor's name of the column
  FieldLook look = FieldLook::plain;
  std::string search = {};  // such_link: what all events with this value match (core/search/search.h)
};

struct DetailGroup {
  std::string title;
  std::vector<DetailField> fields;
};

struct EventDetails {
  EventId id = kNoEvent;
  std::string name;
  std::string title;  // the name as short as it is shown elsewhere
  std::string track;  // "TensorMatrix"
  std::uint8_t palette_slot = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<DetailGroup> groups;  // Timing first; fields without a value are left out
  std::size_t empty_fields = 0;     // how many were
  std::vector<analysis::neuron::Operand> operands;
  std::string source;              // "file.py:33", "" if it names none
  std::vector<std::string> stack;  // innermost first
};

[[nodiscard]] EventDetails describe_event(const EventRecord& record, const Snapshot& snapshot);

// "Start\t1,986,695 ns" lines under group headings.
[[nodiscard]] std::string details_text(const EventDetails& details);

}  // namespace accelscope::app::content
