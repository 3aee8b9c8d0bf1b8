// Stacks of functions, by number: a row of the table for each frame, 0 being the innermost.
#pragma once

#include <string>
#include <unordered_map>

#include "capture/sources/nsys/read/strings.h"
#include "capture/sources/sqlite/foreign_database.h"

namespace accelscope::capture::sources::nsys {

class NsysStacks {
 public:
  struct Stack {
    StringId frames = 0;     // "function (library)" a line, innermost first; 0: there is no such stack
    StringId innermost = 0;  // function
  };

  NsysStacks(NsysStrings& strings, SessionWriter& writer) : strings_(strings), writer_(writer) {}

  // `file` must outlive the object.
  Result<void> open(const sqlite::ForeignDatabase& file, std::string_view table);
  [[nodiscard]] Stack stack(std::int64_t number);
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::uint64_t frames_read() const noexcept { return frames_read_; }

 private:
  static constexpr std::size_t kMostRememberedStacks = 1U << 20;
  static constexpr std::size_t kMostFrames = 1024;

  NsysStrings& strings_;
  SessionWriter& writer_;
  Statement lookup_;
  std::unordered_map<std::int64_t, Stack> known_;
  std::string text_;
  std::uint64_t frames_read_ = 0;
  bool any_ = false;
};

}  // namespace accelscope::capture::sources::nsys
