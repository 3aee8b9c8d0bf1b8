#include "app/persist/persist.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::app::persist {

std::string peak_book_file(const std::string& state_directory) {
  return state_directory.empty() ? std::string() : (std::filesystem::path(state_directory) / "peaks.txt").string();
}

Result<void> PeakBook::load() {
  edits_.clear();
  if (file_.empty()) return {};
  const auto records = TRY(read_records(file_));
  for (const TextRecord& fields : records) {
    if (fields.size() != 3) continue;
    double value = 0;
    if (!read_number(fields[2], value) || !std::isfinite(value) || value <= 0) continue;
    edits_.push_back({fields[0], fields[1], value});
  }
  return {};
}

Result<void> PeakBook::enter(analysis::PeakEdit edit) {
  std::erase_if(edits_,
                [&](const analysis::PeakEdit& each) { return each.model == edit.model && each.what == edit.what; });
  edits_.push_back(std::move(edit));
  return write();
}

Result<void> PeakBook::forget(std::string_view model, std::string_view what) {
  if (std::erase_if(edits_, [&](const analysis::PeakEdit& each) { return each.model == model && each.what == what; }) ==
      0)
    return {};
  return write();
}

Result<void> PeakBook::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const analysis::PeakEdit& each : edits_)
    records.push_back({each.model, each.what, fmt::format("{}", each.value)});
  return write_records(file_, records);
}

namespace {

constexpr std::string_view kHistory = "run", kSaved = "saved";

constexpr char kSeparator = '|';

// A name that the text can hold.
std::string plain(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), kSeparator, '/');
  return result;
}

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

constexpr std::size_t kFields = 7;      // that a record must have
constexpr std::size_t kMoreFields = 9;  // that it has since sessions know their configuration

std::tm local_time(std::int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm result{};
#if defined(_WIN32)
  localtime_s(&result, &time);
#else
  localtime_r(&time, &result);
#endif
  return result;
}

// Days since some fixed day, in local time.
std::int64_t local_day(const std::tm& tm) {
  std::int64_t days = tm.tm_yday;
  for (int year = 70; year < tm.tm_year; ++year) {
    const int full = year + 1900;
    days += full % 4 == 0 && (full % 100 != 0 || full % 400 == 0) ? 366 : 365;
  }
  return days;
}

}  // namespace

std::span<const NamedQuery> example_queries() {
  static const std::array<NamedQuery, 5> examples = {
      {{"Time by name",
        "SELECT name, count(*) AS events, sum(dur_ns) AS total_ns\nFROM slice\nGROUP BY name\n"
        "ORDER BY total_ns DESC\nLIMIT 100"},
       {"Longest events", "SELECT id, name, ts_ns, dur_ns, track_id\nFROM slice\nORDER BY dur_ns DESC\nLIMIT 100"},
       {"In the visible range",
        "SELECT id, name, ts_ns, dur_ns, track_id\nFROM slice\nWHERE ts_ns < :end AND end_ns > :begin\nLIMIT 1000"},
       {"Costly source lines",
        "SELECT path, line, event_count, busy_ns, wait_ns\nFROM source_line\nORDER BY busy_ns + wait_ns DESC\n"
        "LIMIT 100"},
       {"Busy time by track",
        "SELECT track.name AS track, track.device, count(*) AS events, sum(dur_ns) AS total_ns\nFROM slice\n"
        "JOIN track ON track.id = slice.track_id\nGROUP BY track_id\nORDER BY total_ns DESC"}}};
  return examples;
}

Result<void> QueryHistory::load() {
  history_.clear();
  saved_.clear();
  if (file_.empty()) return {};
  auto records = TRY(read_records(file_));
  for (TextRecord& fields : records) {
    if (fields.size() == 2 && fields[0] == kHistory && history_.size() < kMostHistory) {
      history_.push_back(std::move(fields[1]));
    } else if (fields.size() == 3 && fields[0] == kSaved) {
      saved_.push_back({std::move(fields[1]), std::move(fields[2])});
    }
  }
  return {};
}

Result<void> QueryHistory::remember(const std::string& sql) {
  if (!history_.empty() && history_.front() == sql) return {};
  std::erase(history_, sql);
  history_.insert(history_.begin(), sql);
  if (history_.size() > kMostHistory) history_.resize(kMostHistory);
  return write();
}

Result<void> QueryHistory::save(NamedQuery query) {
  std::erase_if(saved_, [&](const NamedQuery& other) { return other.name == query.name; });
  const auto place = std::lower_bound(saved_.begin(), saved_.end(), query,
                                      [](const NamedQuery& a, const NamedQuery& b) { return a.name < b.name; });
  saved_.insert(place, std::move(query));
  return write();
}

Result<void> QueryHistory::forget(std::string_view name) {
  if (std::erase_if(saved_, [&](const NamedQuery& query) { return query.name == name; }) == 0) return {};
  return write();
}

Result<void> QueryHistory::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const NamedQuery& query : saved_) records.push_back({std::string(kSaved), query.name, query.sql});
  for (const std::string& sql : history_) records.push_back({std::string(kHistory), sql});
  return write_records(file_, records);
}

void SavedLayouts::put(std::string_view name, std::string text) {
  const auto known = std::ranges::find_if(layouts_, [&](const SavedLayout& l) { return l.name == plain(name); });
  if (known != layouts_.end()) {
    known->text = std::move(text);
  } else {
    layouts_.push_back({plain(name), std::move(text)});
  }
}

void SavedLayouts::remove(std::string_view name) {
  std::erase_if(layouts_, [&](const SavedLayout& l) { return l.name == plain(name); });
}

const SavedLayout* SavedLayouts::find(std::string_view name) const noexcept {
  const auto known = std::ranges::find_if(layouts_, [&](const SavedLayout& l) { return l.name == name; });
  return known == layouts_.end() ? nullptr : &*known;
}

std::string SavedLayouts::to_text() const {
  std::string text;
  for (const SavedLayout& layout : layouts_) text += layout.name + kSeparator + layout.text + kSeparator;
  return text;
}

SavedLayouts SavedLayouts::from_text(std::string_view text) {
  SavedLayouts layouts;
  while (true) {
    const std::size_t middle = text.find(kSeparator);
    const std::size_t end = middle == std::string_view::npos ? middle : text.find(kSeparator, middle + 1);
    if (end == std::string_view::npos) return layouts;
    if (middle > 0) layouts.put(text.substr(0, middle), std::string(text.substr(middle + 1, end - middle - 1)));
    text.remove_prefix(end + 1);
  }
}

Result<void> Settings::load() {
  values_.clear();
  changed_ = false;
  if (file_.empty()) return {};
  auto records = TRY(read_records(file_));
  for (const TextRecord& fields : records) {
    if (fields.size() == 2) values_[fields[0]] = fields[1];
  }
  return {};
}

std::string Settings::value(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : std::string(otherwise);
}

double Settings::number(std::string_view name, double otherwise) const {
  double number = 0;
  return read_number(value(name), number) ? number : otherwise;
}

void Settings::set(std::string_view name, std::string value) {
  const auto found = values_.find(name);
  if (found != values_.end() && found->second == value) return;
  values_[std::string(name)] = std::move(value);
  changed_ = true;
}

void Settings::set(std::string_view name, double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  set(name, error == std::errc{} ? std::string(text.data(), end) : std::string("0"));
}

Result<void> Settings::write_if_changed() {
  if (!changed_ || file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const auto& [name, value] : values_) records.push_back({name, value});
  changed_ = false;
  return write_records(file_, records);
}

namespace fs = std::filesystem;

std::string encode_record(const TextRecord& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) line += '\t';
    for (const char c : fields[i]) {
      switch (c) {
        case '\t':
          line += "\\t";
          break;
        case '\n':
          line += "\\n";
          break;
        case '\\':
          line += "\\\\";
          break;
        default:
          line += c;
      }
    }
  }
  return line;
}

TextRecord decode_record(std::string_view line) {
  TextRecord fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\t') {
      fields.emplace_back();
    } else if (c == '\\' && i + 1 < line.size()) {
      const char escaped = line[++i];
      fields.back() += escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

Result<std::vector<TextRecord>> read_records(const std::string& path) {
  std::vector<TextRecord> records;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return records;
  const std::string text = TRY(read_own_file(behind_own_link(path), Sharing::group, kMostBytes));
  std::istringstream file(text);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty()) records.push_back(decode_record(line));
  }
  return records;
}

Result<void> write_records(const std::string& path, const std::vector<TextRecord>& records) {
  std::error_code error;
  if (const std::string folder = fs::path(path).parent_path().string(); !folder.empty()) {
    if (Result<void> own = make_own_folder(behind_own_link(folder), Sharing::group); !own) {
      return Error{path + ": is not kept: " + own.message()};
    }
  }
  std::string lines;
  for (const TextRecord& record : records) lines += encode_record(record) + '\n';
  const Result<void> written = write_own_file(behind_own_link(path), lines);
  return written ? written : Error{written.message() + "; check the folder's permissions and free space"};
}

Result<void> RecentSessions::load() {
  list_.clear();
  if (file_.empty()) return {};
  auto records = TRY(read_records(file_));
  for (TextRecord& fields : records) {
    RecentSession session;
    if (fields.size() < kFields || fields[0].empty()) continue;
    if (!read_number(fields[3], session.work_ns) || !read_number(fields[4], session.events) ||
        !read_number(fields[5], session.opened_unix_s) || !read_number(fields[6], session.warnings)) {
      continue;
    }
    session.path = std::move(fields[0]);
    session.title = std::move(fields[1]);
    session.device = std::move(fields[2]);
    if (fields.size() >= kMoreFields) {
      session.project = std::move(fields[7]);
      session.configuration = std::move(fields[8]);
    }
    if (list_.size() < kMost) list_.push_back(std::move(session));
  }
  return {};
}

Result<void> RecentSessions::remember(RecentSession session) {
  std::erase_if(list_, [&](const RecentSession& other) { return other.path == session.path; });
  list_.insert(list_.begin(), std::move(session));
  if (list_.size() > kMost) list_.resize(kMost);
  return write();
}

Result<void> RecentSessions::forget(const std::string& path) {
  if (std::erase_if(list_, [&](const RecentSession& other) { return other.path == path; }) == 0) return {};
  return write();
}

Result<void> RecentSessions::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  records.reserve(list_.size());
  for (const RecentSession& session : list_) {
    records.push_back({session.path, session.title, session.device, std::to_string(session.work_ns),
                       std::to_string(session.events), std::to_string(session.opened_unix_s),
                       std::to_string(session.warnings), session.project, session.configuration});
  }
  return write_records(file_, records);
}

std::vector<const RecentSession*> RecentSessions::matching(std::string_view text, std::string_view project) const {
  std::vector<const RecentSession*> found;
  for (const RecentSession& session : list_) {
    if (!project.empty() && session.project != project) continue;
    const std::string all =
        session.title + " " + session.device + " " + session.path + " " + session.project + " " + session.configuration;
    if (matches_words(all, text)) found.push_back(&session);
  }
  return found;
}

std::vector<std::string> RecentSessions::projects() const {
  std::vector<std::string> projects;
  for (const RecentSession& session : list_) {
    const bool known = std::ranges::find(projects, session.project) != projects.end();
    if (!session.project.empty() && !known) projects.push_back(session.project);
  }
  return projects;
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string format_when(std::int64_t unix_s, std::int64_t now_unix_s) {
  const std::tm then = local_time(unix_s);
  const std::tm now = local_time(now_unix_s);
  const std::int64_t days = local_day(now) - local_day(then);
  const char* format = "%d %b %Y";
  if (days == 0) {
    format = "today %H:%M";
  } else if (days == 1) {
    return "yesterday";
  } else if (days > 1 && days < 300) {
    format = "%a %d %b";
  }
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), format, &then);
  return {text.data(), size};
}

}  // namespace accelscope::app::persist
