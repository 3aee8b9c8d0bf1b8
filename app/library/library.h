// The folders that the viewer lists: which they are (kept in the settings), what lies in them, and what is done with
// that. Everything that touches the disk is a job; the list is that of the last scan until the next one has ended. UI
// thread only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/library/entry.h"
#include "app/persist/persist.h"
#include "app/session/background_job.h"
#include "app/workspace/opening.h"
#include "core/base/worker_pool.h"

namespace accelscope::app {

enum class LibraryOrder : std::uint8_t { name, device, work, events, when };

class Library {
 public:
  // The pool must outlive it. wake: from any thread, a job has ended. headline_file: what was found of sessions that
  // say nothing of themselves; "" remembers nothing.
  Library(Settings& settings, WorkerPool& pool, std::function<void()> wake, std::string headline_file = "");
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
  struct Wish {
    std::string text, tag, project;
    LibraryOrder order = LibraryOrder::when;
    bool descending = true;
    bool operator==(const Wish&) const = default;
  };
  [[nodiscard]] const std::vector<const LibraryEntry*>& matching(const Wish& wish);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const std::vector<std::string>& tags() const noexcept { return tags_; }          // most used first
  [[nodiscard]] const std::vector<std::string>& projects() const noexcept { return projects_; }  // the same
  [[nodiscard]] bool scanned() const noexcept { return scanned_; }  // at least once since the folders changed

  // Jobs; each is followed by a scan. then: on the UI thread, once the work has succeeded; it asks for no other.
  void change(std::string title, std::function<Result<void>()> work, std::function<void()> then = {});
  // A profile becomes a session beside it: "kernel.accel" of "kernel.json". Two at a time, the others wait.
  // `open_options`: as for opening.
  void import(const std::string& path, const OpenSessionOptions& open_options);
  [[nodiscard]] const BackgroundJob* importing(const std::string& path) const;  // null: it is not, or waits
  [[nodiscard]] bool is_importing(const std::string& path) const;               // or waits
  [[nodiscard]] std::vector<BackgroundJob*> jobs() const;                       // with progress that is worth showing
  [[nodiscard]] bool settled() const noexcept {
    return !scanning_ && works_.empty() && !looking_ && to_look_.empty() && !keeping_.valid();
  }

 private:
  struct Work {
    std::string path = {};    // of what is imported; else ""
    std::string target = {};  // that it becomes
    BackgroundJob::Work waiting = {};
    std::unique_ptr<BackgroundJob> job = {};  // null: it waits
    std::function<void()> then = {};
  };
  void start_imports();
  void take_scan();
  void fill_in();       // what is known of entries without a headline; the others are looked into, one after another
  void look_further();  // takes what the last look has found
  void keep_found();    // on the pool, once what was found is worth it
  void count_words();

  Settings& settings_;
  WorkerPool& pool_;
  std::function<void()> wake_;
  std::vector<std::string> folders_;
  std::vector<LibraryEntry> entries_;
  std::vector<std::string> tags_, projects_;
  std::unique_ptr<BackgroundJob> scanning_;
  std::shared_ptr<LibraryScan> scan_result_;
  bool scan_again_ = false;
  bool scanned_ = false;
  // A session without a headline that is being looked into.
  struct Look {
    LibraryEntry entry;
    Task<Result<Headline>> task;
  };
  FoundHeadlines found_;
  std::shared_ptr<FoundHeadlines> loading_;  // by the first scan
  bool found_loaded_ = false;
  std::size_t not_kept_ = 0;  // looks since the last time that they were written
  Task<Result<void>> keeping_;
  std::deque<LibraryEntry> to_look_;
  std::optional<Look> looking_;
  std::vector<Work> works_;
  std::vector<std::string> wrong_;
  Wish matched_for_;
  bool matched_ = false;
  std::vector<const LibraryEntry*> matched_entries_;
};

}  // namespace accelscope::app
