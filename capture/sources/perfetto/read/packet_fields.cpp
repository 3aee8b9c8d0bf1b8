#include "capture/sources/perfetto/read/packet_fields.h"

#include <algorithm>
#include <iterator>

#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::uint64_t kStateCleared = 1;  // of the flags
// Fields that go with messages or tell of the tracing itself.
constexpr std::uint32_t kBesideMessages[] = {3, 4, 8, 10, 12, 13, 41, 42, 58, 59, 76, 79, 87, 88, 98, 103};

}  // namespace

PacketFields read_packet(const RawPacket& raw) {
  PacketFields packet;
  packet.offset = raw.offset;
  Fields fields(raw.bytes);
  while (fields.next()) {
    switch (fields.number()) {
      case 8:
        packet.timestamp = fields.whole();
        break;
      case 58:
        packet.clock = fields.whole();
        break;
      case 10:
        packet.sequence = static_cast<std::uint32_t>(fields.whole());
        break;
      case 13:
        packet.flags = fields.whole();
        break;
      case 41:
        packet.cleared = fields.flag();
        break;
      case 42:
        packet.dropped = fields.flag();
        break;
      case 87:
        packet.first = fields.flag();
        break;
      case 98:
        packet.machine = static_cast<std::int64_t>(fields.whole());
        break;
      case 12:
        packet.interned = fields.bytes();
        break;
      case 59:
        packet.defaults = fields.bytes();
        packet.has_defaults = true;
        break;
      case PacketFields::kTrackEvent:
        packet.field = PacketFields::kTrackEvent;
        packet.message = fields.bytes();
        break;
      default:
        if (fields.type() != WireType::bytes || std::find(std::begin(kBesideMessages), std::end(kBesideMessages),
                                                          fields.number()) != std::end(kBesideMessages)) {
          break;
        }
        packet.field = fields.number();
        packet.message = fields.bytes();
    }
  }
  packet.cleared = packet.cleared || (packet.flags & kStateCleared) != 0;
  packet.broken = fields.broken();
  return packet;
}

}  // namespace accelscope::capture::sources::perfetto
