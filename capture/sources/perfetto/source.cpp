#include "capture/sources/perfetto/source.h"

#include "capture/sources/base/sinks.h"
#include "capture/sources/perfetto/importer.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr int kNamedSo = 90;
constexpr int kPacketsAlone = 60;  // an XSpace is a series of such messages too

// The first message of field 1 has fields that packets have, in the types that they have.
[[nodiscard]] bool has_packet_fields(std::string_view head) {
  // Of one packet: number, and whether it is a number or a message.
  struct Known {
    std::uint32_t field;
    WireType type;
  };
  constexpr Known kKnown[] = {{8, WireType::varint},  {10, WireType::varint}, {13, WireType::varint},
                              {3, WireType::varint},  {79, WireType::varint}, {6, WireType::bytes},
                              {60, WireType::bytes},  {33, WireType::bytes},  {36, WireType::bytes},
                              {50, WireType::bytes},  {12, WireType::bytes},  {44, WireType::bytes},
                              {43, WireType::bytes},  {53, WireType::bytes},  {52, WireType::bytes},
                              {133, WireType::bytes}, {2, WireType::bytes},   {45, WireType::bytes}};
  int known = 0;
  Fields file(head);
  for (int packets = 0; packets < 16 && file.next(); ++packets) {
    if (file.number() != 1 || file.type() != WireType::bytes) return false;
    Fields packet(file.bytes());
    while (packet.next()) {
      for (const Known& each : kKnown) {
        if (each.field != packet.number()) continue;
        if (each.type != packet.type()) return false;
        if (each.field != 2 && each.field != 3) ++known;  // those of others have these too
      }
    }
    if (packet.broken()) return false;
  }
  return known > 0;
}

}  // namespace

int probe_perfetto(std::string_view head, const std::string& path) {
  if (!looks_like_trace(head, head.size() < kProbeBytes)) return 0;
  if (!has_packet_fields(head)) {
    // One packet may be larger than what is looked at.
    const bool named = path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
    return named && !head.empty() && head.front() == '\n' ? kPacketsAlone : 0;
  }
  return kNamedSo;
}

Result<void> import_perfetto(const OpenBytes& open, const std::string& name, const ImportOptions& options,
                             EventSink& sink) {
  AsyncSink receiver(sink);
  PerfettoImporter importer(name, options, receiver);
  if (Result<void> done = importer.run(open); !done) return done;
  return receiver.finish();
}

Result<void> import_perfetto(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_perfetto([&] { return json::ByteSource::open(path); }, path, options, sink);
}

}  // namespace accelscope::capture::sources::perfetto
