// Databases that cannot be read where they lie: packed ones, and those whose writer left a journal, which SQLite has to
// work into the file before it is whole. Such a file is copied, unpacked where it is packed, into a temporary folder
// that goes away with the object; the original stays as it is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/own_files.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::sqlite {

class DatabaseCopy {
 public:
  // An object without a path if the file can be read where it lies.
  [[nodiscard]] static Result<DatabaseCopy> make(const std::string& path);

  [[nodiscard]] bool exists() const noexcept { return folder_ != nullptr; }
  [[nodiscard]] std::string path() const { return folder_ ? folder_->file("copy.db") : std::string(); }

 private:
  Result<void> unpack(const std::string& path) const;
  Result<void> copy_with_journal(const std::string& path) const;

  std::shared_ptr<OwnTemporaryFolder> folder_;  // for this user alone: profiles name programs and their arguments
};

// Whether the file, if it is no packed one, begins as SQLite's do.
[[nodiscard]] bool is_database(std::string_view first_bytes) noexcept;
// Whether a writer left a journal beside the file.
[[nodiscard]] bool has_journal(const std::string& path);
// Whether the file says that its changes are kept in a journal beside it ("WAL").
[[nodiscard]] bool keeps_journal_beside(const std::string& path);

}  // namespace accelscope::capture::sources::sqlite
