#include "capture/log/frame_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/text.h"
#include "core/chunk/chunk_format.h"

namespace accelscope::capture::log {
namespace {

constexpr std::string_view kStem = "segment-";
constexpr std::string_view kExtension = ".frames";
constexpr std::size_t kSalvageWindow = 1U << 20;

std::uint64_t checksum_of(const SegmentHeader& header) {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(SegmentHeader, checksum)));
}

std::uint32_t events_in(ByteView body) noexcept {
  const std::optional<ChunkHeader> chunk = read_chunk_header(body);
  return chunk ? std::min(chunk->count, kMaxChunkEvents) : 0;
}

}  // namespace

SegmentHeader make_segment_header(std::uint64_t first_sequence, const std::string& capture_id) {
  SegmentHeader header;
  header.first_sequence = first_sequence;
  std::copy_n(capture_id.begin(), std::min(capture_id.size(), header.capture_id.size()), header.capture_id.begin());
  header.checksum = checksum_of(header);
  return header;
}

Error file_error(const std::filesystem::path& path, const char* what) {
  return Error{fmt::format("{}: cannot be {}: {}", path.string(), what, std::strerror(errno))};
}

Result<SegmentReader> SegmentReader::open(const std::filesystem::path& path) {
  system::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return file_error(path, "read");
  SegmentReader reader(std::move(file), path);
  const std::size_t got = TRY(reader.read_at(0, &reader.header_, kSegmentHeaderBytes));
  SegmentHeader& header = reader.header_;
  reader.header_damaged_ =
      got < kSegmentHeaderBytes || header.magic != kSegmentMagic || header.checksum != checksum_of(header);
  if (!reader.header_damaged_) return reader;
  header = {};
  for (std::uint64_t offset = 0; header.first_sequence == 0;) {
    const std::optional<FramePlace> first = TRY(reader.salvage(offset));
    if (!first) break;
    header.first_sequence = first->header.sequence;
    offset = first->end();
  }
  return reader;
}

Result<void> SegmentReader::check() const {
  if (header_damaged_ && header_.first_sequence == 0) {
    return Error{fmt::format("{}: does not begin as a file of frames; it was cut or overwritten", path_.string())};
  }
  if (header_.version != kSegmentVersion) {
    return Error{fmt::format("{}: version {} of the file is not known here; use the version that wrote it",
                             path_.string(), header_.version)};
  }
  return {};
}

Result<std::uint64_t> SegmentReader::size() const {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0) return file_error(path_, "read");
  return static_cast<std::uint64_t>(facts.st_size);
}

Result<std::size_t> SegmentReader::read_at(std::uint64_t offset, void* bytes, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(file_.get(), static_cast<std::byte*>(bytes) + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path_, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::optional<FramePlace>> SegmentReader::find(std::uint64_t offset) const {
  std::array<std::byte, wire::kFrameHeaderBytes> bytes;
  const std::size_t got = TRY(read_at(offset, bytes.data(), bytes.size()));
  if (got < bytes.size()) return std::optional<FramePlace>();
  const Result<wire::FrameHeader> header = wire::parse_frame_header(bytes);
  if (!header) return Error{fmt::format("{}: at byte {}: {}", path_.string(), offset, header.message())};
  const FramePlace place{header.value(), offset};
  const std::uint64_t whole = TRY(size());
  return place.end() <= whole ? std::optional(place) : std::nullopt;
}

Result<wire::Frame> SegmentReader::read(const FramePlace& place) const {
  wire::Frame frame{place.header, Bytes(place.header.length)};
  const std::size_t got = TRY(read_at(place.offset + wire::kFrameHeaderBytes, frame.body.data(), frame.body.size()));
  frame.body.resize(got);
  if (const Result<void> whole = wire::verify_frame(frame.header, frame.body); !whole) {
    return Error{fmt::format("{}: at byte {}: {}", path_.string(), place.offset, whole.message())};
  }
  return frame;
}

Result<std::optional<FramePlace>> SegmentReader::salvage(std::uint64_t offset) const {
  const std::uint32_t magic = wire::kFrameMagic;
  const std::string_view wanted(reinterpret_cast<const char*>(&magic), sizeof magic);
  std::string window(kSalvageWindow, '\0');
  for (;;) {
    const std::size_t got = TRY(read_at(offset, window.data(), window.size()));
    const std::string_view bytes(window.data(), got);
    for (std::size_t at = bytes.find(wanted); at != std::string_view::npos; at = bytes.find(wanted, at + 1)) {
      const Result<std::optional<FramePlace>> place = find(offset + at);
      if (place && place.value() && read(*place.value())) return place;
    }
    if (bytes.size() < window.size()) return std::optional<FramePlace>();
    offset += bytes.size() - (wanted.size() - 1);
  }
}

std::uint32_t SegmentReader::events(const FramePlace& place) const {
  if (place.header.type != wire::FrameType::chunk) return 0;
  std::array<std::byte, sizeof(ChunkHeader)> bytes;
  const std::size_t wanted = std::min<std::size_t>(bytes.size(), place.header.length);
  const Result<std::size_t> got = read_at(place.offset + wire::kFrameHeaderBytes, bytes.data(), wanted);
  return got ? events_in(ByteView(bytes).first(got.value())) : 0;
}

std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint32_t number) {
  return folder / fmt::format("{}{:06}{}", kStem, number, kExtension);
}

std::filesystem::path definitions_path(const std::filesystem::path& folder) { return folder / "definitions.frames"; }

std::vector<std::uint32_t> list_segments(const std::filesystem::path& folder) {
  std::vector<std::uint32_t> numbers;
  std::error_code failure;
  for (std::filesystem::directory_iterator file(folder, failure), end; !failure && file != end;
       file.increment(failure)) {
    const std::string name = file->path().filename().string();
    if (!name.starts_with(kStem) || !name.ends_with(kExtension)) continue;
    std::uint32_t number = 0;
    const std::size_t digits = name.size() - kStem.size() - kExtension.size();
    if (read_number(std::string_view(name).substr(kStem.size(), digits), number) && number > 0)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::uint32_t events_in(const wire::Frame& frame) noexcept {
  return frame.header.type == wire::FrameType::chunk ? events_in(ByteView(frame.body)) : 0;
}

}  // namespace accelscope::capture::log
