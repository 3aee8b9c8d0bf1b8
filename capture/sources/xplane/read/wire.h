// Goes over the fields of a protobuf message that lies in a file and may be larger than memory: values of numbers,
// places of everything else. A message that breaks off or is no message ends the walk there.
//
//   MessageWalk walk(window, begin, end);
//   for (WireField field; walk.next(field);) if (field.is_bytes(kPlanes)) plane(field.begin, field.begin + field.size);
//   if (walk.problem() != MessageWalk::Problem::none) report(walk.problem_at());
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

#include "capture/sources/xplane/read/space_bytes.h"

namespace accelscope::capture::sources::xplane {

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

}  // namespace accelscope::capture::sources::xplane
