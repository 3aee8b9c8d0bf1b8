#include "capture/sources/tt_metal/read/dictionary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace accelscope::capture::sources::tt_metal {

bool LogContext::same_run(const LogContext& other) const noexcept {
  return present == other.present && std::equal(std::begin(ids), std::end(ids), std::begin(other.ids));
}

DeviceLogDictionary::DeviceLogDictionary() : sites_(1), contexts_(1), meta_data_(1) {
  sites_.front().name = "(more names than can be kept apart)";
  meta_data_numbers_.emplace("", 0);
}

template <typename T>
std::uint32_t DeviceLogDictionary::add(Numbers& numbers, std::string key, std::vector<T>& values, T value,
                                       std::uint32_t most) {
  const auto found = numbers.find(key);
  if (found != numbers.end()) return found->second;
  if (values.size() >= most) {
    if (&numbers != &processor_numbers_) ++left_out_;
    return kFull;
  }
  const auto number = static_cast<std::uint32_t>(values.size());
  values.push_back(std::move(value));
  numbers.emplace(std::move(key), number);
  return number;
}

std::uint32_t DeviceLogDictionary::add_processor(LogProcessor processor) {
  std::string key = fmt::format("{},{},{},{}", processor.chip, processor.core_x, processor.core_y, processor.risc);
  const std::scoped_lock lock(mutex_);
  return add(processor_numbers_, std::move(key), processors_, std::move(processor), kMaxProcessors);
}

std::uint32_t DeviceLogDictionary::add_site(LogSite site) {
  // Cells hold no line ends.
  std::string zone_key = fmt::format("{}\n{}\n{}", site.name, site.file, site.line);
  std::string key = fmt::format("{}\n{}\n{}\n{}", zone_key, site.type, static_cast<int>(site.kind),
                                site.has_timer_id ? fmt::format("{}", site.timer_id) : "");
  const std::scoped_lock lock(mutex_);
  if (sites_.size() < kMaxSites) {
    const auto next = static_cast<std::uint32_t>(zone_numbers_.size());
    site.zone = zone_numbers_.try_emplace(std::move(zone_key), next).first->second;
  }
  return add(site_numbers_, std::move(key), sites_, std::move(site), kMaxSites);
}

std::uint32_t DeviceLogDictionary::add_context(LogContext context) {
  std::string key =
      fmt::format("{},{},{},{},{}", context.present, context.ids[0], context.ids[1], context.ids[2], context.ids[3]);
  for (const std::string& extra : context.extras) key.append("\n").append(extra);
  const std::scoped_lock lock(mutex_);
  return add(context_numbers_, std::move(key), contexts_, std::move(context), kMaxContexts);
}

std::uint32_t DeviceLogDictionary::add_meta_data(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  return add(meta_data_numbers_, std::string(text), meta_data_, std::string(text), kMaxMetaData);
}

}  // namespace accelscope::capture::sources::tt_metal
