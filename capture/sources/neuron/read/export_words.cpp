#include "capture/sources/neuron/read/export_words.h"

#include <optional>

#include "capture/sources/neuron/read/schemas.h"

namespace accelscope::capture::sources::neuron {
namespace {

// 0 for "activity_0": the number that JSON has.
[[nodiscard]] std::optional<std::int64_t> throttle_number(std::string_view kind) {
  constexpr std::int64_t kUnknown = 99;
  if (kind == "unknown") return kUnknown;
  for (std::int64_t type = 0; neuron_throttle_kind(type) != "unknown"; ++type) {
    if (neuron_throttle_kind(type) == kind) return type;
  }
  return std::nullopt;
}

}  // namespace

void ExportWords::translate(std::span<json::JsonField> fields) {
  texts_.clear();
  const bool throttle = table_ == "Throttle";
  const bool transfer = table_ == "DmaPacketAggregated";
  const bool moves = transfer || table_ == "DmaPacket";
  if (!throttle && !moves) return;
  for (json::JsonField& field : fields) {
    if (moves && field.key == "throughput") {  // bytes a second, with a fraction here
      if (const auto rate = json::to_rounded_int64(field)) field.text = texts_.emplace_back(std::to_string(*rate));
    }
    if (field.kind != json::JsonKind::string) continue;
    if (transfer && (field.key == "source" || field.key == "dest") && field.text.starts_with('[')) {
      field.kind = json::JsonKind::array;  // a list in a text: [["WEIGHT"]]
    }
    if (!throttle || field.key != "type") continue;
    if (const auto number = throttle_number(field.text)) {
      field.text = texts_.emplace_back(std::to_string(*number));
      field.kind = json::JsonKind::number;
    }
  }
}

}  // namespace accelscope::capture::sources::neuron
