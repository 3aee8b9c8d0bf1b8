#include "app/persist/peak_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "app/persist/text_record.h"

namespace accelscope::app {

std::string peak_book_file(const std::string& state_directory) {
  return state_directory.empty() ? std::string() : (std::filesystem::path(state_directory) / "peaks.txt").string();
}

Result<void> PeakBook::load() {
  edits_.clear();
  if (file_.empty()) return {};
  const auto records = read_records(file_);
  if (!records) return records.error();
  for (const TextRecord& fields : *records) {
    if (fields.size() != 3) continue;
    double value = 0;
    const std::string& number = fields[2];
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) || value <= 0) continue;
    edits_.push_back({fields[0], fields[1], value});
  }
  return {};
}

Result<void> PeakBook::enter(PeakEdit edit) {
  std::erase_if(edits_, [&](const PeakEdit& each) { return each.model == edit.model && each.what == edit.what; });
  edits_.push_back(std::move(edit));
  return write();
}

Result<void> PeakBook::forget(std::string_view model, std::string_view what) {
  if (std::erase_if(edits_, [&](const PeakEdit& each) { return each.model == model && each.what == what; }) == 0)
    return {};
  return write();
}

Result<void> PeakBook::write() const {
  if (file_.empty()) return {};
  std::vector<TextRecord> records;
  for (const PeakEdit& each : edits_) records.push_back({each.model, each.what, fmt::format("{}", each.value)});
  return write_records(file_, records);
}

}  // namespace accelscope::app
