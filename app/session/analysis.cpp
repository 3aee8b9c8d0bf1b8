#include "app/session/analysis.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/analysis/time/session_activity.h"
#include "core/search/filter_mask.h"

namespace accelscope::app {

SessionAnalysis::SessionAnalysis(WorkerPool& pool, std::shared_ptr<const Store> store)
    : pool_(pool), store_(std::move(store)) {}

SessionAnalysis::~SessionAnalysis() = default;

void SessionAnalysis::begin_frame(std::shared_ptr<const Snapshot> snapshot, double now_s) {
  snapshot_ = std::move(snapshot);
  now_s_ = now_s;
  held_ = false;
  free_retired();
  take_search();
}

namespace {

// Rows of tables and dependencies have no place to step to.
LaneIndices lanes_on_timeline(const Snapshot& snapshot) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const EventKind kind = snapshot.lanes[i].data->kind;
    if (kind != EventKind::flow && kind != EventKind::table) lanes.push_back(i);
  }
  return lanes;
}

// An answer that is there and that nobody asks for any more keeps no one waiting.
template <typename T>
bool under_way(const Task<T>& task) {
  return task.valid() && !task.ready();
}

}  // namespace

void SessionAnalysis::retire(std::shared_ptr<const void> answer) {
  if (answer) retired_.emplace_back(now_s_, std::move(answer));
}

void SessionAnalysis::free_retired() {
  constexpr double kShownSeconds = 1;  // whoever shows it has taken the better one by then
  const auto last = std::find_if(retired_.begin(), retired_.end(),
                                 [&](const auto& each) { return now_s_ - each.first < kShownSeconds; });
  if (last == retired_.begin()) return;
  std::vector<std::pair<double, std::shared_ptr<const void>>> old(std::make_move_iterator(retired_.begin()),
                                                                  std::make_move_iterator(last));
  retired_.erase(retired_.begin(), last);
  // Nobody waits for it: a task that is dropped still gives back what it holds, on its own thread.
  (void)pool_.start(Priority::background, [old = std::move(old)](TaskControl&) { return old.size(); });
}

bool SessionAnalysis::timeline_pending() const { return under_way(memory_.task) || under_way(active_.task); }

bool SessionAnalysis::pending() const {
  return held_ || timeline_pending() || under_way(lines_.task) || under_way(dependencies_.task) ||
         under_way(line_events_) || under_way(search_task_) || under_way(status_task_) ||
         under_way(summary_index_.task) || under_way(summary_.task) || under_way(whole_figures_.task) ||
         under_way(part_figures_.task) || under_way(verdict_.task) || under_way(colours_.task) ||
         under_way(hit_list_.task) || under_way(hit_rank_.task) || under_way(hit_summary_.task) ||
         under_way(report_.task) || under_way(activity_.task) || under_way(passing_.task) ||
         std::any_of(masks_.begin(), masks_.end(), [](const MaskAnswer& each) { return under_way(each.task); });
}

template <typename T>
void SessionAnalysis::take(Answer<T>& answer) {
  if (!answer.task.valid() || !answer.task.ready()) return;
  auto result = answer.task.take();
  if (result) {
    retire(std::exchange(answer.value, std::move(*result)));
  } else {
    error_ = result.message();
  }
}

template <typename T, typename Work>
std::shared_ptr<const T> SessionAnalysis::ask(Answer<T>& answer, Work work) {
  take(answer);
  const bool stale = answer.version != snapshot_->version || answer.asked_s < 0;
  const bool due = now_s_ - answer.asked_s >= kRenewSeconds;
  if (stale && !due) held_ = true;  // it is renewed a little later, also if nothing else draws a frame then
  if (!answer.task.valid() && stale && due) {
    answer.version = snapshot_->version;
    answer.asked_s = std::max(now_s_, 0.0);
    answer.task = start(std::move(work));
  }
  return answer.value;
}

std::shared_ptr<const MemoryUsage> SessionAnalysis::memory() {
  return ask(memory_, [](const QueryContext& query) { return memory_usage(query); });
}

bool SessionAnalysis::hold() {
  if (held_since_s_ < 0) held_since_s_ = std::max(now_s_, 0.0);
  const bool holds = !timeline_drawn_ && now_s_ - held_since_s_ < kMostHeldSeconds;
  held_ = held_ || holds;
  return holds;
}

std::shared_ptr<const SourceLines> SessionAnalysis::source_lines() {
  if (hold()) return nullptr;
  std::shared_ptr<const EventMask> passing = mask(MaskUse::filter, filter_);
  if (filter_.needs_mask() && !passing) return lines_.value;
  return ask(lines_, [passing, range = filter_.range.value_or(TimeRange{})](const QueryContext& query) {
    QueryContext filtered = query;
    filtered.mask = passing;
    return accelscope::source_lines(filtered, range);
  });
}

std::shared_ptr<const Dependencies> SessionAnalysis::dependencies() {
  if (hold()) return nullptr;
  return ask(dependencies_, [](const QueryContext& query) { return Dependencies::build(query); });
}

void SessionAnalysis::set_filter(const EventFilter& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  lines_.task = {};
  lines_.asked_s = -1e9;  // those there are stand for another filter, and are renewed at once
  passing_.task = {};
  passing_.asked_s = -1e9;
}

std::shared_ptr<const PassingCount> SessionAnalysis::passing() {
  if (filter_.empty()) return nullptr;
  std::shared_ptr<const EventMask> terms = mask(MaskUse::filter, filter_);
  const bool can_count = terms || !filter_.needs_mask();
  const auto count = [filter = filter_,
                      terms](const QueryContext& query) -> Result<std::shared_ptr<const PassingCount>> {
    const auto whole = filter_mask(query, filter, terms);
    if (!whole) return whole.error();
    const Snapshot& snapshot = *query.snapshot;
    return std::shared_ptr<const PassingCount>(std::make_shared<PassingCount>(
        PassingCount{filter, count_passing(snapshot, whole->get()), count_passing(snapshot, nullptr)}));
  };
  std::shared_ptr<const PassingCount> counted = can_count ? ask(passing_, count) : passing_.value;
  return counted && counted->filter == filter_ ? counted : nullptr;
}

std::shared_ptr<const EventMask> SessionAnalysis::mask(MaskUse use, const EventFilter& filter) {
  if (!filter.needs_mask()) return nullptr;
  MaskAnswer& answer = masks_[static_cast<std::size_t>(use)];
  EventFilter wanted = filter;
  wanted.range.reset();
  if (answer.filter != wanted) {
    answer = MaskAnswer{};
    answer.filter = std::move(wanted);
  }
  if (answer.task.valid() && answer.task.ready()) {
    auto result = answer.task.take();
    if (result) {
      retire(std::exchange(answer.value, std::move(*result)));
    } else {
      answer.error = result.message();
    }
  }
  const bool stale = answer.error.empty() && (answer.version != snapshot_->version || answer.asked_s < 0);
  const bool due = now_s_ - answer.asked_s >= kRenewSeconds;
  if (stale && !due) held_ = true;
  if (!answer.task.valid() && stale && due) {
    answer.version = snapshot_->version;
    answer.asked_s = std::max(now_s_, 0.0);
    answer.task = start([filter = answer.filter, previous = answer.value](const QueryContext& query) {
      return event_mask(query, filter, previous.get());
    });
  }
  return answer.value;
}

std::shared_ptr<const EventColours> SessionAnalysis::colours(const ColourChoice& choice) {
  if (choice.empty()) {
    colours_ = {};
    return nullptr;
  }
  if (choice != colours_.choice) {
    take(colours_);  // what another choice left may hold tables of this one
    colours_.choice = choice;
    colours_.task = {};
    colours_.asked_s = -1e9;
  }
  return ask(colours_, [choice, previous = colours_.value](const QueryContext& query) {
    return event_colours(query, choice, previous.get());
  });
}

std::optional<TimeRange> SessionAnalysis::active() {
  const auto found =
      ask(active_, [](const QueryContext& query) -> Result<std::shared_ptr<const std::optional<TimeRange>>> {
        auto stretch = find_active_stretch(query);
        if (!stretch) return stretch.error();
        return std::shared_ptr<const std::optional<TimeRange>>(std::make_shared<std::optional<TimeRange>>(*stretch));
      });
  return found ? *found : std::nullopt;
}

std::shared_ptr<const Verdict> SessionAnalysis::verdict() {
  const std::optional<TimeRange> stretch = active();
  const std::shared_ptr<const SourceLines> lines = source_lines();
  (void)activity();
  if (!active_.value || !lines || !activity_.value || !filter_.empty()) return verdict_.value;  // of the whole session
  return ask(verdict_,
             [stretch, lines,
              index = activity_.value->index](const QueryContext& query) -> Result<std::shared_ptr<const Verdict>> {
               Result<Verdict> verdict = session_verdict(query, stretch, *lines, index.get());
               if (!verdict) return verdict.error();
               return std::shared_ptr<const Verdict>(std::make_shared<Verdict>(std::move(*verdict)));
             });
}

std::shared_ptr<const EventMask> SessionAnalysis::known_mask(const EventFilter& filter) const {
  const std::shared_ptr<const EventMask>& mask = masks_[static_cast<std::size_t>(MaskUse::filter)].value;
  if (!mask || mask->snapshot_version() != snapshot_->version) return nullptr;
  EventFilter wanted = filter;
  wanted.range.reset();
  return mask->filter() == wanted ? mask : nullptr;
}

std::shared_ptr<const SessionFigures> SessionAnalysis::figures(const EventFilter& filter) {
  FiguresAnswer& answer = filter.empty() ? whole_figures_ : part_figures_;
  const bool was_under_way = answer.task.valid();
  take(answer);
  if (was_under_way && !answer.task.valid()) answer.took_s = now_s_ - answer.asked_s;
  const bool same = answer.asked_s >= 0 && answer.filter == filter;
  if (same && (answer.task.valid() || answer.version == snapshot_->version)) return answer.value;
  // A growing session is added up anew for a fraction of the time only, a moving range when it rests: what is under way
  // for a range that nobody sees any more is dropped, but starting anew each frame would never end.
  constexpr double kRestSeconds = 0.1, kIdleShare = 4;
  double pause = answer.task.valid() ? kRenewSeconds : kRestSeconds;
  if (same) pause = std::max(kRenewSeconds, kIdleShare * answer.took_s);
  if (now_s_ - answer.asked_s < pause) {
    held_ = true;
    return answer.value;
  }
  answer.filter = filter;
  answer.version = snapshot_->version;
  answer.asked_s = std::max(now_s_, 0.0);
  answer.task = start([filter, memory = memory_.value, known = known_mask(filter)](
                          const QueryContext& query) -> Result<std::shared_ptr<const SessionFigures>> {
    const bool usable = memory && memory->snapshot_version == query.snapshot->version;
    QueryContext filtered = query;
    if (filter.needs_mask()) {
      auto mask = known ? Result(known) : event_mask(query, filter);
      if (!mask) return mask.error();
      filtered.mask = std::move(*mask);
    }
    auto metrics = session_metrics(filtered, filter.range.value_or(TimeRange{}), usable ? memory.get() : nullptr);
    if (!metrics) return metrics.error();
    return std::shared_ptr<const SessionFigures>(
        std::make_shared<SessionFigures>(SessionFigures{filter, query.snapshot->version, std::move(*metrics)}));
  });
  return answer.value;
}

void SessionAnalysis::take_summary(SummaryAnswer& answer) {
  if (!answer.task.valid() || !answer.task.ready()) return;
  auto result = answer.task.take();
  if (&answer == &summary_) summary_error_ = result ? std::string() : result.message();
  if (result) retire(std::exchange(answer.value, std::move(*result)));
}

std::shared_ptr<const SessionSummary> SessionAnalysis::summary(const EventFilter& filter) {
  if (!hold()) {
    ask(summary_index_,
        [last = summary_index_.value](const QueryContext& query) { return SummaryIndex::build(query, last); });
  }
  take_summary(summary_);
  // What is under way for a box that has moved on is let end: it takes less than a frame or two.
  const bool wanted = summary_.asked_s < 0 || summary_.filter != filter || summary_.version != snapshot_->version;
  if (!wanted || !summary_index_.value) return summary_.value;
  const double pause = summary_.filter == filter ? kRenewSeconds : 0;
  if (summary_.task.valid() || now_s_ - summary_.asked_s < pause) {
    held_ = true;
    return summary_.value;
  }
  summary_.filter = filter;
  summary_.version = snapshot_->version;
  summary_.asked_s = std::max(now_s_, 0.0);
  summary_.task = start([filter, index = summary_index_.value, last = summary_.value](const QueryContext& query) {
    return summarise(query, filter, index, last);
  });
  return summary_.value;
}

std::shared_ptr<const RangeActivity> SessionAnalysis::activity() {
  Answer<Activity>& answer = activity_;
  const bool was_under_way = answer.task.valid();
  take(answer);
  if (was_under_way && !answer.task.valid()) activity_took_s_ = now_s_ - answer.asked_s;
  // All of a growing session is added up anew, so for a fraction of the time only.
  constexpr double kIdleShare = 4;
  const bool stale = answer.asked_s < 0 || answer.version != snapshot_->version;
  const double pause = answer.asked_s < 0 ? 0 : std::max(kRenewSeconds, kIdleShare * activity_took_s_);
  if (!answer.task.valid() && stale && !hold()) {
    if (now_s_ - answer.asked_s < pause) {
      held_ = true;
    } else {
      answer.version = snapshot_->version;
      answer.asked_s = std::max(now_s_, 0.0);
      answer.task = start([](const QueryContext& query) -> Result<std::shared_ptr<const Activity>> {
        auto index = ActivityIndex::build(query);
        if (!index) return index.error();
        auto whole = range_activity(query, {}, index->get());
        if (!whole) return whole.error();
        return std::shared_ptr<const Activity>(std::make_shared<Activity>(Activity{*index, *whole}));
      });
    }
  }
  held_ = held_ || answer.task.valid();  // whoever asked for it shows it, and more is made of it
  return answer.value ? answer.value->whole : nullptr;
}

std::shared_ptr<const RangeReport> SessionAnalysis::report(const EventFilter& filter) {
  ReportAnswer& answer = report_;
  const bool was_under_way = answer.task.valid();
  take(answer);
  if (was_under_way && !answer.task.valid()) answer.took_s = now_s_ - answer.asked_s;
  (void)activity();
  const ReportInput input{activity_.value ? activity_.value->index : nullptr, dependencies(), memory()};
  const bool complete = input.index && input.dependencies && input.memory;
  const bool same = answer.asked_s >= 0 && answer.filter == filter && (answer.complete || !complete);
  held_ = held_ || answer.task.valid();
  if (same && (answer.task.valid() || answer.version == snapshot_->version)) return answer.value;
  const auto summary = summary_.value;  // its mask is the filter's
  constexpr double kRestSeconds = 0.1, kIdleShare = 4;
  const double pause = same ? std::max(kRenewSeconds, kIdleShare * answer.took_s) : kRestSeconds;
  const bool ready = summary && summary->summary->filter == filter && input.index;
  if (!ready || now_s_ - answer.asked_s < pause) {
    held_ = held_ || ready;
    return answer.value;
  }
  answer.filter = filter;
  answer.complete = complete;
  answer.version = snapshot_->version;
  answer.asked_s = std::max(now_s_, 0.0);
  answer.task = start([filter, input, mask = summary->mask](const QueryContext& query) {
    QueryContext masked = query;
    masked.mask = mask;
    return range_report(masked, filter, input);
  });
  held_ = true;
  return answer.value;
}

std::optional<double> SessionAnalysis::summary_index_share() const {
  if (summary_index_.value) return std::nullopt;
  const double total = static_cast<double>(summary_index_.task.total());
  return total > 0 ? static_cast<double>(summary_index_.task.done()) / total : 0.0;
}

const StoreStatus& SessionAnalysis::store_status() {
  if (status_task_.valid() && status_task_.ready()) status_ = status_task_.take();
  if (!status_task_.valid() && now_s_ - status_asked_s_ >= kRenewSeconds) {
    status_asked_s_ = std::max(now_s_, 0.0);
    status_task_ = pool_.start([store = store_](TaskControl&) { return store->status(); });
  }
  return status_;
}

void SessionAnalysis::ask_line_events(std::string path, std::uint32_t line) {
  constexpr std::size_t kMostStepped = 4'000'000;  // one by one, in order: 8 bytes each; all are lit
  line_events_ = start([path = std::move(path), line, filter = filter_,
                        known = known_mask(filter_)](const QueryContext& query) -> Result<LineEvents> {
    QueryContext filtered = query;
    auto passing = filter_mask(query, filter, known);
    if (!passing) return passing.error();
    filtered.mask = std::move(*passing);
    return events_of_line(filtered, path, line, TimeRange{}, kMostStepped);
  });
}

std::optional<LineEvents> SessionAnalysis::take_line_events() {
  if (!line_events_.valid() || !line_events_.ready()) return std::nullopt;
  auto result = line_events_.take();
  if (result) return std::move(*result);
  error_ = result.message();
  return std::nullopt;
}

void SessionAnalysis::search(const std::string& text) {
  const bool same_question = text == search_text_ && search_filter_ == filter_;
  if (same_question && search_version_ == snapshot_->version) return;
  if (same_question && now_s_ - search_asked_s_ < 1) {
    held_ = held_ || (!text.empty() && search_error_.empty());
    return;
  }
  if (!same_question) {
    hits_.reset();
    search_error_.clear();
  }
  search_text_ = text;
  search_filter_ = filter_;
  search_version_ = snapshot_->version;
  search_asked_s_ = now_s_;
  search_task_ = {};
  if (text.empty()) return;
  auto parsed = parse_search(text);
  if (!parsed) {
    search_error_ = parsed.message();
    return;
  }
  search_task_ = start([parsed = std::move(*parsed), filter = filter_, known = known_mask(filter_)](
                           const QueryContext& query) -> Result<std::shared_ptr<EventSearch>> {
    QueryContext filtered = query;
    if (auto mask = filter_mask(query, filter, known)) filtered.mask = std::move(*mask);  // its own error is in the bar
    auto found = EventSearch::run(filtered, parsed, lanes_on_timeline(*query.snapshot));
    if (!found) return found.error();
    return std::make_shared<EventSearch>(std::move(*found));
  });
}

namespace {

Hit hit_of(const Snapshot& snapshot, EventReader& reader, const SearchPosition& position) {
  Hit hit{.event = position.event, .begin_ns = position.begin_ns, .end_ns = position.begin_ns};
  const Result<EventRecord> event = reader.read(position.event);
  if (!event) {
    hit.name_text = event.message();
    return hit;
  }
  hit.end_ns = event->end_ns;
  hit.name = event->name;
  hit.name_text = event->name_text;
  if (const TrackSnapshot* track = snapshot.find_track(event->lane->track)) hit.lane = track->track->name;
  const auto location = event->lane->schema ? event->lane->schema->find(Role::source_location) : std::nullopt;
  if (location && *location < event->fields.size()) {
    hit.source = field_text(event->lane->schema->columns[*location], event->fields[*location]);
  }
  return hit;
}

}  // namespace

std::shared_ptr<const HitList> SessionAnalysis::hit_list(const TimeRange& range) {
  take(hit_list_);
  if (!hits_) return nullptr;
  const bool same = listed_ == hits_ && hit_range_ == range;
  constexpr double kRestSeconds = 0.1;  // a moving range is listed when it rests
  if (same) return hit_list_.value;
  if (hit_list_.task.valid() && now_s_ - hit_list_.asked_s < kRestSeconds) {
    held_ = true;
    return hit_list_.value;
  }
  if (listed_ != hits_) hit_list_.value = nullptr;
  listed_ = hits_;
  hit_range_ = range;
  hit_list_.asked_s = now_s_;
  hit_list_.task = start([hits = hits_, range](const QueryContext& query) -> Result<std::shared_ptr<const HitList>> {
    const auto found = hits->list(query, range, HitList::kMost);
    if (!found) return found.error();
    auto list = std::make_shared<HitList>();
    list->range = range;
    EventReader reader(query.store, query.snapshot);
    for (const SearchPosition& hit : *found) list->hits.push_back(hit_of(*query.snapshot, reader, hit));
    return std::shared_ptr<const HitList>(std::move(list));
  });
  return hit_list_.value;
}

std::shared_ptr<const HitRank> SessionAnalysis::hit_rank(EventId event) {
  take(hit_rank_);
  if (!hits_) return nullptr;
  if (ranked_ == hits_ && rank_of_ == event) return hit_rank_.value;
  if (ranked_ != hits_) hit_rank_.value = nullptr;
  ranked_ = hits_;
  rank_of_ = event;
  hit_rank_.task = start([hits = hits_, event](const QueryContext& query) -> Result<std::shared_ptr<const HitRank>> {
    EventReader reader(query.store, query.snapshot);
    const auto record = reader.read(event);
    if (!record) return record.error();
    const auto rank = hits->rank(query, {record->begin_ns, event});
    if (!rank) return rank.error();
    return std::shared_ptr<const HitRank>(
        std::make_shared<HitRank>(HitRank{event, rank->is_hit ? rank->before + 1 : 0}));
  });
  return hit_rank_.value;
}

std::shared_ptr<const SessionSummary> SessionAnalysis::hit_summary(const TimeRange& range) {
  take_summary(hit_summary_);
  if (search_text_.empty() || !search_error_.empty()) return nullptr;
  const EventFilter wanted = both(filter_, {.range = range, .tracks = {}, .terms = {{search_text_, false}}});
  const bool same = hit_summary_.asked_s >= 0 && hit_summary_.filter == wanted;
  if (same && (hit_summary_.task.valid() || hit_summary_.version == snapshot_->version)) return hit_summary_.value;
  // All hits of the range are looked at: one such look at a time, and while a range moves not one for each step of it.
  constexpr double kRestSeconds = 0.1;
  if (hit_summary_.task.valid() || now_s_ - hit_summary_.asked_s < (same ? kRenewSeconds : kRestSeconds)) {
    held_ = true;
    return hit_summary_.value;
  }
  hit_summary_.filter = wanted;
  hit_summary_.version = snapshot_->version;
  hit_summary_.asked_s = std::max(now_s_, 0.0);
  hit_summary_.task = start(
      [wanted, last = hit_summary_.value](const QueryContext& query) -> Result<std::shared_ptr<const SessionSummary>> {
        auto summary = summarise(query, wanted, nullptr, last);
        if (!summary) return summary;
        // What is only commentary on work is no part of the sums, but was found.
        const auto passing = filter_mask(query, wanted, (*summary)->mask);
        if (!passing) return passing.error();
        auto counted = std::make_shared<SessionSummary>(**summary);
        for (const std::uint32_t lane : lanes_on_timeline(*query.snapshot)) counted->events += (*passing)->count(lane);
        return std::shared_ptr<const SessionSummary>(std::move(counted));
      });
  return hit_summary_.value;
}

void SessionAnalysis::take_search() {
  if (!search_task_.valid() || !search_task_.ready()) return;
  auto result = search_task_.take();
  if (result) {
    retire(std::exchange(hits_, std::move(*result)));
  } else {
    search_error_ = result.message();
  }
}

}  // namespace accelscope::app
