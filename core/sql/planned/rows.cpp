#include "core/sql/planned/rows.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

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
  RowScan(Context& context, const PlannedQuery& query, SqlRowVisitor& visitor)
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
        if (!hand_over(rows)) return {};
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
  bool hand_over(const ChunkRows& rows) {
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
  void put(const ChunkRows::Column& column, std::size_t row, std::size_t input, SqlValue& cell) {
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
  static void put_text(SqlValue& cell, std::string_view text) {
    if (auto* kept = std::get_if<std::string>(&cell)) {
      kept->assign(text);
    } else {
      cell = std::string(text);
    }
  }
  [[nodiscard]] std::string_view text_of(std::uint64_t code) {
    return code > kLastStringId ? texts_.text(code) : context_.text(static_cast<StringId>(code));
  }

  Context& context_;
  const PlannedQuery& query_;
  SqlRowVisitor& visitor_;
  TextCodes texts_;
  std::vector<PlannedLane> lanes_;
  PlannedChunks chunks_;
  std::vector<std::unique_ptr<InputReader>> readers_;
  std::vector<ChunkRows> wave_;
  std::vector<SqlValue> row_;
  std::uint64_t skip_ = query_.offset;
  std::uint64_t left_ = query_.limit;
};

}  // namespace

Result<void> planned_rows(Context& context, const PlannedQuery& query, SqlRowVisitor& visitor) {
  return RowScan(context, query, visitor).run();
}

}  // namespace accelscope::sql
