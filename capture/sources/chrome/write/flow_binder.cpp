#include "capture/sources/chrome/write/flow_binder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "capture/sources/tracks/flow_ends.h"
#include "capture/sources/tracks/held_events.h"

namespace accelscope::capture::sources::chrome {
namespace {

using tracks::HeldEvent;
using tracks::mixed_key;

constexpr std::string_view kFlowCorrelation = "correlation";
constexpr std::string_view kFlowExternalId = "External id";

[[nodiscard]] std::optional<std::size_t> number_column(const Schema& schema, std::string_view name) {
  const std::optional<std::size_t> column = schema.find(name);
  if (!column || schema.columns[*column].type != ColumnType::int64) return std::nullopt;
  return column;
}

[[nodiscard]] bool is_of_device(ChromeTable table) noexcept {
  const TablePlace place = rule_of(table).place;
  return place == TablePlace::stream || place == TablePlace::dma_queue || place == TablePlace::annotation;
}

// Where only one of both says its rank they may be of the same.
[[nodiscard]] bool may_be_one(std::uint32_t rank, std::uint32_t other) noexcept {
  return rank == 0 || other == 0 || rank == other;
}

// Of a file of one rank the id itself.
[[nodiscard]] std::uint64_t of_rank(std::uint64_t id, std::uint32_t rank) noexcept {
  return rank == 0 ? id : mixed_key(rank, id);
}

}  // namespace

void FlowBinder::add(const EventRecord& record, bool launch) {
  End end;
  end.id = record.id;
  // The profiler of 2020 calls the end of a launch as it calls the kernel.
  const StringId name = launch ? 0 : record.name;
  end.key = mixed_key(mixed_key(mixed_key(mixed_key(record.category, name), record.scope), record.id),
                      record.id_is_text ? 1 : 0);
  end.ns = record.start;
  end.thread = record.thread;
  end.name = record.name;
  end.category = record.category;
  end.phase = record.phase;
  end.encloses = record.phase != 'f' || record.binds_enclosing;
  end.launch = launch && !record.id_is_text;
  end.id_is_text = record.id_is_text;
  ends_.push_back(end);
}

void FlowBinder::add_bound(const EventRecord& record, std::uint32_t events_track, StringId name) {
  if (!record.flow_in && !record.flow_out) return;  // the event has an id that no flow uses
  constexpr std::uint64_t kVersion2 = 0xB1DB1DB1DU;
  End end;
  end.id = record.bind_id;
  end.id_is_text = record.bind_id_is_text;
  end.key = mixed_key(mixed_key(kVersion2, record.bind_id), record.bind_id_is_text ? 1 : 0);
  end.ns = record.start;
  end.finish = record.start + std::max<std::int64_t>(0, record.duration);
  end.thread = record.thread;
  end.events_track = events_track;
  end.name = name;
  end.event_name = record.name;
  end.category = record.category;
  end.phase = !record.flow_in ? 's' : record.flow_out ? 't' : 'f';
  end.exact = true;
  ends_.push_back(end);
}

void FlowBinder::add_stated(const EventRecord& record, std::int64_t begin, std::int64_t finish, StringId event_name) {
  add(record, false);
  End& end = ends_.back();
  end.exact = true;
  end.stated = true;
  end.ns = begin;
  end.finish = finish;
  end.event_name = event_name;
}

Result<std::vector<BoundFlow>> FlowBinder::bind(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name) {
  for (const End& end : ends_) {
    if (!end.launch) continue;
    launch_name = end.name;  // as the file calls them
    break;
  }
  part_ends_of_ranks(tracks);
  if (derives_) {
    TRY(join_correlations(tracks, held, launch_name));
    TRY(join_external_ids(tracks, held, launch_name));
  }
  std::erase_if(ends_, [&](const End& end) { return end.launch && joined_.contains(of_rank(end.id, end.rank)); });
  TRY(bind_ends(tracks, held));
  join_ends();
  std::stable_sort(flows_.begin(), flows_.end(),
                   [](const BoundFlow& a, const BoundFlow& b) { return a.target_ns < b.target_ns; });
  return std::move(flows_);
}

// Ids are those of one rank: the same id on another is another flow.
void FlowBinder::part_ends_of_ranks(const Tracks& tracks) {
  std::unordered_map<std::uint32_t, std::uint32_t> ranks;  // by thread
  for (const auto& [number, track] : tracks) {
    if (track.rank != 0) ranks[track.thread] = track.rank;
  }
  for (End& end : ends_) {
    const auto found = ranks.find(end.thread);
    if (found == ranks.end()) continue;
    end.rank = found->second;
    end.key = of_rank(end.key, end.rank);
  }
}

FlowBinder::Launchers FlowBinder::find_launchers(const std::vector<Correlated>& calls,
                                                 const std::vector<Correlated>& works) {
  struct Fit {
    std::int64_t shared = 0;  // less those whose work would begin before its call
    double delay_ns = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Fit> fits;  // by the device's process and the calls'
  std::unordered_set<std::uint32_t> ambiguous;
  auto first = calls.begin();
  for (const Correlated& work : works) {
    while (first != calls.end() && first->correlation < work.correlation) ++first;
    std::size_t found = 0;
    std::uint32_t before = 0;
    for (auto call = first; call != calls.end() && call->correlation == work.correlation; ++call) {
      if (!may_be_one(call->rank, work.rank)) continue;
      if (found > 0 && call->process != before) ambiguous.insert(work.process);
      before = call->process;
      ++found;
      Fit& fit = fits[{work.process, call->process}];
      fit.shared += call->ns <= work.ns ? 1 : -1;
      fit.delay_ns += static_cast<double>(work.ns) - static_cast<double>(call->ns);
    }
  }
  Launchers launchers;
  std::map<std::uint32_t, Fit> best;
  for (const auto& [pair, fit] : fits) {
    const auto [device, process] = pair;
    if (!ambiguous.contains(device)) continue;
    const auto [known, is_new] = best.try_emplace(device, fit);
    const bool better =
        fit.shared != known->second.shared ? fit.shared > known->second.shared : fit.delay_ns < known->second.delay_ns;
    if (!is_new && !better) continue;
    known->second = fit;
    launchers[device] = process;
  }
  return launchers;
}

Result<void> FlowBinder::join_correlations(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name) {
  std::vector<Correlated> calls;
  std::vector<Correlated> works;
  StringId category = 0;
  for (const End& end : ends_) {
    if (end.launch) category = end.category;
  }
  for (const tracks::HeldSink::HeldLane& lane : held.lanes()) {
    const auto track = tracks.find(lane.lane.track);
    if (lane.dropped || track == tracks.end()) continue;
    const auto column = number_column(*track->second.schema, kFlowCorrelation);
    if (!column) continue;
    std::vector<Correlated>& found = track->second.table == ChromeTable::runtime_call ? calls : works;
    const Result<void> read = for_each_event(lane, held.spill(), {column}, [&](const HeldEvent& event) {
      if (event.numbers[0] == 0) return;
      found.push_back({event.numbers[0], event.id, event.begin, track->second.process, track->second.rank});
    });
    if (!read) return read;
  }
  std::sort(calls.begin(), calls.end());
  std::sort(works.begin(), works.end());
  launchers_ = find_launchers(calls, works);
  auto first = calls.begin();
  for (const Correlated& work : works) {
    while (first != calls.end() && first->correlation < work.correlation) ++first;
    const auto launcher = launchers_.find(work.process);
    auto call = first;
    const auto is_its = [&](const Correlated& each) {
      return may_be_one(each.rank, work.rank) && (launcher == launchers_.end() || launcher->second == each.process);
    };
    while (call != calls.end() && call->correlation == work.correlation && !is_its(*call)) ++call;
    if (call == calls.end() || call->correlation != work.correlation) continue;
    flows_.push_back({call->event, work.event, call->ns, work.ns, launch_name, category, work.correlation, false});
    joined_.insert(of_rank(work.correlation, work.rank));
    joined_.insert(work.correlation);  // the end of a call whose rank is not known
  }
  return {};
}

// What no recorded call started: without calls of the driver in the file, and the device's side of annotations.
Result<void> FlowBinder::join_external_ids(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name) {
  struct Origin {
    EventId event = kNoEvent;
    std::int64_t ns = 0;
    std::uint32_t process = 0, rank = 0;
  };
  std::vector<Work> works;
  std::unordered_multimap<std::uint64_t, Origin> operators, annotations;  // the first of each process
  for (const tracks::HeldSink::HeldLane& lane : held.lanes()) {
    const auto track = tracks.find(lane.lane.track);
    if (lane.dropped || track == tracks.end()) continue;
    const ChromeTable table = track->second.table;
    const bool of_device = is_of_device(table);
    if (!of_device && table != ChromeTable::cpu_op && table != ChromeTable::user_annotation) continue;
    const auto external = number_column(*track->second.schema, kFlowExternalId);
    const auto correlation = number_column(*track->second.schema, kFlowCorrelation);
    if (!external) continue;
    auto& origins = table == ChromeTable::cpu_op ? operators : annotations;
    const Result<void> read = for_each_event(lane, held.spill(), {external, correlation}, [&](const HeldEvent& event) {
      const auto [id, call] = event.numbers;
      if (id == 0) return;
      if (!of_device) {
        const auto [known, end] = origins.equal_range(id);
        const bool repeated =
            std::any_of(known, end, [&](const auto& each) { return each.second.process == track->second.process; });
        if (!repeated) origins.emplace(id, Origin{event.id, event.begin, track->second.process, track->second.rank});
        return;
      }
      if (joined_.contains(of_rank(call, track->second.rank)) || call == id)
        return;  // of 2022: this is no id of an operator
      works.push_back({id, call, event.id, event.begin, table == ChromeTable::gpu_user_annotation,
                       track->second.process, track->second.rank});
    });
    if (!read) return read;
  }
  for (const Work& work : works) {
    const auto& origins = work.annotation ? annotations : operators;
    const auto launcher = launchers_.find(work.process);
    const auto [known, end] = origins.equal_range(work.external_id);
    auto origin = end;
    for (auto each = known; each != end; ++each) {
      const bool may_be = may_be_one(each->second.rank, work.rank) &&
                          (launcher == launchers_.end() || launcher->second == each->second.process);
      if (!may_be || each->second.ns > work.ns) continue;
      if (origin == end || each->second.ns > origin->second.ns) origin = each;
    }
    if (origin == end) continue;
    flows_.push_back(
        {origin->second.event, work.event, origin->second.ns, work.ns, launch_name, 0, work.external_id, false});
    if (work.correlation != 0) joined_.insert(of_rank(work.correlation, work.rank));
  }
  return {};
}

Result<void> FlowBinder::bind_ends(const Tracks& tracks, tracks::HeldSink& held) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_thread;
  for (std::uint32_t i = 0; i < ends_.size(); ++i) by_thread[ends_[i].thread].push_back(i);
  for (auto& [thread, indices] : by_thread) {
    std::stable_sort(indices.begin(), indices.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ends_[a].ns < ends_[b].ns; });
  }
  for (const tracks::HeldSink::HeldLane& lane : held.lanes()) {
    const auto track = tracks.find(lane.lane.track);
    if (lane.dropped || track == tracks.end()) continue;
    const auto found = by_thread.find(track->second.thread);
    if (found == by_thread.end()) continue;
    LaneSweep sweep{found->second, 0};
    const Result<void> read = for_each_event(lane, held.spill(), {}, [&](const HeldEvent& event) {
      offer_event(sweep, track->second, {event.begin, event.end, event.name, event.id});
    });
    if (!read) return read;
  }
  return {};
}

void FlowBinder::offer_event(LaneSweep& sweep, const BoundTrack& track, const Candidate& candidate) {
  const auto& [begin, finish, name, event] = candidate;
  for (; sweep.next < sweep.indices.size() && ends_[sweep.indices[sweep.next]].ns < begin; ++sweep.next) {
    End& end = ends_[sweep.indices[sweep.next]];
    if (!end.exact && !end.encloses && track.on_thread) offer(end, candidate);
  }
  for (std::size_t at = sweep.next; at < sweep.indices.size() && ends_[sweep.indices[at]].ns <= finish; ++at) {
    End& end = ends_[sweep.indices[at]];
    if (end.exact) {
      const bool is_it = end.ns == begin && end.finish == finish && end.event_name == name &&
                         (end.stated || end.events_track == track.events_track);
      if (is_it && end.event == kNoEvent) {
        end.event = event;
        end.event_begin = begin;
        end.event_end = finish;
        if (!end.stated) return;  // two events that are alike have an end each
      }
    } else if (track.on_thread && (end.encloses || end.ns == begin)) {
      offer(end, candidate);
    }
  }
}

// Keeps the better of two candidates. One that ends at the very time of the flow is the last choice.
void FlowBinder::offer(End& end, const Candidate& candidate) noexcept {
  const auto& [begin, finish, name, event] = candidate;
  bool better = end.event == kNoEvent;
  if (!better && end.encloses) {
    const bool ends_here = finish == end.ns && begin < end.ns;
    const bool known_ends_here = end.event_end == end.ns && end.event_begin < end.ns;
    if (ends_here != known_ends_here) {
      better = known_ends_here;
    } else if (begin != end.event_begin) {
      better = begin > end.event_begin;  // the innermost one began last
    } else {
      better = finish < end.event_end;
    }
  } else if (!better) {
    better = begin != end.event_begin ? begin < end.event_begin : finish > end.event_end;
  }
  if (!better) return;
  end.event_name = name;
  end.event = event;
  end.event_begin = begin;
  end.event_end = finish;
}

// A flow of version 2 stays open: several events may be where it leads to, each from where it was last.
void FlowBinder::join_bound(const End*& open, const End& end) {
  if (end.phase == 's') {
    if (open != nullptr) {
      ++counts_.doubled;
    } else {
      open = &end;
    }
    return;
  }
  if (open == nullptr) {
    ++counts_.without_partner;
  } else if (open->event == kNoEvent || end.event == kNoEvent) {
    ++counts_.without_event;
  } else {
    flows_.push_back(
        {open->event, end.event, open->event_begin, end.event_begin, end.name, end.category, end.id, end.id_is_text});
  }
  if (end.phase == 't') open = &end;
}

void FlowBinder::join_ends() {
  std::stable_sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.ns != b.ns && !a.stated) return a.ns < b.ns;
    const auto place = [](char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; };
    return place(a.phase) < place(b.phase);
  });
  const End* open = nullptr;
  bool joined = false;  // `open` leads somewhere
  const auto give_up = [&] {
    if (open != nullptr && !joined) ++(starts_nothing(*open) ? counts_.without_work : counts_.without_partner);
    open = nullptr;
    joined = false;
  };
  for (const End& end : ends_) {
    if (open != nullptr && open->key != end.key) give_up();
    if (end.exact) {
      joined = end.phase == 's' ? open != nullptr && joined : true;
      join_bound(open, end);
      continue;
    }
    if (end.phase == 's') {
      give_up();
      open = &end;
      continue;
    }
    if (open == nullptr) {
      ++counts_.without_partner;
      if (end.phase == 't') {  // a chain whose begin is missing goes on from here
        open = &end;
        joined = true;
      }
      continue;
    }
    if (open->event == kNoEvent || end.event == kNoEvent) {
      ++counts_.without_event;
    } else {
      flows_.push_back(
          {open->event, end.event, open->event_begin, end.event_begin, end.name, end.category, end.id, end.id_is_text});
    }
    joined = true;
    if (end.phase == 't') {
      open = &end;
    } else {
      open = nullptr;
      joined = false;
    }
  }
  give_up();
}

}  // namespace accelscope::capture::sources::chrome
