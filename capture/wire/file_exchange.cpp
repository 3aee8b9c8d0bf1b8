#include "capture/wire/file_exchange.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

Error system_error(const fs::path& path, const char* what) {
  return Error{fmt::format("{}: {}: {}", path.string(), what, std::generic_category().message(errno))};
}

// "run/out.npy" of /tmp/run/out.npy asked for as /tmp/run; the name of what was asked for is the first part.
std::string sent_name(const fs::path& asked, const fs::path& file) {
  const fs::path within = file.lexically_relative(asked);
  const fs::path name = within == "." ? asked.filename() : asked.filename() / within;
  return name.generic_string();
}

void add_path(const fs::path& asked, const fs::path& base, FileList& list) {
  std::error_code failure;
  const fs::path relative = asked.lexically_relative(base);
  const bool inside = !relative.empty() && relative.begin()->string() != "..";
  const auto add = [&](const fs::path& file) {
    std::string name = inside ? file.lexically_relative(base).generic_string() : sent_name(asked, file);
    if (safe_relative_path(name)) list.files.push_back({file, std::move(name)});
  };
  if (!fs::is_directory(asked, failure)) return add(asked);
  for (fs::recursive_directory_iterator entry(asked, fs::directory_options::skip_permission_denied, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    if (entry->is_regular_file(failure) && !entry->is_symlink(failure)) add(entry->path());
  }
}

}  // namespace

FileList list_files(const std::vector<std::string>& patterns, const fs::path& base) {
  FileList list;
  for (const std::string& pattern : patterns) {
    fs::path whole = (fs::path(pattern).is_absolute() ? fs::path(pattern) : base / pattern).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    glob_t found{};
    if (::glob(whole.c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) add_path(found.gl_pathv[i], base.lexically_normal(), list);
    } else {
      list.missing.push_back(pattern);
    }
    ::globfree(&found);
  }
  std::sort(list.files.begin(), list.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  list.files.erase(
      std::unique(list.files.begin(), list.files.end(), [](const auto& a, const auto& b) { return a.name == b.name; }),
      list.files.end());
  return list;
}

FileReceiver::~FileReceiver() {
  if (partial_.empty()) return;
  file_.close();
  std::error_code ignored;  // what stays behind is only a partial file
  fs::remove(partial_, ignored);
}

Result<void> FileReceiver::take(const FilePiece& piece) {
  if (!safe_relative_path(piece.path)) return Error{"a path that leaves the folder of the capture"};
  if (piece.offset == 0) {
    if (Result<void> begun = begin_file(piece); !begun) return begun;
  } else if (partial_.empty() || piece.path != path_ || piece.offset != next_offset_) {
    return Error{fmt::format("{}: a piece that does not follow the one before it", piece.path)};
  }
  if (bytes_ + piece.bytes.size() > limit_bytes_) {
    return Error{fmt::format("more than {} bytes of files; send fewer", limit_bytes_)};
  }
  file_.write(piece.bytes.data(), static_cast<std::streamsize>(piece.bytes.size()));
  if (!file_) return system_error(partial_, "cannot write");
  next_offset_ += piece.bytes.size();
  bytes_ += piece.bytes.size();
  return next_offset_ == piece.total ? end_file(piece) : Result<void>();
}

Result<void> FileReceiver::begin_file(const FilePiece& piece) {
  if (!partial_.empty()) return Error{fmt::format("{}: begins before {} has ended", piece.path, path_)};
  const fs::path target = folder_ / piece.path;
  std::error_code failure;
  fs::create_directories(target.parent_path(), failure);
  if (failure) {
    return Error{fmt::format("{}: cannot make the folder: {}", target.parent_path().string(), failure.message())};
  }
  fs::path partial = target;
  partial += ".part";
  file_ = std::ofstream(partial, std::ios::binary | std::ios::trunc);
  if (!file_) return system_error(partial, "cannot write");
  partial_ = std::move(partial);
  path_ = piece.path;
  next_offset_ = 0;
  return {};
}

Result<void> FileReceiver::end_file(const FilePiece& piece) {
  file_.close();
  const fs::path partial = std::exchange(partial_, {});
  if (!file_) return system_error(partial, "cannot write");
  std::error_code failure;
  fs::permissions(partial, static_cast<fs::perms>(piece.mode & 0777U), failure);
  if (!failure) fs::rename(partial, folder_ / piece.path, failure);
  if (failure) return Error{fmt::format("{}: cannot keep the file: {}", partial.string(), failure.message())};
  ++files_;
  return {};
}

Result<void> FileSender::open() {
  const FileToSend& next = files_[index_];
  std::error_code failure;
  const auto size = fs::file_size(next.path, failure);
  if (failure) return Error{fmt::format("{}: cannot read: {}", next.path.string(), failure.message())};
  file_ = std::ifstream(next.path, std::ios::binary);
  if (!file_) return system_error(next.path, "cannot read");
  const auto mode = static_cast<std::uint32_t>(fs::status(next.path, failure).permissions()) & 0777U;
  piece_ = {next.name, mode, 0, size, ""};
  offset_ = 0;
  opened_ = true;
  return {};
}

Result<std::optional<FilePiece>> FileSender::next() {
  if (index_ == files_.size()) return std::optional<FilePiece>();
  if (!opened_) {
    if (Result<void> begun = open(); !begun) {
      ++index_;
      return begun.error();
    }
  }
  FilePiece piece = piece_;
  piece.offset = offset_;
  piece.bytes.resize(std::min<std::uint64_t>(kFilePieceBytes, piece.total - offset_));
  file_.read(piece.bytes.data(), static_cast<std::streamsize>(piece.bytes.size()));
  // The other side counts on `total` bytes: what a file has lost meanwhile cannot be made up.
  const bool whole = static_cast<std::size_t>(file_.gcount()) == piece.bytes.size();
  offset_ += piece.bytes.size();
  if (!whole || offset_ == piece.total) {
    opened_ = false;
    ++index_;
  }
  if (!whole) return Error{fmt::format("{}: became shorter while it was read", files_[index_ - 1].path.string())};
  sent_bytes_ += piece.bytes.size();
  if (offset_ == piece.total) ++sent_files_;
  return std::optional<FilePiece>(std::move(piece));
}

}  // namespace accelscope::capture
