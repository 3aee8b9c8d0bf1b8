#include "capture/sources/tracks/device_names.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::string_view kStreamKind = "stream";
constexpr std::string_view kQueueKind = "dma_queue";
constexpr std::string_view kEngineKind = "engine";
constexpr std::string_view kLayerKind = "layer";

struct DeviceWord {
  std::string_view word;   // in small letters
  std::string_view shown;  // "": as every profile calls a GPU
};
constexpr DeviceWord kDeviceWords[] = {
    {"gpu", "GPU"},  {"tpu", "TPU"},  {"npu", "NPU"}, {"xpu", "XPU"}, {"hpu", "HPU"},    {"mtia", "MTIA"},
    {"cuda", "GPU"}, {"rocm", "GPU"}, {"hip", "GPU"}, {"dcu", "GPU"}, {"ascend", "NPU"}, {"neuroncore", "NC"},
};
// What may follow where the name is one of a device: "CUDA functions", "Ascend Hardware".
constexpr std::string_view kDeviceNouns[] = {"functions", "kernels", "streams", "stream", "hardware",
                                             "device",    "devices", "events",  "ops",    "operators"};
// Rows of a device that are made from its streams, or say what work was for.
constexpr std::string_view kNoteRows[] = {"steps",       "xla modules",  "xla traceme",           "framework ops",
                                          "source code", "launch stats", "framework name scope",  "tensorflow ops",
                                          "source",      "annotations",  "tensorflow name scope", "sparse core steps"};
constexpr std::string_view kTransferWords[] = {"memcpy", "memset", "copy", "h2d", "d2h", "d2d", "dma", "async xla ops"};

template <typename Words>
[[nodiscard]] bool contains_one(std::string_view text, const Words& words) noexcept {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}
template <typename Words>
[[nodiscard]] bool is_one(std::string_view text, const Words& words) noexcept {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// The digits that follow, behind blanks and marks.
[[nodiscard]] std::string_view number_behind(std::string_view text) noexcept {
  constexpr std::string_view kMarks = " :/#_-";
  const std::size_t begin = text.find_first_not_of(kMarks);
  if (begin == std::string_view::npos || !is_digit(text[begin])) return {};
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

[[nodiscard]] std::string numbered(std::string_view shown, std::string_view number) {
  return number.empty() ? std::string(shown) : std::string(shown) + " " + std::string(number);
}

// ".../device:GPU:0", as XLA and TensorFlow call their devices; the host is one too.
[[nodiscard]] std::optional<std::string> xla_device(std::string_view lower) {
  constexpr std::string_view kDevice = "/device:";
  const std::size_t at = lower.rfind(kDevice);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = lower.substr(at + kDevice.size());
  const std::size_t end = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  const std::string_view word = name.substr(0, end);
  if (word.empty() || word.find("cpu") != std::string_view::npos || word == "custom") return std::nullopt;
  std::string shown(word);
  for (const DeviceWord& known : kDeviceWords) {
    if (known.word == word) shown = known.shown;
  }
  if (shown == word) shown = upper_case(shown);
  return numbered(shown, end == std::string_view::npos ? std::string_view{} : number_behind(name.substr(end)));
}

// "stream 7", "Stream #13(Compute)", "CUDA stream 7".
[[nodiscard]] bool is_stream(std::string_view lower) noexcept {
  const std::size_t at = lower.find(kStreamKind);
  if (at == std::string_view::npos || (at > 0 && lower[at - 1] != ' ')) return false;
  const std::string_view before = lower.substr(0, at);
  const bool plain = before.empty() || before == "cuda " || before == "hip " || before == "gpu " || before == "device ";
  return plain && !number_behind(lower.substr(at + kStreamKind.size())).empty();
}

[[nodiscard]] bool has_number(std::string_view lower, std::string_view word) noexcept {
  const std::size_t at = lower.find(word);
  return at != std::string_view::npos && at + word.size() < lower.size() && is_digit(lower[at + word.size()]);
}

// Within kernels: "matmul_kernel Core0 CTA0" with a row for each warp.
[[nodiscard]] bool is_block(std::string_view process, std::string_view thread) noexcept {
  return has_number(process, " core") && has_number(process, " cta") && thread.starts_with("warp ");
}

}  // namespace

std::optional<std::string> device_of_process(std::string_view process) {
  const std::string lower = lower_case(process);
  if (auto device = xla_device(lower)) return device;
  for (const DeviceWord& known : kDeviceWords) {
    if (!lower.starts_with(known.word)) continue;
    const std::string_view behind = std::string_view(lower).substr(known.word.size());
    if (behind.empty()) return std::string(known.shown);
    if (const std::string_view number = number_behind(behind); !number.empty()) return numbered(known.shown, number);
    if (behind.front() == ' ' && is_one(behind.substr(1), kDeviceNouns)) return std::string(known.shown);
  }
  return std::nullopt;
}

std::optional<DeviceRow> device_row(std::string_view process, std::string_view thread) {
  const std::string row = lower_case(thread);
  if (is_block(lower_case(process), row)) return DeviceRow{"GPU", kEngineKind, std::string(process)};
  const std::optional<std::string> device = device_of_process(process);
  if (!device && !is_stream(row)) return std::nullopt;
  const std::string shown = device.value_or("GPU");
  if (is_one(row, kNoteRows)) return DeviceRow{shown, kLayerKind, {}};
  // On a GPU it repeats what the streams have; elsewhere it is the work itself.
  if (row == "xla ops" || row == "sparse core ops") {
    return DeviceRow{shown, shown.starts_with("GPU") ? kLayerKind : kEngineKind, {}};
  }
  return DeviceRow{shown, contains_one(row, kTransferWords) ? kQueueKind : kStreamKind, {}};
}

}  // namespace accelscope::capture::sources::tracks
