#include "capture/sources/sqlite/database_copy.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "capture/json/byte_source.h"

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

}  // namespace

bool is_database(std::string_view first_bytes) noexcept {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  return first_bytes.starts_with(kMagic);
}

bool has_journal(const std::string& path) {
  for (const std::string_view journal : kJournals) {
    if (has_bytes(path + std::string(journal))) return true;
  }
  return false;
}

bool keeps_journal_beside(const std::string& path) {
  constexpr std::size_t kReadVersion = 19;  // of the header: 2 is a journal beside the file
  const std::string head = first_bytes_of(path);
  return is_database(head) && head.size() == kCopyHeaderBytes && head[kReadVersion] == 2;
}

Result<DatabaseCopy> DatabaseCopy::make(const std::string& path) {
  const bool packed = json::is_packed(first_bytes_of(path));
  if (!packed && !has_journal(path)) return DatabaseCopy{};
  Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("database");
  if (!folder) return folder.error();
  DatabaseCopy copy;
  copy.folder_ = std::move(*folder);
  if (Result<void> done = packed ? copy.unpack(path) : copy.copy_with_journal(path); !done) return done.error();
  return copy;
}

// A packed file that breaks off still has its first pages.
Result<void> DatabaseCopy::unpack(const std::string& path) const {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  std::ofstream file(this->path(), std::ios::binary);
  std::vector<char> buffer(kCopyBytes);
  std::uint64_t written = 0;
  while (file) {
    const Result<std::size_t> bytes = (*source)->read(buffer);
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

}  // namespace accelscope::capture::sources::sqlite
