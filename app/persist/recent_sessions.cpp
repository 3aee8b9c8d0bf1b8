#include "app/persist/persist.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>

#include "core/base/text.h"

namespace accelscope::app {

namespace {

constexpr std::size_t kFields = 7;      // that a record must have
constexpr std::size_t kMoreFields = 9;  // that it has since sessions know their configuration

template <typename T>
bool parse(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

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

Result<void> RecentSessions::load() {
  list_.clear();
  if (file_.empty()) return {};
  auto records = read_records(file_);
  if (!records) return records.error();
  for (TextRecord& fields : *records) {
    RecentSession session;
    if (fields.size() < kFields || fields[0].empty()) continue;
    if (!parse(fields[3], session.work_ns) || !parse(fields[4], session.events) ||
        !parse(fields[5], session.opened_unix_s) || !parse(fields[6], session.warnings)) {
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
    const bool known = std::find(projects.begin(), projects.end(), session.project) != projects.end();
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

}  // namespace accelscope::app
