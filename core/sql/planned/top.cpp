#include <algorithm>
#include <atomic>
#include <bit>

#include "core/chunk/chunk_format.h"
#include "core/sql/planned/lane.h"
#include "core/sql/planned/rows.h"

namespace accelscope::sql {
namespace {

// Per term whether there is a value and the value itself, so that unsigned order is the order of the rows.
using OrderKey = std::array<std::uint64_t, 2 * PlannedQuery::kMaxOrderTerms>;

struct Candidate {
  OrderKey key{};
  EventId id = 0;
  std::uint32_t request = 0;
  std::uint32_t row = 0;  // in the chunk
  bool operator<(const Candidate& other) const noexcept { return key != other.key ? key < other.key : id < other.id; }
};

std::uint64_t rising(ValueKind kind, std::uint64_t value) {
  if (kind == ValueKind::integer) return value ^ kSignBit;
  if (std::bit_cast<double>(value) == 0) value = 0;  // -0 is 0
  return (value & kSignBit) != 0 ? ~value : value | kSignBit;
}

class TopScan {
 public:
  TopScan(Context& context, const PlannedQuery& query)
      : context_(context),
        query_(query),
        texts_(*context.snapshot->strings),
        lanes_(planned_lanes(context, query, texts_)),
        wanted_(static_cast<std::size_t>(query.offset + query.limit)),
        workers_(context.pool.concurrency()) {}

  Result<std::shared_ptr<const Rows>> run() {
    if (wanted_ > 0) chunks_ = chunks_to_read(lanes_);
    const Result<void> found = scan(chunks_.requests, [&](const ScannedChunk& chunk, Worker& worker) {
      add_chunk(chunk, lanes_[chunks_.lanes[chunk.request]], worker);
    });
    if (!found) return found.error();
    choose();
    TRY(read_chosen());
    if (damaged_) return std::shared_ptr<const Rows>();
    auto made = std::make_shared<ValueRows>(query_.inputs.size());
    for (auto& row : rows_) made->add(std::move(row));
    return std::shared_ptr<const Rows>(made);
  }

 private:
  struct Worker {
    InputReader reader;
    Best<Candidate> best;
  };

  template <typename Body>
  Result<void> scan(const std::vector<ChunkRequest>& requests, Body body) {
    return scan_chunks(context_.query(), requests, [&](const ScannedChunk& chunk, std::size_t index) {
      std::unique_ptr<Worker>& worker = workers_[index];
      if (!worker) worker = std::make_unique<Worker>();
      body(chunk, *worker);
    });
  }

  void add_chunk(const ScannedChunk& chunk, const PlannedLane& lane, Worker& worker) {
    if (!worker.reader.open(chunk, lane)) return damaged_.store(true);
    const OrderTerm& first = query_.order.front();
    const ValueKind kind = query_.inputs[first.input].kind;
    for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
      worker.reader.seek(block);
      const std::uint64_t mask = worker.reader.matches();
      if (mask == 0) continue;
      const BlockValues values = worker.reader.values(first.input);
      for (std::uint64_t left = mask; left != 0; left &= left - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
        // Most rows are worse by their first term already.
        const bool full = !worker.best.has_room(wanted_);
        if (full && term_key(first, kind, values, i) > first_term(worker.best.worst())) continue;
        add_row(chunk, worker, block, i);
      }
    }
  }
  using TermKey = std::pair<std::uint64_t, std::uint64_t>;
  static TermKey first_term(const Candidate& candidate) { return {candidate.key[0], candidate.key[1]}; }
  static TermKey term_key(const OrderTerm& term, ValueKind kind, const BlockValues& values, std::uint32_t i) {
    const bool valid = (values.valid >> i & 1) != 0;
    const TermKey key{valid ? 1 : 0, valid ? rising(kind, values.values[i]) : 0};
    return term.descending ? TermKey{~key.first, ~key.second} : key;
  }

  void add_row(const ScannedChunk& chunk, Worker& worker, std::uint32_t block, std::uint32_t i) const {
    Candidate candidate;
    for (std::size_t t = 0; t < query_.order.size(); ++t) {
      const OrderTerm& term = query_.order[t];
      const TermKey key = term_key(term, query_.inputs[term.input].kind, worker.reader.values(term.input), i);
      candidate.key[2 * t] = key.first;
      candidate.key[2 * t + 1] = key.second;
    }
    candidate.id = worker.reader.id(i);
    candidate.request = static_cast<std::uint32_t>(chunk.request);
    candidate.row = block * kBlockEvents + i;
    worker.best.add(candidate, wanted_);
  }

  void choose() {
    for (const auto& worker : workers_) {
      if (!worker) continue;
      const std::vector<Candidate>& best = worker->best.values();
      chosen_.insert(chosen_.end(), best.begin(), best.end());
    }
    std::sort(chosen_.begin(), chosen_.end());
    if (chosen_.size() > wanted_) chosen_.resize(wanted_);
    std::sort(chosen_.begin(), chosen_.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  }

  // Once more through the chunks that hold a chosen row; a lane's requests are in the order of its ids.
  Result<void> read_chosen() {
    rows_.resize(chosen_.size());
    std::vector<ChunkRequest> requests;
    std::vector<std::size_t> first_of;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (i > 0 && chosen_[i].request == chosen_[i - 1].request) continue;
      requests.push_back(chunks_.requests[chosen_[i].request]);
      first_of.push_back(i);
    }
    return scan(requests, [&](const ScannedChunk& chunk, Worker& worker) {
      const std::size_t first = first_of[chunk.request];
      const std::uint32_t request = chosen_[first].request;
      if (!worker.reader.open(chunk, lanes_[chunks_.lanes[request]])) return damaged_.store(true);
      for (std::size_t i = first; i < chosen_.size() && chosen_[i].request == request; ++i) {
        worker.reader.seek(chosen_[i].row / kBlockEvents);
        rows_[i] = read_row(chunk, worker.reader, chosen_[i].row % kBlockEvents);
      }
    });
  }
  [[nodiscard]] std::vector<listing::SqlValue> read_row(const ScannedChunk& chunk, InputReader& reader,
                                                        std::uint32_t i) const {
    std::vector<listing::SqlValue> row;
    for (std::size_t input = 0; input < query_.inputs.size(); ++input) {
      const BlockValues block = reader.values(input);
      const ValueKind kind = query_.inputs[input].kind;
      if ((block.valid >> i & 1) == 0) {
        row.emplace_back();
      } else if (kind == ValueKind::text) {
        const std::size_t column = reader.schema_column(input);
        row.emplace_back(std::string(chunk.view.text(column, static_cast<std::uint32_t>(block.values[i]))));
      } else {
        row.push_back(sql_value(kind, block.values[i], texts_));
      }
    }
    return row;
  }

  Context& context_;
  const PlannedQuery& query_;
  TextCodes texts_;
  std::vector<PlannedLane> lanes_;
  std::size_t wanted_;
  std::vector<std::unique_ptr<Worker>> workers_;
  PlannedChunks chunks_;
  std::vector<Candidate> chosen_;  // by id
  std::vector<std::vector<listing::SqlValue>> rows_;
  std::atomic<bool> damaged_{false};
};

}  // namespace

Result<std::shared_ptr<const Rows>> planned_top(Context& context, const PlannedQuery& query) {
  return TopScan(context, query).run();
}

}  // namespace accelscope::sql
