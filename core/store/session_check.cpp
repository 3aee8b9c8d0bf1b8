#include "core/store/session_check.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/store/store_state.h"

namespace accelscope {
namespace {

Error not_a_session(const std::string& path, const char* why) {
  return Error{fmt::format("{}: {}; open a session file (.accel) or import a profile", path, why)};
}

// Numbers of SQLite's file header are big-endian.
class FirstPage {
 public:
  explicit FirstPage(std::ifstream& file) { file.read(reinterpret_cast<char*>(head_.data()), std::ssize(head_)); }
  [[nodiscard]] const unsigned char* bytes() const noexcept { return head_.data(); }
  [[nodiscard]] std::uint32_t number(std::size_t at) const noexcept {
    return std::uint32_t{head_[at]} << 24 | std::uint32_t{head_[at + 1]} << 16 | std::uint32_t{head_[at + 2]} << 8 |
           head_[at + 3];
  }

 private:
  std::array<unsigned char, 100> head_{};
};

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
  std::uint64_t page_size = head.number(16) >> 16U;
  if (page_size == 1) page_size = 65536;
  const std::uint64_t wanted = page_size * head.number(28);
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
  Result<Statement> others = database.prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'trigger')");
  if (!others) return others.error();
  const Result<bool> other = others->step();
  if (!other) return database.error("its tables cannot be listed");
  if (*other) return wrong(fmt::format("it holds the {} '{}'", others->text(0), others->text(1)));
  for (const Wanted& each : wanted) {
    Result<Statement> table = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (!table) return table.error();
    const Result<bool> found = table->bind(1, std::string_view(each.table)).step();
    if (!found) return database.error("its tables cannot be listed");
    if (!*found) return wrong(fmt::format("it has no table '{}'", each.table));
    if (!table->text(0).starts_with("CREATE TABLE ")) return wrong(fmt::format("'{}' is no plain table", each.table));
    Result<Statement> columns = database.prepare("SELECT name, hidden FROM pragma_table_xinfo(?) ORDER BY cid");
    if (!columns) return columns.error();
    columns->bind(1, std::string_view(each.table));
    std::string names;
    for (;;) {
      const Result<bool> row = columns->step();
      if (!row) return database.error("its tables cannot be listed");
      if (!*row) break;
      names += (names.empty() ? "" : " ") + std::string(columns->text(0));
      if (columns->integer(1) != 0) return wrong(fmt::format("a column of '{}' is computed", each.table));
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

}  // namespace accelscope
