#include "capture/sources/base/sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/capped.h"
#include "core/model/time_range.h"

namespace accelscope::capture::sources {
namespace {

// How long a cancelled or resumed replay may go on sleeping.
constexpr std::chrono::milliseconds kNap{50};

}  // namespace

Result<void> PacedSink::define(const Definition& definition) {
  time_.define(definition);
  return ForwardingSink::define(definition);
}

Result<void> PacedSink::append(SealedChunk chunk) {
  if (const std::optional<TimeRange> range = time_.of(chunk)) {
    if (!first_ns_) {
      first_ns_ = range->begin_ns;
      begin_ = std::chrono::steady_clock::now();
    }
    const auto after = static_cast<double>(range->end_ns - *first_ns_) / speed_;
    wait_until(whole_time(after));
  }
  return ForwardingSink::append(std::move(chunk));
}

void PacedSink::wait_until(std::int64_t after_ns) {
  while (!cancelled()) {
    const auto now = std::chrono::steady_clock::now();
    if (paused()) {
      std::this_thread::sleep_for(kNap);
      begin_ += std::chrono::steady_clock::now() - now;
      continue;
    }
    const auto due = begin_ + std::chrono::nanoseconds(after_ns);
    if (now >= due) return;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(due - now, kNap));
  }
}

Result<void> SupervisedSink::append(SealedChunk chunk) {
  events_ += chunk.count();
  if (counted_) counted_(events_);
  return ForwardingSink::append(std::move(chunk));
}

AsyncSink::AsyncSink(EventSink& receiver) : receiver_(receiver), thread_([this] { feed(); }) {}

AsyncSink::~AsyncSink() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

Result<void> AsyncSink::define(const Definition& definition) { return put(definition); }
Result<void> AsyncSink::append(SealedChunk chunk) { return put(std::move(chunk)); }

Result<void> AsyncSink::put(Item item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kMaxWaiting || !status_; });
  if (!status_) return status_;
  waiting_.push_back(std::move(item));
  changed_.notify_all();
  return {};
}

bool AsyncSink::cancelled() const {
  const std::scoped_lock lock(mutex_);
  return cancelled_ || (!busy_ && waiting_.empty() && receiver_.cancelled());
}

bool AsyncSink::paused() const {
  const std::scoped_lock lock(mutex_);
  if (!busy_ && waiting_.empty()) paused_ = receiver_.paused();
  return paused_;
}

Result<void> AsyncSink::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (waiting_.empty() && !busy_) || !status_; });
  return status_;
}

void AsyncSink::feed() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    Result<void> taken = std::holds_alternative<Definition>(item)
                             ? receiver_.define(std::get<Definition>(item))
                             : receiver_.append(std::get<SealedChunk>(std::move(item)));
    const bool cancelled = receiver_.cancelled();
    const bool paused = receiver_.paused();
    lock.lock();
    busy_ = false;
    cancelled_ = cancelled_ || cancelled;
    paused_ = paused;
    if (!taken && status_.ok()) {
      status_ = std::move(taken);
      waiting_.clear();
    }
    changed_.notify_all();
  }
}

namespace {

// A device of a merged file may say its rank already.
[[nodiscard]] std::string labelled_device(const std::string& label, const std::string& device) {
  if (device == label || device.starts_with(label + " ")) return device;
  return device.empty() ? label : fmt::format("{} {}", label, device);
}

constexpr std::string_view kBeginFact = "begin_unix_ns";
constexpr std::string_view kSharedClock = "shared_clock.";
constexpr std::string_view kExecutions = "executions_of.";
constexpr std::string_view kOwnSpan = "own_span_of.";

// The next number of a text of numbers with other characters between; nothing at its end.
[[nodiscard]] std::optional<std::int64_t> next_number(std::string_view& text) {
  const std::size_t first = text.find_first_of("-0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(std::max(end, text.data() + first + 1) - text.data()));
  return error == std::errc() ? std::optional(value) : std::nullopt;
}
[[nodiscard]] std::optional<std::int64_t> next_time(std::string_view& text) {
  const auto time = next_number(text);
  return time && is_near_enough(*time) ? time : std::nullopt;
}

[[nodiscard]] ListedExecutions read_executions(std::string_view profile, std::string_view text) {
  ListedExecutions listed;
  const std::size_t dot = profile.rfind('.');
  listed.profile = profile.substr(0, dot);
  std::string_view model = profile.substr(dot + 1);
  listed.model = next_number(model).value_or(-1);
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto begin = next_time(one);
    const auto duration = next_time(one);
    if (begin && duration && *duration >= 0) listed.executions.push_back({*begin, *duration, next_time(one)});
  }
  return listed;
}
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

std::string executions_fact(std::string_view profile, std::int64_t model) {
  return fmt::format("{}{}.{}", kExecutions, profile, model);
}

std::string executions_text(std::span<const ProfileExecution> executions) {
  std::string text;
  for (const ProfileExecution& each : executions) {
    text += fmt::format("{} {}", each.begin_unix_ns, each.duration_ns);
    if (each.device_behind_ns) text += fmt::format(" {}", *each.device_behind_ns);
    text += ';';
  }
  return text;
}

std::string own_span_fact(std::string_view profile) { return fmt::format("{}{}", kOwnSpan, profile); }
std::string own_span_text(std::int64_t first_ns, std::int64_t last_ns, std::int64_t zero_ns) {
  return fmt::format("{} {} {}", first_ns, last_ns, zero_ns);
}

MetaEntry SharedFacts::place(const MetaEntry& entry, const std::string& label) {
  const auto [known, is_new] = first_values_.emplace(entry.key, entry.value);
  if (is_new) return entry;
  if (is_row_count(entry.key)) {
    const auto before = labelled_sink_whole_number(known->second);
    const auto more = labelled_sink_whole_number(entry.value);
    if (before && more) {
      known->second = fmt::format("{}", capped_sum(*before, *more));
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
  if (entry.key.starts_with(kExecutions)) {
    executions_.push_back(read_executions(std::string_view(entry.key).substr(kExecutions.size()), entry.value));
    return {};
  }
  if (entry.key.starts_with(kOwnSpan)) {
    std::string_view times = entry.value;
    const auto first = next_time(times);
    const auto last = next_time(times);
    const auto zero = next_time(times);
    if (first && last && zero) own_span_ = OwnSpan{entry.key.substr(kOwnSpan.size()), *first, *last, *zero};
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

Result<void> LabelledSink::begin_at(std::int64_t unix_ns) {
  return define_fact({std::string(kBeginFact), std::to_string(unix_ns)});
}

Result<void> LabelledSink::delay(std::int64_t ns) {
  for (auto& [number, clock] : clocks_) {
    if (clock.anchors.empty()) clock.anchors.push_back({0, 0});
    for (ClockAnchor& anchor : clock.anchors) anchor.ns = capped_sum(anchor.ns, ns);
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
    TRY(ForwardingSink::define(clock));
  }
  return any;
}

}  // namespace accelscope::capture::sources
