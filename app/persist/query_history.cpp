#include "app/persist/query_history.h"

#include <algorithm>
#include <array>

#include "app/persist/text_record.h"

namespace accelscope::app {
namespace {

constexpr std::string_view kHistory = "run", kSaved = "saved";

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
  auto records = read_records(file_);
  if (!records) return records.error();
  for (TextRecord& fields : *records) {
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

}  // namespace accelscope::app
