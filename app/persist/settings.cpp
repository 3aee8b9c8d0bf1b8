#include "app/persist/settings.h"

#include <array>
#include <charconv>
#include <vector>

#include "app/persist/text_record.h"

namespace accelscope::app {

Result<void> Settings::load() {
  values_.clear();
  changed_ = false;
  if (file_.empty()) return {};
  auto records = read_records(file_);
  if (!records) return records.error();
  for (const TextRecord& fields : *records) {
    if (fields.size() == 2) values_[fields[0]] = fields[1];
  }
  return {};
}

std::string Settings::value(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : std::string(otherwise);
}

double Settings::number(std::string_view name, double otherwise) const {
  const std::string text = value(name);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? number : otherwise;
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

}  // namespace accelscope::app
