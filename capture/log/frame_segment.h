// One file of a FrameLog: a header of 64 bytes, then frames exactly as they cross the wire. Reading is by place, so a
// file may grow meanwhile: a frame that is not wholly there yet does not exist.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/system/descriptor.h"
#include "capture/wire/frame.h"

namespace accelscope::capture::log {

inline constexpr std::uint32_t kSegmentMagic = 0x50534341;  // "ACSP"
inline constexpr std::uint16_t kSegmentVersion = 1;

struct SegmentHeader {
  std::uint32_t magic = kSegmentMagic;
  std::uint16_t version = kSegmentVersion;
  std::uint16_t reserved = 0;
  std::uint64_t first_sequence = 0;   // of the frames in the file, or the one that would come next
  std::array<char, 40> capture_id{};  // cut to fit
  std::uint64_t checksum = 0;         // of the 56 bytes before it
};
static_assert(sizeof(SegmentHeader) == 64);
inline constexpr std::size_t kSegmentHeaderBytes = sizeof(SegmentHeader);

[[nodiscard]] SegmentHeader make_segment_header(std::uint64_t first_sequence, const std::string& capture_id);

// "PATH: cannot be read: No such file or directory", from errno.
[[nodiscard]] Error file_error(const std::filesystem::path& path, const char* what);

// The header of a frame in a file, and where its body lies.
struct FramePlace {
  wire::FrameHeader header;
  std::uint64_t offset = 0;  // of the frame in the file
  [[nodiscard]] std::uint64_t end() const noexcept { return offset + wire::kFrameHeaderBytes + header.length; }
};

class SegmentReader {
 public:
  [[nodiscard]] static Result<SegmentReader> open(const std::filesystem::path& path);

  // Fails if nothing in the file can be read. Where only its header is damaged, header() names the first frame that
  // can.
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] const SegmentHeader& header() const noexcept { return header_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] Result<std::uint64_t> size() const;
  // Nothing where the file ends before the frame does; an error where something else than a frame lies.
  [[nodiscard]] Result<std::optional<FramePlace>> find(std::uint64_t offset) const;
  [[nodiscard]] Result<wire::Frame> read(const FramePlace& place) const;  // fails on a wrong checksum
  // Behind damage: the first frame at `offset` or later whose checksum is right. Nothing if there is none.
  [[nodiscard]] Result<std::optional<FramePlace>> salvage(std::uint64_t offset) const;
  // What a chunk's header counts; 0 for other frames. Not checked: whoever reads the frame checks it.
  [[nodiscard]] std::uint32_t events(const FramePlace& place) const;

 private:
  SegmentReader(system::Descriptor file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, void* bytes, std::size_t count) const;

  system::Descriptor file_;
  std::filesystem::path path_;
  SegmentHeader header_;
  bool header_damaged_ = false;
};

// segment-000001.frames and so on, by number.
[[nodiscard]] std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint32_t number);
[[nodiscard]] std::vector<std::uint32_t> list_segments(const std::filesystem::path& folder);  // rising
// The definitions of segments that were let go.
[[nodiscard]] std::filesystem::path definitions_path(const std::filesystem::path& folder);

[[nodiscard]] std::uint32_t events_in(const wire::Frame& frame) noexcept;  // of a chunk; else 0

}  // namespace accelscope::capture::log
