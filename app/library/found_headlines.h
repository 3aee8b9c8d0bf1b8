// Headlines of sessions that have none of their own: written by an agent, or by a program that knows none. They are
// found by opening the session without changing it, once for each state of the file, and remembered in a small text
// file of the viewer's own.
#pragma once

#include <map>
#include <string>

#include "app/library/entry.h"

namespace accelscope::app {

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
