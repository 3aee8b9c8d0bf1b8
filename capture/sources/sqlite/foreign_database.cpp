#include "capture/sources/sqlite/foreign_database.h"

#include <fmt/format.h>

#include <sqlite3.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kJournals = {"-wal", "-journal"};
constexpr std::size_t kCopyHeaderBytes = 100;
constexpr std::size_t kCopyBytes = 1U << 20;

[[nodiscard]] std::string first_bytes_of(const std::string& path) {
  std::string bytes(kCopyHeaderBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

[[nodiscard]] bool has_bytes(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(path, failure);
  return !failure && bytes > 0;
}

// Whether a writer left a journal beside the file.
[[nodiscard]] bool has_journal(const std::string& path) {
  for (const std::string_view journal : kJournals) {
    if (has_bytes(path + std::string(journal))) return true;
  }
  return false;
}

// Whether the file says that its changes are kept in a journal beside it ("WAL").
[[nodiscard]] bool keeps_journal_beside(const std::string& path) {
  constexpr std::size_t kReadVersion = 19;  // of the header: 2 is a journal beside the file
  const std::string head = first_bytes_of(path);
  return is_database(head) && head.size() == kCopyHeaderBytes && head[kReadVersion] == 2;
}

}  // namespace

bool is_database(std::string_view first_bytes) noexcept {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  return first_bytes.starts_with(kMagic);
}

Result<DatabaseCopy> DatabaseCopy::make(const std::string& path) {
  const bool packed = json::is_packed(first_bytes_of(path));
  if (!packed && !has_journal(path)) return DatabaseCopy{};
  std::shared_ptr<OwnTemporaryFolder> folder = TRY(OwnTemporaryFolder::make("database"));
  DatabaseCopy copy;
  copy.folder_ = std::move(folder);
  TRY(packed ? copy.unpack(path) : copy.copy_with_journal(path));
  return copy;
}

// A packed file that breaks off still has its first pages.
Result<void> DatabaseCopy::unpack(const std::string& path) const {
  std::unique_ptr<json::ByteSource> source = TRY(json::ByteSource::open(path));
  std::ofstream file(this->path(), std::ios::binary);
  std::vector<char> buffer(kCopyBytes);
  std::uint64_t written = 0;
  while (file) {
    const Result<std::size_t> bytes = source->read(buffer);
    if (!bytes && written == 0) return bytes.error();
    if (!bytes || *bytes == 0) break;
    file.write(buffer.data(), static_cast<std::streamsize>(*bytes));
    written += *bytes;
  }
  file.close();
  if (!file) {
    return Error{fmt::format("{}: no room to unpack it in {}: {}; set TMPDIR to a folder with more", path,
                             folder_->path(), std::strerror(errno))};
  }
  return {};
}

Result<void> DatabaseCopy::copy_with_journal(const std::string& path) const {
  const auto copy = [&](const std::string& ending) -> Result<void> {
    std::error_code failure;
    fs::copy_file(path + ending, this->path() + ending, failure);
    if (!failure) return {};
    return Error{fmt::format("{}{}: cannot be copied to {}: {}; set TMPDIR to a folder with more room", path, ending,
                             folder_->path(), failure.message())};
  };
  if (Result<void> done = copy(""); !done) return done;
  for (const std::string_view journal : kJournals) {
    const std::string ending(journal);
    if (!has_bytes(path + ending)) continue;
    if (Result<void> done = copy(ending); !done) return done;
  }
  return {};
}

namespace {

// Database files that end before their last page. SQLite refuses such a file whole if one of the pages that list its
// tables is missing, and a table from its first missing page on. Through this layer it does not see what points at
// pages that are not there, so that all other rows can be read.

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
    std::vector<std::size_t> retained;  // places of cells
    if (!gather(page, head, depth, retained)) return true;
    const bool last = is_usable(four_bytes(head + kLastChild), depth + 1);
    if (!last && retained.empty()) {
      if (number != 1) make_empty(page);
      return false;
    }
    std::int64_t last_child = four_bytes(head + kLastChild);
    if (!last) {
      last_child = four_bytes(page + retained.back());
      std::memcpy(head + kLastChild, page + retained.back(), 4);
      retained.pop_back();
    }
    // A page with one child alone is refused, unless it is the first: the child stands in for it.
    if (retained.empty() && number != 1 && depth < kDeepestTree) return load(last_child, page, depth + 1);
    put_two_bytes(head + kCellCount, retained.size());
    for (std::size_t i = 0; i < retained.size(); ++i) put_two_bytes(head + kCellsOfInner + 2 * i, retained[i]);
    return true;
  }

 private:
  [[nodiscard]] bool is_there(std::int64_t number) const noexcept {
    return number >= 1 && number * pages_.page_bytes <= size_;
  }

  // False: the page is damaged, and SQLite says so.
  bool gather(const unsigned char* page, const unsigned char* head, int depth, std::vector<std::size_t>& retained) {
    const std::size_t cells = two_bytes(head + kCellCount);
    const auto bytes = static_cast<std::size_t>(pages_.page_bytes);
    const auto before = static_cast<std::size_t>(head - page);
    if (before + kCellsOfInner + 2 * cells > bytes) return false;
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t at = two_bytes(head + kCellsOfInner + 2 * i);
      if (at + 4 > bytes) return false;
      if (is_usable(four_bytes(page + at), depth + 1)) retained.push_back(at);
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
    std::vector<std::size_t> retained;
    if (!gather(page.data(), page.data(), depth, retained)) return true;
    return !retained.empty() || is_usable(four_bytes(page.data() + kLastChild), depth + 1);
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

// Whether the file is shorter than its header says.
[[nodiscard]] bool is_cut_database(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kHeaderBytes> header{};
  if (!file.read(header.data(), header.size())) return false;
  const PagesOfFile pages = pages_of_header(reinterpret_cast<const unsigned char*>(header.data()));
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return !failure && pages.pages > 0 && size < static_cast<std::uintmax_t>(pages.pages * pages.page_bytes);
}

// The name under which SQLite knows the layer; null if it cannot be had.
[[nodiscard]] const char* cut_file_layer() {
  static const bool kAdded = add_layer();
  return kAdded ? kLayerName : nullptr;
}

}  // namespace

bool ForeignRows::next() {
  if (ended_) return false;
  const Result<bool> row = statement_.step();
  if (!row) status_ = row.error();
  ended_ = !row || !row.value();
  return !ended_;
}

void ForeignRows::restart(std::int64_t value) {
  if (statement_.column_count() == 0) return;
  statement_.reset();
  statement_.bind(1, value);
  status_ = {};
  ended_ = false;
}

bool ForeignRows::has(std::size_t column) const { return places_[column] >= 0 && !statement_.is_null(places_[column]); }

std::int64_t ForeignRows::integer(std::size_t column) const {
  return places_[column] < 0 ? 0 : statement_.integer(places_[column]);
}

double ForeignRows::real(std::size_t column) const {
  return places_[column] < 0 ? 0 : statement_.real(places_[column]);
}

std::string_view ForeignRows::text(std::size_t column) const {
  return places_[column] < 0 ? std::string_view{} : statement_.text(places_[column]);
}

ByteView ForeignRows::blob(std::size_t column) const {
  return places_[column] < 0 ? ByteView{} : statement_.blob(places_[column]);
}

std::optional<std::int64_t> ForeignRows::number(std::size_t column) const {
  if (places_[column] < 0 || !statement_.is_integer(places_[column])) return std::nullopt;
  return statement_.integer(places_[column]);
}

std::string_view valid_text(std::string_view text, std::string& scratch) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (plain) return text;
  scratch = json::repair_utf8(text);
  return scratch;
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char character : name) {
    quoted += character;
    if (character == '"') quoted += character;
  }
  return quoted + "\"";
}

// What a journal holds is worked into the copy when it is opened for writing. Where that fails the file alone is read.
Result<std::unique_ptr<Database>> ForeignDatabase::open_database(const std::string& path, const DatabaseCopy& copy,
                                                                 const char* layer) {
  if (copy.exists()) {
    Result<std::unique_ptr<Database>> opened = Database::open(copy.path(), OpenMode::read_write, layer);
    if (opened && (*opened)->integer("SELECT count(*) FROM sqlite_master")) return opened;
    return Database::open(copy.path(), OpenMode::unchanging, layer);
  }
  return Database::open(path, keeps_journal_beside(path) ? OpenMode::unchanging : OpenMode::read_only, layer);
}

Result<ForeignDatabase> ForeignDatabase::open(const std::string& path) {
  DatabaseCopy copy = TRY(DatabaseCopy::make(path));
  const bool cut = is_cut_database(copy.exists() ? copy.path() : path);
  std::unique_ptr<Database> opened = TRY(open_database(path, copy, cut ? cut_file_layer() : nullptr));
  ForeignDatabase file(std::move(opened));
  file.path_ = path;
  file.copy_ = std::move(copy);
  file.cut_ = cut;
  if (cut) file.tolerate_damage();
  Result<void> listed = file.list_tables();
  if (!listed && !cut) {
    file.damaged_ = true;
    file.tolerate_damage();
    const Result<void> again = file.list_tables();
    if (again || !file.tables_.empty()) return file;
  }
  if (!listed && file.tables_.empty()) return Error{fmt::format("{}: {}", path, listed.message())};
  return file;
}

Result<ForeignDatabase> ForeignDatabase::another() const {
  std::unique_ptr<Database> opened = TRY(open_database(path_, copy_, cut_ ? cut_file_layer() : nullptr));
  ForeignDatabase file(std::move(opened));
  file.path_ = path_;
  file.tables_ = tables_;
  file.read_ = read_;
  file.cut_ = cut_;
  file.damaged_ = damaged_;
  if (cut_ || damaged_) file.tolerate_damage();
  return file;
}

// A table whose description is damaged does not take the others with it. The file is open for reading only, so that
// nothing is at risk.
void ForeignDatabase::tolerate_damage() {
  sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  (void)database_->execute("PRAGMA writable_schema=ON");  // without it the file is refused as before
}

Result<void> ForeignDatabase::list_tables() {
  tables_.clear();
  ForeignRows names = TRY(select("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"));
  while (names.next()) tables_.emplace_back(names.text(0));
  return names.status();
}

bool ForeignDatabase::has_table(std::string_view table) const {
  return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

std::vector<std::string> ForeignDatabase::columns(std::string_view table) const {
  std::vector<std::string> names;
  if (!has_table(table)) return names;
  Result<ForeignRows> found = select(fmt::format("PRAGMA table_info({})", quoted_name(table)));
  while (found && found->next()) names.emplace_back(found->text(1));
  return names;
}

Result<std::int64_t> ForeignDatabase::row_count(std::string_view table) const {
  if (!has_table(table)) return std::int64_t{0};
  return database_->integer(fmt::format("SELECT count(*) FROM {}", quoted_name(table)));
}

void ForeignDatabase::count_as_read(std::string_view table) const {
  const std::lock_guard lock(read_->mutex);
  read_->names.emplace(table);
}

std::vector<std::string> ForeignDatabase::unread_tables() const {
  std::vector<std::string> unread;
  Result<ForeignRows> tables = select("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables && tables->next()) {
    const std::string table(tables->text(0));
    {
      const std::lock_guard lock(read_->mutex);
      if (table.starts_with("sqlite_") || read_->names.contains(table)) continue;
    }
    const Result<std::int64_t> rows = row_count(table);
    if (!rows || *rows > 0) unread.push_back(rows ? fmt::format("{} ({} rows)", table, *rows) : table);
  }
  return unread;
}

std::vector<std::string> ForeignDatabase::unread_columns() const {
  std::vector<std::string> unread;
  const std::lock_guard lock(read_->mutex);
  Result<ForeignRows> tables = select("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (tables && tables->next()) {
    const std::string table(tables->text(0));
    const auto read = read_->columns.find(table);
    const Result<std::int64_t> rows = row_count(table);
    if (read == read_->columns.end() || !rows || *rows == 0) continue;
    for (const std::string& column : columns(table)) {
      if (!read->second.contains(column)) unread.push_back(fmt::format("{}.{}", table, column));
    }
  }
  return unread;
}

Result<ForeignRows> ForeignDatabase::rows(std::string_view table, std::span<const std::string_view> columns,
                                          std::string_view further) const {
  ForeignRows rows;
  rows.places_.assign(columns.size(), -1);
  if (!has_table(table)) return rows;
  count_as_read(table);
  const std::vector<std::string> there = this->columns(table);
  {
    // What rows are chosen or ordered by is read as well.
    const std::lock_guard lock(read_->mutex);
    auto& read = read_->columns[std::string(table)];
    for (const std::string& column : there) {
      if (std::find(columns.begin(), columns.end(), column) != columns.end() ||
          further.find(quoted_name(column)) != std::string_view::npos) {
        read.insert(column);
      }
    }
  }
  std::string sql;
  int places = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::find(there.begin(), there.end(), columns[i]) == there.end()) continue;
    sql += (sql.empty() ? "" : ", ") + quoted_name(columns[i]);
    rows.places_[i] = places++;
  }
  if (sql.empty()) sql = "NULL";
  Statement statement = TRY(database_->prepare(fmt::format("SELECT {} FROM {}{}", sql, quoted_name(table), further)));
  rows.statement_ = std::move(statement);
  rows.ended_ = false;
  return rows;
}

bool ForeignDatabase::has_index(std::string_view table, std::string_view column) const {
  Result<ForeignRows> plan = select(
      fmt::format("EXPLAIN QUERY PLAN SELECT {0} FROM {1} WHERE {0} = 1", quoted_name(column), quoted_name(table)));
  constexpr std::size_t kDetail = 3;
  return plan && plan->next() && plan->text(kDetail).starts_with("SEARCH");
}

Result<ForeignRows> ForeignDatabase::select(std::string_view sql) const {
  Statement statement = TRY(database_->prepare(sql));
  ForeignRows rows;
  rows.statement_ = std::move(statement);
  rows.ended_ = false;
  for (int place = 0; place < rows.statement_.column_count(); ++place) rows.places_.push_back(place);
  return rows;
}

}  // namespace accelscope::capture::sources::sqlite
