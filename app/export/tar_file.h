// A tar archive (ustar), file by file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace accelscope::app {

class TarFile {
 public:
  explicit TarFile(std::ostream& out) : out_(out) {}

  // A name of at most 99 bytes; `unix_seconds`: when it was changed. The stream's state says whether it was written.
  void add(std::string_view name, std::string_view content, std::int64_t unix_seconds);
  void finish();  // the two empty blocks that end an archive

 private:
  std::ostream& out_;
};

}  // namespace accelscope::app
