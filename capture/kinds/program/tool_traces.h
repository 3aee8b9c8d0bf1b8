// Traces that a profiling tool leaves behind when its program has ended: each becomes a part of the capture, at the
// time at which it was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/program/run.h"

namespace accelscope::capture::kinds::program {

// The capture's time 0 by the clock on the wall.
[[nodiscard]] std::int64_t origin_unix_ns(const request::KindRun& run);

// The files of the folder with such endings, in the order of their names; unless told otherwise Chrome JSON.
[[nodiscard]] std::vector<std::string> find_tool_traces(const std::string& folder,
                                                        std::initializer_list<std::string_view> endings = {".json",
                                                                                                           ".json.gz"});

// Runs the program under a tool, then reads the traces that it has left in the folder; `none` says why there is none.
[[nodiscard]] Result<void> run_for_traces(const request::KindRun& run, EventSink& sink, ProgramRunOptions options,
                                          const system::ChildStart& start, const std::string& folder,
                                          const std::function<Error()>& none);

// What a program has written into folders, by how they were before: clocks of files run behind those of programs.

// Which files with an ending lie below some folders, so that those that came or changed since can be told.
class FolderWatch {
 public:
  struct File {
    std::string path;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type written;
  };

  // Looks at `depth` levels of folders below each; links are not followed, hidden folders left out.
  FolderWatch(std::vector<std::string> folders, std::string ending, int depth);
  // New or written since, by path.
  [[nodiscard]] std::vector<File> changed() const;

 private:
  [[nodiscard]] std::vector<File> list() const;
  std::vector<std::string> folders_;
  std::string ending_;
  int depth_;
  std::map<std::string, File> before_;
};

}  // namespace accelscope::capture::kinds::program
