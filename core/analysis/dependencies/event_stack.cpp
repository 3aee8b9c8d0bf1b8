#include "core/analysis/dependencies/event_stack.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/time/executors.h"
#include "core/model/source_location.h"
#include "core/names/name_forms.h"
#include "core/scan/column_values.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

// Recorders round begin and length of an event apart from each other: the older ones to microseconds.
constexpr std::int64_t kSlackNs = 2'000;
constexpr std::size_t kMostDependencies = 64;  // of an event that are looked at
constexpr std::size_t kDeepest = 4'000;        // calls
constexpr std::size_t kMostSteps = 7;          // from work that other work set off to the call that began it

// A call with what its place among the others is known by.
struct Found {
  StackCall call;
  std::uint32_t lane = 0;  // its number: the outer kind of event is the one on the earlier row
  std::int64_t order = 0;  // of its row
  std::optional<std::int64_t> key, parent;
  std::string stack;  // as text

  [[nodiscard]] std::int64_t length() const noexcept { return call.end_ns - call.begin_ns; }
};

// The first that is not empty: tables have a second source location where the first one is rare.
std::string text_of(const EventRecord& record, Role role) {
  if (!record.lane->schema) return {};
  const std::vector<Column>& columns = record.lane->schema->columns;
  for (std::size_t i = 0; i < columns.size() && i < record.fields.size(); ++i) {
    if (columns[i].role != role) continue;
    if (const auto* text = std::get_if<std::string>(&record.fields[i]); text != nullptr && !text->empty()) return *text;
  }
  return {};
}

std::optional<std::int64_t> number_of(const EventRecord& record, const std::string& column) {
  const auto* number = value_in<std::int64_t>(record, column);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

bool encloses(const Found& outer, const Found& inner) noexcept {
  const StackCall &a = outer.call, &b = inner.call;
  if (a.begin_ns > b.begin_ns + kSlackNs || a.end_ns + kSlackNs < b.end_ns) return false;
  if (outer.length() != inner.length()) return outer.length() > inner.length();
  return std::pair(outer.order, outer.lane) < std::pair(inner.order, inner.lane);
}

bool lies_further_in(const Found& a, const Found& b) noexcept {
  if (a.length() != b.length()) return a.length() < b.length();
  return std::pair(a.order, a.lane) > std::pair(b.order, b.lane);
}

class StackReader {
 public:
  StackReader(const QueryContext& query, const Dependencies& dependencies, const StackRules& rules)
      : query_(query),
        snapshot_(*query.snapshot),
        dependencies_(dependencies),
        rules_(rules),
        threads_(*query.snapshot),
        reader_(query.store, query.snapshot) {}

  Result<EventStack> run(EventId event) {
    EventStack stack;
    stack.event = event;
    auto calls = TRY(calls_to(event, stack.own));
    stack.calls = std::move(calls);
    const auto forward = made_for(stack.calls);
    if (forward) {
      std::size_t own = 0;
      auto outer = TRY(calls_to(forward->source, own));
      stack.forward = std::move(outer);
      stack.forward_flow = std::string(snapshot_.strings->text(forward->kind));
    }
    return stack;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> thread_of(EventId event) const {
    const LaneSnapshot* lane = snapshot_.find_lane(lane_of(event));
    return lane == nullptr ? std::nullopt : threads_.of_track(lane->track);
  }

  Result<Found> read(EventId event) {
    const EventRecord record = TRY(reader_.read(event));
    Found found;
    found.call.event = event;
    found.call.name = record.name_text;
    found.call.begin_ns = record.begin_ns;
    found.call.end_ns = record.end_ns;
    found.call.on_host = thread_of(event).has_value();
    found.call.source = text_of(record, Role::source_location);
    if (record.lane->schema) found.call.table = record.lane->schema->name;
    found.lane = record.lane->number();
    const TrackSnapshot* track = snapshot_.find_track(record.lane->track);
    if (track != nullptr) found.order = track->track->order;
    found.parent = number_of(record, rules_.parent_column);
    found.key = number_of(record, rules_.id_column);
    found.stack = text_of(record, Role::stack);
    return found;
  }

  // The call of a host that started the event; of several the last one before it.
  Result<std::optional<Found>> call_of(EventId work) {
    std::optional<Found> best;
    for (const Dependency& each : dependencies_.predecessors(work, kMostDependencies).dependencies) {
      if (!thread_of(each.source)) continue;
      auto call = TRY(read(each.source));
      if (!best || call.call.begin_ns > best->call.begin_ns) best = std::move(call);
    }
    return best;
  }

  // That call behind the work that it set off first, if that set off the event; nothing where no call is known.
  Result<std::vector<Found>> launch_of(EventId work) {
    std::vector<Found> steps;
    while (steps.size() < kMostSteps) {
      auto call = TRY(call_of(work));
      if (call) {
        steps.push_back(std::move(*call));
        return steps;
      }
      const auto before = last_predecessor(dependencies_, work, reader_);
      if (!before) break;
      work = before->source;
      auto step = TRY(read(work));
      step.stack.clear();  // its own, which leads to no call of this event
      steps.push_back(std::move(step));
    }
    return std::vector<Found>();
  }

  Result<std::vector<StackCall>> calls_to(EventId event, std::size_t& own) {
    auto first = TRY(read(event));
    std::vector<Found> calls;
    calls.push_back(std::move(first));
    if (!calls.front().call.on_host) {
      auto launch = TRY(launch_of(event));
      calls.insert(calls.end(), std::make_move_iterator(launch.begin()), std::make_move_iterator(launch.end()));
    }
    own = calls.size();
    if (calls.back().call.on_host) {
      TRY(climb(calls));
    }
    return with_text(std::move(calls));
  }

  // Adds what the last of the calls lies in.
  Result<void> climb(std::vector<Found>& calls) {
    const Found inner = calls.back();
    const std::size_t thread = *thread_of(inner.call.event);
    const std::int64_t middle = inner.call.begin_ns + inner.length() / 2;
    std::vector<Found> outer;
    for (const std::uint32_t index : threads_.lanes(thread)) {
      const LaneSnapshot& lane = snapshot_.lanes[index];
      if (lane.number() == inner.lane || lane.data->kind != EventKind::slice || !lane.schema) continue;
      if (rules_.may_call && !rules_.may_call(*lane.schema)) continue;
      if (query_.control.cancelled()) return cancelled_error();
      const auto at = TRY(reader_.event_at(lane, middle, 0));
      if (!at) continue;
      auto found = TRY(read(*at));
      if (encloses(found, inner)) outer.push_back(std::move(found));
    }
    std::ranges::sort(outer, lies_further_in);
    calls.insert(calls.end(), std::make_move_iterator(outer.begin()), std::make_move_iterator(outer.end()));
    return follow_parents(calls);
  }

  // A call's parent stands behind it, also where their times do not lie in each other.
  Result<void> follow_parents(std::vector<Found>& calls) {
    const auto has_parent = [](const Found& each) { return each.parent.has_value(); };
    auto at = std::ranges::find_if(calls, has_parent);
    std::set<std::int64_t> seen;
    while (at != calls.end() && at->parent && seen.insert(*at->parent).second && calls.size() < kDeepest) {
      const std::int64_t wanted = *at->parent;
      const auto has_key = [&](const Found& each) { return each.key == std::optional(wanted); };
      if (std::any_of(calls.begin(), at + 1, has_key)) break;  // a ring
      const auto known = std::find_if(at + 1, calls.end(), has_key);
      if (known != calls.end()) {
        at = known;
        continue;
      }
      const auto id = TRY(find_key(at->lane, wanted));
      if (!id) break;  // it began before the capture
      auto parent = TRY(read(*id));
      at = calls.insert(at + 1, std::move(parent));
    }
    return {};
  }

  // The event with the key among those of the same source and table.
  Result<std::optional<EventId>> find_key(std::uint32_t like_lane, std::int64_t wanted) {
    const LaneSnapshot* like = snapshot_.find_lane(like_lane);
    LaneIndices lanes;
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot_.lanes[i];
      if (lane.schema == like->schema && scope_of(lane.number()) == scope_of(like_lane)) lanes.push_back(i);
    }
    const std::size_t column = *like->schema->find(rules_.id_column);
    const ColumnType type = like->schema->columns[column].type;
    const auto first =
        gather(query_, lanes, TimeRange{}, Least<EventId>(), [&](const ScannedChunk& chunk, Least<EventId>& found) {
          if (column >= chunk.view.column_count()) return;
          for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
            if (!chunk.view.has_value(column, row)) continue;
            const auto key = number_at(chunk.view, column, type, row);
            if (key == std::optional(wanted)) found.add(chunk.event_id(row));
          }
        });
    if (!first) return first.error();
    return first->value == kNoEvent ? std::optional<EventId>() : std::optional(first->value);
  }

  // The lines of a recorded text come behind the outermost event that has it. Where the calls are events the text only
  // repeats them.
  static std::vector<StackCall> with_text(std::vector<Found> found) {
    const auto has_text = [](const Found& each) { return !each.stack.empty(); };
    const auto innermost = std::ranges::find_if(found, has_text);
    const auto outermost = std::find_if(found.rbegin(), found.rend(), has_text);
    const bool wanted =
        innermost != found.end() && std::ranges::none_of(found, [](const Found& each) { return each.key.has_value(); });
    const std::string text = wanted ? innermost->stack : std::string();
    const std::size_t behind = wanted ? static_cast<std::size_t>(found.rend() - outermost) : found.size();
    std::vector<StackCall> calls;
    for (std::size_t i = 0; i < found.size(); ++i) {
      calls.push_back(std::move(found[i].call));
      if (i + 1 == behind) add_lines(text, calls);
    }
    return calls;
  }

  static void add_lines(std::string_view text, std::vector<StackCall>& calls) {
    text = innermost_frames(text);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (const std::string_view line = text.substr(0, end); !line.empty()) {
        StackCall call;
        call.name = line;
        const StackFrame frame = parse_stack_frame(line);
        if (frame.line > 0) call.source = frame.path + ":" + std::to_string(frame.line);
        calls.push_back(std::move(call));
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  // What leads from another call of a host to one of these: of several what leads to the innermost one.
  [[nodiscard]] std::optional<Dependency> made_for(const std::vector<StackCall>& calls) const {
    const auto is_one = [&](EventId event) {
      return std::ranges::any_of(calls, [&](const StackCall& call) { return call.event == event; });
    };
    for (const StackCall& call : calls) {
      if (call.event == kNoEvent || !call.on_host) continue;
      for (const Dependency& each : dependencies_.predecessors(call.event, kMostDependencies).dependencies) {
        if (thread_of(each.source) && !is_one(each.source)) return each;
      }
    }
    return std::nullopt;
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const Dependencies& dependencies_;
  const StackRules& rules_;
  const HostThreads threads_;
  EventReader reader_;
};

// The time of each call that no inner event of its thread took. Every event counts for the innermost call it lies in.
class OwnCallTimes {
 public:
  OwnCallTimes(const QueryContext& query, std::vector<StackCall>& calls, const StackRules& rules)
      : query_(query), calls_(calls), rules_(rules) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].event != kNoEvent && calls[i].on_host) chain_.push_back(i);
    }
    std::ranges::stable_sort(chain_, [&](std::size_t a, std::size_t b) {
      return calls[a].end_ns - calls[a].begin_ns < calls[b].end_ns - calls[b].begin_ns;
    });
  }

  Result<void> run() {
    if (chain_.empty()) return {};
    const HostThreads threads(*query_.snapshot);
    const LaneSnapshot* lane = query_.snapshot->find_lane(lane_of(calls_[chain_.back()].event));
    const auto thread = lane == nullptr ? std::nullopt : threads.of_track(lane->track);
    if (!thread) return {};
    LaneIndices lanes;
    for (const std::uint32_t index : threads.lanes(*thread)) {
      const LaneSnapshot& each = query_.snapshot->lanes[index];
      const bool calls =
          each.data->kind == EventKind::slice && each.schema && (!rules_.may_call || rules_.may_call(*each.schema));
      if (calls) lanes.push_back(index);
    }
    const StackCall& outermost = calls_[chain_.back()];
    auto all = gather(query_, lanes, {outermost.begin_ns, outermost.end_ns}, std::vector<Inner>(),
                      [&](const ScannedChunk& chunk, auto& inner) { collect(chunk, inner); });
    if (!all) return all.error();
    subtract(*all);
    return {};
  }

 private:
  struct Inner {
    std::size_t place = 0;  // in chain_
    std::int64_t begin_ns = 0, end_ns = 0;
    auto operator<=>(const Inner&) const = default;
  };

  void collect(const ScannedChunk& chunk, std::vector<Inner>& inner) const {
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const EventId id = block.id(i);
        const std::int64_t begin = block.begin_ns(i);
        const std::int64_t end = block.end_ns(i);
        std::size_t from = 0;
        while (from < chain_.size() && calls_[chain_[from]].event != id) ++from;
        const bool on_chain = from < chain_.size();
        for (std::size_t k = on_chain ? from + 1 : 0; k < chain_.size(); ++k) {
          const StackCall& call = calls_[chain_[k]];
          const bool shorter = end - begin < call.end_ns - call.begin_ns || on_chain;
          if (!shorter || begin + kSlackNs < call.begin_ns || end > call.end_ns + kSlackNs) continue;
          if (end < call.begin_ns || begin > call.end_ns) continue;
          inner.push_back({k, std::max(begin, call.begin_ns), std::min(end, call.end_ns)});
          break;
        }
      }
    });
  }

  void subtract(std::vector<Inner>& inner) {
    for (const std::size_t i : chain_) calls_[i].self_ns = calls_[i].end_ns - calls_[i].begin_ns;
    std::ranges::sort(inner);
    std::size_t place = chain_.size();
    std::int64_t covered_to = 0;
    for (const Inner& each : inner) {
      if (each.place != place) {
        place = each.place;
        covered_to = each.begin_ns;
      }
      const std::int64_t begin = std::max(each.begin_ns, covered_to);
      if (each.end_ns <= begin) continue;
      calls_[chain_[place]].self_ns -= each.end_ns - begin;
      covered_to = each.end_ns;
    }
  }

  const QueryContext& query_;
  std::vector<StackCall>& calls_;
  const StackRules& rules_;
  std::vector<std::size_t> chain_;  // of calls_: those of the host, the shortest first
};

}  // namespace

Result<EventStack> event_stack(const QueryContext& query, const Dependencies& dependencies, EventId event,
                               const StackRules& rules) {
  auto stack = StackReader(query, dependencies, rules).run(event);
  if (!stack || !rules.own_times) return stack;
  for (auto* calls : {&stack->calls, &stack->forward}) {
    TRY(OwnCallTimes(query, *calls, rules).run());
  }
  return stack;
}

}  // namespace accelscope::analysis
