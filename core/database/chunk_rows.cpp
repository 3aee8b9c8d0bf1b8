#include "core/database/chunk_rows.h"

#include <utility>

namespace accelscope {
namespace {

constexpr std::uint64_t kPageBytes = 8192;
constexpr std::uint64_t kMovedPerNew = 4;        // bytes for each byte that comes in
constexpr std::uint64_t kMoveStep = 512U << 10;  // giving pages back costs the same for many rows as for one
constexpr std::chrono::seconds kPatience(1);     // until a file that could not be written is tried again

}  // namespace

Result<void> insert_chunk_row(Statement& insert, std::int64_t row, const ChunkHeader& header, ByteView bytes) {
  if (row == 0) {
    insert.bind_null(1);
  } else {
    insert.bind(1, row);
  }
  return insert.bind(2, std::int64_t{header.lane})
      .bind(3, static_cast<std::int64_t>(header.first_ordinal))
      .bind(4, std::int64_t{header.count})
      .bind(5, header.begin_ticks)
      .bind(6, header.end_ticks)
      .bind(7, bytes)
      .run();
}

ChunkRows::ChunkRows(Database& database, std::uint64_t budget_bytes, std::string folder)
    : database_(database), budget_bytes_(budget_bytes), folder_(std::move(folder)) {}

Result<void> ChunkRows::prepare() {
  const auto make = [this](Statement& statement, const char* sql) -> Result<void> {
    Statement made = TRY(database_.prepare(sql));
    statement = std::move(made);
    return {};
  };
  if (Result<void> made = make(insert_, kInsertChunk); !made) return made;
  if (Result<void> made = make(remove_, "DELETE FROM chunk WHERE id = ?"); !made) return made;
  if (Result<void> made = make(newest_, "SELECT id, payload FROM chunk ORDER BY id DESC LIMIT 1"); !made) return made;
  return make(count_pages_, "PRAGMA page_count");
}

std::uint64_t ChunkRows::memory_bytes() const {
  const Result<bool> row = count_pages_.step();
  const std::uint64_t pages = row && *row ? static_cast<std::uint64_t>(count_pages_.integer(0)) : 0;
  count_pages_.reset();
  return pages * kPageBytes + places_.capacity() * sizeof(FilePlace);
}

ChunkRows::FilePlace ChunkRows::place_in_file(std::int64_t row) const noexcept {
  const auto index = static_cast<std::uint64_t>(row) - 1;
  return index < places_.size() ? places_[index] : FilePlace{};
}

Result<Bytes> ChunkRows::read_from_database(std::int64_t row) const {
  return database_.read_blob("chunk", "payload", row);
}

std::string ChunkRows::take_failure() { return std::exchange(failure_, {}); }

void ChunkRows::give_up_for_now(const Error& why) {
  if (!std::exchange(failing_, true)) failure_ = why.message;
  try_again_ = std::chrono::steady_clock::now() + kPatience;
}

// False: it cannot be written for now.
bool ChunkRows::write_to_file(std::int64_t row, ByteView bytes) {
  if (failing_ && std::chrono::steady_clock::now() < try_again_) return false;
  if (file_ == nullptr) {
    Result<std::unique_ptr<NamelessFile>> made = NamelessFile::create(folder_);
    if (!made) {
      give_up_for_now(made.error());
      return false;
    }
    file_ = std::move(*made);
  }
  const Result<std::uint64_t> offset = file_->append(bytes);
  if (!offset) {
    give_up_for_now(offset.error());
    return false;
  }
  failing_ = false;
  const auto index = static_cast<std::size_t>(row) - 1;
  if (places_.size() <= index) places_.resize(index + 1);
  places_[index] = {*offset, static_cast<std::uint32_t>(bytes.size())};
  return true;
}

// The newest rows lie in the last pages, which are given back without moving others.
void ChunkRows::move_some(std::uint64_t other_bytes) {
  if (to_move_bytes_ < kMoveStep) return;
  if (memory_bytes() + other_bytes <= limit()) {
    to_move_bytes_ = 0;
    return;
  }
  std::uint64_t moved = 0;
  bool more = true;
  while (more && moved < to_move_bytes_) {
    const Result<bool> found = newest_.step();
    more = found && *found;
    if (!more) break;
    const std::int64_t row = newest_.integer(0);
    const ByteView bytes = newest_.blob(1);
    moved += bytes.size();
    more = write_to_file(row, bytes);
    newest_.reset();
    // Were it to stay, it would lie in both places, with the same bytes.
    more = more && remove_.bind(1, row).run().ok();
  }
  newest_.reset();
  to_move_bytes_ = 0;
  // What is not given back now is given back with the next ones.
  if (moved > 0) (void)database_.execute("PRAGMA incremental_vacuum");
}

Result<std::int64_t> ChunkRows::insert(const ChunkHeader& header, ByteView bytes, std::uint64_t other_bytes) {
  if (budget_bytes_ > 0) passed_limit_ = passed_limit_ || memory_bytes() + other_bytes + bytes.size() > limit();
  if (passed_limit_) {
    const std::int64_t row = next_row_;
    if (write_to_file(row, bytes)) {
      ++next_row_;
      to_move_bytes_ += kMovedPerNew * bytes.size();
      move_some(other_bytes);
      return row;
    }
  }
  const std::int64_t row = budget_bytes_ > 0 ? next_row_ : 0;
  TRY(insert_chunk_row(insert_, row, header, bytes));
  if (row == 0) return database_.last_insert_rowid();
  return next_row_++;
}

Result<void> ChunkRows::remove(std::int64_t row) {
  if (place_in_file(row).size > 0) {
    places_[static_cast<std::size_t>(row) - 1] = {};
    return {};
  }
  return remove_.bind(1, row).run();
}

}  // namespace accelscope
