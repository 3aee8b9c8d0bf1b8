#include "capture/sources/perfetto/read/packet_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>

#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::size_t kReadBytes = 1U << 20;
constexpr std::size_t kDeepestPack = 4;
// What packed packets may inflate to in all, those within others included. Traces pack to a fiftieth at best.
constexpr std::uint64_t kInflatedOfAnyFile = 256U << 20, kInflatedPerByte = 256;
constexpr unsigned char kPacketTag = 0x0a;  // field 1, with a length
constexpr std::uint32_t kPacked = 50;       // deflate
constexpr std::uint32_t kZstdPacked = 133;

// Bytes of a field at the front, its tag included: nothing if they are cut; 0: this is no field.
struct FieldSize {
  std::size_t head = 0;
  std::uint64_t body = 0;
  bool cut = false;
  bool wrong = false;
  bool is_packet = false;
};

[[nodiscard]] FieldSize measure(std::string_view bytes) {
  FieldSize size;
  std::string_view rest = bytes;
  std::uint64_t tag = 0;
  if (!take_varint(rest, tag)) {
    (bytes.size() < 10 ? size.cut : size.wrong) = true;
    return size;
  }
  const std::uint64_t field = tag >> 3;
  size.wrong = field == 0 || field > 536'870'911;
  const auto taken = [&] { return bytes.size() - rest.size(); };
  switch (tag & 7) {
    case 0: {
      std::uint64_t ignored = 0;
      if (!take_varint(rest, ignored)) (rest.size() < 10 ? size.cut : size.wrong) = true;
      size.head = taken();
      return size;
    }
    case 1:
    case 5:
      size.head = taken();
      size.body = (tag & 7) == 1 ? 8 : 4;
      return size;
    case 2:
      if (!take_varint(rest, size.body)) {
        (rest.size() < 10 ? size.cut : size.wrong) = true;
        return size;
      }
      size.head = taken();
      size.is_packet = field == 1;
      size.wrong = size.wrong || size.body > PacketStream::kLargestPacket;
      return size;
    default:
      size.wrong = true;
      return size;
  }
}

// Bytes that are one message, field by field.
[[nodiscard]] bool is_message(std::string_view bytes) {
  while (!bytes.empty()) {
    const FieldSize field = measure(bytes);
    if (field.cut || field.wrong || field.body > bytes.size() - field.head) return false;
    bytes.remove_prefix(field.head + static_cast<std::size_t>(field.body));
  }
  return true;
}

struct InflatedBytes {
  std::string bytes;
  bool whole = false;
};

[[nodiscard]] InflatedBytes inflate_bytes(std::string_view packed) {
  InflatedBytes out;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return out;  // with the header of zlib or gzip
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<char, 64U << 10> piece;
  int status = Z_OK;
  while (status == Z_OK && out.bytes.size() < PacketStream::kLargestPacket) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.bytes.append(piece.data(), piece.size() - stream.avail_out);
    if (stream.avail_in == 0 && stream.avail_out > 0) break;
  }
  out.whole = status == Z_STREAM_END;
  inflateEnd(&stream);
  return out;
}

[[nodiscard]] InflatedBytes inflate_zstd(std::string_view packed) {
  InflatedBytes out;
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  if (context == nullptr) return out;
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  std::array<char, 64U << 10> piece;
  std::size_t status = 1;
  while (out.bytes.size() < PacketStream::kLargestPacket) {
    ZSTD_outBuffer target{piece.data(), piece.size(), 0};
    status = ZSTD_decompressStream(context, &target, &input);
    if (ZSTD_isError(status) != 0) break;
    out.bytes.append(piece.data(), target.pos);
    if (input.pos == input.size && target.pos < target.size) break;
  }
  out.whole = status == 0;
  ZSTD_freeDCtx(context);
  return out;
}

}  // namespace

bool PacketStream::fill(std::size_t bytes) {
  while (end_ - at_ < bytes && !ended_) {
    if (at_ > 0 && (at_ == end_ || buffer_.size() - end_ < kReadBytes)) {
      std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
      base_ += at_;
      end_ -= at_;
      at_ = 0;
    }
    const std::size_t wanted = std::max(kReadBytes, std::min(bytes - (end_ - at_), 4 * kReadBytes));
    if (buffer_.size() - end_ < wanted) buffer_.resize(end_ + wanted);
    const Result<std::size_t> count = source_->read(std::span(buffer_).subspan(end_, wanted));
    if (!count) losses_.failure = count.message();
    ended_ = !count || count.value() == 0;
    if (!ended_) end_ += count.value();
  }
  return end_ - at_ >= bytes;
}

bool PacketStream::next(RawPacket& packet) {
  while (true) {
    const bool found = packs_.empty() ? next_in_file(packet) : next_in_pack(packet);
    if (!found) {
      if (packs_.empty()) return false;
      packs_.pop_back();
      continue;
    }
    if (!unpack(packet)) return true;
  }
}

// Nearly every packet lies in the buffer as a whole.
bool PacketStream::next_in_buffer(RawPacket& packet) {
  if (at_ == end_ || buffer_[at_] != static_cast<char>(kPacketTag)) return false;
  const char* const end = buffer_.data() + end_;
  std::uint64_t size = 0;
  const char* const body = read_varint(buffer_.data() + at_ + 1, end, size);
  if (body == nullptr || size > kLargestPacket || size > static_cast<std::size_t>(end - body)) return false;
  packet.bytes = std::string_view(body, static_cast<std::size_t>(size));
  packet.offset = base_ + at_;
  at_ = static_cast<std::size_t>(body - buffer_.data()) + static_cast<std::size_t>(size);
  return true;
}

bool PacketStream::next_in_file(RawPacket& packet) {
  if (next_in_buffer(packet)) return true;
  while (true) {
    constexpr std::size_t kLongestHead = 20;
    fill(kLongestHead);
    const std::string_view rest(buffer_.data() + at_, end_ - at_);
    if (rest.empty()) return false;
    const FieldSize field = measure(rest);
    if (field.wrong) {
      if (!find_packet()) return false;
      continue;
    }
    const std::size_t size = field.head + static_cast<std::size_t>(field.body);
    if (field.cut || !fill(size)) {
      // A damaged length points behind the end as a cut file does: then packets follow.
      const std::uint64_t cut_at = base_ + at_;
      const PacketStream::Losses before = losses_;
      if (find_packet()) continue;
      losses_ = before;
      losses_.cut_packets = 1;
      losses_.cut_at = cut_at;
      return false;
    }
    packet.bytes = std::string_view(buffer_.data() + at_ + field.head, static_cast<std::size_t>(field.body));
    packet.offset = base_ + at_;
    at_ += size;
    if (field.is_packet) return true;
  }
}

// Goes on behind bytes that are no packets, where some packets follow each other or the file ends with one.
bool PacketStream::find_packet() {
  constexpr int kPacketsInRow = 3;
  constexpr std::size_t kFar = 64U << 10;  // of the packets that are looked at
  std::uint64_t skipped = 0;
  while (true) {
    if (!fill(2)) break;
    const auto* const first = buffer_.data() + at_ + 1;
    const auto* const found = static_cast<const char*>(std::memchr(first, kPacketTag, end_ - at_ - 1));
    const std::size_t count = found == nullptr ? end_ - at_ : static_cast<std::size_t>(found - (buffer_.data() + at_));
    skipped += count;
    at_ += count;
    if (found == nullptr) {
      if (!fill(1)) break;
      if (static_cast<unsigned char>(buffer_[at_]) != kPacketTag) continue;
    }
    fill(kFar);
    std::string_view rest(buffer_.data() + at_, end_ - at_);
    int packets = 0;
    while (packets < kPacketsInRow && !rest.empty()) {
      const FieldSize field = measure(rest);
      if (field.cut || field.wrong || !field.is_packet || field.body == 0 || field.body > rest.size() - field.head)
        break;
      if (!is_message(rest.substr(field.head, static_cast<std::size_t>(field.body)))) break;
      rest.remove_prefix(field.head + static_cast<std::size_t>(field.body));
      ++packets;
    }
    if (packets == kPacketsInRow || (packets > 0 && rest.empty() && ended_)) {
      skip_wrong(skipped);
      return true;
    }
  }
  skipped += end_ - at_;
  at_ = end_;
  skip_wrong(skipped);
  return false;
}

void PacketStream::skip_wrong(std::uint64_t count) {
  if (losses_.stretches++ == 0) losses_.skipped_at = base_ + at_ - count;
  losses_.skipped_bytes += count;
}

bool PacketStream::next_in_pack(RawPacket& packet) {
  Pack& pack = packs_.back();
  while (pack.at < pack.bytes.size()) {
    const std::string_view rest = std::string_view(pack.bytes).substr(pack.at);
    const FieldSize field = measure(rest);
    if (field.wrong || field.cut || field.body > rest.size() - field.head) {
      if (pack.whole && losses_.broken_packs++ == 0) losses_.broken_pack_at = pack.offset;
      return false;
    }
    packet.bytes = rest.substr(field.head, static_cast<std::size_t>(field.body));
    packet.offset = pack.offset;
    pack.at += field.head + static_cast<std::size_t>(field.body);
    if (field.is_packet) return true;
  }
  return false;
}

bool PacketStream::unpack(const RawPacket& packet) {
  // Packets are small and their packed ones large: the field comes first, or close to it, behind ids of the writer.
  // All but a few packets are ruled out by their first byte.
  if (packet.bytes.empty()) return false;
  const auto first = static_cast<unsigned char>(packet.bytes.front());
  if (first < 0x80 && first >> 3 != 10 && first >> 3 != 3) return false;
  std::string_view rest = packet.bytes;
  std::string_view packed;
  bool zstd = false;
  for (int fields = 0; fields < 8 && !rest.empty(); ++fields) {
    const FieldSize field = measure(rest);
    if (field.cut || field.wrong || field.body > rest.size() - field.head) return false;
    std::uint64_t tag = 0;
    std::string_view head = rest;
    (void)take_varint(head, tag);
    if (tag == (kPacked << 3 | 2) || tag == (kZstdPacked << 3 | 2)) {
      packed = rest.substr(field.head, static_cast<std::size_t>(field.body));
      zstd = tag >> 3 == kZstdPacked;
      break;
    }
    if (fields == 0 && tag >> 3 != 10 && tag >> 3 != 79 && tag >> 3 != 3) return false;
    rest.remove_prefix(field.head + static_cast<std::size_t>(field.body));
  }
  if (packed.empty()) return false;
  const std::uint64_t offset = packet.offset;
  const bool too_much = inflated_ > kInflatedOfAnyFile + kInflatedPerByte * bytes_read();
  InflatedBytes inflated = packs_.size() >= kDeepestPack || too_much ? InflatedBytes{}
                           : zstd                                    ? inflate_zstd(packed)
                                                                     : inflate_bytes(packed);
  inflated_ += inflated.bytes.size();
  if (!inflated.whole && losses_.broken_packs++ == 0) losses_.broken_pack_at = offset;
  packs_.push_back({std::move(inflated.bytes), 0, offset, inflated.whole});
  return true;
}

bool looks_like_trace(std::string_view head, bool whole) {
  std::size_t packets = 0;
  while (!head.empty()) {
    const FieldSize field = measure(head);
    if (field.wrong || (!field.is_packet && packets == 0)) return false;
    if (field.cut || field.body > head.size() - field.head) return !whole || packets > 0;
    if (!is_message(head.substr(field.head, static_cast<std::size_t>(field.body)))) return false;
    head.remove_prefix(field.head + static_cast<std::size_t>(field.body));
    ++packets;
  }
  return packets > 0;
}

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
    if (fields.into(At{8, packet.timestamp}, At{58, packet.clock}, At{10, packet.sequence}, At{98, packet.machine},
                    At{13, packet.flags}, At{41, packet.cleared}, At{42, packet.dropped}, At{87, packet.first},
                    At{12, packet.interned}))
      continue;
    if (fields.number() == 59) {
      packet.defaults = fields.bytes();
      packet.has_defaults = true;
    } else if (fields.number() == PacketFields::kTrackEvent ||
               (fields.type() == WireType::bytes && std::find(std::begin(kBesideMessages), std::end(kBesideMessages),
                                                              fields.number()) == std::end(kBesideMessages))) {
      packet.field = fields.number();
      packet.message = fields.bytes();
    }
  }
  packet.cleared = packet.cleared || (packet.flags & kStateCleared) != 0;
  packet.broken = fields.broken();
  return packet;
}

}  // namespace accelscope::capture::sources::perfetto
