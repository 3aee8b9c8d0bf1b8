#include "capture/sources/labelled_sink.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace accelscope::capture {
namespace {

[[nodiscard]] std::string labelled_device(const std::string& label, const std::string& device) {
  return device.empty() ? label : fmt::format("{} {}", label, device);
}

constexpr std::string_view kRowCounts = "source.rows.";  // counts of rows by table: these add up

[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

MetaEntry SharedFacts::place(const MetaEntry& entry, const std::string& label) {
  const auto [known, is_new] = first_values_.emplace(entry.key, entry.value);
  if (is_new) return entry;
  if (entry.key.starts_with(kRowCounts)) {
    const auto before = whole_number(known->second);
    const auto more = whole_number(entry.value);
    if (before && more) {
      known->second = fmt::format("{}", *before + *more);
      return {entry.key, known->second};
    }
  }
  if (known->second == entry.value) return {};
  return {fmt::format("{}.{}", label, entry.key), entry.value};
}

Result<void> LabelledSink::define(const Definition& definition) {
  if (const auto* track = std::get_if<Track>(&definition)) {
    Track labelled = *track;
    labelled.device = labelled_device(label_, track->device);
    return target_.define(labelled);
  }
  if (const auto* entry = std::get_if<MetaEntry>(&definition)) {
    const MetaEntry placed = facts_.place(*entry, label_);
    return placed.key.empty() ? Result<void>{} : target_.define(placed);
  }
  if (const auto* metric = std::get_if<Metric>(&definition)) {
    Metric labelled = *metric;
    labelled.device = labelled_device(label_, metric->device);
    return target_.define(labelled);
  }
  if (const auto* finding = std::get_if<QualityEntry>(&definition)) {
    QualityEntry labelled = *finding;
    labelled.detail = fmt::format("{}: {}", label_, finding->detail);
    return target_.define(labelled);
  }
  return target_.define(definition);
}

}  // namespace accelscope::capture
