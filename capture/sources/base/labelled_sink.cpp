#include "capture/sources/base/labelled_sink.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace accelscope::capture::sources {
namespace {

// A device of a merged file may say its rank already.
[[nodiscard]] std::string labelled_device(const std::string& label, const std::string& device) {
  if (device == label || device.starts_with(label + " ")) return device;
  return device.empty() ? label : fmt::format("{} {}", label, device);
}

constexpr std::string_view kBeginFact = "begin_unix_ns";
constexpr std::string_view kSharedClock = "shared_clock.";
// Counts of rows by table: these add up.
[[nodiscard]] bool is_row_count(std::string_view fact) noexcept {
  return fact.starts_with("source.rows.") || fact.starts_with("source.read.");
}

[[nodiscard]] std::optional<std::uint64_t> labelled_sink_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string shared_clock_fact(std::string_view clock) { return fmt::format("{}{}", kSharedClock, clock); }

MetaEntry SharedFacts::place(const MetaEntry& entry, const std::string& label) {
  const auto [known, is_new] = first_values_.emplace(entry.key, entry.value);
  if (is_new) return entry;
  if (is_row_count(entry.key)) {
    const auto before = labelled_sink_whole_number(known->second);
    const auto more = labelled_sink_whole_number(entry.value);
    if (before && more) {
      known->second = fmt::format("{}", *before + *more);
      return {entry.key, known->second};
    }
  }
  if (known->second == entry.value) return {};
  return {fmt::format("{}.{}", label, entry.key), entry.value};
}

Result<void> LabelledSink::define(const Definition& definition) {
  if (const auto* clock = std::get_if<Clock>(&definition)) clocks_[clock->number] = *clock;
  if (const auto* schema = std::get_if<Schema>(&definition); schema != nullptr && schema->kind != EventKind::table) {
    timed_schemas_.insert(schema->number);
  }
  if (const auto* track = std::get_if<Track>(&definition)) {
    if (track->clock == kNone && timed_schemas_.contains(track->schema)) has_unclocked_times_ = true;
    if (label_.empty()) return ForwardingSink::define(definition);
    Track labelled = *track;
    labelled.device = labelled_device(label_, track->device);
    return ForwardingSink::define(labelled);
  }
  if (const auto* entry = std::get_if<MetaEntry>(&definition)) return define_fact(*entry);
  if (const auto* metric = std::get_if<Metric>(&definition); metric != nullptr && !label_.empty()) {
    Metric labelled = *metric;
    labelled.device = labelled_device(label_, metric->device);
    return ForwardingSink::define(labelled);
  }
  if (const auto* finding = std::get_if<QualityEntry>(&definition); finding != nullptr && !label_.empty()) {
    QualityEntry labelled = *finding;
    labelled.detail = fmt::format("{}: {}", label_, finding->detail);
    return ForwardingSink::define(labelled);
  }
  return ForwardingSink::define(definition);
}

Result<void> LabelledSink::define_fact(const MetaEntry& entry) {
  if (entry.key.starts_with(kSharedClock)) {
    shared_clocks_[entry.key.substr(kSharedClock.size())] = entry.value == kPlacedClock;
    return {};
  }
  if (entry.key == kBeginFact) {
    if (const auto begin = labelled_sink_whole_number(entry.value); begin && *begin <= INT64_MAX) {
      begin_unix_ns_ = static_cast<std::int64_t>(*begin);
    }
  }
  if (facts_label_.empty()) return ForwardingSink::define(entry);
  const MetaEntry placed = facts_.place(entry, facts_label_);
  return placed.key.empty() ? Result<void>{} : ForwardingSink::define(placed);
}

std::optional<std::int64_t> LabelledSink::begin_unix_ns() const noexcept {
  return has_unclocked_times_ ? std::nullopt : begin_unix_ns_;
}

Result<void> LabelledSink::delay(std::int64_t ns) {
  for (auto& [number, clock] : clocks_) {
    if (clock.anchors.empty()) clock.anchors.push_back({0, 0});
    for (ClockAnchor& anchor : clock.anchors) anchor.ns += ns;
    ++clock.version;
    if (Result<void> done = ForwardingSink::define(clock); !done) return done;
  }
  return {};
}

const Clock* LabelledSink::clock_named(std::string_view name) const {
  for (const auto& [number, clock] : clocks_) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

Result<bool> LabelledSink::share_clocks(const LabelledSink& placed) {
  bool any = false;
  for (auto& [number, clock] : clocks_) {
    const auto here = shared_clocks_.find(clock.name);
    const auto there = placed.shared_clocks_.find(clock.name);
    if (here == shared_clocks_.end() || here->second || there == placed.shared_clocks_.end() || !there->second)
      continue;
    const Clock* known = placed.clock_named(clock.name);
    if (known == nullptr) continue;
    any = true;
    clock.anchors = known->anchors;
    ++clock.version;
    if (Result<void> done = ForwardingSink::define(clock); !done) return done.error();
  }
  return any;
}

}  // namespace accelscope::capture::sources
