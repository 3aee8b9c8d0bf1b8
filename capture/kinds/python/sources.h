// The source files of profiled programs: read where they lie, on this host, and put into the session. Not those of
// Python's own library.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::python {

class SourceShelf {
 public:
  static constexpr std::size_t kMaxFileBytes = 1U << 20;
  static constexpr std::size_t kMaxAllBytes = 64U << 20;

  explicit SourceShelf(SessionWriter& writer) : writer_(writer) {}

  // Reads the file at its first use. `library`: the folder of Python's own modules, "": not known.
  void take(const std::string& path, std::string_view library);
  // Text of a line, from 1; "" of what was not read.
  [[nodiscard]] std::string_view line(const std::string& path, std::uint32_t number) const;
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }  // too large, or beyond all

 private:
  struct File {
    std::string content;
    std::vector<std::size_t> begins;  // of each line, and the end
  };
  SessionWriter& writer_;
  std::map<std::string, File, std::less<>> files_;  // empty ones could not be read
  std::size_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace accelscope::capture::kinds::python
