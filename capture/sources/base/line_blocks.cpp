#include "capture/sources/base/line_blocks.h"

#include <algorithm>
#include <cstring>

namespace accelscope::capture::sources {

std::size_t LineBlocks::fill(std::vector<char>& buffer, std::size_t size) {
  while (size < buffer.size() && !ended_) {
    const Result<std::size_t> count = source_->read(std::span(buffer).subspan(size));
    if (!count) failure_ = count.message();
    ended_ = !count || count.value() == 0;
    if (ended_) break;
    last_byte_ = buffer[size + count.value() - 1];
    size += squeeze_holes(std::span(buffer).subspan(size, count.value()));
  }
  return size;
}

// Leaves one byte of zero of every hole. The number of bytes that are left.
std::size_t LineBlocks::squeeze_holes(std::span<char> bytes) {
  const bool plain = std::memchr(bytes.data(), 0, bytes.size()) == nullptr;
  std::size_t retained = bytes.size();
  if (!plain) {
    retained = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool zero = bytes[i] == 0;
      if (zero && hole_bytes_++ == 0) first_hole_ = read_ + i;
      if (!zero || !in_hole_) bytes[retained++] = bytes[i];
      in_hole_ = zero;
    }
  } else {
    in_hole_ = false;
  }
  read_ += bytes.size();
  return retained;
}

// What is left of a line with a hole is its end, so that lines are counted as they are in the file.
std::string_view LineBlocks::without_broken_lines(std::vector<char>& buffer, std::string_view text) const {
  if (hole_bytes_ == 0 || text.find('\0') == std::string_view::npos) return text;
  char* const first = buffer.data() + (text.data() - buffer.data());
  char* out = first;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.find('\0') == std::string_view::npos) {
      std::memmove(out, line.data(), line.size());
      out += line.size();
    }
    if (end < text.size()) *out++ = '\n';
    at = end + 1;
  }
  return {first, static_cast<std::size_t>(out - first)};
}

std::string_view LineBlocks::next(std::vector<char>& buffer) {
  buffer.resize(kBlockBytes);
  for (;;) {
    std::copy(embedded_.begin(), embedded_.end(), buffer.begin());
    const std::size_t size = fill(buffer, embedded_.size());
    embedded_.clear();
    std::string_view text(buffer.data(), size);
    if (in_long_line_) {
      const std::size_t end = text.find('\n');
      in_long_line_ = end == std::string_view::npos && !ended_;
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (ended_) return without_broken_lines(buffer, text);
    const std::size_t last_end = text.rfind('\n');
    if (last_end != std::string_view::npos) {
      embedded_ = text.substr(last_end + 1);
      return without_broken_lines(buffer, text.substr(0, last_end + 1));
    }
    if (text.size() == kBlockBytes) {
      ++long_lines_;
      in_long_line_ = true;
    } else {
      embedded_ = text;
    }
  }
}

void StreamTime::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition)) clocks_.insert_or_assign(clock->number, ClockMap(*clock));
  if (const auto* track = std::get_if<Track>(&definition)) track_clocks_[track->number] = track->clock;
  if (const auto* lane = std::get_if<Lane>(&definition)) lane_tracks_[lane->number] = lane->track;
}

std::optional<TimeRange> StreamTime::of(const SealedChunk& chunk) const {
  const std::optional<ChunkHeader> header = read_chunk_header(chunk.bytes);
  if (!header) return std::nullopt;
  return TimeRange{to_ns(header->lane, header->begin_ticks), to_ns(header->lane, header->end_ticks)};
}

std::int64_t StreamTime::to_ns(LaneNumber lane, std::int64_t ticks) const {
  const auto track = lane_tracks_.find(lane);
  if (track == lane_tracks_.end()) return ticks;
  const auto number = track_clocks_.find(track->second);
  if (number == track_clocks_.end()) return ticks;
  const auto clock = clocks_.find(number->second);
  return clock == clocks_.end() ? ticks : clock->second.to_ns(ticks);
}

}  // namespace accelscope::capture::sources
