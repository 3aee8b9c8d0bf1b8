#include "capture/sources/xplane/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "capture/sources/tracks/launch_details.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::string_view kDevice = "/device:";

struct PlaneName {
  std::string_view name;  // the whole, or its begin
  bool whole;
  PlaneKind kind;
};
constexpr PlaneName kPlaneNames[] = {
    {"/device:GPU:", false, PlaneKind::gpu},
    {"/device:CUSTOM:MOSAIC:", false, PlaneKind::device_notes},
    {"/device:CPU:", false, PlaneKind::host},
    {"/device:", false, PlaneKind::tpu},
    {"/virtualdevice:", false, PlaneKind::device_notes},
    {"#Chip", false, PlaneKind::device_notes},
    {"/host:CUPTI", true, PlaneKind::runtime},
    {"/host:ROCTRACER", true, PlaneKind::runtime},
    {"/host:NVTX-CUPTI", true, PlaneKind::nvtx},
    {"Task Environment", true, PlaneKind::environment},
    {"/host:", false, PlaneKind::host},
    {"Host CPUs", true, PlaneKind::host},
    {"Syscalls", true, PlaneKind::host},
    {"Host Threads", true, PlaneKind::host},
};

[[nodiscard]] const PlaneName* known_plane(std::string_view name) noexcept {
  for (const PlaneName& each : kPlaneNames) {
    if (each.whole ? name == each.name : name.starts_with(each.name)) return &each;
  }
  return nullptr;
}

// Lines of devices by name, whatever the device; a GPU's are told from its streams.
struct LineName {
  std::string_view name;
  LineClass of;
  XTable table;
  std::int64_t place;
};
constexpr LineName kLineNames[] = {
    {"Steps", LineClass::notes, XTable::step, 0},
    {"XLA Modules", LineClass::notes, XTable::xla_module, 1},
    {"XLA Ops", LineClass::ops, XTable::xla_op, 2},
    {"Async XLA Ops", LineClass::async_ops, XTable::xla_async_op, 5},
    {"XLA TraceMe", LineClass::waits, XTable::xla_annotation, 7},
    {"Sparse Core Steps", LineClass::notes, XTable::step, 0},
    {"Sparse Core Modules", LineClass::notes, XTable::xla_module, 1},
    {"Sparse Core Ops", LineClass::ops, XTable::xla_op, 2},
    {"Sparse Core Syncs", LineClass::waits, XTable::xla_annotation, 7},
    {"Tensor Core Sync Flag", LineClass::waits, XTable::xla_annotation, 7},
    {"_counters_", LineClass::counters, XTable::xla_annotation, 30},
    {"CUPTI overhead", LineClass::profiler, XTable::device_event, 40},
};
constexpr std::int64_t kNotesPlace = 10, kPartPlace = 100;

constexpr std::string_view kCollectives[] = {"all-reduce",       "all-gather",         "all-to-all",
                                             "reduce-scatter",   "collective-permute", "collective-broadcast",
                                             "ragged-all-to-all"};
constexpr std::string_view kHolders[] = {"while", "conditional", "call", "non-fusion elementwise call"};

// "Host Threads/1083" names nothing.
[[nodiscard]] std::string thread_name(std::string_view name, std::int64_t id) {
  constexpr std::string_view kNameless = "Host Threads/";
  if (name.starts_with(kNameless)) return fmt::format("thread {}", name.substr(kNameless.size()));
  return name.empty() ? fmt::format("thread {}", id) : std::string(name);
}

[[nodiscard]] LineRole role_of_thread(const PlaneRole& plane, std::string_view name, std::int64_t id) {
  LineRole role{.of = LineClass::thread, .table = XTable::host_event, .name = thread_name(name, id)};
  if (plane.kind == PlaneKind::runtime || name.starts_with("Host Threads/")) {
    role.of = LineClass::calls;
    role.table = XTable::runtime_call;
  } else if (plane.kind == PlaneKind::nvtx) {
    role.of = LineClass::ranges;
    role.table = XTable::nvtx;
  }
  if (name == "_counters_") role.of = LineClass::counters;
  return role;
}

}  // namespace

PlaneRole role_of_plane(std::string_view name) {
  PlaneRole role;
  const PlaneName* known = known_plane(name);
  role.kind = known == nullptr ? PlaneKind::host : known->kind;
  if (role.kind == PlaneKind::host || role.kind == PlaneKind::runtime || role.kind == PlaneKind::nvtx ||
      role.kind == PlaneKind::environment)
    return role;
  std::string_view rest = name;
  if (rest.starts_with(kDevice)) rest.remove_prefix(kDevice.size());
  if (rest.starts_with("CUSTOM:")) rest.remove_prefix(std::string_view("CUSTOM:").size());
  const std::size_t blank = rest.starts_with('#') ? std::string_view::npos : rest.find(' ');
  if (blank != std::string_view::npos) {
    role.part = rest.substr(blank + 1);
    rest = rest.substr(0, blank);
  }
  if (rest.starts_with('#')) rest.remove_prefix(1);
  role.device = rest;
  std::replace(role.device.begin(), role.device.end(), ':', ' ');
  const std::size_t last = role.device.rfind(' ');
  const std::string_view number = std::string_view(role.device).substr(last == std::string::npos ? 0 : last + 1);
  std::int64_t ordinal = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  if (error == std::errc() && end == number.data() + number.size()) role.ordinal = ordinal;
  return role;
}

bool is_plane_name(std::string_view name) noexcept { return known_plane(name) != nullptr; }

LineRole role_of_line(const PlaneRole& plane, std::string_view name, std::int64_t id) {
  if (plane.device.empty()) return role_of_thread(plane, name, id);
  LineRole role{.name = std::string(name), .place = kNotesPlace};
  if (role.name.empty()) role.name = fmt::format("line {}", id);
  const auto known = std::find_if(std::begin(kLineNames), std::end(kLineNames),
                                  [&](const LineName& each) { return each.name == name; });
  if (known != std::end(kLineNames)) {
    role.of = known->of;
    role.table = known->table;
    role.place = known->place;
  }
  role.stream = plane.kind == PlaneKind::gpu ? tracks::stream_of_line(name) : std::nullopt;
  if (role.stream || (plane.kind == PlaneKind::gpu && name.empty())) {
    if (!role.stream) role.stream = id;
    role.of = LineClass::stream;
    role.table = XTable::kernel;
    role.name = fmt::format("stream {}", *role.stream);
    role.place = 0;
  }
  // What tells of a GPU besides its streams is made from these; other planes' rows are nobody's work.
  const bool works = role.of == LineClass::ops || role.of == LineClass::async_ops;
  if (works && plane.kind != PlaneKind::tpu) role.of = LineClass::notes;
  if (plane.kind == PlaneKind::gpu && role.of == LineClass::notes) role.place += kNotesPlace;
  if (!plane.part.empty()) {
    role.name = fmt::format("{}: {}", plane.part, role.name);
    role.place += kPartPlace;
  }
  return role;
}

bool is_collective_op(std::string_view category) noexcept {
  return std::any_of(std::begin(kCollectives), std::end(kCollectives),
                     [&](std::string_view each) { return category.find(each) != std::string_view::npos; });
}

bool is_async_begin(std::string_view category) noexcept { return category.ends_with("-start"); }

bool is_async_end(std::string_view category) noexcept { return category.ends_with("-done"); }

bool is_holder_op(std::string_view category) noexcept {
  return std::find(std::begin(kHolders), std::end(kHolders), category) != std::end(kHolders);
}

bool names_wait(std::string_view name) noexcept {
  const std::string small = lower_case(name.substr(0, 256));
  return small.find("wait") != std::string::npos || small.find("barrier") != std::string::npos;
}

std::string_view layer_of_op(std::string_view tf_op) noexcept {
  // The type follows the last colon; scopes hold none.
  const std::size_t colon = tf_op.rfind(':');
  if (colon != std::string_view::npos) tf_op = tf_op.substr(0, colon);
  return tf_op == "XlaModule" || tf_op == "Unknown" ? std::string_view() : tf_op;
}

}  // namespace accelscope::capture::sources::xplane
