// Where the chunks of a session lie, each under the number of its row: in the table `chunk` of a database and, for a
// capture that has passed its memory budget, in a file without a name. From there on every new row goes to that file,
// and those in memory follow, the newest first, four bytes for each new one: no insert waits long, each byte is written
// once, and the memory of the freed pages is given back. A row never changes its number.
//
// A file that cannot be written (a full disk) costs nothing: the rows go on in memory, and the file is tried again a
// second later.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/chunk/chunk_format.h"
#include "core/database/database.h"
#include "core/database/nameless_file.h"

namespace accelscope {

class ChunkRows {
 public:
  // `budget_bytes`: of memory, for these rows and what else the session holds; 0: no end. Only for databases in
  // memory made with kGiveBackPages.
  ChunkRows(Database& database, std::uint64_t budget_bytes, std::string folder);

  // Before the tables of such a database are made.
  static constexpr const char* kGiveBackPages = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL;";

  Result<void> prepare();  // to insert; not needed for reading
  // The number of its row. `other_bytes`: what else of the session lies in memory.
  Result<std::int64_t> insert(const ChunkHeader& header, ByteView bytes, std::uint64_t other_bytes);
  Result<void> remove(std::int64_t row);

  // A place in the file may be read without holding anything.
  struct FilePlace {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;  // 0: the row is none of the file's
  };
  [[nodiscard]] FilePlace place_in_file(std::int64_t row) const noexcept;
  [[nodiscard]] Result<Bytes> read(const FilePlace& place) const { return file_->read(place.offset, place.size); }
  [[nodiscard]] Result<Bytes> read_from_database(std::int64_t row) const;

  [[nodiscard]] std::string folder() const { return file_ == nullptr ? std::string() : file_->folder(); }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_ == nullptr ? 0 : file_->size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const;  // of the database's pages and of the places in the file
  // Why the file cannot be written, once for each time that it began; empty otherwise.
  [[nodiscard]] std::string take_failure();

 private:
  bool write_to_file(std::int64_t row, ByteView bytes);
  void move_some(std::uint64_t other_bytes);
  void give_up_for_now(const Error& why);
  [[nodiscard]] std::uint64_t limit() const noexcept { return budget_bytes_ / 16 * 15; }

  Database& database_;
  std::uint64_t budget_bytes_;
  std::string folder_;
  std::unique_ptr<NamelessFile> file_;
  std::vector<FilePlace> places_;  // of rows 1, 2, ...; empty as long as there is no file
  std::int64_t next_row_ = 1;      // in memory; a file's database counts its own
  mutable Statement count_pages_;
  Statement insert_, newest_, remove_;
  std::uint64_t to_move_bytes_ = 0;
  bool passed_limit_ = false;
  bool failing_ = false;
  std::chrono::steady_clock::time_point try_again_;
  std::string failure_;
};

inline constexpr const char* kInsertChunk =
    "INSERT INTO chunk(id, lane, first_ordinal, count, begin_ticks, end_ticks, payload) VALUES(?, ?, ?, ?, ?, ?, ?)";
// Under a number of its own if `row` is 0.
Result<void> insert_chunk_row(Statement& insert, std::int64_t row, const ChunkHeader& header, ByteView bytes);

}  // namespace accelscope
