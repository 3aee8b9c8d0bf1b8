// What background work finds out about a session: memory use, source lines, dependencies, the active stretch, search
// hits. Ask each frame with what is seen; answers come when ready and stay (of the last state) until better ones
// do. Each knows of which version of the data it is made: of an older one it is marked and asked for again, soon while
// a capture runs and at once when it ends. UI thread only: it owns the answers and replaces them; a worker gets the
// store, a snapshot and pointers to finished answers, none of which change.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/advice/advice.h"
#include "core/analysis/compilation/compilations.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/figures/derived_counters.h"
#include "core/analysis/figures/incidents.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/figures/range_report.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/memory/usage.h"
#include "core/analysis/selection/summary.h"
#include "core/analysis/source/source_lines.h"
#include "core/analysis/time/session_activity.h"
#include "core/base/worker_pool.h"
#include "core/colour/event_colours.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "core/search/hint.h"
#include "core/store/store.h"

namespace accelscope::app::session {

// The summary of a filter as the viewer asks for it on a worker: the mask of its terms is made where it needs one, and
// kept from the last answer while the terms and the session are the same.

struct SessionSummary {
  std::shared_ptr<const analysis::SelectionSummary> summary;
  std::shared_ptr<const EventMask> mask;  // of the terms alone; null where there are none
  double took_ms = 0;
  std::uint64_t events = 0;  // of any kind that a timeline shows; only where it was asked for
};

// `last` may be null. A wrong term is an error that says which.
[[nodiscard]] Result<std::shared_ptr<const SessionSummary>> summarise(
    const QueryContext& query, const EventFilter& filter, const std::shared_ptr<const analysis::SummaryIndex>& index,
    const std::shared_ptr<const SessionSummary>& last);

// What a mask of events is for; each use has one filter at a time.
enum class MaskUse : std::uint8_t { filter, region, legend };
inline constexpr std::size_t kMaskUses = 3;

// What the search found in a range, in the order of time, with what a list shows of each.
struct Hit {
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0;
  std::string name_text;
  std::string lane;
  std::string source;  // "file.py:33"; "" where the event has none
};
struct HitList {
  static constexpr std::size_t kMost = 1000;
  TimeRange range;
  std::vector<Hit> hits;  // at most kMost
};

// Where an event stands among the hits, from 1; 0: it is none of them.
struct HitRank {
  EventId event = kNoEvent;
  std::uint64_t number = 0;
};

// Counts the time of a work until its end.
class WorkTime {
 public:
  explicit WorkTime(double& seconds) : seconds_(seconds) {}
  ~WorkTime() { seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  WorkTime(const WorkTime&) = delete;
  WorkTime& operator=(const WorkTime&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The figures of what a filter lets through.
struct SessionFigures {
  EventFilter filter;
  std::vector<analysis::SessionMetric> metrics;
};

// How much of the session passes a filter, its range too.
struct PassingCount {
  EventFilter filter;
  std::uint64_t passing = 0;
  std::uint64_t all = 0;  // that could: rows of tables without time are no events
};

class SessionAnalysis {
 public:
  static constexpr double kRenewSeconds = 0.5;
  static constexpr double kShareOfWorker = 0.5;  // of one worker's time goes to what is asked again while data come
  static constexpr std::uint64_t kNewest = ~std::uint64_t{0};
  static constexpr double kMostHeldSeconds = 1;
  static constexpr double kNever = 1e18;

  // The pool must outlive it; the store is kept by the work that needs it.
  SessionAnalysis(WorkerPool& pool, std::shared_ptr<const Store> store);
  ~SessionAnalysis();
  SessionAnalysis(const SessionAnalysis&) = delete;
  SessionAnalysis& operator=(const SessionAnalysis&) = delete;

  // Work of one who keeps the answer himself. It gets a query context whose store and snapshot live as long as it runs.
  template <typename Work>
  auto start(Work work, Priority priority = Priority::question, std::shared_ptr<const Snapshot> older = nullptr) {
    return pool_.start(priority, [store = store_, snapshot = older ? std::move(older) : snapshot_, &pool = pool_,
                                  work](TaskControl& control) {
      return work(QueryContext{*store, snapshot, pool, control});
    });
  }

  // An answer, its question and the work for it. The work gets a QueryContext and returns a Found<T>.
  template <typename T>
  using Found = Result<std::shared_ptr<const T>>;
  struct NoKey {
    bool operator==(const NoKey&) const = default;
  };
  // A state of the data; at first the newest, whichever that is.
  struct Basis {
    std::uint64_t version = kNewest;           // 0: none
    std::shared_ptr<const Snapshot> snapshot;  // null: the newest
  };
  // What an answer is of, whatever it says. Versions are those of the data that it is made of.
  struct RetainedState {
    std::uint64_t version = 0;                                 // that the last work was given
    std::uint64_t value_version = 0;                           // of the value: of the oldest of what it is made of
    std::shared_ptr<const Snapshot> snapshot, value_snapshot;  // likewise
    std::uint64_t newest = 0;    // that there was when it was last asked for; 0: it does not age
    double asked_s = -1e9;       // below 0: never
    double took_s = 0;           // of a worker's time, the last work
    bool asked_growing = false;  // while data came
    std::uint32_t dropped = 0;   // works for other questions, since the last that ended
    std::string error;           // of the last work, where it failed
  };
  // What was asked, and the last answer to it or to the question before. Who holds it is the one who asks, on the UI
  // thread, and nobody else replaces what it holds; workers get copies of the pointers to values, which never change.
  template <typename T, typename Key = NoKey>
  struct Retained : RetainedState {
    std::shared_ptr<const T> value;
    Task<Found<T>> task;
    std::shared_ptr<double> worked_s;  // of the task: written before it is ready
    Key key{};                         // of the question that `task` answers, or that was last answered
    Key value_key{};                   // of the question that `value` answers
    // There is a value, and it is not of the question that was asked last.
    [[nodiscard]] bool stale() const { return value && !(value_key == key); }
    // It is of that question or another, but of data that there was before.
    [[nodiscard]] bool is_older() const { return value && value_version < newest; }
    // What is not asked for any more, whose answer nobody takes. The value stays, and the next question is asked anew.
    void drop() {
      if (!task.valid()) return;
      task = {};
      key = value_key;
      asked_s = RetainedState{}.asked_s;
    }
    // How much of the work is done, 0 to 1; nothing while none is under way or its end is unknown.
    [[nodiscard]] std::optional<double> share() const {
      const double total = static_cast<double>(task.total());
      return total > 0 ? std::optional(static_cast<double>(task.done()) / total) : std::nullopt;
    }
  };
  // Another session that an answer is of, too.
  struct Beside {
    std::uint64_t version = 0;
    bool grows = false;
  };
  // When an answer is asked for anew: another question at once, the same when what it is made of is newer: soon while
  // data come, for a part of the workers' time only (kShareOfWorker), and at once when they have ended.
  struct Renewal {
    Basis of{};  // the oldest of what it is made of: made_of()
    Beside beside{};
    double rest_s = 0;          // how long ago the last one must be before another question is taken up
    double busy_s = 0;          // the same while work for the last one is under way, which then is dropped
    bool is_let_end = false;    // it is not dropped
    bool ages = true;           // else the answer is not of a state of the session
    bool tells_itself = false;  // whoever asks shows its error
    Priority priority = Priority::question;
  };
  // The last answer to the question or, until it is there, to the one before.
  template <typename T, typename Key, typename Work>
  std::shared_ptr<const T> ask(Retained<T, Key>& answer, const Key& key, const Renewal& renewal, Work work);
  template <typename T, typename Work>
  std::shared_ptr<const T> ask(Retained<T>& answer, Work work) {
    return ask(answer, NoKey{}, {}, std::move(work));
  }
  // The same of what passes a filter: the mask of its tracks and terms is in the query, its range is left to the work.
  // While the range keeps changing, the answer is renewed when it rests.
  template <typename Question>
  struct Filtered {
    EventFilter filter;
    Question question{};
    bool operator==(const Filtered&) const = default;
  };
  template <typename T, typename Question, typename Work>
  std::shared_ptr<const T> ask_of(Retained<T, Filtered<Question>>& answer, const EventFilter& filter,
                                  const Question& question, Work work, const Renewal& renewal);
  template <typename T, typename Question, typename Work>
  std::shared_ptr<const T> ask_of(Retained<T, Filtered<Question>>& answer, const EventFilter& filter,
                                  const Question& question, Work work) {
    return ask_of(answer, filter, question, std::move(work), Renewal{});
  }

  // The state of what is made of these answers: that of the oldest, which the work gets as its snapshot, so that it
  // meets no event that one of them does not know. None where one is not there, or answers another question than was
  // asked last.
  template <typename... Answers>
  [[nodiscard]] Basis made_of(const Answers&... answers) const {
    Basis oldest{snapshot_->version, snapshot_};
    const auto add = [&](const Basis& each) {
      if (each.version < oldest.version) oldest = each;
    };
    (add(!answers.value || answers.stale() ? Basis{0, nullptr} : basis_of(answers)), ...);
    return oldest;
  }
  // Of its value, to whatever question.
  [[nodiscard]] static Basis basis_of(const RetainedState& answer) {
    return {answer.value_version, answer.value_snapshot};
  }

  // What a better answer replaces. Large ones take milliseconds to free, so the pool does that once nobody shows them.
  void retire(std::shared_ptr<const void> answer);

  // There is an answer to what was asked last, and it is of this very snapshot.
  template <typename Answer>
  [[nodiscard]] bool is_newest(const Answer& answer) const {
    return made_of(answer).version == snapshot_->version;
  }

  // Once per frame, before anything is asked. grows: data still come.
  void begin_frame(std::shared_ptr<const Snapshot> snapshot, double now_s, bool grows = false);
  // Since this was last called, an answer was given that is of older data, and a better one is to come: whoever shows
  // it marks it.
  [[nodiscard]] bool take_older() noexcept { return std::exchange(gave_older_, false); }
  // Source lines and dependencies read every chunk. They wait for the timeline's first whole picture, which is what the
  // user waits for, but never longer than kMostHeldSeconds.
  void timeline_drawn() noexcept {
    if (!std::exchange(timeline_drawn_, true) && held_) due_s_ = now_s_;
  }
  // Something was asked for in this frame that is not there yet, or a worker is at it. The end of its work wakes the
  // frame loop; what waits for its time alone is due after so many seconds.
  [[nodiscard]] bool pending() const;
  [[nodiscard]] std::optional<double> due_in() const;
  // The part of it that the timeline shows.
  [[nodiscard]] bool timeline_pending() const;

  // The filter that drives every panel; source lines and what else names it follow it.
  void set_filter(const EventFilter& filter) { filter_ = filter; }
  [[nodiscard]] const EventFilter& filter() const noexcept { return filter_; }
  // The events that pass the tracks and terms of a filter: null where it needs no mask, and until the first answer to
  // this very filter is there. In a growing session it may be a little behind.
  std::shared_ptr<const EventMask> mask(MaskUse use, const EventFilter& filter);
  [[nodiscard]] const std::string& mask_error(MaskUse use) const noexcept {
    return masks_[static_cast<std::size_t>(use)].error;
  }
  // Of the filter's tracks and terms if it is known of this very snapshot, without asking for it.
  [[nodiscard]] std::shared_ptr<const EventMask> known_mask(const EventFilter& filter) const;
  [[nodiscard]] std::shared_ptr<const EventMask> known_mask(const EventFilter& filter, const Basis& of) const;

  // What the events are coloured by; the last colours, of whatever choice, until those of this one are there. Null
  // where it is empty, and until the first.
  std::shared_ptr<const colour::EventColours> colours(const colour::ColourChoice& choice);

  // Of filter(); null without one, and until this very filter has been counted.
  std::shared_ptr<const PassingCount> passing();

  // The last answer, null until there is one. Asking is what starts the work.
  std::shared_ptr<const analysis::MemoryUsage> memory();
  std::shared_ptr<const analysis::SourceLines> source_lines();  // of what passes the filter
  std::shared_ptr<const analysis::Dependencies> dependencies();
  std::shared_ptr<const analysis::FirstLook> first_look();
  std::optional<TimeRange> active();
  // active() is of this very snapshot, and not of an earlier state of it.
  [[nodiscard]] bool active_known() const noexcept { return is_newest(active_); }
  // Errors, throttling and warnings.
  std::shared_ptr<const analysis::Incidents> incidents();
  // What the events of each leaf worked, for derived counters.
  std::shared_ptr<const analysis::LeafWork> leaf_work();
  [[nodiscard]] bool leaf_work_pending() const { return leaf_work_.task.valid(); }
  // When work was launched and when it began, for derived counters; waits for the dependencies.
  std::shared_ptr<const analysis::LaunchQueues> launch_queues();
  [[nodiscard]] bool launch_queues_pending() const { return launch_queues_.task.valid() || !dependencies_.value; }
  // Whose answers others are made of, for made_of().
  [[nodiscard]] const Retained<analysis::SourceLines, EventFilter>& source_lines_state() const noexcept {
    return lines_;
  }
  [[nodiscard]] const Retained<analysis::MemoryUsage>& memory_state() const noexcept { return memory_; }
  [[nodiscard]] const Retained<analysis::Dependencies>& dependencies_state() const noexcept { return dependencies_; }
  [[nodiscard]] const Retained<analysis::LeafWork>& leaf_work_state() const noexcept { return leaf_work_; }
  [[nodiscard]] const Retained<analysis::LaunchQueues>& launch_queues_state() const noexcept { return launch_queues_; }
  // What was compiled when, and the calls of the whole session; waits for the dependencies.
  std::shared_ptr<const analysis::Compilations> compilations();
  [[nodiscard]] const Retained<analysis::Compilations>& compilations_state() const noexcept { return compilations_; }
  // What bounds the session, its worst line, what its data lack; waits for the active stretch, the activity and the
  // source lines.
  std::shared_ptr<const analysis::Verdict> verdict();
  // What of the session costs time that could be saved, of what passes the filter; waits for the dependencies. Until
  // the wanted ones are there the last are given.
  std::shared_ptr<const analysis::Advice> advice();
  [[nodiscard]] const Retained<analysis::Advice, Filtered<NoKey>>& advice_state() const noexcept { return advice_; }
  // Of the whole session (an empty filter) or a part. Until the wanted ones are there the last are given: compare
  // `filter`. While a range keeps changing, they are renewed when it rests.
  std::shared_ptr<const SessionFigures> figures(const EventFilter& filter);
  // What a box, a name or the visible range holds. Comes with the index of the session, which the first call begins to
  // make; the last answer until then: compare its filter. An error of the filter is in summary_error().
  std::shared_ptr<const SessionSummary> summary(const EventFilter& filter);
  // How its time was used, what was waited for, what memory was in use; follows the summary when the filter rests, the
  // last answer until then: compare its activity's filter.
  std::shared_ptr<const analysis::RangeReport> report(const EventFilter& filter);
  // How the time of the whole session was used; null until the first answer.
  std::shared_ptr<const analysis::RangeActivity> activity();
  // How much of the index is made, 0 to 1, while the first one is under way or waits for the timeline.
  [[nodiscard]] std::optional<double> summary_index_share() const;
  [[nodiscard]] const std::string& summary_error() const noexcept {
    return summary_index_.value ? summary_.error : summary_index_.error;
  }
  // Of at most kRenewSeconds ago: asking the store itself may wait for a save or a chunk.
  StoreStatus store_status();

  // The events of a line that pass the filter, for lighting them; a new line replaces the one that is under way.
  void ask_line_events(std::string path, std::uint32_t line);
  [[nodiscard]] std::optional<analysis::LineEvents> take_line_events();  // once, when ready

  // Search hits of the text among what passes the filter. An error of the text ("/(/") is kept in search_error().
  void search(const std::string& text);
  [[nodiscard]] const search::EventSearch* hits() const noexcept { return search_.value.get(); }
  [[nodiscard]] std::shared_ptr<const search::EventSearch> shared_hits() const { return search_.value; }
  [[nodiscard]] const std::string& search_text() const noexcept { return search_.key.text; }
  [[nodiscard]] const std::string& search_error() const noexcept {
    return search_.error.empty() ? found_.error : search_.error;
  }
  // Which events they are: what rank, list, steps and the timeline's marks are made of. The last ones of this text
  // until those of newer data are there; null before the first.
  std::shared_ptr<const search::SearchHits> found();
  // The first hits in a range; those of another range or search until the wanted ones are there, null before the first.
  std::shared_ptr<const HitList> hit_list(const TimeRange& range);
  // Of this event, or of another one while it is counted; null before the first answer.
  std::shared_ptr<const HitRank> hit_rank(EventId event);
  // Why the search found nothing, or that it passes everything; null until that is known.
  std::shared_ptr<const search::SearchHint> search_hint();
  // What the hits of a range add up to, by name, line and lane; compare its filter's range.
  std::shared_ptr<const SessionSummary> hit_summary(const TimeRange& range);
  [[nodiscard]] bool searching() const noexcept { return search_.task.valid(); }

  [[nodiscard]] const std::string& error() const noexcept { return error_; }  // of the last work that failed

 private:
  struct Activity {
    std::shared_ptr<const analysis::ActivityIndex> index;
    std::shared_ptr<const analysis::RangeActivity> whole;
  };
  struct SearchKey {
    std::string text;
    EventFilter filter;  // that the hits were looked for in
    bool operator==(const SearchKey&) const = default;
  };
  template <typename Key>
  struct OfHits {
    std::shared_ptr<const search::SearchHits> hits;
    Key key{};
    bool operator==(const OfHits&) const = default;
  };
  struct ReportKey {
    EventFilter filter;
    bool complete = false;  // with all that it can be made of
    bool operator==(const ReportKey&) const = default;
  };
  // What is to be done for a question.
  enum class Step : std::uint8_t { none, wait, start };
  struct Asked {
    bool busy = false, same = false;
  };
  [[nodiscard]] Step step(RetainedState& answer, const Asked& asked, const Renewal& renewal);
  template <typename T, typename Key>
  void take(Retained<T, Key>& answer);
  // Nothing is known of it any more; what was is freed by a worker.
  template <typename T, typename Key>
  void forget(Retained<T, Key>& answer, Key key = {});
  // All answers but the masks.
  template <typename Self>
  static auto answers(Self& self) {
    return std::tie(self.memory_, self.colours_, self.lines_, self.passing_, self.dependencies_, self.active_,
                    self.verdict_, self.advice_, self.incidents_, self.leaf_work_, self.launch_queues_,
                    self.compilations_, self.whole_figures_, self.part_figures_, self.summary_index_, self.summary_,
                    self.hit_summary_, self.report_, self.activity_, self.search_, self.found_, self.hit_list_,
                    self.hit_rank_, self.search_hint_, self.status_);
  }
  template <typename Is>
  [[nodiscard]] bool any_answer(Is is) const;
  [[nodiscard]] bool hold();  // true: not yet
  // Of what is made of mask() of that filter, which is there or needs none.
  [[nodiscard]] Basis basis_of_mask(MaskUse use, const EventFilter& filter) const;
  void hold_until(double at_s);
  void free_retired();

  WorkerPool& pool_;
  std::shared_ptr<const Store> store_;
  std::shared_ptr<const Snapshot> snapshot_;
  double now_s_ = 0;
  bool grows_ = false;
  bool gave_older_ = false;
  std::uint32_t asked_ = 0, asked_before_ = 0;  // answers that age, in this frame and in the last
  std::vector<std::pair<double, std::shared_ptr<const void>>> retired_;  // since when
  double freed_s_ = -1;                                                  // when what was retired has been freed last
  bool timeline_drawn_ = false;
  bool held_ = false;  // something was asked for in this frame and is still to come
  double due_s_ = kNever;
  double held_since_s_ = -1;
  EventFilter filter_;
  std::string error_;

  Retained<analysis::MemoryUsage> memory_;
  std::array<Retained<EventMask, EventFilter>, kMaskUses> masks_;  // of filters without their range
  Retained<colour::EventColours, colour::ColourChoice> colours_;
  Retained<analysis::SourceLines, EventFilter> lines_;
  Retained<PassingCount, EventFilter> passing_;
  Retained<analysis::Dependencies> dependencies_;
  Retained<analysis::FirstLook> active_;
  Retained<analysis::Verdict> verdict_;
  Retained<analysis::Advice, Filtered<NoKey>> advice_;
  Retained<analysis::Incidents> incidents_;
  Retained<analysis::LeafWork> leaf_work_;
  Retained<analysis::LaunchQueues> launch_queues_;
  Retained<analysis::Compilations> compilations_;
  Retained<SessionFigures, Filtered<NoKey>> whole_figures_, part_figures_;
  Retained<analysis::SummaryIndex> summary_index_;
  Retained<SessionSummary, EventFilter> summary_, hit_summary_;
  Retained<analysis::RangeReport, ReportKey> report_;
  Retained<Activity> activity_;
  Retained<search::EventSearch, SearchKey> search_;
  Retained<search::SearchHits, std::shared_ptr<const search::EventSearch>> found_;
  Retained<search::SearchHint, std::shared_ptr<const search::EventSearch>> search_hint_;
  Retained<HitList, OfHits<TimeRange>> hit_list_;
  Retained<HitRank, OfHits<EventId>> hit_rank_;
  Retained<StoreStatus> status_;
  Task<Result<analysis::LineEvents>> line_events_;
};

template <typename T, typename Key>
void SessionAnalysis::take(Retained<T, Key>& answer) {
  if (!answer.task.valid() || !answer.task.ready()) return;
  auto result = answer.task.take();
  answer.took_s = answer.worked_s ? *answer.worked_s : 0;
  answer.dropped = 0;
  answer.error = result ? std::string() : result.message();
  if (!result) return;
  retire(std::exchange(answer.value, std::move(*result)));
  answer.value_key = answer.key;
  answer.value_version = answer.version;
  answer.value_snapshot = answer.snapshot;
}

template <typename T, typename Key>
void SessionAnalysis::forget(Retained<T, Key>& answer, Key key) {
  answer.task.cancel();
  retire(std::make_shared<Retained<T, Key>>(std::move(answer)));
  answer = Retained<T, Key>();
  answer.key = std::move(key);
}

template <typename T, typename Key, typename Work>
std::shared_ptr<const T> SessionAnalysis::ask(Retained<T, Key>& answer, const Key& key, const Renewal& renewal,
                                              Work work) {
  take(answer);
  if (!answer.error.empty() && !renewal.tells_itself) error_ = answer.error;
  const Step next = step(answer, {answer.task.valid(), answer.asked_s >= 0 && answer.key == key}, renewal);
  if (next == Step::start) {
    answer.key = key;
    answer.worked_s = std::make_shared<double>();
    answer.task.cancel();
    if (answer.task.valid()) retire(std::make_shared<Task<Found<T>>>(std::move(answer.task)));
    answer.task = start(
        [work = std::move(work), worked_s = answer.worked_s](const QueryContext& query) -> Found<T> {
          const WorkTime time(*worked_s);
          return work(query);
        },
        renewal.priority, answer.snapshot);
  }
  gave_older_ = gave_older_ || (answer.is_older() && (answer.task.valid() || next == Step::wait));
  return answer.value;
}

template <typename T, typename Question, typename Work>
std::shared_ptr<const T> SessionAnalysis::ask_of(Retained<T, Filtered<Question>>& answer, const EventFilter& filter,
                                                 const Question& question, Work work, const Renewal& renewal) {
  constexpr double kRestSeconds = 0.1;
  Renewal of_range = renewal;
  of_range.rest_s = kRestSeconds;
  of_range.busy_s = kRenewSeconds;
  of_range.tells_itself = true;
  return ask(
      answer, {filter, question}, of_range,
      [filter, known = known_mask(filter, renewal.of), work = std::move(work)](const QueryContext& query) -> Found<T> {
        const auto filtered = TRY(search::masked(query, filter, known));
        return work(filtered);
      });
}

}  // namespace accelscope::app::session
