// Finds rows in the raw pages of an SQLite file without SQLite, for files that it refuses: leaf cells of tables, their
// overflow chains and the last blob of each row. Format facts: the SQLite file format, sections 1.5 and 2.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope {

struct SalvagedBlob {
  std::int64_t row = 0;    // of its table
  std::uint32_t page = 0;  // of its cell; with `cell` the key to read it again
  std::uint32_t cell = 0;
  bool complete = false;  // false: its chain of pages ends early; bytes holds what is there
  Bytes bytes;
};

class PageSalvage {
 public:
  [[nodiscard]] static Result<PageSalvage> open(const std::string& path);

  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[nodiscard]] std::uint64_t whole_file_bytes() const noexcept { return whole_bytes_; }  // by its header; 0: not known
  // Calls visit for the last blob of every row found whose first bytes pass `wanted`, in the order of the pages.
  void scan(const std::function<bool(ByteView first_bytes)>& wanted, const std::function<void(SalvagedBlob)>& visit);
  [[nodiscard]] SalvagedBlob read(std::uint32_t page, std::uint32_t cell);

 private:
  PageSalvage() = default;
  bool load(std::uint32_t page, Bytes& out);
  // The cell's last blob, or an incomplete one with nothing in it if the cell is no row with a blob.
  SalvagedBlob read_cell(const Bytes& page_bytes, std::uint32_t page, std::uint32_t cell, bool whole);

  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t whole_bytes_ = 0;
  std::uint32_t page_size_ = 0;
  std::uint32_t usable_ = 0;
  std::uint32_t page_count_ = 0;
};

}  // namespace accelscope
