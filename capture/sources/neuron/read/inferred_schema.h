// A schema for a table that nobody told us about: the names, types and kind are read off its first rows. Later
// values that do not fit go into the schema's "extra" column like everywhere else.
#pragma once

#include <string_view>

#include "capture/json/row_parser.h"
#include "capture/sources/base/inferred_columns.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

class SchemaInference final : public json::JsonRowHandler {
 public:
  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_mended_row(const json::RowPlace& place) override;

  // With the extra column.
  [[nodiscard]] Schema schema(std::string_view table) const;

 private:
  // A chunk holds 512 columns; what is over goes into "extra".
  InferredColumns found_{{.most_columns = 200}};
};

// The key of the only field of a row that is not an object.
inline constexpr std::string_view kValueKey = "value";

}  // namespace accelscope::capture::sources::neuron
