// The packets of a Perfetto trace, one after another, out of a file of any size: those that are packed within a packet
// come out one by one as well. Memory is one packet's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"

namespace accelscope::capture::sources::perfetto {

struct RawPacket {
  std::string_view bytes;    // valid until the next call
  std::uint64_t offset = 0;  // of its bytes in the inflated file; of a packed one, that of what it was packed in
};

class PacketStream {
 public:
  static constexpr std::size_t kLargestPacket = 64U << 20;  // tools write some kB, seldom MB; more is damage

  explicit PacketStream(std::unique_ptr<json::ByteSource> source) : source_(std::move(source)) {}

  // False at the end.
  [[nodiscard]] bool next(RawPacket& packet);

  [[nodiscard]] std::uint64_t file_bytes() const { return source_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const { return source_->file_bytes_read(); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return base_ + at_; }  // inflated

  // What was lost. Offsets are those of the first one.
  struct Losses {
    std::string failure;            // of the file: it cannot be read or inflated further
    std::uint64_t cut_packets = 0;  // the file ends within one
    std::uint64_t cut_at = 0;
    std::uint64_t skipped_bytes = 0;  // that are no packets
    std::uint64_t skipped_at = 0;
    std::uint64_t stretches = 0;     // of such bytes
    std::uint64_t broken_packs = 0;  // packed packets that cannot be inflated
    std::uint64_t broken_pack_at = 0;
  };
  [[nodiscard]] const Losses& losses() const noexcept { return losses_; }

 private:
  struct Pack {
    std::string bytes;  // inflated
    std::size_t at = 0;
    std::uint64_t offset = 0;
    bool whole = true;
  };
  // Reads on until so many bytes are there; false: there are no more.
  bool fill(std::size_t bytes);
  [[nodiscard]] bool next_in_buffer(RawPacket& packet);
  [[nodiscard]] bool next_in_file(RawPacket& packet);
  [[nodiscard]] bool next_in_pack(RawPacket& packet);
  [[nodiscard]] bool find_packet();
  [[nodiscard]] bool unpack(const RawPacket& packet);
  void skip_wrong(std::uint64_t count);

  std::unique_ptr<json::ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;  // offset of the buffer's first byte
  bool ended_ = false;
  std::vector<Pack> packs_;     // a pack may lie within a pack
  std::uint64_t inflated_ = 0;  // bytes of all packs so far
  Losses losses_;
};

// Whether these are the first bytes of a trace: packets as the format has them. `whole`: there are no more.
[[nodiscard]] bool looks_like_trace(std::string_view head, bool whole);

// What every packet has, and its one message.

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
