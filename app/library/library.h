// The folders that the viewer lists: which they are (kept in the settings), what lies in them, and what is done with
// that. Everything that touches the disk is a job; the list is that of the last scan until the next one has ended. UI
// thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/persist/persist.h"
#include "app/session/background_job.h"
#include "app/workspace/headline.h"
#include "app/workspace/opening.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::library {

// What a list says of a file, and what can be changed of it: of a session its headline, tags and project from the file
// itself, of a profile of another program that it can be imported.

struct LibraryEntry {
  std::string path;
  std::string folder;  // that was listed
  std::uint64_t size_bytes = 0;
  std::int64_t changed_unix_s = 0;
  std::int64_t changed_ns = 0;   // the same, as exactly as the disk has it
  bool is_session = true;        // else a profile, to be imported
  std::string format;            // of a profile: "neuron-json"
  std::string name;              // given in a list, else the session's own, else the file's
  bool is_named = false;         // in a list
  workspace::Headline headline;  // of a session
  std::vector<std::string> tags;
  std::string project, configuration;
  std::string problem;  // why it cannot be read; "": it can
  std::string remark;   // what beside it cannot be read, such as tags in a damaged file of their own

  // Of a profile there are none, nor of a session as an agent writes it until it was looked into
  // (FoundHeadlines, below).
  [[nodiscard]] bool has_figures() const { return headline != workspace::Headline(); }
  // When it was saved first; where the file does not say, when it was changed last.
  [[nodiscard]] std::int64_t when_unix_s() const noexcept {
    return headline.saved_unix_s > 0 ? headline.saved_unix_s : changed_unix_s;
  }
};

// A session's name in lists is its own unless it was given one there: after its headline has come in.
void take_headline(LibraryEntry& entry, const workspace::Headline& headline);

// A session file, or a profile that an importer takes. Nothing is opened whole, and nothing is written.
[[nodiscard]] LibraryEntry read_entry(const std::string& path, const std::string& folder);

struct LibraryScan {
  std::vector<LibraryEntry> entries;  // by path
  std::vector<std::string> problems;  // folders that cannot be read, in sentences
};
// Sessions and profiles in the folders and, to some depth, below them. One file is given too. Calls `reported` with
// every entry, and before with 0 of 0 at every folder; false ends it.
[[nodiscard]] LibraryScan scan_library(const std::vector<std::string>& folders,
                                       const std::function<bool(std::size_t done, std::size_t total)>& reported = {});

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
[[nodiscard]] Result<workspace::Headline> look_into(const LibraryEntry& entry, WorkerPool& pool, TaskControl& control);

class FoundHeadlines {
 public:
  static constexpr std::size_t kMost = 5000;

  // file: where they are kept; "" keeps them for this run only.
  explicit FoundHeadlines(std::string file) : file_(std::move(file)) {}

  // A file that cannot be read or is damaged costs the time to find them again.
  Result<void> load();
  // Of this state of the file, by path, size and time of its last change. Null: it was not looked into. An empty one:
  // nothing can be found in it.
  [[nodiscard]] const workspace::Headline* find(const LibraryEntry& entry) const;
  void keep(const LibraryEntry& entry, workspace::Headline headline);
  Result<void> write() const;

 private:
  struct Found {
    std::uint64_t size_bytes = 0;
    std::int64_t changed_ns = 0;
    workspace::Headline headline;
  };
  std::string file_;
  std::map<std::string, Found> found_;  // by path
};

enum class LibraryOrder : std::uint8_t { name, device, work, events, when };

class Library {
 public:
  // The pool must outlive it. wake: from any thread, a job has ended. headline_file: what was found of sessions that
  // say nothing of themselves; "" remembers nothing.
  Library(persist::Settings& settings, WorkerPool& pool, std::function<void()> wake, std::string headline_file = "");
  ~Library();  // what was found and is in no file yet is written
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Once per frame; what went wrong since the last one, in sentences.
  [[nodiscard]] std::vector<std::string> update();

  [[nodiscard]] const std::vector<std::string>& folders() const noexcept { return folders_; }
  void add_folder(const std::string& folder);
  void remove_folder(const std::string& folder);  // from the list; the folder stays
  void scan();                                    // anew; also once the work under way has ended
  void scan_once();                               // unless they were or are read

  // Matching entries in order; "" as tag or project matches all. Valid until the next update().
  struct Intent {
    std::string text, tag, project;
    LibraryOrder order = LibraryOrder::when;
    bool descending = true;
    bool operator==(const Intent&) const = default;
  };
  [[nodiscard]] const std::vector<const LibraryEntry*>& matching(const Intent& intent);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const std::vector<std::string>& tags() const noexcept { return tags_; }          // most used first
  [[nodiscard]] const std::vector<std::string>& projects() const noexcept { return projects_; }  // the same
  [[nodiscard]] bool scanned() const noexcept { return scanned_; }  // at least once since the folders changed

  // Jobs; each is followed by a scan. then: on the UI thread, once the work has succeeded; it asks for no other.
  void change(std::string title, std::function<Result<void>()> work, std::function<void()> then = {});
  // A profile becomes a session beside it: "kernel.accel" of "kernel.json". Two at a time, the others wait.
  // `open_options`: as for opening.
  void import(const std::string& path, const workspace::OpenSessionOptions& open_options);
  [[nodiscard]] const session::BackgroundJob* importing(const std::string& path) const;  // null: it is not, or waits
  [[nodiscard]] bool is_importing(const std::string& path) const;                        // or waits
  [[nodiscard]] std::vector<session::BackgroundJob*> jobs() const;  // with progress that is worth showing
  [[nodiscard]] bool settled() const noexcept {
    return !scanning_ && works_.empty() && !looking_ && to_look_.empty() && !keeping_.valid();
  }

 private:
  struct Work {
    std::string path = {};    // of what is imported; else ""
    std::string target = {};  // that it becomes
    session::BackgroundJob::Work waiting = {};
    std::unique_ptr<session::BackgroundJob> job = {};  // null: it waits
    std::function<void()> then = {};
  };
  void start_imports();
  void take_scan();
  void fill_in();       // what is known of entries without a headline; the others are looked into, one after another
  void look_further();  // takes what the last look has found
  void keep_found();    // on the pool, once what was found is worth it
  void count_words();

  persist::Settings& settings_;
  WorkerPool& pool_;
  std::function<void()> wake_;
  std::vector<std::string> folders_;
  std::vector<LibraryEntry> entries_;
  std::vector<std::string> tags_, projects_;
  std::unique_ptr<session::BackgroundJob> scanning_;
  std::shared_ptr<LibraryScan> scan_result_;
  bool scan_again_ = false;
  bool scanned_ = false;
  // A session without a headline that is being looked into.
  struct Look {
    LibraryEntry entry;
    Task<Result<workspace::Headline>> task;
  };
  FoundHeadlines found_;
  std::shared_ptr<FoundHeadlines> loading_;  // by the first scan
  bool found_loaded_ = false;
  std::size_t not_retained_ = 0;  // looks since the last time that they were written
  Task<Result<void>> keeping_;
  std::deque<LibraryEntry> to_look_;
  std::optional<Look> looking_;
  std::vector<Work> works_;
  std::vector<std::string> wrong_;
  Intent matched_for_;
  bool matched_ = false;
  std::vector<const LibraryEntry*> matched_entries_;
};

}  // namespace accelscope::app::library
