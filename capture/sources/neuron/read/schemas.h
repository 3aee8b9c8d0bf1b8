// The schemas of a Neuron profile, shared by the JSON source and the simulated accelerator, so that a column has
// one name, unit and explanation wherever its events come from. Column names are the vendor's field names of the
// JSON tables; `timestamp` and `duration` are the built-in start and duration, and the field that became the
// built-in name is Schema::name_column. Columns that no JSON table has are marked "derived" below.
//
//   SchemaNumber number = writer.add_schema(neuron_schema(NeuronTable::instruction));
//   constexpr std::size_t kPc = neuron_column(NeuronTable::instruction, "pc");
//
// Tracks: see the comment of each table (Track::kind, one track per ...). Shares are fractions of one, unit "share".
// Holds no code that reads or writes a profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/sources/neuron/read/table_columns.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

// Number 0; add_schema assigns one.
[[nodiscard]] Schema neuron_schema(NeuronTable table);

// "activity_0" for 0, "unknown" for 99: the kinds of throttling, JSON ham.type.
[[nodiscard]] std::string_view neuron_throttle_kind(std::int64_t type) noexcept;

}  // namespace accelscope::capture::sources::neuron
