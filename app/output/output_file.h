// Where a command's result goes: the standard output ("-"), or a file that appears under its name only when it is
// complete. An existing file is replaced only where the user asked for it, and never one of the inputs.
#pragma once

#include <cstdint>
#include <fstream>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app::output {

inline constexpr std::string_view kStandardOutput = "-";

// Why the file may not be written; nothing to say if it may.
[[nodiscard]] Result<void> may_write(const std::string& path, bool replace, const std::vector<std::string>& inputs);

// The name that a file in this folder gets where the user gives none: "kernel.accel" of "runs/kernel.json.gz".
[[nodiscard]] std::string default_output(const std::string& input, std::string_view ending);

class OutputFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<OutputFile>> open(const std::string& path, std::ostream& standard);
  ~OutputFile();  // what was not finished is removed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::ostream& stream() noexcept { return is_file_ ? file_ : standard_; }
  [[nodiscard]] Result<void> write(std::string_view text);
  [[nodiscard]] Result<void> finish();

 private:
  OutputFile(std::string path, std::ostream& standard);
  [[nodiscard]] Error failure() const;

  std::string path_;
  std::string temporary_;  // "": a pipe or a device is written to as it is
  std::ostream& standard_;
  std::ofstream file_;
  bool is_file_ = false;
  bool finished_ = false;
};

// The whole of a file: what was there before stays until all of it is on the disk.
[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view text);

// A tar archive (ustar), file by file.
class TarFile {
 public:
  explicit TarFile(std::ostream& out) : out_(out) {}

  // A name of at most 99 bytes; `unix_seconds`: when it was changed. The stream's state says whether it was written.
  void add(std::string_view name, std::string_view content, std::int64_t unix_seconds);
  void finish();  // the two empty blocks that end an archive

 private:
  std::ostream& out_;
};

}  // namespace accelscope::app::output
