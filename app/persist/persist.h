#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/base/result.h"

namespace accelscope::app::persist {

// What the user has entered of what devices can do at most, for all sessions of a device of that name. Retained in one
// small text file, a line each, which may be edited by hand:
//
//   NVIDIA H100 80GB HBM3 <tab> hbm <tab> 3350000000000
//
// model, what (as `accelscope view FILE --table peaks` names them), and the value in B/s or FLOP/s. Lines that cannot
// be read are passed over and go when the file is written anew.

// In the folder for settings; "" without one.
[[nodiscard]] std::string peak_book_file(const std::string& state_directory);

class PeakBook {
 public:
  // file: where they are kept; "" keeps them for this run only.
  explicit PeakBook(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  [[nodiscard]] const analysis::PeakEdits& edits() const noexcept { return edits_; }
  Result<void> enter(analysis::PeakEdit edit);  // in the place of what was entered before
  Result<void> forget(std::string_view model, std::string_view what);

 private:
  Result<void> write() const;
  std::string file_;
  analysis::PeakEdits edits_;
};

// The queries that a user has run and those that they have named, kept in one small text file for all sessions; and
// a few to begin with.
struct NamedQuery {
  std::string name;
  std::string sql;
  bool operator==(const NamedQuery&) const = default;
};

[[nodiscard]] std::span<const NamedQuery> example_queries();

class QueryHistory {
 public:
  static constexpr std::size_t kMostHistory = 200;

  // file: where they are kept; "" keeps them for this run only.
  explicit QueryHistory(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  Result<void> remember(const std::string& sql);  // newest first, the same text once
  Result<void> save(NamedQuery query);            // replaces one of the same name
  Result<void> forget(std::string_view name);

  [[nodiscard]] const std::vector<std::string>& history() const noexcept { return history_; }
  [[nodiscard]] const std::vector<NamedQuery>& saved() const noexcept { return saved_; }  // by name

 private:
  Result<void> write() const;
  std::string file_;
  std::vector<std::string> history_;
  std::vector<NamedQuery> saved_;
};

// The sessions that were opened before, newest first, with the two figures that identify a run (active time,
// events). Retained in one small text file; what cannot be parsed is skipped. Never touches the sessions themselves.
struct RecentSession {
  std::string path;
  std::string title;
  std::string device;
  std::int64_t work_ns = 0;
  std::uint64_t events = 0;
  std::int64_t opened_unix_s = 0;
  std::uint64_t warnings = 0;
  std::string project = {};  // that it was captured with
  std::string configuration = {};
  bool operator==(const RecentSession&) const = default;
};

class RecentSessions {
 public:
  static constexpr std::size_t kMost = 100;

  // file: where the list is kept; "" keeps it for this run only.
  explicit RecentSessions(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  // Adds it in front, or moves it there when the path is known.
  Result<void> remember(RecentSession session);
  Result<void> forget(const std::string& path);

  [[nodiscard]] const std::vector<RecentSession>& list() const noexcept { return list_; }
  // Those whose title, device, path, project or configuration holds every word of the text, whatever the case; of the
  // project, unless that is "".
  [[nodiscard]] std::vector<const RecentSession*> matching(std::string_view text, std::string_view project = "") const;
  [[nodiscard]] std::vector<std::string> projects() const;  // newest first, each once

 private:
  Result<void> write() const;
  std::string file_;
  std::vector<RecentSession> list_;
};

// "today 14:12", "yesterday", "Mon 17 Nov", "17 Nov 2025", in local time.
[[nodiscard]] std::int64_t unix_now();  // seconds
[[nodiscard]] std::string format_when(std::int64_t unix_s, std::int64_t now_unix_s);

// Arrangements of the panels under names that the user gave, kept in the settings as one text.
struct SavedLayout {
  std::string name;
  std::string text;  // as PanelLayout::to_text() has it
};

class SavedLayouts {
 public:
  void put(std::string_view name, std::string text);  // in the place of one of that name
  void remove(std::string_view name);
  [[nodiscard]] const SavedLayout* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<SavedLayout>& all() const noexcept { return layouts_; }  // oldest first

  [[nodiscard]] std::string to_text() const;
  static SavedLayouts from_text(std::string_view text);  // what it cannot read is left out

 private:
  std::vector<SavedLayout> layouts_;
};

// What the viewer remembers between runs besides sessions: named values in one small text file. Meaning is given
// by those who use a value (theme, scale, panel layout); unknown names of a newer version are kept.
class Settings {
 public:
  // file: where they are kept; "" keeps them for this run only.
  explicit Settings(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  [[nodiscard]] std::string value(std::string_view name, std::string_view otherwise = "") const;
  [[nodiscard]] double number(std::string_view name, double otherwise) const;
  void set(std::string_view name, std::string value);
  void set(std::string_view name, double value);
  // Writes the file when something has changed since it was last written.
  Result<void> write_if_changed();

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> values_;
  bool changed_ = false;
};

// The small text files that the viewer remembers things in: lines of tab-separated fields, with tab, line end and
// backslash escaped, read tolerantly and written whole by rename, in files and folders that are this user's. No types
// in here: users parse their fields.

using TextRecord = std::vector<std::string>;

[[nodiscard]] std::string encode_record(const TextRecord& fields);  // without a line end
[[nodiscard]] TextRecord decode_record(std::string_view line);

// A missing file reads as no records; another user's is an error.
[[nodiscard]] Result<std::vector<TextRecord>> read_records(const std::string& path);
// Makes the folder when needed; the old file stays until the new one is complete. Nobody else may read it.
Result<void> write_records(const std::string& path, const std::vector<TextRecord>& records);

}  // namespace accelscope::app::persist
