#include "capture/kinds/opencl/session.h"

#include <fmt/format.h>

#include "capture/kinds/opencl/schemas.h"

namespace accelscope::capture::kinds::opencl {

OpenclSession::OpenclSession(SessionWriter& session_writer, bool with_calls)
    : writer(session_writer),
      keeps_calls(with_calls),
      kernels(writer.add_schema(kernel_schema())),
      transfers(writer.add_schema(transfer_schema())),
      maps(writer.add_schema(map_schema())),
      syncs(writer.add_schema(sync_schema())),
      calls(writer.add_schema(call_schema())),
      builds(writer.add_schema(build_schema())),
      errors(writer.add_schema(error_schema())),
      warnings(writer.add_schema(warning_schema())),
      memory(writer.add_schema(memory_schema())),
      flows(writer.add_schema(flow_schema())) {}

SessionDevice& OpenclSession::device(const std::string& name, std::size_t nth, std::uint64_t memory_bytes) {
  const std::string full_name = nth == 0 ? name : fmt::format("{} #{}", name, nth + 1);
  for (const std::unique_ptr<SessionDevice>& known : devices_) {
    if (known->name == full_name) return *known;
  }
  devices_.push_back(std::make_unique<SessionDevice>());
  SessionDevice& device = *devices_.back();
  device.name = full_name;
  device.clock.name = full_name;
  device.clock.number = writer.add_clock(device.clock);
  if (memory_bytes != 0)
    writer.set_meta(fmt::format("capacity.{} device memory", full_name), std::to_string(memory_bytes));
  return device;
}

void OpenclSession::update_clocks(std::int64_t now_ns) {
  for (const std::unique_ptr<SessionDevice>& device : devices_) {
    const bool is_due = device->clock.anchors.empty() || now_ns - device->updated_ns >= kClockIntervalNs;
    if (!is_due || !device->brackets.update(device->clock)) continue;
    device->updated_ns = now_ns;
    device->map = ClockMap(device->clock);
    writer.update_clock(device->clock);
  }
}

std::string OpenclSession::add_source(const std::string& text) {
  const auto [place, is_new] = sources_.try_emplace(text, fmt::format("opencl/program-{}.cl", sources_.size() + 1));
  if (is_new) writer.add_source_file(place->second, text);
  return place->second;
}

}  // namespace accelscope::capture::kinds::opencl
