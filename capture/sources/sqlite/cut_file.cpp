#include "capture/sources/sqlite/cut_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::sqlite {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr const char* kLayerName = "accelscope-cut-file";

struct PagesOfFile {
  std::int64_t page_bytes = 0;
  std::int64_t pages = 0;
};

// Of the header of a database (https://www.sqlite.org/fileformat2.html, 1.3); none if it is no such header.
[[nodiscard]] PagesOfFile pages_of_header(const unsigned char* header) noexcept {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (std::memcmp(header, kMagic.data(), kMagic.size()) != 0) return {};
  const auto big_endian = [&](std::size_t at, std::size_t bytes) {
    std::int64_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i) number = number << 8 | header[at + i];
    return number;
  };
  const std::int64_t page_bytes = big_endian(16, 2) == 1 ? 65536 : big_endian(16, 2);
  const bool counted = big_endian(24, 4) == big_endian(92, 4);  // else an old writer left the count as it was
  if (page_bytes < 512 || (page_bytes & (page_bytes - 1)) != 0 || !counted) return {};
  return {page_bytes, big_endian(28, 4)};
}

// An open file: that of the system's layer lies behind it.
struct CutFile {
  sqlite3_file base;
  PagesOfFile pages;
};

[[nodiscard]] sqlite3_file* behind(sqlite3_file* file) noexcept {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<CutFile*>(file) + 1);
}

[[nodiscard]] sqlite3_int64 real_size(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  return behind(file)->pMethods->xFileSize(behind(file), &size) == SQLITE_OK ? size : 0;
}

// Pages of trees of rows and of indexes (fileformat2.html, 1.6).
constexpr unsigned char kInnerOfIndex = 0x02, kInnerOfTable = 0x05, kLeafOfTable = 0x0d;
constexpr std::size_t kCellCount = 3, kContentStart = 5, kLastChild = 8, kCellsOfInner = 12;
constexpr int kDeepestTree = 20;
constexpr int kMostLooks = 20'000;  // at pages below one: a damaged file may lead in circles

[[nodiscard]] std::size_t two_bytes(const unsigned char* at) noexcept {
  return static_cast<std::size_t>(at[0]) << 8 | at[1];
}
void put_two_bytes(unsigned char* at, std::size_t number) noexcept {
  at[0] = static_cast<unsigned char>(number >> 8);
  at[1] = static_cast<unsigned char>(number);
}
[[nodiscard]] std::int64_t four_bytes(const unsigned char* at) noexcept {
  return static_cast<std::int64_t>(two_bytes(at)) << 16 | static_cast<std::int64_t>(two_bytes(at + 2));
}

// Mends pages that point at pages that are not there, as they are read.
class CutPages {
 public:
  explicit CutPages(sqlite3_file* file)
      : real_(behind(file)), pages_(reinterpret_cast<CutFile*>(file)->pages), size_(real_size(file)) {}

  // False: nothing can be had of it, and the page is an empty leaf.
  bool load(std::int64_t number, unsigned char* page, int depth = 0) {
    if (!is_there(number) || real_->pMethods->xRead(real_, page, static_cast<int>(pages_.page_bytes),
                                                    (number - 1) * pages_.page_bytes) != SQLITE_OK) {
      make_empty(page);
      return false;
    }
    unsigned char* head = page + (number == 1 ? kHeaderBytes : 0);
    if (head[0] != kInnerOfTable && head[0] != kInnerOfIndex) return true;
    std::vector<std::size_t> kept;  // places of cells
    if (!gather(page, head, depth, kept)) return true;
    const bool last = is_usable(four_bytes(head + kLastChild), depth + 1);
    if (!last && kept.empty()) {
      if (number != 1) make_empty(page);
      return false;
    }
    std::int64_t last_child = four_bytes(head + kLastChild);
    if (!last) {
      last_child = four_bytes(page + kept.back());
      std::memcpy(head + kLastChild, page + kept.back(), 4);
      kept.pop_back();
    }
    // A page with one child alone is refused, unless it is the first: the child stands in for it.
    if (kept.empty() && number != 1 && depth < kDeepestTree) return load(last_child, page, depth + 1);
    put_two_bytes(head + kCellCount, kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) put_two_bytes(head + kCellsOfInner + 2 * i, kept[i]);
    return true;
  }

 private:
  [[nodiscard]] bool is_there(std::int64_t number) const noexcept {
    return number >= 1 && number * pages_.page_bytes <= size_;
  }

  // False: the page is damaged, and SQLite says so.
  bool gather(const unsigned char* page, const unsigned char* head, int depth, std::vector<std::size_t>& kept) {
    const std::size_t cells = two_bytes(head + kCellCount);
    const auto bytes = static_cast<std::size_t>(pages_.page_bytes);
    const auto before = static_cast<std::size_t>(head - page);
    if (before + kCellsOfInner + 2 * cells > bytes) return false;
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t at = two_bytes(head + kCellsOfInner + 2 * i);
      if (at + 4 > bytes) return false;
      if (is_usable(four_bytes(page + at), depth + 1)) kept.push_back(at);
    }
    return true;
  }

  // Whether any row or key can be had of the page or of those below it.
  bool is_usable(std::int64_t number, int depth) {
    if (!is_there(number)) return false;
    if (depth > kDeepestTree || ++looks_ > kMostLooks) return true;
    std::vector<unsigned char> page(static_cast<std::size_t>(pages_.page_bytes));
    if (real_->pMethods->xRead(real_, page.data(), static_cast<int>(page.size()), (number - 1) * pages_.page_bytes) !=
        SQLITE_OK) {
      return false;
    }
    if (page[0] != kInnerOfTable && page[0] != kInnerOfIndex) return true;
    std::vector<std::size_t> kept;
    if (!gather(page.data(), page.data(), depth, kept)) return true;
    return !kept.empty() || is_usable(four_bytes(page.data() + kLastChild), depth + 1);
  }

  void make_empty(unsigned char* page) const noexcept {
    std::memset(page, 0, static_cast<std::size_t>(pages_.page_bytes));
    page[0] = kLeafOfTable;  // of no rows, which would begin at the page's end
    put_two_bytes(page + kContentStart, static_cast<std::size_t>(pages_.page_bytes));
  }

  sqlite3_file* real_;
  const PagesOfFile& pages_;
  sqlite3_int64 size_;
  int looks_ = 0;
};

int read_cut(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  const PagesOfFile& pages = reinterpret_cast<CutFile*>(file)->pages;
  if (pages.pages == 0 || amount != pages.page_bytes || offset % pages.page_bytes != 0) {
    return behind(file)->pMethods->xRead(behind(file), into, amount, offset);
  }
  CutPages(file).load(offset / pages.page_bytes + 1, static_cast<unsigned char*>(into));
  return SQLITE_OK;
}

int size_of_cut(sqlite3_file* file, sqlite3_int64* size) {
  const PagesOfFile& pages = reinterpret_cast<CutFile*>(file)->pages;
  *size = std::max<sqlite3_int64>(real_size(file), pages.pages * pages.page_bytes);
  return SQLITE_OK;
}

int close_cut(sqlite3_file* file) { return behind(file)->pMethods->xClose(behind(file)); }
int write_cut(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
int truncate_cut(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
int sync_cut(sqlite3_file*, int) { return SQLITE_OK; }
int lock_cut(sqlite3_file* file, int level) { return behind(file)->pMethods->xLock(behind(file), level); }
int unlock_cut(sqlite3_file* file, int level) { return behind(file)->pMethods->xUnlock(behind(file), level); }
int reserved_cut(sqlite3_file* file, int* result) {
  return behind(file)->pMethods->xCheckReservedLock(behind(file), result);
}
int control_cut(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_of_cut(sqlite3_file* file) { return behind(file)->pMethods->xSectorSize(behind(file)); }
int kind_of_cut(sqlite3_file* file) { return behind(file)->pMethods->xDeviceCharacteristics(behind(file)); }

constexpr sqlite3_io_methods kCutMethods = {1,           close_cut,     read_cut,    write_cut,  truncate_cut,
                                            sync_cut,    size_of_cut,   lock_cut,    unlock_cut, reserved_cut,
                                            control_cut, sector_of_cut, kind_of_cut, nullptr,    nullptr,
                                            nullptr,     nullptr,       nullptr,     nullptr};

[[nodiscard]] sqlite3_vfs* system_layer() { return sqlite3_vfs_find(nullptr); }

int open_cut(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  file->pMethods = nullptr;
  sqlite3_file* real = behind(file);
  const int code = system_layer()->xOpen(system_layer(), name, real, flags, flags_out);
  if (real->pMethods == nullptr) return code;
  PagesOfFile& pages = reinterpret_cast<CutFile*>(file)->pages;
  pages = {};
  file->pMethods = &kCutMethods;
  std::array<unsigned char, kHeaderBytes> header{};
  if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 &&
      real->pMethods->xRead(real, header.data(), kHeaderBytes, 0) == SQLITE_OK) {
    pages = pages_of_header(header.data());
  }
  return code;
}

[[nodiscard]] bool add_layer() {
  if (system_layer() == nullptr) return false;
  static sqlite3_vfs layer = *system_layer();
  layer.zName = kLayerName;
  layer.szOsFile = static_cast<int>(sizeof(CutFile)) + system_layer()->szOsFile;
  layer.xOpen = open_cut;
  layer.pNext = nullptr;
  return sqlite3_vfs_register(&layer, 0) == SQLITE_OK;
}

}  // namespace

bool is_cut_database(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kHeaderBytes> header{};
  if (!file.read(header.data(), header.size())) return false;
  const PagesOfFile pages = pages_of_header(reinterpret_cast<const unsigned char*>(header.data()));
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return !failure && pages.pages > 0 && size < static_cast<std::uintmax_t>(pages.pages * pages.page_bytes);
}

const char* cut_file_layer() {
  static const bool kAdded = add_layer();
  return kAdded ? kLayerName : nullptr;
}

}  // namespace accelscope::capture::sources::sqlite
