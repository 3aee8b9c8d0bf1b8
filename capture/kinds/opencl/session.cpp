#include "capture/kinds/opencl/session.h"

#include <fmt/format.h>

namespace accelscope::capture::kinds::opencl {

OpenclSession::OpenclSession(SessionWriter& session_writer, bool with_calls)
    : writer(session_writer), keeps_calls(with_calls), tables(session_writer, kOpenclTables) {
  tables.define_all();
}

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
