#include "core/sql/planned/rows.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <span>

#include "core/sql/planned/lane.h"

namespace accelscope::sql {
namespace {

// Chunks that are read at once: few at first, as the visitor may want no more than some rows.
constexpr std::size_t kFirstWave = 4;
constexpr std::size_t kLargestWave = 32;
constexpr std::uint64_t kLastStringId = std::numeric_limits<StringId>::max();

// The matching rows of a chunk, column by column.
struct ChunkRows {
  struct Column {
    std::vector<std::uint64_t> values;
    std::vector<std::uint8_t> nulls;  // empty: there are none
    std::vector<std::string> texts;   // of ValueKind::text, instead of values
  };
  std::size_t count = 0;
  std::vector<Column> columns;  // per output
};

class RowScan {
 public:
  RowScan(Context& context, const PlannedQuery& query, listing::SqlRowVisitor& visitor)
      : context_(context),
        query_(query),
        visitor_(visitor),
        texts_(*context.snapshot->strings),
        lanes_(planned_lanes(context, query, texts_)),
        chunks_(chunks_to_read(lanes_)),
        readers_(context.pool.concurrency()),
        row_(query.outputs.size()) {}

  Result<void> run() {
    const std::size_t count = chunks_.requests.size();
    context_.control->add_total(count);
    std::size_t wave = kFirstWave;
    for (std::size_t first = 0; first < count && left_ > 0; first += wave) {
      if (first > 0) wave = std::min(wave * 2, kLargestWave);
      const std::size_t last = std::min(count, first + wave);
      if (const Result<void> read = read_wave(first, last); !read) return read;
      for (const ChunkRows& rows : wave_) {
        if (!handoff(rows)) return {};
      }
    }
    return {};
  }

 private:
  Result<void> read_wave(std::size_t first, std::size_t last) {
    const std::vector<ChunkRequest> requests(chunks_.requests.begin() + static_cast<std::ptrdiff_t>(first),
                                             chunks_.requests.begin() + static_cast<std::ptrdiff_t>(last));
    wave_.assign(requests.size(), {});
    TaskControl control;  // of the wave; progress counts the chunks of all
    std::atomic<bool> damaged{false};
    const QueryContext query{context_.store, context_.snapshot, context_.pool, control};
    const Result<void> scanned = scan_chunks(query, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
      if (context_.cancelled()) control.cancel();
      if (!readers_[worker]) readers_[worker] = std::make_unique<InputReader>();
      if (!read_chunk(chunk, lanes_[chunks_.lanes[first + chunk.request]], *readers_[worker], wave_[chunk.request]))
        damaged.store(true);
      context_.control->add_done(1);
    });
    if (context_.cancelled()) return cancelled_error();
    if (!scanned) return scanned;
    if (damaged) return Error{"a chunk has fewer columns than its schema; the session may be damaged"};
    return {};
  }

  bool read_chunk(const ScannedChunk& chunk, const PlannedLane& lane, InputReader& reader, ChunkRows& rows) const {
    if (!reader.open(chunk, lane)) return false;
    rows.columns.resize(query_.outputs.size());
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      reader.seek(block);
      const std::uint64_t mask = reader.matches();
      if (mask == 0) continue;
      for (std::size_t i = 0; i < query_.outputs.size(); ++i) {
        add_column(chunk, reader, query_.outputs[i], mask, rows.count, rows.columns[i]);
      }
      rows.count += static_cast<std::size_t>(std::popcount(mask));
      if (rows.count >= skip_ && rows.count - skip_ >= left_) break;  // the visitor gets no more of any chunk
    }
    return true;
  }
  void add_column(const ScannedChunk& chunk, InputReader& reader, std::size_t input, std::uint64_t mask,
                  std::size_t rows_before, ChunkRows::Column& column) const {
    const BlockValues block = reader.values(input);
    const bool is_text = query_.inputs[input].kind == ValueKind::text;
    const std::size_t column_index = is_text ? reader.schema_column(input) : 0;
    const bool nulls = (mask & ~block.valid) != 0;
    if (nulls || !column.nulls.empty()) column.nulls.resize(rows_before);
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      const bool valid = (block.valid >> i & 1) != 0;
      if (is_text) {
        column.texts.emplace_back(valid ? chunk.view.text(column_index, static_cast<std::uint32_t>(block.values[i]))
                                        : std::string_view());
      } else {
        column.values.push_back(block.values[i]);
      }
      if (nulls || !column.nulls.empty()) column.nulls.push_back(valid ? 0 : 1);
    }
  }

  // False if the visitor wants no more.
  bool handoff(const ChunkRows& rows) {
    std::size_t row = 0;
    if (skip_ > 0) {
      row = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, rows.count));
      skip_ -= row;
    }
    for (; row < rows.count && left_ > 0; ++row, --left_) {
      for (std::size_t i = 0; i < rows.columns.size(); ++i) put(rows.columns[i], row, query_.outputs[i], row_[i]);
      if (!visitor_.row(row_)) return false;
    }
    return true;
  }
  void put(const ChunkRows::Column& column, std::size_t row, std::size_t input, listing::SqlValue& cell) {
    if (row < column.nulls.size() && column.nulls[row] != 0) {
      cell = std::monostate();
      return;
    }
    switch (query_.inputs[input].kind) {
      case ValueKind::integer:
        cell = static_cast<std::int64_t>(column.values[row]);
        return;
      case ValueKind::string:
        return put_text(cell, text_of(column.values[row]));
      case ValueKind::text:
        return put_text(cell, column.texts[row]);
      default:
        cell = sql_value(query_.inputs[input].kind, column.values[row], texts_);
        return;
    }
  }
  static void put_text(listing::SqlValue& cell, std::string_view text) {
    if (auto* retained = std::get_if<std::string>(&cell)) {
      retained->assign(text);
    } else {
      cell = std::string(text);
    }
  }
  [[nodiscard]] std::string_view text_of(std::uint64_t code) {
    return code > kLastStringId ? texts_.text(code) : context_.text(static_cast<StringId>(code));
  }

  Context& context_;
  const PlannedQuery& query_;
  listing::SqlRowVisitor& visitor_;
  TextCodes texts_;
  std::vector<PlannedLane> lanes_;
  PlannedChunks chunks_;
  std::vector<std::unique_ptr<InputReader>> readers_;
  std::vector<ChunkRows> wave_;
  std::vector<listing::SqlValue> row_;
  std::uint64_t skip_ = query_.offset;
  std::uint64_t left_ = query_.limit;
};

}  // namespace

Result<void> planned_rows(Context& context, const PlannedQuery& query, listing::SqlRowVisitor& visitor) {
  return RowScan(context, query, visitor).run();
}

namespace {

constexpr std::size_t kMaxGroups = 2'000'000;  // of one thread; SQLite sorts more of them in a file

// The keys that are the same for all events of a lane, and which are not.
struct LaneKeys {
  std::vector<std::uint64_t> words;
  std::vector<std::size_t> varying;  // indices into PlannedQuery::keys
};

// NULL, then integers, then text.
bool sorts_before(const listing::SqlValue& a, const listing::SqlValue& b) {
  if (a.index() != b.index()) return a.index() < b.index();
  if (const auto* integer = std::get_if<std::int64_t>(&a)) return *integer < std::get<std::int64_t>(b);
  if (const auto* text = std::get_if<std::string>(&a)) return *text < std::get<std::string>(b);
  return false;
}

std::vector<Aggregate> aggregates_of(const PlannedQuery& query) {
  std::vector<Aggregate> aggregates;
  for (const AggregateCall& call : query.aggregates) {
    const bool rows = call.kind == AggregateKind::rows;
    aggregates.push_back({call.kind, rows ? ValueKind::integer : query.inputs[call.input].kind});
  }
  return aggregates;
}

class GroupScan {
 public:
  GroupScan(Context& context, const PlannedQuery& query)
      : context_(context),
        query_(query),
        texts_(*context.snapshot->strings),
        lanes_(planned_lanes(context, query, texts_)),
        // Asked for after the snapshot was taken, so that it covers every id in its chunks.
        string_count_(context.snapshot->strings->size()),
        workers_(context.pool.concurrency()) {}

  Result<std::shared_ptr<const Rows>> run() {
    plan();
    const Result<void> scanned =
        scan_chunks(context_.query(), chunks_.requests, [&](const ScannedChunk& chunk, std::size_t worker) {
          if (!gave_up_.load(std::memory_order_relaxed))
            add_chunk(chunk, lanes_[chunks_.lanes[chunk.request]], of(worker));
        });
    if (!scanned) return scanned.error();
    if (gave_up_) return std::shared_ptr<const Rows>();
    Groups& all = of(0).groups;
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
    Worker(const PlannedQuery& query, const TextCodes& texts)
        : groups(query.keys.size(), aggregates_of(query), [&texts](std::uint64_t code) { return texts.text(code); }),
          keys(groups.words()) {}
    Groups groups;
    InputReader reader;
    std::vector<std::uint64_t> keys;
    std::array<std::uint32_t, kBlockEvents> group_of;
    // The groups of a lane whose only varying key is a string, by its code; 0 for one not met yet, else plus one.
    std::vector<std::uint32_t> group_of_string;
    const LaneKeys* strings_of = nullptr;
  };
  Worker& of(std::size_t worker) {
    if (!workers_[worker]) workers_[worker] = std::make_unique<Worker>(query_, texts_);
    return *workers_[worker];
  }

  // Adds the chunks that their statistics answer; leaves the others as requests.
  void plan() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const PlannedLane& lane = lanes_[i];
      keys_.push_back(lane_keys(lane));
      const bool summable = can_summarise(lane);
      const ChunkSpan span = lane.predicate.chunks();
      for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
        const ChunkPart part = lane.predicate.part(chunk);
        if (!part.any) continue;
        if (summable && part.whole() && summarise(i, chunk)) continue;
        if (lane.predicate.names_may_match(chunk)) chunks_.add(lane, i, chunk);
      }
    }
  }

  [[nodiscard]] LaneKeys lane_keys(const PlannedLane& lane) const {
    LaneKeys keys;
    keys.words.resize(query_.keys.size() + 1);
    for (std::size_t i = 0; i < query_.keys.size(); ++i) {
      const ValuePlace& column = lane.columns[query_.keys[i]];
      if (column.source == ValuePlace::Source::none) {
        keys.words[0] |= std::uint64_t{1} << i;
      } else if (column.source == ValuePlace::Source::constant) {
        keys.words[i + 1] = column.constant;
      } else {
        keys.varying.push_back(i);
      }
    }
    return keys;
  }

  // Only counts, durations in whole ns, and names are known of a whole chunk.
  [[nodiscard]] bool can_summarise(const PlannedLane& lane) const {
    using Source = ValuePlace::Source;
    const auto source = [&](std::size_t input) { return lane.columns[input].source; };
    const auto is_name = [&](std::size_t input) { return source(input) == Source::name; };
    const std::vector<Condition>& tested = lane.predicate.conditions();
    const bool conditions = std::all_of(tested.begin(), tested.end(), [&](const Condition& condition) {
      return condition.place.source == Source::name && condition.strings() != nullptr;
    });
    const bool keys = std::all_of(query_.keys.begin(), query_.keys.end(), [&](std::size_t key) {
      return is_name(key) || source(key) == Source::constant || source(key) == Source::none;
    });
    return conditions && keys &&
           std::all_of(query_.aggregates.begin(), query_.aggregates.end(), [&](const AggregateCall& call) {
             if (call.kind == AggregateKind::rows) return true;
             if (call.kind == AggregateKind::count) return source(call.input) != Source::column;
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
    const PlannedLane& lane = lanes_[lane_number];
    const LaneKeys& keys = keys_[lane_number];
    if (!lane.predicate.conditions().empty() || !keys.varying.empty()) return add_totals(lane, keys, chunk);
    std::uint64_t duration = 0;
    if (needs_durations() && !covered(lane.lane(), chunk, duration)) return false;
    Worker& worker = of(0);
    add_sum(worker.groups, worker.groups.find(keys.words.data()), lane, lane.lane().chunk(chunk).count, duration);
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

  bool add_totals(const PlannedLane& lane, const LaneKeys& lane_keys, std::uint32_t chunk) {
    if (chunk >= lane.lane().totals.stretches[0]) return false;
    const NameTotals::Stretch stretch = lane.lane().data->totals.stretch(0, chunk);
    if (!stretch.retained) return false;
    Worker& worker = of(0);
    worker.keys = lane_keys.words;
    for (const NameTotal& total : std::span(stretch.totals, stretch.size)) {
      if (!lane.predicate.keeps_name(total.name)) continue;
      for (const std::size_t key : lane_keys.varying) worker.keys[key + 1] = total.name;
      add_sum(worker.groups, worker.groups.find(worker.keys.data()), lane, total.count, total.busy);
    }
    return true;
  }
  void add_sum(Groups& groups, std::size_t group, const PlannedLane& lane, std::uint64_t count,
               std::uint64_t duration) const {
    for (std::size_t i = 0; i < query_.aggregates.size(); ++i) {
      const AggregateCall& call = query_.aggregates[i];
      const bool null = call.kind != AggregateKind::rows && lane.columns[call.input].source == ValuePlace::Source::none;
      if (null) continue;
      if (call.kind == AggregateKind::rows || call.kind == AggregateKind::count) {
        groups.add_count(group, i, count);
      } else {
        groups.add_sum(group, i, count, duration);
      }
    }
  }

  void add_chunk(const ScannedChunk& chunk, const PlannedLane& lane, Worker& worker) {
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
        const BlockValues values = worker.reader.values(query_.keys[key]);
        const bool valid = (values.valid >> i & 1) != 0;
        worker.keys[key + 1] = valid ? values.values[i] : 0;
        if (!valid) worker.keys[0] |= std::uint64_t{1} << key;
      }
      worker.group_of[i] = static_cast<std::uint32_t>(worker.groups.find(worker.keys.data()));
    }
  }

  void find_groups_of_strings(Worker& worker, const LaneKeys& keys, std::uint64_t mask) const {
    const std::size_t key = keys.varying.front();
    const BlockValues values = worker.reader.values(query_.keys[key]);
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
    const BlockValues values = worker.reader.values(call.input);
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

  // Keys, then aggregates. Nothing if SQLite must add up the rows in its own order.
  [[nodiscard]] std::optional<std::vector<listing::SqlValue>> row_of(const Groups& groups, std::size_t group) const {
    std::vector<listing::SqlValue> row;
    row.reserve(query_.keys.size() + query_.aggregates.size());
    const std::uint64_t* keys = groups.keys(group);
    for (std::size_t i = 0; i < query_.keys.size(); ++i) {
      const bool null = (keys[0] >> i & 1) != 0;
      row.push_back(null ? listing::SqlValue() : sql_value(query_.inputs[query_.keys[i]].kind, keys[i + 1], texts_));
    }
    for (std::size_t i = 0; i < query_.aggregates.size(); ++i) {
      const auto answer = groups.answer(group, i);
      if (!answer) return std::nullopt;
      row.push_back(answer->none ? listing::SqlValue() : sql_value(answer->kind, answer->value, texts_));
    }
    return row;
  }

  [[nodiscard]] Result<std::shared_ptr<const Rows>> collect(const Groups& groups) const {
    std::vector<std::vector<listing::SqlValue>> rows;
    rows.reserve(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto row = row_of(groups, i);
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
  const PlannedQuery& query_;
  TextCodes texts_;
  std::vector<PlannedLane> lanes_;
  std::size_t string_count_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<LaneKeys> keys_;  // beside lanes_
  PlannedChunks chunks_;
  std::atomic<bool> gave_up_{false};
};

}  // namespace

Result<std::shared_ptr<const Rows>> planned_groups(Context& context, const PlannedQuery& query) {
  return GroupScan(context, query).run();
}

}  // namespace accelscope::sql
