#include "core/store/session_check.h"

#include <fmt/format.h>

#include <sqlite3.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

#include "core/base/file_system.h"
#include "core/database/database.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

Error not_a_session(const std::string& path, const char* why) {
  return Error{fmt::format("{}: {}; open a session file (.accel) or import a profile", path, why)};
}

// Numbers of SQLite's file header are big-endian.
class FirstPage {
 public:
  explicit FirstPage(std::istream& file) { file.read(reinterpret_cast<char*>(head_.data()), std::ssize(head_)); }
  [[nodiscard]] const unsigned char* bytes() const noexcept { return head_.data(); }
  [[nodiscard]] std::uint32_t number(std::size_t at) const noexcept {
    return std::uint32_t{head_[at]} << 24 | std::uint32_t{head_[at + 1]} << 16 | std::uint32_t{head_[at + 2]} << 8 |
           head_[at + 3];
  }
  [[nodiscard]] std::uint64_t page_size() const noexcept {
    const std::uint64_t size = number(16) >> 16U;
    return size == 1 ? 65536 : size;
  }
  // 1: with a journal; 2: with a log (WAL).
  [[nodiscard]] bool keeps_log() const noexcept { return head_[18] != 1 || head_[19] != 1; }

 private:
  std::array<unsigned char, 100> head_{};
};

std::uint64_t bytes_of(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  return failure ? 0 : size;
}

// A rollback journal, as "Database File Format", section 3, has it: segments of a head and of pages as they were.
class Journal {
 public:
  explicit Journal(const std::string& path) : file_(path, std::ios::binary), size_(bytes_of(path)) {}

  // Whether it can have been made while the file was written, by one program that wrote to nothing else meanwhile.
  [[nodiscard]] bool is_of(const std::string& path) {
    std::ifstream database(path, std::ios::binary);
    const FirstPage now(database);
    const std::uint64_t bytes = bytes_of(path);
    if (names_others() || !read_head(0) || page_size_ != now.page_size() || pages_before_ * page_size_ > bytes) {
      return false;
    }
    if (records_ == 0) return pages_before_ * page_size_ == bytes;  // nothing of the file was written yet
    return holds_first_page(now);
  }

 private:
  static constexpr std::array<unsigned char, 8> kMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  static constexpr std::uint32_t kToTheEnd = 0xffffffffU;
  static constexpr std::uint64_t kMostLooks = 1 << 20;

  template <std::size_t N>
  bool read(std::uint64_t at, std::array<unsigned char, N>& out) {
    if (at > size_ || size_ - at < N) return false;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(reinterpret_cast<char*>(out.data()), N);
    return file_.gcount() == std::streamsize{N};
  }
  static std::uint32_t number(const unsigned char* at) noexcept {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
  }
  // One that belongs to several files names another file at its end, which SQLite would remove.
  bool names_others() {
    std::array<unsigned char, 8> end{};
    return size_ >= end.size() && read(size_ - end.size(), end) && end == kMagic;
  }
  bool read_head(std::uint64_t at) {
    std::array<unsigned char, 28> head{};
    if (!read(at, head) || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) return false;
    records_ = number(&head[8]);
    pages_before_ = number(&head[16]);
    const std::uint32_t sector = number(&head[20]);
    const std::uint32_t page = number(&head[24]);
    const auto is_size = [](std::uint32_t size, std::uint32_t least) {
      return size >= least && size <= 65536 && (size & (size - 1)) == 0;
    };
    if (!is_size(sector, 32) || !is_size(page, 512)) return false;
    sector_ = sector;
    page_size_ = page;
    return true;
  }
  bool holds_first_page(const FirstPage& now) {
    std::uint64_t at = 0;
    for (std::uint64_t looks = 0; looks < kMostLooks && read_head(at); ++looks) {
      at += sector_;
      const std::uint64_t records = records_ == kToTheEnd ? (size_ - std::min(at, size_)) / (page_size_ + 8) : records_;
      for (std::uint64_t i = 0; i < records; ++i, ++looks, at += page_size_ + 8) {
        std::array<unsigned char, 4> place{};
        if (looks >= kMostLooks || !read(at, place)) return false;
        if (number(place.data()) != 1) continue;
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(at + place.size()));
        return is_before(FirstPage(file_), now);
      }
      at = (at + sector_ - 1) / sector_ * sector_;
    }
    return false;
  }
  // The same file, at most one change of it and of its tables ago.
  static bool is_before(const FirstPage& then, const FirstPage& now) {
    constexpr std::size_t kChanges = 24, kIdentity = 40, kVersion = 60, kProgram = 68;
    return std::memcmp(then.bytes(), now.bytes(), kChanges) == 0 &&
           now.number(kIdentity) - then.number(kIdentity) <= 1 && now.number(kChanges) - then.number(kChanges) <= 1 &&
           then.number(kVersion) == now.number(kVersion) && then.number(kProgram) == now.number(kProgram);
  }

  std::ifstream file_;
  std::uint64_t size_;
  std::uint32_t records_ = 0;
  std::uint64_t pages_before_ = 0;
  std::uint64_t sector_ = 0;
  std::uint64_t page_size_ = 0;
};

// Whether a program that runs is writing to it, or about to.
bool is_being_written(const std::string& path) {
  const Result<std::unique_ptr<Database>> database = Database::open(path, OpenMode::read_only);
  if (!database) return false;
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control((*database)->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || file == nullptr || file->pMethods == nullptr) return false;
  int reserved = 0;
  return file->pMethods->xCheckReservedLock(file, &reserved) == SQLITE_OK && reserved != 0;
}

constexpr int kWorkPerLook = 100'000;  // instructions of SQLite
constexpr std::uintmax_t kLeastWork = 20'000'000;
constexpr std::uintmax_t kWorkPerByte = 16;  // a row has 50 bytes or more and takes some 20 to be read

}  // namespace

Result<void> check_session_file(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure)
    return Error{fmt::format("{}: cannot be opened: {}; check the path and its permissions", path, failure.message())};
  if (size == 0) return not_a_session(path, "the file is empty");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: cannot be read; check its permissions", path)};
  const FirstPage head(file);
  if (std::memcmp(head.bytes(), "SQLite format 3", 16) != 0) return not_a_session(path, "it is not a session file");
  if (head.number(68) != kSessionApplicationId) return not_a_session(path, "it is a database of another program");
  const std::uint64_t wanted = head.page_size() * head.number(28);
  if (size < wanted) {
    return Error{
        fmt::format("{}: the file was cut ({} of {} bytes are left); open it again to salvage what it still holds",
                    path, size, wanted)};
  }
  return {};
}

bool is_of_newer_version(const std::string& path) {
  constexpr std::uint32_t kBelievable = 100;  // majors ahead: a larger number is damage
  if (!check_session_file(path)) return false;
  std::ifstream file(path, std::ios::binary);
  const std::uint32_t version = FirstPage(file).number(60);
  return version / 1000 > kSessionMajor && version / 1000 < kSessionMajor + kBelievable;
}

OpenWay way_to_open(const std::string& given_path, OpenMode wanted) {
  const std::string path = behind_links(given_path);  // where SQLite looks, too
  if (bytes_of(path) == 0) return {wanted, ""};       // what lies beside nothing, SQLite takes away
  const auto exists = [](const std::string& beside) {
    std::error_code failure;
    return std::filesystem::symlink_status(beside, failure).type() != std::filesystem::file_type::not_found;
  };
  const std::string log = path + "-wal";
  if (exists(log) && !(is_own_file(log) && bytes_of(log) == 0)) return {OpenMode::unchanging, log};
  {
    std::ifstream file(path, std::ios::binary);
    if (FirstPage(file).keeps_log()) return {OpenMode::unchanging, ""};
  }
  const std::string journal = path + "-journal";
  if (!exists(journal)) return {wanted, ""};
  if (is_own_file(journal)) {
    // One that was done with is empty or begins with zeros.
    std::ifstream file(journal, std::ios::binary);
    if (const int first = file.get(); first == 0 || first == std::ifstream::traits_type::eof()) return {wanted, ""};
    if (is_own_file(path) && Journal(journal).is_of(path)) {
      return {wanted == OpenMode::read_only ? OpenMode::unchanging : wanted, ""};  // nothing is undone by reading
    }
  }
  return is_being_written(path) ? OpenWay{wanted, ""} : OpenWay{OpenMode::unchanging, journal};
}

Result<void> give_identity(Database& database) {
  std::random_device random;
  constexpr unsigned kMost = 0x3fffffffU;  // SQLite counts on from it
  return database.execute(fmt::format("PRAGMA schema_version = {}", 1U + random() % kMost).c_str());
}

Result<void> check_session_schema(Database& database, const std::string& path) {
  struct Wanted {
    const char* table;
    std::string columns;
  };
  const std::array<Wanted, 3> wanted = {{{"definition", "id payload"},
                                         {"chunk", "id lane first_ordinal count begin_ticks end_ticks payload"},
                                         {"lane_index", "lane part level payload"}}};
  const auto wrong = [&](const std::string& what) {
    return Error{
        fmt::format("{}: {}, which no session file has; it was not made by Accelscope, or was altered", path, what)};
  };
  Statement others = TRY(database.prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'trigger')"));
  const Result<bool> other = others.step();
  if (!other) return database.error("its tables cannot be listed");
  if (*other) return wrong(fmt::format("it holds the {} '{}'", others.text(0), others.text(1)));
  for (const Wanted& each : wanted) {
    Statement table = TRY(database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"));
    const Result<bool> found = table.bind(1, std::string_view(each.table)).step();
    if (!found) return database.error("its tables cannot be listed");
    if (!*found) return wrong(fmt::format("it has no table '{}'", each.table));
    if (!table.text(0).starts_with("CREATE TABLE ")) return wrong(fmt::format("'{}' is no plain table", each.table));
    Statement columns = TRY(database.prepare("SELECT name, hidden FROM pragma_table_xinfo(?) ORDER BY cid"));
    columns.bind(1, std::string_view(each.table));
    std::string names;
    for (;;) {
      const Result<bool> row = columns.step();
      if (!row) return database.error("its tables cannot be listed");
      if (!*row) break;
      names += (names.empty() ? "" : " ") + std::string(columns.text(0));
      if (columns.integer(1) != 0) return wrong(fmt::format("a column of '{}' is computed", each.table));
    }
    if (names != each.columns) return wrong(fmt::format("'{}' has the columns {}", each.table, names));
  }
  return {};
}

ReadingLimit::ReadingLimit(Database& database, const std::string& path) : database_(database) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  left_ = static_cast<std::int64_t>((kLeastWork + (failure ? 0 : size) * kWorkPerByte) / kWorkPerLook);
  sqlite3_progress_handler(database_.handle(), kWorkPerLook, &ReadingLimit::look, this);
}

ReadingLimit::~ReadingLimit() { sqlite3_progress_handler(database_.handle(), 0, nullptr, nullptr); }

int ReadingLimit::look(void* self) { return --static_cast<ReadingLimit*>(self)->left_ < 0 ? 1 : 0; }

std::optional<std::vector<std::string>> tables_of_other_database(const std::string& path) {
  const Result<std::unique_ptr<Database>> database = Database::open(path, way_to_open(path, OpenMode::read_only).mode);
  if (!database) return std::nullopt;
  const Result<std::int64_t> application = (*database)->integer("PRAGMA application_id");
  if (!application || *application == kSessionApplicationId) return std::nullopt;
  Result<Statement> select =
      (*database)->prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name");
  if (!select) return std::nullopt;
  std::vector<std::string> tables;
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return std::nullopt;
    if (!*row) break;
    tables.emplace_back(select->text(0));
  }
  const auto has = [&](const char* name) { return std::find(tables.begin(), tables.end(), name) != tables.end(); };
  // A session whose header is damaged still has its tables.
  if (has("chunk") && has("definition")) return std::nullopt;
  return tables;
}

}  // namespace accelscope
