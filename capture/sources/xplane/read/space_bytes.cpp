#include "capture/sources/xplane/read/space_bytes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "capture/json/byte_source.h"

namespace accelscope::capture::sources::xplane {

Result<std::unique_ptr<SpaceBytes>> SpaceBytes::open(const std::string& path) {
  auto made = std::make_unique<SpaceBytes>();
  made->file_.reset(std::fopen(path.c_str(), "rb"));
  if (made->file_ == nullptr || std::fseek(made->file_.get(), 0, SEEK_END) != 0)
    return Error{fmt::format("{}: cannot be opened: {}; check the path", path, std::strerror(errno))};
  made->size_ = static_cast<std::uint64_t>(std::max(0L, std::ftell(made->file_.get())));
  std::array<char, 8> first{};
  if (!json::is_packed({first.data(), made->read(0, first)})) return made;
  made->size_ = 0;
  if (Result<void> done = made->inflate(path); !done) return done.error();
  return made;
}

std::unique_ptr<SpaceBytes> SpaceBytes::from_memory(std::span<const char> bytes) {
  auto made = std::make_unique<SpaceBytes>();
  made->memory_ = bytes;
  made->size_ = bytes.size();
  return made;
}

Result<void> SpaceBytes::inflate(const std::string& path) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  file_.reset(std::tmpfile());
  const auto no_room = [&] {
    return Error{fmt::format("{}: cannot be unpacked to a temporary file: {}; make room, or unpack it first", path,
                             std::strerror(errno))};
  };
  if (file_ == nullptr) return no_room();
  std::vector<char> part(1U << 20);
  for (;;) {
    const Result<std::size_t> count = (*source)->read(part);
    if (!count) {
      if (size_ == 0) return count.error();
      broken_off_ = count.message();
      break;
    }
    if (*count == 0) break;
    if (std::fwrite(part.data(), 1, *count, file_.get()) != *count) return no_room();
    size_ += *count;
  }
  if (std::fflush(file_.get()) != 0) return no_room();
  return {};
}

std::size_t SpaceBytes::read(std::uint64_t offset, std::span<char> out) const noexcept {
  if (offset >= size_) return 0;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset));
  if (file_ == nullptr) {
    std::memcpy(out.data(), memory_.data() + offset, wanted);
    return wanted;
  }
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t count =
        pread(fileno(file_.get()), out.data() + done, wanted - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) failure_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string_view SpaceWindow::fill(std::uint64_t offset, std::size_t count) {
  const std::uint64_t left = offset < bytes_.size() ? bytes_.size() - offset : 0;
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, left));
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(count, window_bytes_), left));
  if (buffer_.size() < wanted || buffer_.size() > 2 * std::max(wanted, window_bytes_)) {
    buffer_ = {};
    buffer_.resize(wanted);
  }
  begin_ = offset;
  filled_ = bytes_.read(offset, std::span(buffer_).first(wanted));
  return {buffer_.data(), std::min(count, filled_)};
}

}  // namespace accelscope::capture::sources::xplane
