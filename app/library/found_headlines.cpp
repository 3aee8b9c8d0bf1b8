#include "app/library/found_headlines.h"

#include <utility>

#include "app/persist/text_record.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kFoundFields = 4;  // path, size, time, headline

}  // namespace

bool lacks_headline(const LibraryEntry& entry) {
  return entry.is_session && entry.problem.empty() && !entry.has_figures();
}

Result<Headline> look_into(const LibraryEntry& entry, WorkerPool& pool, TaskControl& control) {
  const auto store = Store::open_unchanged(entry.path);
  if (!store) return store.error();
  return find_headline({**store, (*store)->snapshot(), pool, control}, entry.changed_unix_s);
}

Result<void> FoundHeadlines::load() {
  found_.clear();
  if (file_.empty()) return {};
  const auto records = read_records(file_);
  if (!records) return records.error();
  for (const TextRecord& fields : *records) {
    Found found;
    if (fields.size() < kFoundFields || !read_number(fields[1], found.size_bytes) ||
        !read_number(fields[2], found.changed_ns))
      continue;
    if (!fields[3].empty()) {
      const auto headline = headline_of(fields[3]);
      if (!headline) continue;  // of another version: found anew
      found.headline = *headline;
    }
    if (found_.size() < kMost) found_[fields[0]] = std::move(found);
  }
  return {};
}

const Headline* FoundHeadlines::find(const LibraryEntry& entry) const {
  const auto found = found_.find(entry.path);
  if (found == found_.end()) return nullptr;
  const bool same = found->second.size_bytes == entry.size_bytes && found->second.changed_ns == entry.changed_ns;
  return same ? &found->second.headline : nullptr;
}

void FoundHeadlines::keep(const LibraryEntry& entry, Headline headline) {
  if (found_.size() >= kMost && !found_.contains(entry.path)) found_.erase(found_.begin());
  found_[entry.path] = {entry.size_bytes, entry.changed_ns, std::move(headline)};
}

Result<void> FoundHeadlines::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const auto& [path, found] : found_) {
    records.push_back({path, std::to_string(found.size_bytes), std::to_string(found.changed_ns),
                       found.headline == Headline() ? std::string() : to_text(found.headline)});
  }
  return write_records(file_, records);
}

}  // namespace accelscope::app
