#include "core/sql/planned/groups.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>

#include "core/sql/planned/sums.h"

namespace accelscope::sql {
namespace {

constexpr std::size_t kMaxGroups = 2'000'000;  // of one thread; SQLite sorts more of them in a file

// The keys that are the same for all events of a lane, and which are not.
struct LaneKeys {
  std::vector<std::uint64_t> words;
  std::vector<std::size_t> varying;  // indices into NativeQuery::keys
};

// NULL, then integers, then text.
bool sorts_before(const SqlValue& a, const SqlValue& b) {
  if (a.index() != b.index()) return a.index() < b.index();
  if (const auto* integer = std::get_if<std::int64_t>(&a)) return *integer < std::get<std::int64_t>(b);
  if (const auto* text = std::get_if<std::string>(&a)) return *text < std::get<std::string>(b);
  return false;
}

class GroupScan {
 public:
  GroupScan(Context& context, const NativeQuery& query)
      : context_(context),
        query_(query),
        texts_(*context.snapshot->strings),
        lanes_(native_lanes(context, query, texts_)),
        // Asked for after the snapshot was taken, so that it covers every id in its chunks.
        string_count_(context.snapshot->strings->size()),
        workers_(context.pool.concurrency()),
        names_(texts_, string_count_) {}

  Result<std::shared_ptr<const Rows>> run() {
    plan();
    const Result<void> scanned =
        scan_chunks(context_.query(), requests_, [&](const ScannedChunk& chunk, std::size_t worker) {
          if (!gave_up_.load(std::memory_order_relaxed)) add_chunk(chunk, lanes_[lane_of_[chunk.request]], of(worker));
        });
    if (!scanned) return scanned.error();
    if (gave_up_) return std::shared_ptr<const Rows>();
    NativeGroups& all = of(0).groups;
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      if (workers_[i]) all.merge(workers_[i]->groups);
    }
    if (!query_.grouped && all.size() == 0) {
      const std::uint64_t no_keys = 0;
      (void)all.find(&no_keys);
    }
    return collect(all);
  }

 private:
  struct Worker {
    Worker(const NativeQuery& query, const TextCodes& texts, std::size_t strings)
        : groups(query, texts), reader(query, texts, strings), keys(groups.words()) {}
    NativeGroups groups;
    BlockReader reader;
    std::vector<std::uint64_t> keys;
    std::array<std::uint32_t, kBlockEvents> group_of;
    // The groups of a lane whose only varying key is a string, by its code; 0 for one not met yet, else plus one.
    std::vector<std::uint32_t> group_of_string;
    const LaneKeys* strings_of = nullptr;
  };
  Worker& of(std::size_t worker) {
    if (!workers_[worker]) workers_[worker] = std::make_unique<Worker>(query_, texts_, string_count_);
    return *workers_[worker];
  }

  // Adds the chunks that their statistics answer; leaves the others as requests.
  void plan() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const NativeLane& lane = lanes_[i];
      keys_.push_back(lane_keys(lane));
      const bool summable = can_summarise(lane);
      for (std::uint32_t chunk = 0; chunk < lane.lane->chunk_count; ++chunk) {
        const NativeLane::Part part = lane.part(lane.lane->chunk(chunk));
        if (!part.any) continue;
        if (summable && part.whole() && summarise(i, chunk)) continue;
        if (!names_.may_match(lane, chunk)) continue;
        requests_.push_back({lane.index, chunk, {}});
        lane_of_.push_back(i);
      }
    }
  }

  [[nodiscard]] LaneKeys lane_keys(const NativeLane& lane) const {
    LaneKeys keys;
    keys.words.resize(query_.keys.size() + 1);
    for (std::size_t i = 0; i < query_.keys.size(); ++i) {
      const LaneColumn& column = lane.columns[query_.keys[i]];
      if (column.source == LaneColumn::Source::null) {
        keys.words[0] |= std::uint64_t{1} << i;
      } else if (column.source == LaneColumn::Source::constant) {
        keys.words[i + 1] = column.constant;
      } else {
        keys.varying.push_back(i);
      }
    }
    return keys;
  }

  // Only counts, durations in whole ns, and names are known of a whole chunk.
  [[nodiscard]] bool can_summarise(const NativeLane& lane) const {
    using Source = LaneColumn::Source;
    const auto source = [&](std::size_t input) { return lane.columns[input].source; };
    const auto is_name = [&](std::size_t input) { return source(input) == Source::name; };
    const bool conditions =
        std::all_of(lane.conditions.begin(), lane.conditions.end(),
                    [&](const Condition* condition) { return is_name(condition->input) && condition->strings; });
    const bool keys = std::all_of(query_.keys.begin(), query_.keys.end(), [&](std::size_t key) {
      return is_name(key) || source(key) == Source::constant || source(key) == Source::null;
    });
    return conditions && keys &&
           std::all_of(query_.aggregates.begin(), query_.aggregates.end(), [&](const AggregateCall& call) {
             if (call.kind == AggregateKind::rows) return true;
             if (call.kind == AggregateKind::count) return source(call.input) != Source::stored;
             const bool sum = call.kind != AggregateKind::min && call.kind != AggregateKind::max;
             return sum && source(call.input) == Source::duration && lane.exact_durations;
           });
  }
  [[nodiscard]] bool needs_durations() const {
    return std::any_of(query_.aggregates.begin(), query_.aggregates.end(), [](const AggregateCall& call) {
      return call.kind != AggregateKind::rows && call.kind != AggregateKind::count;
    });
  }

  bool summarise(std::size_t lane_number, std::uint32_t chunk) {
    const NativeLane& lane = lanes_[lane_number];
    const LaneKeys& keys = keys_[lane_number];
    if (!lane.conditions.empty() || !keys.varying.empty()) return add_totals(lane, keys, chunk);
    std::uint64_t duration = 0;
    if (needs_durations() && !covered(*lane.lane, chunk, duration)) return false;
    Worker& worker = of(0);
    add_sum(worker.groups, worker.groups.find(keys.words.data()), lane, lane.lane->chunk(chunk).count, duration);
    return true;
  }

  // Time covered by a chunk's events, which is the sum of their durations, as they do not overlap.
  static bool covered(const LaneSnapshot& lane, std::uint32_t chunk, std::uint64_t& ticks) {
    const ChunkPlace& place = lane.chunk(chunk);
    const std::uint32_t blocks = (place.count + kBlockEvents - 1) / kBlockEvents;
    if (lane.data->kind == EventKind::counter || place.first_leaf + blocks > lane.tree.nodes[0]) return false;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const SliceNode& leaf = lane.data->slices.node(0, place.first_leaf + i);
      ticks += leaf.busy + leaf.wait;
    }
    return true;
  }

  bool add_totals(const NativeLane& lane, const LaneKeys& lane_keys, std::uint32_t chunk) {
    if (chunk >= lane.lane->totals.stretches[0]) return false;
    const NameTotals::Stretch stretch = lane.lane->data->totals.stretch(0, chunk);
    if (!stretch.kept) return false;
    Worker& worker = of(0);
    worker.keys = lane_keys.words;
    for (const NameTotal& total : std::span(stretch.totals, stretch.size)) {
      if (!names_.keeps(lane, total.name)) continue;
      for (const std::size_t key : lane_keys.varying) worker.keys[key + 1] = total.name;
      add_sum(worker.groups, worker.groups.find(worker.keys.data()), lane, total.count, total.busy);
    }
    return true;
  }
  void add_sum(NativeGroups& groups, std::size_t group, const NativeLane& lane, std::uint64_t count,
               std::uint64_t duration) const {
    for (std::size_t i = 0; i < query_.aggregates.size(); ++i) {
      const AggregateCall& call = query_.aggregates[i];
      const bool null = call.kind != AggregateKind::rows && lane.columns[call.input].source == LaneColumn::Source::null;
      if (null) continue;
      if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) {
        groups.add_count(group, i, count);
      } else {
        groups.add_sum(group, i, count, duration);
      }
    }
  }

  void add_chunk(const ScannedChunk& chunk, const NativeLane& lane, Worker& worker) {
    if (!worker.reader.open(chunk, lane)) return gave_up_.store(true);
    const LaneKeys& keys = keys_[static_cast<std::size_t>(&lane - lanes_.data())];
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      worker.reader.seek(block);
      const std::uint64_t mask = worker.reader.matches();
      if (mask == 0) continue;
      find_groups(worker, keys, mask);
      for (std::size_t i = 0; i < query_.aggregates.size(); ++i) add_block(worker, i, mask);
    }
    if (worker.groups.size() > kMaxGroups) gave_up_.store(true);
  }

  void find_groups(Worker& worker, const LaneKeys& keys, std::uint64_t mask) const {
    worker.keys = keys.words;
    if (keys.varying.empty()) {
      worker.group_of.fill(static_cast<std::uint32_t>(worker.groups.find(worker.keys.data())));
      return;
    }
    if (keys.varying.size() == 1 && query_.inputs[query_.keys[keys.varying.front()]].kind == ValueKind::string)
      return find_groups_of_strings(worker, keys, mask);
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      worker.keys[0] = keys.words[0];
      for (const std::size_t key : keys.varying) {
        const BlockValues& values = worker.reader.values(query_.keys[key]);
        const bool valid = (values.valid >> i & 1) != 0;
        worker.keys[key + 1] = valid ? values.values[i] : 0;
        if (!valid) worker.keys[0] |= std::uint64_t{1} << key;
      }
      worker.group_of[i] = static_cast<std::uint32_t>(worker.groups.find(worker.keys.data()));
    }
  }

  void find_groups_of_strings(Worker& worker, const LaneKeys& keys, std::uint64_t mask) const {
    const std::size_t key = keys.varying.front();
    const BlockValues& values = worker.reader.values(query_.keys[key]);
    std::vector<std::uint32_t>& known = worker.group_of_string;
    const bool same = worker.strings_of != nullptr && worker.strings_of->words == keys.words &&
                      worker.strings_of->varying == keys.varying;
    if (!same) known.assign(string_count_ + 1, 0);  // the last one is NULL's
    worker.strings_of = &keys;
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      const bool valid = (values.valid >> i & 1) != 0;
      std::uint32_t& group = known[valid ? values.values[i] : string_count_];
      if (group == 0) {
        worker.keys[0] = keys.words[0] | (valid ? 0 : std::uint64_t{1} << key);
        worker.keys[key + 1] = valid ? values.values[i] : 0;
        group = static_cast<std::uint32_t>(worker.groups.find(worker.keys.data()) + 1);
      }
      worker.group_of[i] = group - 1;
    }
  }

  void add_block(Worker& worker, std::size_t aggregate, std::uint64_t mask) const {
    const AggregateCall& call = query_.aggregates[aggregate];
    if (call.kind == AggregateKind::rows) {
      for (std::uint64_t left = mask; left != 0; left &= left - 1) {
        worker.groups.add_count(worker.group_of[static_cast<std::size_t>(std::countr_zero(left))], aggregate, 1);
      }
      return;
    }
    const BlockValues& values = worker.reader.values(call.input);
    const bool adds_integers = is_sum(call.kind) && query_.inputs[call.input].kind == ValueKind::integer;
    for (std::uint64_t left = mask & values.valid; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      if (adds_integers) {
        worker.groups.add_integer(worker.group_of[i], aggregate, static_cast<std::int64_t>(values.values[i]));
      } else {
        worker.groups.add_value(worker.group_of[i], aggregate, values.values[i]);
      }
    }
  }

  [[nodiscard]] Result<std::shared_ptr<const Rows>> collect(const NativeGroups& groups) const {
    std::vector<std::vector<SqlValue>> rows;
    rows.reserve(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto row = groups.row(i);
      if (!row) return std::shared_ptr<const Rows>();
      rows.push_back(std::move(*row));
    }
    const auto keys = static_cast<std::ptrdiff_t>(query_.keys.size());
    std::sort(rows.begin(), rows.end(), [keys](const auto& a, const auto& b) {
      return std::lexicographical_compare(a.begin(), a.begin() + keys, b.begin(), b.begin() + keys, sorts_before);
    });
    auto made = std::make_shared<ValueRows>(query_.keys.size() + query_.aggregates.size());
    for (auto& row : rows) made->add(std::move(row));
    return std::shared_ptr<const Rows>(made);
  }

  Context& context_;
  const NativeQuery& query_;
  TextCodes texts_;
  std::vector<NativeLane> lanes_;
  std::size_t string_count_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<LaneKeys> keys_;  // beside lanes_
  std::vector<ChunkRequest> requests_;
  std::vector<std::size_t> lane_of_;  // beside requests_
  NameAnswers names_;
  std::atomic<bool> gave_up_{false};
};

}  // namespace

Result<std::shared_ptr<const Rows>> native_groups(Context& context, const NativeQuery& query) {
  return GroupScan(context, query).run();
}

}  // namespace accelscope::sql
