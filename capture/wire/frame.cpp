#include "capture/wire/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "core/base/checksum.h"
#include "core/chunk/chunk_format.h"

namespace accelscope::capture::wire {
namespace {

constexpr std::uint32_t kSmallBody = 64;
constexpr std::uint32_t kTextBody = kUntrustedBody;
constexpr std::uint32_t kEndBody = 1U << 20;  // 16,384 lanes of 12 bytes each, and a sentence

constexpr std::array kTypes = {
    FrameTypeFacts{FrameType::hello, "hello", kTextBody, false},
    FrameTypeFacts{FrameType::error, "error", kTextBody, false},
    FrameTypeFacts{FrameType::heartbeat, "heartbeat", kSmallBody, false},
    FrameTypeFacts{FrameType::start, "start", kEndBody, false},
    FrameTypeFacts{FrameType::stop, "stop", kTextBody, false},
    FrameTypeFacts{FrameType::received, "received", kSmallBody, false},
    FrameTypeFacts{FrameType::durable, "durable", kSmallBody, false},
    FrameTypeFacts{FrameType::progress, "progress", kTextBody, false},
    FrameTypeFacts{FrameType::definition, "definition", kMaxChunkBytes, true},
    FrameTypeFacts{FrameType::chunk, "chunk", kMaxChunkBytes, true},
    FrameTypeFacts{FrameType::end, "end", kEndBody, false},
    FrameTypeFacts{FrameType::proof, "proof", kTextBody, false},
    FrameTypeFacts{FrameType::welcome, "welcome", kEndBody, false},
    FrameTypeFacts{FrameType::started, "started", kTextBody, false},
    FrameTypeFacts{FrameType::pause, "pause", kTextBody, false},
    FrameTypeFacts{FrameType::resume, "resume", kTextBody, false},
    FrameTypeFacts{FrameType::state, "state", kTextBody, false},
    FrameTypeFacts{FrameType::clock, "clock", kSmallBody, false},
    FrameTypeFacts{FrameType::gap, "gap", kTextBody, false},
    FrameTypeFacts{FrameType::file, "file", kEndBody, false},
    FrameTypeFacts{FrameType::fetch, "fetch", kTextBody, false},
    FrameTypeFacts{FrameType::fetched, "fetched", kTextBody, false},
    FrameTypeFacts{FrameType::discard, "discard", kTextBody, false},
};

constexpr std::size_t kCheckedHeaderBytes = offsetof(FrameHeader, checksum);

}  // namespace

const FrameTypeFacts* find_frame_type(FrameType type) noexcept {
  const auto* found =
      std::find_if(kTypes.begin(), kTypes.end(), [type](const FrameTypeFacts& facts) { return facts.type == type; });
  return found == kTypes.end() ? nullptr : found;
}

std::string_view frame_type_name(FrameType type) noexcept {
  const FrameTypeFacts* facts = find_frame_type(type);
  return facts == nullptr ? "unknown" : facts->name;
}

std::uint64_t frame_checksum(const FrameHeader& header, ByteView body) noexcept {
  std::array<std::byte, kCheckedHeaderBytes + sizeof(std::uint64_t)> bytes;
  const std::uint64_t body_checksum = checksum(body);
  std::memcpy(bytes.data(), &header, kCheckedHeaderBytes);
  std::memcpy(bytes.data() + kCheckedHeaderBytes, &body_checksum, sizeof body_checksum);
  return checksum(bytes);
}

Frame make_frame(FrameType type, Bytes body, std::uint64_t sequence, std::uint32_t scope) {
  assert(find_frame_type(type) != nullptr && find_frame_type(type)->numbered == (sequence != 0));
  FrameHeader header;
  header.type = type;
  header.length = static_cast<std::uint32_t>(body.size());
  header.sequence = sequence;
  header.scope = scope;
  header.checksum = frame_checksum(header, body);
  return {header, std::move(body)};
}

Result<FrameHeader> parse_frame_header(ByteView bytes) {
  FrameHeader header;
  if (bytes.size() < kFrameHeaderBytes) return Error{"a frame header was cut"};
  std::memcpy(&header, bytes.data(), kFrameHeaderBytes);
  if (header.magic != kFrameMagic) {
    return Error{fmt::format("the bytes 0x{:08x} are not the start of a frame", header.magic)};
  }
  const FrameTypeFacts* facts = find_frame_type(header.type);
  if (facts == nullptr && (header.flags & kMayBeSkipped) == 0) {
    return Error{
        fmt::format("a frame of type {}, which this version does not know", static_cast<unsigned>(header.type))};
  }
  const std::uint32_t max_length = facts == nullptr ? kTextBody : facts->max_length;
  if (header.length > max_length) {
    return Error{fmt::format("a {} frame of {} bytes; at most {} are taken", frame_type_name(header.type),
                             header.length, max_length)};
  }
  if (facts != nullptr && facts->numbered != (header.sequence != 0)) {
    return Error{fmt::format("a {} frame {}", facts->name, facts->numbered ? "without a number" : "with a number")};
  }
  if (header.scope > (facts != nullptr && facts->numbered ? kMaxWireScope : 0)) {
    return Error{
        fmt::format("a {} frame of scope {}, which is out of range", frame_type_name(header.type), header.scope)};
  }
  return header;
}

Result<void> verify_frame(const FrameHeader& header, ByteView body) {
  if (body.size() == header.length && frame_checksum(header, body) == header.checksum) return {};
  return Error{fmt::format("a {} frame of {} bytes with a wrong checksum", frame_type_name(header.type), body.size())};
}

}  // namespace accelscope::capture::wire
