// What rows of a Parquet export say in other words than rows of JSON, table by table, put into those.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "capture/json/json_field.h"

namespace accelscope::capture::sources::neuron {

class ExportWords {
 public:
  explicit ExportWords(std::string_view table) : table_(table) {}
  // Texts live until the next row.
  void translate(std::span<json::JsonField> fields);

 private:
  std::string table_;
  std::deque<std::string> texts_;
};

}  // namespace accelscope::capture::sources::neuron
