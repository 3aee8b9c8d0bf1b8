// What every packet has, and its one message.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/sources/perfetto/read/packet_stream.h"

namespace accelscope::capture::sources::perfetto {

struct PacketFields {
  // Messages of packets, by their fields.
  enum Message : std::uint32_t {
    kProcessTree = 2,
    kChromeEvents = 5,
    kClockSnapshot = 6,
    kTrackEvent = 11,
    kProcessDescriptor = 43,
    kThreadDescriptor = 44,
    kGpuCounter = 52,
    kGpuStage = 53,
    kTrackDescriptor = 60,
    kGpuMemory = 71,
    kTraceUuid = 89,
    kGpuInfo = 128,
    kGpuFrequency = 129,
  };
  std::optional<std::uint64_t> timestamp;
  std::optional<std::uint64_t> clock;
  std::uint32_t sequence = 0;
  std::uint32_t field = 0;  // of the message; 0: none
  std::string_view message;
  std::uint64_t flags = 0;
  std::int64_t machine = 0;
  bool cleared = false;
  bool dropped = false;
  bool first = false;
  bool has_defaults = false;
  bool broken = false;
  std::string_view interned;
  std::string_view defaults;
  std::uint64_t offset = 0;  // in the file
};

[[nodiscard]] PacketFields read_packet(const RawPacket& raw);

}  // namespace accelscope::capture::sources::perfetto
