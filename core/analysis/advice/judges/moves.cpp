// The rules about copies and collectives that nothing overlaps, and about what they hold up.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/analysis/advice/exposed_moves.h"
#include "core/analysis/advice/judgement.h"
#include "core/analysis/collectives/collectives.h"
#include "core/base/capped.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"

namespace accelscope::analysis {
namespace {

constexpr std::int64_t kLeastArrayBytes = 4096;  // smaller ones are single values that are looked at

Stretches parts_within(const Stretches& parts, const TimeRange& range) {
  return shared_parts(parts, {{range.begin_ns, range.end_ns}});
}

std::vector<FindingPlace> move_places(const std::vector<const DeviceMove*>& moves) {
  std::vector<FindingPlace> places;
  for (const DeviceMove* each : moves) places.push_back({{each->begin_ns, each->end_ns}, ""});
  return places;
}

// What rests on some copies: their tracks, and where they lie.
void rest_on(Finding& found, const std::vector<const DeviceMove*>& moves) {
  found.count = moves.size();
  const auto longest = std::max_element(moves.begin(), moves.end(), [](const DeviceMove* a, const DeviceMove* b) {
    return a->length_ns() < b->length_ns();
  });
  found.first = (*longest)->event;
  found.tracks.clear();
  for (const DeviceMove* each : moves) {
    if (std::find(found.tracks.begin(), found.tracks.end(), each->track) == found.tracks.end())
      found.tracks.push_back(each->track);
  }
  found.events.tracks = found.tracks;
  set_places(found, move_places(moves));
  found.events.range = TimeRange{moves.front()->begin_ns, moves.back()->end_ns};
}

// "11.4 GiB to the device at 3.67 GiB/s, 96 % of the time from or to pageable memory": of the direction that takes
// longest; "" where bytes are not known.
std::string rate_text(const std::vector<const DeviceMove*>& moves) {
  struct Direction {
    double bytes = 0, ns = 0, pageable_ns = 0;
  };
  std::map<CopyDirection, Direction> directions;
  for (const DeviceMove* each : moves) {
    const auto length = static_cast<double>(each->length_ns());
    Direction& direction = directions[each->words.direction];
    direction.bytes += static_cast<double>(each->bytes);
    direction.ns += length;
    if (each->words.pageable) direction.pageable_ns += length;
  }
  const auto most = std::max_element(directions.begin(), directions.end(),
                                     [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  if (most == directions.end() || most->second.bytes <= 0 || most->second.ns <= 0) return "";
  const Direction& of = most->second;
  constexpr double kNsPerSecond = 1e9, kLeastReported = 0.01;
  std::string text = fmt::format("{}{} at {}/s", format_bytes(of.bytes),
                                 most->first == CopyDirection::to_device ? " to the device"
                                 : most->first == CopyDirection::to_host ? " to the host"
                                                                         : "",
                                 format_bytes(of.bytes / of.ns * kNsPerSecond));
  if (of.pageable_ns >= kLeastReported * of.ns)
    text += fmt::format(", {} of the time from or to pageable memory", format_share(of.pageable_ns / of.ns));
  return text;
}

// Copies to the host that come back, as the next copy of as many bytes in the other direction.
struct RoundTrips {
  std::vector<const DeviceMove*> moves;  // there and back, by begin
  std::int64_t bytes = 0;
  std::uint64_t count = 0;
  Stretches alone;  // of all, settled
};

RoundTrips find_round_trips(const DeviceMoves& moves, const DeviceSum& device) {
  struct OfSize {
    std::deque<const DeviceMove*> at_host;
    std::vector<const DeviceMove*> returned;
  };
  std::map<std::int64_t, OfSize> sizes;
  for (const DeviceMove& each : moves.copies) {
    if (each.bytes < kLeastArrayBytes || each.words.migrates) continue;
    if (each.words.direction == CopyDirection::to_host) sizes[each.bytes].at_host.push_back(&each);
    if (each.words.direction != CopyDirection::to_device) continue;
    const auto size = sizes.find(each.bytes);
    if (size == sizes.end() || size->second.at_host.empty()) continue;
    size->second.returned.push_back(size->second.at_host.front());
    size->second.returned.push_back(&each);
    size->second.at_host.pop_front();
  }
  RoundTrips trips;
  std::int64_t most = 0;
  for (const auto& [bytes, of_size] : sizes) {
    const std::uint64_t count = of_size.returned.size() / 2;
    if (static_cast<double>(count) < rule_of(RuleId::round_trips).threshold) continue;
    trips.count += count;
    trips.moves.insert(trips.moves.end(), of_size.returned.begin(), of_size.returned.end());
    const std::int64_t moved = capped_product(bytes, static_cast<std::int64_t>(count));
    if (moved > most) trips.bytes = bytes, most = moved;
  }
  std::ranges::sort(trips.moves, [](const DeviceMove* a, const DeviceMove* b) { return a->begin_ns < b->begin_ns; });
  Stretches all;
  for (const DeviceMove* each : trips.moves) add_stretch(all, each->begin_ns, each->end_ns);
  settle(all);
  trips.alone = shared_parts(all, device.transfers_alone);
  return trips;
}

// What their copies take alone.
std::int64_t judge_round_trips(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves) {
  if (!judgement.judges(RuleId::round_trips)) return 0;
  RoundTrips trips = find_round_trips(moves, device);
  const std::int64_t alone = length_of(trips.alone);
  if (trips.moves.empty()) return 0;
  Finding found = judgement.finding(RuleId::round_trips, device, static_cast<double>(alone));
  found.headline = fmt::format("{} go to the host and come back {} times: nothing but these copies for {} of {}",
                               format_bytes(trips.bytes), format_count(trips.count), format_duration(alone),
                               format_duration(device.active_ns()));
  found.tab = fmt::format("{} to the host and back", format_bytes(trips.bytes));
  found.evidence = fmt::format("copies alone for {} of the active time",
                               format_share(share_of(device.alone_ns(WorkUnit::transfer), device.active_ns())));
  if (const std::string rate = rate_text(trips.moves); !rate.empty()) found.evidence += "; " + rate;
  found.repairs = std::move(trips.alone);
  rest_on(found, trips.moves);
  judgement.tell(std::move(found));
  return alone;
}

void judge_migrations(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves) {
  std::vector<const DeviceMove*> migrations;
  Stretches all;
  for (const DeviceMove& each : moves.copies) {
    if (!each.words.migrates) continue;
    add_stretch(all, each.begin_ns, each.end_ns);
    if (each.alone_ns < each.length_ns()) migrations.push_back(&each);
  }
  if (all.empty() || !judgement.judges(RuleId::page_migrations)) return;
  const std::int64_t moving = settle(all);
  const std::int64_t alone = length_of(shared_parts(all, device.transfers_alone));
  std::int64_t bytes = 0;
  for (const DeviceMove* each : migrations) bytes += each->bytes;
  const std::int64_t inside = moving - alone;
  if (share_of(inside, device.compute_ns) <= rule_of(RuleId::page_migrations).threshold) return;
  Finding found = judgement.finding(RuleId::page_migrations, device, static_cast<double>(inside));
  found.headline = fmt::format("{} of pages migrate in {} while kernels run, {} of the kernels' {}",
                               format_bytes(bytes), format_duration(inside),
                               format_share(share_of(inside, device.compute_ns)), format_duration(device.compute_ns));
  found.tab = fmt::format("pages migrate {}", format_duration(inside));
  rest_on(found, migrations);
  judgement.tell(std::move(found));
}

// The calls that returned when their copies had ended or were about to.
struct BlockingCalls {
  std::vector<const DeviceMove*> copies;
  Stretches calls;
  std::uint64_t pageable = 0;
};

BlockingCalls find_blocking(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves) {
  std::vector<HostSpan> spans;
  for (const HostProcess& process : judgement.host.processes_of(device)) {
    for (const HostSpan& each : judgement.host.by_process.at(process).copying) {
      if (judgement.host.launches(device.device, judgement.snapshot(), each)) spans.push_back(each);
    }
  }
  std::ranges::sort(spans, {}, &HostSpan::begin_ns);
  BlockingCalls blocking;
  constexpr std::ptrdiff_t kMostThreads = 64;
  for (const DeviceMove& copy : moves.copies) {
    if (copy.words.direction == CopyDirection::other || copy.words.migrates) continue;
    const std::int64_t middle = copy.begin_ns + copy.length_ns() / 2;
    auto span = std::ranges::upper_bound(spans, copy.begin_ns, {}, &HostSpan::begin_ns);
    for (std::ptrdiff_t looked = 0; span != spans.begin() && looked < kMostThreads; ++looked) {
      --span;
      if (span->end_ns < middle) continue;
      blocking.copies.push_back(&copy);
      blocking.pageable += copy.words.pageable ? 1 : 0;
      blocking.calls.emplace_back(span->begin_ns, span->end_ns);
      break;
    }
  }
  settle(blocking.calls);
  return blocking;
}

void judge_blocking(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves) {
  if (!judgement.host.has_host() || !judgement.judges(RuleId::blocking_copies)) return;
  const BlockingCalls blocking = find_blocking(judgement, device, moves);
  const Stretches blocked = parts_within(blocking.calls, device.stretch);
  const std::int64_t length = length_of(blocked);
  if (share_of(length, device.stretch.length_ns()) <= rule_of(RuleId::blocking_copies).threshold) return;
  // At least what the device idles meanwhile; at most all that the host loses, as it comes late to later gaps too.
  Stretches pool = device.gap_stretches();
  const std::int64_t idle_ns = length_of(shared_parts(blocked, pool)), all_idle_ns = length_of(pool);
  const Stretches copying = shared_parts(blocked, device.transfers_alone);
  const std::int64_t hidden_ns = std::min(length_of(copying), device.alone_ns(WorkUnit::compute));
  Finding found = judgement.finding(RuleId::blocking_copies, device,
                                    static_cast<double>(std::min(length, all_idle_ns + hidden_ns)));
  found.least_ns = std::min(idle_ns, found.saving_ns);
  if (const auto replayed = judgement.saving_without(device, HostDelay::copying)) {
    found = judgement.finding(RuleId::blocking_copies, device, static_cast<double>(*replayed));
    found.is_replayed = true;
  }
  found.headline = fmt::format("{} hold up the host for {}, {} of {}: {} idle for {} of it",
                               counted(blocking.copies.size(), "copy", "copies"), format_duration(length),
                               format_share(share_of(length, device.stretch.length_ns())),
                               format_duration(device.stretch.length_ns()), device.device, format_duration(idle_ns));
  found.tab = fmt::format("host held up by copies {}", format_duration(length));
  if (blocking.pageable > 0)
    found.evidence = fmt::format("{} of {} from or to pageable memory", format_count(blocking.pageable),
                                 format_count(blocking.copies.size()));
  found.repairs = std::move(pool);
  found.repairs.insert(found.repairs.end(), copying.begin(), copying.end());
  settle(found.repairs);
  rest_on(found, blocking.copies);
  judgement.tell(std::move(found));
}

void judge_alone(const Judgement& judgement, const DeviceSum& device, const DeviceMoves* moves,
                 std::int64_t round_trips_ns) {
  // A replay of what depends on what says more, where it found anything.
  const bool is_replayed = std::ranges::any_of(
      judgement.advice.findings, [&](const Finding& each) { return each.device == device.device && each.is_replayed; });
  if ((moves == nullptr && is_replayed) || device.compute_ns == 0 || !judgement.judges(RuleId::transfers_alone)) return;
  const std::int64_t alone = device.alone_ns(WorkUnit::transfer);
  if (share_of(alone, device.active_ns()) <= rule_of(RuleId::transfers_alone).threshold) return;
  // Reported with its cause already.
  constexpr RuleId kCauses[] = {RuleId::reloaded_tensor, RuleId::spills, RuleId::small_transfers,
                                RuleId::reread_inputs};
  const bool explained = std::ranges::any_of(judgement.advice.findings, [&](const Finding& each) {
    return each.device == device.device &&
           std::find(std::begin(kCauses), std::end(kCauses), each.rule->id) != std::end(kCauses);
  });
  if (explained || 2 * round_trips_ns >= alone) return;
  Finding found = judgement.finding(RuleId::transfers_alone, device, static_cast<double>(alone));
  found.headline = fmt::format("Nothing but transfers for {} of {}, {}; work takes {}", format_duration(alone),
                               format_duration(device.active_ns()), format_share(share_of(alone, device.active_ns())),
                               format_duration(device.compute_ns));
  found.tab = fmt::format("transfers alone {}", format_duration(alone));
  found.tracks = device.transfer_tracks;
  found.events.tracks = found.tracks;
  found.repairs = device.transfers_alone;
  found.count = device.transfer_tracks.size();
  std::vector<const DeviceMove*> costly;
  if (moves != nullptr) {
    for (const DeviceMove& each : moves->copies) {
      if (each.alone_ns > 0) costly.push_back(&each);
    }
  }
  if (!costly.empty()) {
    found.evidence = rate_text(costly);
    rest_on(found, costly);
  }
  judgement.tell(std::move(found));
}

// A collective's part after which its data could have been on the way: what it waited for another rank is not its cost.
struct CollectiveParts {
  std::unordered_map<EventId, std::pair<std::int64_t, std::uint32_t>> of_event;  // begin of the transfer, kind
  const Collectives* all = nullptr;
};

CollectiveParts collective_parts(const Collectives& all) {
  CollectiveParts parts;
  parts.all = &all;
  for (const CollectiveInstance& each : all.instances) {
    const bool knows =
        each.count > 1 && (!all.own_clocks || all.noise_ns(each.last_rank, each.second_rank).has_value());
    for (const CollectiveCell& cell : all.cells_of(each)) {
      const std::int64_t begin = knows ? each.transfer_begin_ns + cell.set_by_ns : INT64_MIN;
      parts.of_event.emplace(cell.event, std::pair(begin, each.kind));
    }
  }
  return parts;
}

struct ExposedOperation {
  std::int64_t alone_ns = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// "AllReduce"; of a kernel that says none, the kernel's own: "ncclDevKernel_Generic_1".
std::string operation_name(const Snapshot& snapshot, const DeviceMove& move, const CollectiveKind* kind) {
  const std::string_view kernel = snapshot.strings->text(move.name);
  if (kind != nullptr && !kind->operation.empty() && kind->operation != kernel) return kind->operation;
  return usual_name(kernel.substr(0, kernel.find('(')));
}

// What of a device's collectives nothing overlaps; nothing where it is too little.
std::optional<Finding> exposed_finding(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves,
                                       const CollectiveParts& parts) {
  Stretches sending;
  std::map<std::string, ExposedOperation> operations;
  std::vector<const DeviceMove*> exposed;
  for (const DeviceMove& each : moves.collectives) {
    const auto part = parts.of_event.find(each.event);
    const bool known = part != parts.of_event.end();
    const std::int64_t begin = known ? std::max(each.begin_ns, part->second.first) : each.begin_ns;
    if (begin >= each.end_ns) continue;
    add_stretch(sending, begin, each.end_ns);
    const std::int64_t alone = shared_ns(device.collectives_alone, begin, each.end_ns);
    if (alone == 0) continue;
    exposed.push_back(&each);
    const CollectiveKind* const kind = known ? &parts.all->kinds[part->second.second] : nullptr;
    ExposedOperation& operation = operations[operation_name(judgement.snapshot(), each, kind)];
    operation.alone_ns += alone;
    operation.bytes += kind != nullptr ? kind->bytes : 0;
    ++operation.count;
  }
  settle(sending);
  Stretches alone = shared_parts(sending, device.collectives_alone);
  const std::int64_t length = length_of(alone);
  const std::int64_t span = device.stretch.length_ns();
  if (exposed.empty() || share_of(length, span) <= rule_of(RuleId::exposed_communication).threshold)
    return std::nullopt;
  const auto most = std::max_element(operations.begin(), operations.end(), [](const auto& a, const auto& b) {
    return a.second.alone_ns < b.second.alone_ns;
  });
  Finding found = judgement.finding(RuleId::exposed_communication, device, static_cast<double>(length));
  found.headline = fmt::format("{} overlapped by nothing for {}, {} of {}", most->first, format_duration(length),
                               format_share(share_of(length, span)), format_duration(span));
  if (operations.size() > 1) {
    found.headline = fmt::format("{} and {} overlapped by nothing for {}, {} of {}", most->first,
                                 counted(operations.size() - 1, "other operation"), format_duration(length),
                                 format_share(share_of(length, span)), format_duration(span));
  }
  found.tab = fmt::format("{} alone {}", most->first, format_duration(length));
  found.evidence =
      fmt::format("{} of {}{}, alone for {}", format_count(most->second.count), most->first,
                  most->second.bytes > 0 ? " with " + format_bytes(most->second.bytes) + " in all" : std::string(),
                  format_duration(most->second.alone_ns));
  found.repairs = std::move(alone);
  rest_on(found, exposed);
  // On a stream there is other work beside them.
  const bool same_name =
      std::ranges::all_of(exposed, [&](const DeviceMove* each) { return each->name == exposed.front()->name; });
  if (same_name)
    found.events.terms.push_back({quoted_term("name", judgement.snapshot().strings->text(exposed.front()->name))});
  return found;
}

// Ranks communicate alike: the device that loses most speaks for all.
class Communication {
 public:
  // has_dependencies: between the events of devices of engines.
  Communication(const Judgement& judgement, const Collectives& collectives, bool has_dependencies)
      : judgement_(judgement), collectives_(collectives), has_dependencies_(has_dependencies) {}

  // Whether to add a device's.
  [[nodiscard]] bool is_of(const DeviceSum& device) {
    // Of engines only dependencies tell what could be asked for earlier: of several see late_collective.
    if (device.is_of_engines() && (device.engines.size() > 1 || !has_dependencies_)) return false;
    any_ = any_ || device.active_ns(WorkUnit::collective) > 0;
    return !judgement_.filtered && !device.collectives_alone.empty();
  }

  void add(const DeviceSum& device, const DeviceMoves& moves) {
    if (!parts_) parts_ = collective_parts(collectives_);
    auto found = exposed_finding(judgement_, device, moves, *parts_);
    if (!found) return;
    ++alike_;
    if (!worst_ || found->saving_ns > worst_->saving_ns) worst_ = std::move(found);
  }

  void tell() {
    if (!any_ || !judgement_.judges(RuleId::exposed_communication) || !worst_) return;
    if (alike_ > 1) worst_->headline += fmt::format("; {} devices alike", alike_);
    judgement_.tell(std::move(*worst_));
  }

 private:
  const Judgement& judgement_;
  const Collectives& collectives_;
  const bool has_dependencies_;
  std::optional<CollectiveParts> parts_;
  std::optional<Finding> worst_;
  std::size_t alike_ = 0;
  bool any_ = false;
};

void judge_copies(const Judgement& judgement, const DeviceSum& device, const DeviceMoves& moves) {
  if (moves.cut) {
    judgement.not_judged(RuleId::round_trips, fmt::format("needs a range of fewer copies of {}", device.device));
    judge_alone(judgement, device, nullptr, 0);
    return;
  }
  const std::int64_t round_trips_ns = judge_round_trips(judgement, device, moves);
  judge_migrations(judgement, device, moves);
  judge_blocking(judgement, device, moves);
  judge_alone(judgement, device, &moves, round_trips_ns);
}

}  // namespace

Result<void> judge_moves(const Judgement& judgement, const std::vector<DeviceSum>& devices,
                         const Collectives& collectives, bool has_dependencies) {
  Communication communication(judgement, collectives, has_dependencies);
  for (const DeviceSum& device : devices) {
    const bool copies = !device.transfer_tracks.empty();
    if (copies && !device.has_streams) judge_alone(judgement, device, nullptr, 0);
    const bool one_by_one = copies && device.has_streams, communicates = communication.is_of(device);
    if (!one_by_one && !communicates) continue;
    const auto moves = TRY(device_moves(judgement.query, device, judgement.range));
    if (one_by_one) judge_copies(judgement, device, moves);
    if (communicates) communication.add(device, moves);
  }
  communication.tell();
  return {};
}

}  // namespace accelscope::analysis
