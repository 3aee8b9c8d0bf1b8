#include "app/session/analysis.h"

#include <iterator>

namespace accelscope::app::session {

Result<std::shared_ptr<const SessionSummary>> summarise(const QueryContext& query, const EventFilter& filter,
                                                        const std::shared_ptr<const analysis::SummaryIndex>& index,
                                                        const std::shared_ptr<const SessionSummary>& last) {
  const auto begin = std::chrono::steady_clock::now();
  auto answer = std::make_shared<SessionSummary>();
  QueryContext masked = query;
  if (!filter.terms.empty()) {
    EventFilter terms;
    terms.terms = filter.terms;
    const EventMask* known = last && last->mask && last->mask->filter() == terms ? last->mask.get() : nullptr;
    if (known != nullptr && known->snapshot_version() == query.snapshot->version) {
      answer->mask = last->mask;
    } else {
      auto mask = TRY(search::event_mask(query, terms, known));
      answer->mask = mask;
    }
    masked.mask = answer->mask;
  }
  auto summary = TRY(analysis::selection_summary(masked, filter, index.get()));
  answer->summary = summary;
  answer->took_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return std::shared_ptr<const SessionSummary>(std::move(answer));
}

SessionAnalysis::SessionAnalysis(WorkerPool& pool, std::shared_ptr<const Store> store)
    : pool_(pool), store_(std::move(store)) {}

SessionAnalysis::~SessionAnalysis() = default;

void SessionAnalysis::begin_frame(std::shared_ptr<const Snapshot> snapshot, double now_s, bool grows) {
  snapshot_ = std::move(snapshot);
  now_s_ = now_s;
  grows_ = grows;
  asked_before_ = std::exchange(asked_, 0);
  held_ = false;
  due_s_ = kNever;
  free_retired();
  // Also those that nobody shows now: how long an answer took says when it is renewed.
  for (auto& mask : masks_) take(mask);
  std::apply([&](auto&... each) { (take(each), ...); }, answers(*this));
}

namespace {

// An answer that is there and that nobody asks for any more keeps no one waiting.
template <typename T>
bool under_way(const Task<T>& task) {
  return task.valid() && !task.ready();
}

template <typename T>
Result<std::shared_ptr<const T>> shared(Result<T> value) {
  if (!value) return value.error();
  return std::shared_ptr<const T>(std::make_shared<T>(std::move(*value)));
}

std::string why_not_read(const std::string& search) {
  const auto parsed = search::parse_search(search);
  return parsed ? std::string() : parsed.message();
}

constexpr double kRestSeconds = 0.1;  // a range that moves is looked at when it rests

Hit hit_of(const Snapshot& snapshot, EventReader& reader, const search::SearchPosition& position) {
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

void SessionAnalysis::retire(std::shared_ptr<const void> answer) {
  if (answer) retired_.emplace_back(now_s_, std::move(answer));
}

void SessionAnalysis::free_retired() {
  constexpr double kShownSeconds = 1;  // whoever shows it has taken the better one by then
  // The end of the work draws a frame: one for each answer would go on for ever, as each frame may bring a new one.
  if (now_s_ - freed_s_ < kShownSeconds) return;
  const auto last =
      std::ranges::find_if(retired_, [&](const auto& each) { return now_s_ - each.first < kShownSeconds; });
  if (last == retired_.begin()) return;
  std::vector<std::pair<double, std::shared_ptr<const void>>> old(std::make_move_iterator(retired_.begin()),
                                                                  std::make_move_iterator(last));
  retired_.erase(retired_.begin(), last);
  freed_s_ = now_s_;
  // Nobody waits for it: a task that is dropped still gives back what it holds, on its own thread.
  (void)pool_.start(Priority::background, [old = std::move(old)](TaskControl&) { return old.size(); });
}

bool SessionAnalysis::timeline_pending() const {
  return under_way(memory_.task) || under_way(active_.task) || under_way(incidents_.task) || under_way(leaf_work_.task);
}

SessionAnalysis::Step SessionAnalysis::step(RetainedState& answer, const Asked& asked, const Renewal& renewal) {
  const bool grows = grows_ || renewal.beside.grows;
  const std::uint64_t newest = snapshot_->version + renewal.beside.version;
  const std::uint64_t of = std::min(renewal.of.version, newest);
  answer.newest = renewal.ages ? newest : 0;
  if (renewal.ages) ++asked_;
  held_ = held_ || asked.busy;     // whoever asked for it takes it
  if (of == 0) return Step::none;  // what it is made of is asked for
  // Once the data have ended nothing is made of what is not of their end.
  const bool is_last = answer.asked_growing && !grows;
  if (asked.same) {
    if (!renewal.ages || answer.version >= of || (!grows && of < newest && answer.value_version > 0)) return Step::none;
    if (asked.busy && !is_last) return Step::none;
  } else if (asked.busy && renewal.is_let_end) {
    return Step::none;
  }
  const double share = answer.took_s * std::max(1U, asked_before_) / kShareOfWorker;
  const double pause = asked.same   ? is_last ? 0 : std::max(kRenewSeconds, grows ? share : 0)
                         : asked.busy ? renewal.busy_s * (1U << std::min(answer.dropped, 5U))  // else it may never end
                                    : renewal.rest_s;
  if (now_s_ - answer.asked_s < pause) {
    hold_until(answer.asked_s + pause);
    return Step::wait;
  }
  if (asked.busy) ++answer.dropped;
  answer.version = of;
  answer.snapshot = renewal.of.snapshot ? renewal.of.snapshot : snapshot_;
  answer.asked_s = std::max(now_s_, 0.0);
  answer.asked_growing = grows;
  held_ = true;
  return Step::start;
}

template <typename Is>
bool SessionAnalysis::any_answer(Is is) const {
  return std::ranges::any_of(masks_, is) ||
         std::apply([&](const auto&... each) { return (is(each) || ...); }, answers(*this));
}

bool SessionAnalysis::pending() const {
  return held_ || under_way(line_events_) || any_answer([](const auto& each) { return under_way(each.task); });
}

std::optional<double> SessionAnalysis::due_in() const {
  return due_s_ < kNever ? std::optional(std::max(0.0, due_s_ - now_s_)) : std::nullopt;
}

void SessionAnalysis::hold_until(double at_s) {
  held_ = true;
  due_s_ = std::min(due_s_, at_s);
}

std::shared_ptr<const analysis::MemoryUsage> SessionAnalysis::memory() {
  return ask(memory_, [](const QueryContext& query) { return analysis::memory_usage(query); });
}

bool SessionAnalysis::hold() {
  if (held_since_s_ < 0) held_since_s_ = std::max(now_s_, 0.0);
  if (timeline_drawn_ || now_s_ - held_since_s_ >= kMostHeldSeconds) return false;
  hold_until(held_since_s_ + kMostHeldSeconds);
  return true;
}

std::shared_ptr<const analysis::SourceLines> SessionAnalysis::source_lines() {
  if (hold()) return nullptr;
  std::shared_ptr<const EventMask> passing = mask(MaskUse::filter, filter_);
  if (filter_.needs_mask() && !passing) return lines_.value;
  return ask(lines_, filter_, {.of = basis_of_mask(MaskUse::filter, filter_)},
             [passing, range = filter_.range.value_or(TimeRange{})](const QueryContext& query) {
               QueryContext filtered = query;
               filtered.mask = passing;
               return accelscope::analysis::source_lines(filtered, range);
             });
}

std::shared_ptr<const analysis::Dependencies> SessionAnalysis::dependencies() {
  if (hold()) return nullptr;
  return ask(dependencies_, [](const QueryContext& query) { return analysis::session_dependencies(query); });
}

std::shared_ptr<const PassingCount> SessionAnalysis::passing() {
  if (filter_.empty()) return nullptr;
  std::shared_ptr<const EventMask> terms = mask(MaskUse::filter, filter_);
  const bool can_count = terms || !filter_.needs_mask();
  const auto count = [filter = filter_, terms](const QueryContext& query) -> Found<PassingCount> {
    const auto whole = TRY(search::filter_mask(query, filter, terms));
    const Snapshot& snapshot = *query.snapshot;
    return shared<PassingCount>(
        PassingCount{filter, count_passing(snapshot, whole.get()), count_passing(snapshot, nullptr)});
  };
  std::shared_ptr<const PassingCount> counted =
      can_count ? ask(passing_, filter_, {.of = basis_of_mask(MaskUse::filter, filter_)}, count) : passing_.value;
  return counted && counted->filter == filter_ ? counted : nullptr;
}

std::shared_ptr<const EventMask> SessionAnalysis::mask(MaskUse use, const EventFilter& filter) {
  if (!filter.needs_mask()) return nullptr;
  auto& answer = masks_[static_cast<std::size_t>(use)];
  EventFilter wanted = filter;
  wanted.range.reset();
  if (answer.key != wanted) forget(answer, wanted);
  // A term that is wrong may be right with what is still to come: a column, a value of one.
  return ask(answer, wanted, {}, [wanted, previous = answer.value](const QueryContext& query) {
    return search::event_mask(query, wanted, previous.get());
  });
}

SessionAnalysis::Basis SessionAnalysis::basis_of_mask(MaskUse use, const EventFilter& filter) const {
  return filter.needs_mask() ? made_of(masks_[static_cast<std::size_t>(use)]) : Basis{};
}

std::shared_ptr<const colour::EventColours> SessionAnalysis::colours(const colour::ColourChoice& choice) {
  if (choice.empty()) {
    forget(colours_);
    return nullptr;
  }
  return ask(colours_, choice, {}, [choice, previous = colours_.value](const QueryContext& query) {
    return colour::event_colours(query, choice, previous.get());
  });
}

std::shared_ptr<const analysis::FirstLook> SessionAnalysis::first_look() {
  return ask(active_, [](const QueryContext& query) { return shared(analysis::find_first_look(query)); });
}

std::optional<TimeRange> SessionAnalysis::active() {
  const auto found = first_look();
  return found ? found->active : std::nullopt;
}

std::shared_ptr<const analysis::Incidents> SessionAnalysis::incidents() {
  return ask(incidents_, [](const QueryContext& query) { return analysis::find_incidents(query); });
}

std::shared_ptr<const analysis::LeafWork> SessionAnalysis::leaf_work() {
  return ask(leaf_work_, [last = leaf_work_.value](const QueryContext& query) {
    return accelscope::analysis::leaf_work(query, last.get());
  });
}

std::shared_ptr<const analysis::LaunchQueues> SessionAnalysis::launch_queues() {
  const std::shared_ptr<const analysis::Dependencies> known = dependencies();
  if (!known) return launch_queues_.value;
  return ask(launch_queues_, NoKey{}, {.of = made_of(dependencies_)},
             [known](const QueryContext& query) { return accelscope::analysis::launch_queues(query, known.get()); });
}

std::shared_ptr<const analysis::Compilations> SessionAnalysis::compilations() {
  const std::shared_ptr<const analysis::Dependencies> known = dependencies();
  if (!known) return compilations_.value;
  return ask(compilations_, NoKey{}, {.of = made_of(dependencies_)},
             [known](const QueryContext& query) { return analysis::find_compilations(query, known.get()); });
}

std::shared_ptr<const analysis::Verdict> SessionAnalysis::verdict() {
  const std::optional<TimeRange> stretch = active();
  const std::shared_ptr<const analysis::SourceLines> lines = source_lines();
  (void)activity();
  if (!active_.value || !lines || !activity_.value || !filter_.empty()) return verdict_.value;  // of the whole session
  return ask(verdict_, NoKey{}, {.of = made_of(active_, lines_, activity_)},
             [stretch, lines, index = activity_.value->index](const QueryContext& query) {
               return shared(analysis::session_verdict(query, stretch, *lines, index.get()));
             });
}

std::shared_ptr<const analysis::Advice> SessionAnalysis::advice() {
  if (advice_.asked_s < 0 && hold()) return nullptr;
  const std::shared_ptr<const analysis::Dependencies> known = dependencies();
  if (!known) return advice_.value;
  const auto find = [filter = filter_, known](const QueryContext& query) {
    return analysis::find_advice(query, filter, known.get());
  };
  return ask_of(advice_, filter_, NoKey{}, find,
                {.of = made_of(dependencies_), .priority = Priority::background});  // nobody waits for it
}

std::shared_ptr<const EventMask> SessionAnalysis::known_mask(const EventFilter& filter) const {
  return known_mask(filter, {});
}

std::shared_ptr<const EventMask> SessionAnalysis::known_mask(const EventFilter& filter, const Basis& of) const {
  if (of.version < snapshot_->version) return nullptr;
  const std::shared_ptr<const EventMask>& mask = masks_[static_cast<std::size_t>(MaskUse::filter)].value;
  if (!mask || mask->snapshot_version() != snapshot_->version) return nullptr;
  EventFilter wanted = filter;
  wanted.range.reset();
  return mask->filter() == wanted ? mask : nullptr;
}

std::shared_ptr<const SessionFigures> SessionAnalysis::figures(const EventFilter& filter) {
  return ask_of(filter.empty() ? whole_figures_ : part_figures_, filter, NoKey{},
                [filter, memory = memory_.value](const QueryContext& query) -> Found<SessionFigures> {
                  const bool usable = memory && memory->snapshot_version == query.snapshot->version;
                  auto metrics = TRY(analysis::session_metrics(query, filter.range.value_or(TimeRange{}),
                                                               usable ? memory.get() : nullptr));
                  return shared<SessionFigures>(SessionFigures{filter, std::move(metrics)});
                });
}

std::shared_ptr<const SessionSummary> SessionAnalysis::summary(const EventFilter& filter) {
  if (!hold()) {
    ask(summary_index_, [last = summary_index_.value](const QueryContext& query) {
      return analysis::SummaryIndex::build(query, last);
    });
  }
  if (!summary_index_.value) return summary_.value;
  // What is under way for a box that has moved on is let end: it takes less than a frame or two.
  return ask(summary_, filter, {.is_let_end = true, .tells_itself = true},
             [filter, index = summary_index_.value, last = summary_.value](const QueryContext& query) {
               return summarise(query, filter, index, last);
             });
}

std::shared_ptr<const analysis::RangeActivity> SessionAnalysis::activity() {
  if (activity_.asked_s < 0 && hold()) return nullptr;
  const auto both = ask(activity_, [](const QueryContext& query) -> Found<Activity> {
    auto index = TRY(analysis::ActivityIndex::build(query));
    auto whole = TRY(analysis::range_activity(query, {}, index.get()));
    return shared<Activity>(Activity{index, whole});
  });
  return both ? both->whole : nullptr;
}

std::shared_ptr<const analysis::RangeReport> SessionAnalysis::report(const EventFilter& filter) {
  (void)activity();
  const analysis::ReportInput input{activity_.value ? activity_.value->index : nullptr, dependencies(), memory()};
  const auto summary = summary_.value;  // its mask is the filter's
  Basis of = made_of(summary_, activity_);
  const auto add = [&of](const Basis& each) {
    if (each.version < of.version) of = each;
  };
  if (input.dependencies) add(made_of(dependencies_));
  if (input.memory) add(made_of(memory_));
  const bool complete = input.index && input.dependencies && input.memory;
  const bool ready = summary && summary->summary->filter == filter && input.index;
  // One that is complete is not made anew of less.
  const bool better = report_.key.filter == filter && report_.key.complete;
  if (!ready) return report_.value;
  return ask(report_, ReportKey{filter, complete || better}, {.of = of, .rest_s = kRestSeconds, .busy_s = kRestSeconds},
             [filter, input, mask = summary->mask](const QueryContext& query) {
               QueryContext masked = query;
               masked.mask = mask;
               return analysis::range_report(masked, filter, input);
             });
}

std::optional<double> SessionAnalysis::summary_index_share() const {
  if (summary_index_.value || !summary_index_.error.empty()) return std::nullopt;
  const double total = static_cast<double>(summary_index_.task.total());
  return total > 0 ? static_cast<double>(summary_index_.task.done()) / total : 0.0;
}

StoreStatus SessionAnalysis::store_status() {
  // Every answer draws some frames: where nothing changes they end long before the next one is due.
  constexpr double kUnchangedSeconds = 4 * kRenewSeconds;
  const bool changes = grows_ || status_.version != snapshot_->version;
  if (!status_.task.valid() && now_s_ - status_.asked_s >= (changes ? kRenewSeconds : kUnchangedSeconds)) {
    status_.version = snapshot_->version;
    status_.asked_s = std::max(now_s_, 0.0);
    status_.task = pool_.start(
        [store = store_](TaskControl&) -> Found<StoreStatus> { return shared<StoreStatus>(store->status()); });
  }
  return status_.value ? *status_.value : StoreStatus{};
}

void SessionAnalysis::ask_line_events(std::string path, std::uint32_t line) {
  constexpr std::size_t kMostStepped = 4'000'000;  // one by one, in order: 8 bytes each; all are lit
  line_events_ = start([path = std::move(path), line, filter = filter_,
                        known = known_mask(filter_)](const QueryContext& query) -> Result<analysis::LineEvents> {
    QueryContext filtered = query;
    auto passing = TRY(search::filter_mask(query, filter, known));
    filtered.mask = std::move(passing);
    return analysis::events_of_line(filtered, path, line, TimeRange{}, kMostStepped);
  });
}

std::optional<analysis::LineEvents> SessionAnalysis::take_line_events() {
  if (!line_events_.valid() || !line_events_.ready()) return std::nullopt;
  auto result = line_events_.take();
  if (result) return std::move(*result);
  error_ = result.message();
  return std::nullopt;
}

void SessionAnalysis::search(const std::string& text) {
  const SearchKey key{text, filter_};
  if (search_.key != key) {
    forget(search_, key);
    forget(found_);
  }
  if (text.empty()) return;
  if (search_.asked_s < 0) {  // a text that cannot be read stays one
    if (search_.error.empty()) search_.error = why_not_read(text);
    if (!search_.error.empty()) return;
  }
  ask(search_, key, {},
      [text, filter = filter_, known = known_mask(filter_),
       last = found_.value](const QueryContext& query) -> Found<search::EventSearch> {
        const auto parsed = TRY(search::parse_search(text));
        QueryContext filtered = query;
        if (auto mask = search::filter_mask(query, filter, known))
          filtered.mask = std::move(*mask);  // its own error is told
        return shared(search::EventSearch::run(filtered, parsed, search::searched_lanes(*query.snapshot),
                                               last ? last->mask().get() : nullptr));
      });
}

std::shared_ptr<const search::SearchHits> SessionAnalysis::found() {
  const auto& search = search_.value;
  if (!search) return nullptr;
  return ask(found_, search, {.of = basis_of(search_), .ages = false},
             [search, last = found_.value](const QueryContext& query) -> Found<search::SearchHits> {
               return shared(search->hits(query, last ? last->mask().get() : nullptr));
             });
}

std::shared_ptr<const search::SearchHint> SessionAnalysis::search_hint() {
  const auto& search = search_.value;
  if (!search || !search_error().empty()) return nullptr;
  const auto hint = ask(
      search_hint_, search, {.of = basis_of(search_), .ages = false},
      [search, text = search_text(), filter = filter_](const QueryContext& query) -> Found<search::SearchHint> {
        const auto parsed = TRY(search::parse_search(text));
        QueryContext filtered = query;
        filtered.mask = TRY(search::filter_mask(query, filter));
        return shared(search::search_hint(filtered, parsed, search::searched_lanes(*query.snapshot), search->total()));
      });
  return search_hint_.stale() ? nullptr : hint;
}

std::shared_ptr<const HitList> SessionAnalysis::hit_list(const TimeRange& range) {
  const auto hits = found();
  if (!hits) return nullptr;
  if (hit_list_.key.hits != hits) hit_list_.value = nullptr;
  return ask(hit_list_, {hits, range}, {.of = basis_of(found_), .busy_s = kRestSeconds, .ages = false},
             [hits, range](const QueryContext& query) -> Found<HitList> {
               const auto found = TRY(hits->list(query, range, HitList::kMost));
               HitList list{.range = range, .hits = {}};
               EventReader reader(query.store, query.snapshot);
               for (const search::SearchPosition& hit : found)
                 list.hits.push_back(hit_of(*query.snapshot, reader, hit));
               return shared<HitList>(std::move(list));
             });
}

std::shared_ptr<const HitRank> SessionAnalysis::hit_rank(EventId event) {
  const auto hits = found();
  if (!hits) return nullptr;
  if (hit_rank_.key.hits != hits) hit_rank_.value = nullptr;
  return ask(hit_rank_, {hits, event}, {.of = basis_of(found_), .ages = false},
             [hits, event](const QueryContext& query) -> Found<HitRank> {
               EventReader reader(query.store, query.snapshot);
               const auto record = TRY(reader.read(event));
               const auto rank = TRY(hits->rank(reader, {record.begin_ns, event}));
               return shared<HitRank>(HitRank{event, rank.is_hit ? rank.before + 1 : 0});
             });
}

std::shared_ptr<const SessionSummary> SessionAnalysis::hit_summary(const TimeRange& range) {
  if (search_text().empty() || !search_error().empty()) return nullptr;
  const EventFilter wanted = both(filter_, {.range = range, .tracks = {}, .terms = {{search_text(), false}}});
  // All hits of the range are looked at: one such look at a time.
  return ask(hit_summary_, wanted, {.rest_s = kRestSeconds, .is_let_end = true, .tells_itself = true},
             [wanted, last = hit_summary_.value](const QueryContext& query) -> Found<SessionSummary> {
               auto summary = summarise(query, wanted, nullptr, last);
               if (!summary) return summary;
               // What is only commentary on work is no part of the sums, but was found.
               const auto passing = TRY(search::filter_mask(query, wanted, (*summary)->mask));
               SessionSummary counted = **summary;
               for (const std::uint32_t lane : search::searched_lanes(*query.snapshot)) {
                 counted.events += passing->count(lane);
               }
               return shared<SessionSummary>(std::move(counted));
             });
}

}  // namespace accelscope::app::session
