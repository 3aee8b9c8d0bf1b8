// What a list says of a file, and what can be changed of it: of a session its headline, tags and project from the file
// itself, of a profile of another program that it can be imported.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/workspace/headline.h"

namespace accelscope::app {

struct LibraryEntry {
  std::string path;
  std::string folder;  // that was listed
  std::uint64_t size_bytes = 0;
  std::int64_t changed_unix_s = 0;
  std::int64_t changed_ns = 0;  // the same, as exactly as the disk has it
  bool is_session = true;       // else a profile, to be imported
  std::string format;           // of a profile: "neuron-json"
  std::string name;             // given in a list, else the session's own, else the file's
  bool is_named = false;        // in a list
  Headline headline;            // of a session
  std::vector<std::string> tags;
  std::string project, configuration;
  std::string problem;  // why it cannot be read; "": it can
  std::string remark;   // what beside it cannot be read, such as tags in a damaged file of their own

  // Of a profile there are none, nor of a session as an agent writes it until it was looked into
  // (FoundHeadlines, below).
  [[nodiscard]] bool has_figures() const { return headline != Headline(); }
  // When it was saved first; where the file does not say, when it was changed last.
  [[nodiscard]] std::int64_t when_unix_s() const noexcept {
    return headline.saved_unix_s > 0 ? headline.saved_unix_s : changed_unix_s;
  }
};

// A session's name in lists is its own unless it was given one there: after its headline has come in.
void take_headline(LibraryEntry& entry, const Headline& headline);

// A session file, or a profile that an importer takes. Nothing is opened whole, and nothing is written.
[[nodiscard]] LibraryEntry read_entry(const std::string& path, const std::string& folder);

struct LibraryScan {
  std::vector<LibraryEntry> entries;  // by path
  std::vector<std::string> problems;  // folders that cannot be read, in sentences
};
// Sessions and profiles in the folders and, to some depth, below them. One file is given too. Calls `told` with every
// entry, and before with 0 of 0 at every folder; false ends it.
[[nodiscard]] LibraryScan scan_library(const std::vector<std::string>& folders,
                                       const std::function<bool(std::size_t done, std::size_t total)>& told = {});

// Those with every word of the text in their name, device, processes, path, tags, project or configuration, whatever
// the case.
[[nodiscard]] bool matches(const LibraryEntry& entry, std::string_view text);

// As tags are kept and typed: "a, b,c". One that holds a comma stands in double quotes, "config=b=1, s=128".
[[nodiscard]] std::vector<std::string> split_tags(std::string_view text);
[[nodiscard]] std::string join_tags(const std::vector<std::string>& tags);

// Changes of what lies on the disk. Errors name the file and what to try.
Result<void> set_tags(const std::string& path, const std::vector<std::string>& tags);
Result<void> set_title(const std::string& path, const std::string& title);  // "": its own name again
Result<void> set_project(const std::string& path, const std::string& project);
// With the sidecar that it may have. Nothing is replaced. The new path.
[[nodiscard]] Result<std::string> move_session(const std::string& path, const std::string& folder);
Result<void> delete_session(const std::string& path);

// Headlines of sessions that have none of their own: written by an agent, or by a program that knows none. They are
// found by opening the session without changing it, once for each state of the file, and remembered in a small text
// file of the viewer's own.

// A session that lacks one and can be read.
[[nodiscard]] bool lacks_headline(const LibraryEntry& entry);

// Opens the session; nothing is written. The time that it was saved is that of the file.
[[nodiscard]] Result<Headline> look_into(const LibraryEntry& entry, WorkerPool& pool, TaskControl& control);

class FoundHeadlines {
 public:
  static constexpr std::size_t kMost = 5000;

  // file: where they are kept; "" keeps them for this run only.
  explicit FoundHeadlines(std::string file) : file_(std::move(file)) {}

  // A file that cannot be read or is damaged costs the time to find them again.
  Result<void> load();
  // Of this state of the file, by path, size and time of its last change. Null: it was not looked into. An empty one:
  // nothing can be found in it.
  [[nodiscard]] const Headline* find(const LibraryEntry& entry) const;
  void keep(const LibraryEntry& entry, Headline headline);
  Result<void> write() const;

 private:
  struct Found {
    std::uint64_t size_bytes = 0;
    std::int64_t changed_ns = 0;
    Headline headline;
  };
  std::string file_;
  std::map<std::string, Found> found_;  // by path
};

}  // namespace accelscope::app
