// What stacks of frames are called: the whole text, the line that a user would look at, and a short name by it. Every
// list of frames is worked out once, however many events have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/sources/pickle/pickle_data.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

struct StackName {
  StringId name = 0;    // "forward (model.py:33)"; 0: there are no frames
  StringId stack = 0;   // "forward (/home/a/model.py:33)\n...", innermost first
  StringId source = 0;  // "/home/a/model.py:33"
};

class StackNames {
 public:
  StackNames(const pickle::PickleData& data, SessionWriter& writer) : data_(data), writer_(writer) {}
  [[nodiscard]] const StackName& of(pickle::PickleValue frames);
  // Stacks whose outer frames were left out: there are too many, or all texts together have become too long.
  [[nodiscard]] std::uint64_t cut() const noexcept { return cut_; }

 private:
  struct Frame {
    std::string_view function, file;
    std::int64_t line = 0;
  };
  [[nodiscard]] Frame frame_of(pickle::PickleValue value) const;
  [[nodiscard]] StackName make(pickle::PickleValue frames);

  const pickle::PickleData& data_;
  SessionWriter& writer_;
  std::size_t text_left_ = 256U << 20;
  std::uint64_t cut_ = 0;
  std::unordered_map<std::uint64_t, StackName> known_;  // by the word of the frames
};

}  // namespace accelscope::capture::sources::torch_memory
