#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources {

// Passes a stream on at the pace it was captured at: a chunk is held back until as much time has gone by as lies
// between the first event and the chunk's last one, divided by the speed. Definitions pass at once. While the target is
// paused, chunks wait and the pauses do not count.
class PacedSink final : public ForwardingSink {
 public:
  // speed 2.0: twice as fast as it was; infinite: only pauses hold a chunk back. A target as in ForwardingSink.
  PacedSink(EventSink& target, double speed) : ForwardingSink(target), speed_(speed) {}
  PacedSink(std::unique_ptr<EventSink> target, double speed) : ForwardingSink(std::move(target)), speed_(speed) {}

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;

 private:
  void wait_until(std::int64_t after_ns);

  double speed_;
  StreamTime time_;
  std::optional<std::int64_t> first_ns_;
  std::chrono::steady_clock::time_point begin_;  // when the first event was due, later by every pause
};

// Stops its source when somebody other than the target says so, and counts the events on their way.
class SupervisedSink final : public ForwardingSink {
 public:
  // counted: called with the events so far. A target as in ForwardingSink.
  template <typename Target>
  SupervisedSink(Target&& target, std::function<bool()> cancelled, std::function<void(std::uint64_t)> counted = {})
      : ForwardingSink(std::forward<Target>(target)), cancelled_(std::move(cancelled)), counted_(std::move(counted)) {}

  Result<void> append(SealedChunk chunk) override;
  [[nodiscard]] bool cancelled() const override { return cancelled_(); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  std::function<bool()> cancelled_;
  std::function<void(std::uint64_t)> counted_;
  std::uint64_t events_ = 0;
};

// Feeds another sink on a thread of its own, in order, so that a source builds the next chunk while the receiver
// checks and indexes the last one. A failure comes back from the next call or from finish().
class AsyncSink final : public EventSink {
 public:
  explicit AsyncSink(EventSink& receiver);
  ~AsyncSink() override;  // what still waits is dropped: call finish() first

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;
  [[nodiscard]] bool cancelled() const override;
  [[nodiscard]] bool paused() const override;
  // Waits until the receiver has everything.
  Result<void> finish();

 private:
  using Item = std::variant<Definition, SealedChunk>;
  static constexpr std::size_t kMaxWaiting = 64;

  Result<void> put(Item item);
  void feed();

  EventSink& receiver_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Item> waiting_;
  Result<void> status_;
  bool busy_ = false;  // an item is with the receiver, which need not take calls from two threads
  bool cancelled_ = false;
  mutable bool paused_ = false;  // as the receiver said last
  bool stopping_ = false;
  std::jthread thread_;
};

// Lets several sources of one kind - the ranks of a run - share a session without their devices, facts and findings
// running into one another: devices of tracks and figures, and findings, get the source's label. Facts that a source
// shares with the ones before it are kept once, others under "label.key".

// The facts of the sources that were there before; shared by the sinks of one session, used from one thread at a time.
class SharedFacts {
 public:
  // What to define for this fact of this source; a key of "" if it is known already.
  [[nodiscard]] MetaEntry place(const MetaEntry& entry, const std::string& label);

 private:
  std::map<std::string, std::string, std::less<>> first_values_;
};

// A fact by which a source says that the ticks of its clock of that name are a device's own, so that another source of
// the same session with such a clock counts the same ticks. It is between sources, and not kept.
[[nodiscard]] std::string shared_clock_fact(std::string_view clock);
inline constexpr const char* kPlacedClock = "placed";  // it lies where it should among the source's others
inline constexpr const char* kOwnClock = "own";        // it begins with the session, for want of anything better

// An execution of a device, as a source has it that saw it from the host.
struct ProfileExecution {
  std::int64_t begin_unix_ns = 0;
  std::int64_t duration_ns = 0;
  std::optional<std::int64_t> device_behind_ns;  // of 1970, the device's own clock
  auto operator<=>(const ProfileExecution&) const = default;
};

// A fact by which a source says when the core of another profile of the run executed, and of that model (-1: not
// known); and one by which such a profile, which does not know when it began, says what it is called, and its own first
// and last time. Both are between sources, and not kept.
[[nodiscard]] std::string executions_fact(std::string_view profile, std::int64_t model);
[[nodiscard]] std::string executions_text(std::span<const ProfileExecution> executions);
[[nodiscard]] std::string own_span_fact(std::string_view profile);
// `zero_ns`: which of its own times the source begins the session with.
[[nodiscard]] std::string own_span_text(std::int64_t first_ns, std::int64_t last_ns, std::int64_t zero_ns);

struct ListedExecutions {
  std::string profile;
  std::int64_t model = -1;
  std::vector<ProfileExecution> executions;
};
struct OwnSpan {
  std::string profile;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t zero_ns = 0;
};

// A label of "" changes no names. Facts go under a label of their own where the source has none but is not alone.
class LabelledSink final : public ForwardingSink {
 public:
  LabelledSink(EventSink& target, std::string label, SharedFacts& facts, std::string facts_label = {})
      : ForwardingSink(target),
        label_(std::move(label)),
        facts_label_(facts_label.empty() ? label_ : std::move(facts_label)),
        facts_(facts) {}

  Result<void> define(const Definition& definition) override;

  // When the source's time 0 was, if it has said so (fact "begin_unix_ns") and its clocks can be moved.
  [[nodiscard]] std::optional<std::int64_t> begin_unix_ns() const noexcept;
  // Moves everything that the source has written to a later time of the session.
  Result<void> delay(std::int64_t ns);
  // Says in place of the source when its time 0 was.
  Result<void> begin_at(std::int64_t unix_ns);
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] const std::vector<ListedExecutions>& executions() const noexcept { return executions_; }
  [[nodiscard]] const std::optional<OwnSpan>& own_span() const noexcept { return own_span_; }
  // Lays clocks of this source that another one has placed where that one has them. True: there was one.
  [[nodiscard]] Result<bool> share_clocks(const LabelledSink& placed);

 private:
  Result<void> define_fact(const MetaEntry& entry);

  std::string label_;
  std::string facts_label_;
  SharedFacts& facts_;
  [[nodiscard]] const Clock* clock_named(std::string_view name) const;

  std::map<ClockNumber, Clock> clocks_;
  std::map<std::string, bool, std::less<>> shared_clocks_;  // by name: whether it is placed
  std::set<SchemaNumber> timed_schemas_;
  std::vector<ListedExecutions> executions_;
  std::optional<OwnSpan> own_span_;
  std::optional<std::int64_t> begin_unix_ns_;
  bool has_unclocked_times_ = false;  // ns of session time, which no clock can move
};

}  // namespace accelscope::capture::sources
