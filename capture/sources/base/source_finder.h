// Finds the source files that a profile names under folders of the user's choice: by the whole name below a folder,
// else by the longest common ending of the path.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources {

struct FoundSources {
  std::vector<SourceFile> files;  // under the names that were asked for
  std::vector<std::string> missing;
};

inline constexpr std::size_t kMostSourceFiles = 500'000;     // looked at
inline constexpr std::uint64_t kMostSourceBytes = 8U << 20;  // of one

// Reads every file that is found. `others`: files that come with the input, behind those of the folders.
[[nodiscard]] FoundSources find_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                                             const std::vector<SourceFile>& others = {});

// Adds every file that is found, and a quality entry about those that are not: source files that `who_names` ("the log
// names") them; `hint` says what folder that could be: ", such as a checkout of tt-metal,".
void add_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                      std::string_view who_names, SessionWriter& writer, std::string_view hint = {},
                      const std::vector<SourceFile>& others = {});

// "kernel.py" of "kernel.py:33"; empty if there is no line number.
[[nodiscard]] std::string_view file_of_location(std::string_view location) noexcept;

// Bytes that do not fit in memory: a file in the folder for temporary files, which is there from the first append() on
// and goes away with the object. Reading and appending may happen on several threads at once, appending on one.
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
