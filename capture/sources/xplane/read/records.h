// The small messages of an XSpace, each as a whole in memory: events, their stats, what metadata say of them.
#pragma once

#include <protozero/types.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::xplane {

// The bytes of a profile, at any place and as often as wanted: a file, or what a packed one inflates to, which lies in
// a temporary file as long as the object does.
//
//   SpaceWindow window(bytes);
//   const std::string_view event = window.at(offset, size);  // shorter: the file ends there, or cannot be read

class SpaceBytes {
 public:
  // Looks at the first bytes to see how the file is packed.
  [[nodiscard]] static Result<std::unique_ptr<SpaceBytes>> open(const std::string& path);
  // Bytes that are in memory already, not packed; they must outlive the object.
  [[nodiscard]] static std::unique_ptr<SpaceBytes> from_memory(std::span<const char> bytes);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Why there are not more of them: a packed file that breaks off. "": these are all.
  [[nodiscard]] const std::string& broken_off() const noexcept { return broken_off_; }
  // How many were put into `out`; fewer than it holds at the end, or where they cannot be read.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<char> out) const noexcept;
  // Why read() failed, on whichever thread; "": it did not.
  [[nodiscard]] std::string failure() const { return failure_ == 0 ? "" : std::strerror(failure_); }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  [[nodiscard]] Result<void> inflate(const std::string& path);

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::span<const char> memory_;
  std::uint64_t size_ = 0;
  std::string broken_off_;
  mutable std::atomic<int> failure_ = 0;  // of errno
};

// A part of them in memory, that moves along.
class SpaceWindow {
 public:
  explicit SpaceWindow(const SpaceBytes& bytes, std::size_t window_bytes = kWindowBytes)
      : bytes_(bytes), window_bytes_(window_bytes) {}

  // Valid until the next call.
  [[nodiscard]] std::string_view at(std::uint64_t offset, std::size_t count) {
    if (offset >= begin_ && offset + count <= begin_ + filled_) return {buffer_.data() + (offset - begin_), count};
    return fill(offset, count);
  }

 private:
  static constexpr std::size_t kWindowBytes = 1U << 20;
  [[nodiscard]] std::string_view fill(std::uint64_t offset, std::size_t count);

  const SpaceBytes& bytes_;
  std::size_t window_bytes_;
  std::vector<char> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

// Goes over the fields of a protobuf message that lies in a file and may be larger than memory: values of numbers,
// places of everything else. A message that breaks off or is no message ends the walk there.
//
//   MessageWalk walk(window, begin, end);
//   for (WireField field; walk.next(field);) if (field.is_bytes(kPlanes)) plane(field.begin, field.begin + field.size);
//   if (walk.problem() != MessageWalk::Problem::none) report(walk.problem_at());

struct WireField {
  std::uint32_t number = 0;
  protozero::pbf_wire_type type = protozero::pbf_wire_type::unknown;
  std::uint64_t value = 0;  // of a number
  std::uint64_t begin = 0;  // of bytes: where they lie in the file
  std::uint64_t size = 0;
  bool cut = false;  // the message has fewer of them than the field says: those are meant

  [[nodiscard]] bool is_number(std::uint32_t which) const noexcept {
    return number == which && type == protozero::pbf_wire_type::varint;
  }
  [[nodiscard]] bool is_bytes(std::uint32_t which) const noexcept {
    return number == which && type == protozero::pbf_wire_type::length_delimited;
  }
};

class MessageWalk {
 public:
  enum class Problem : std::uint8_t {
    none,
    cut,    // a field reaches beyond the end of the message
    wrong,  // no field stands there
  };
  MessageWalk(SpaceWindow& window, std::uint64_t begin, std::uint64_t end) noexcept
      : window_(window), at_(begin), end_(end) {}

  [[nodiscard]] bool next(WireField& field);
  [[nodiscard]] Problem problem() const noexcept { return problem_; }
  [[nodiscard]] std::uint64_t problem_at() const noexcept { return problem_at_; }

 private:
  bool fail(Problem problem, std::uint64_t at) noexcept;

  SpaceWindow& window_;
  std::uint64_t at_;
  std::uint64_t end_;
  Problem problem_ = Problem::none;
  std::uint64_t problem_at_ = 0;
};

// XStat. The kind is the field that holds the value.
struct StatValue {
  enum class Kind : std::uint8_t { none, real, natural, whole, text, bytes, reference, packed };
  std::int64_t id = 0;  // of the plane's metadata of stats
  Kind kind = Kind::none;
  std::uint64_t bits = 0;  // of a number; the id of the metadata whose name is the text
  std::string_view text;   // of the message; packed: gzip

  [[nodiscard]] bool is_number() const noexcept {
    return kind == Kind::real || kind == Kind::natural || kind == Kind::whole;
  }
};

// Of a number.
[[nodiscard]] double real_of(const StatValue& value) noexcept;
[[nodiscard]] std::string number_text(const StatValue& value);

// XEvent.
struct EventRecord {
  std::int64_t metadata = 0;
  std::int64_t offset_ps = 0;
  std::int64_t duration_ps = 0;
  std::uint64_t occurrences = 0;
  bool is_total = false;  // of so many occurrences, without a time
  std::span<const StatValue> stats;
};

// XEventMetadata.
struct EventMetadata {
  std::string_view name;
  std::string_view display_name;
  std::vector<StatValue> stats;
};

// False: the message is broken; what was read before the mistake stays.
// The event's stats follow those in `stats`, their texts are views of the message; which are the event's is the
// caller's to say, because `stats` may move.
[[nodiscard]] bool read_event(std::string_view message, EventRecord& event, std::vector<StatValue>& stats);
[[nodiscard]] bool read_stat(std::string_view message, StatValue& stat);
[[nodiscard]] bool read_event_metadata(std::string_view message, EventMetadata& metadata);
[[nodiscard]] bool read_stat_metadata(std::string_view message, std::string_view& name);

}  // namespace accelscope::capture::sources::xplane
