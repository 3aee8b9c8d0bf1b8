// Bytes that do not fit in memory: a file in the folder for temporary files, which is there from the first append() on
// and goes away with the object. Reading and appending may happen on several threads at once, appending on one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>

#include "core/base/result.h"

namespace accelscope::capture::sources {

class TemporaryFile {
 public:
  [[nodiscard]] Result<std::uint64_t> append(std::span<const std::byte> bytes);  // where they lie
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t size_ = 0;
};

}  // namespace accelscope::capture::sources
