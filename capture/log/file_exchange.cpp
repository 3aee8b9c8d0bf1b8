#include "capture/log/file_exchange.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "capture/system/descriptor.h"
#include "capture/wire/messages.h"
#include "core/base/own_files.h"

namespace accelscope::capture::log {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) {
    if (!part.empty() && part != "/" && part != ".") parts.push_back(part.string());
  }
  return parts;
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
    if (wire::safe_relative_path(name)) list.files.push_back({file, std::move(name)});
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

bool was_asked_for(const std::vector<std::string>& patterns, const std::string& name) {
  const std::vector<std::string> parts = parts_of(name);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const std::vector<std::string> asked = parts_of(fs::path(pattern).lexically_normal());
    // Names are relative to a folder that only the sender knows, so any of the pattern's folders may be the first part.
    for (std::size_t first = 0; first < asked.size(); ++first) {
      if (asked.size() - first > parts.size()) continue;
      const bool same = std::equal(asked.begin() + static_cast<std::ptrdiff_t>(first), asked.end(), parts.begin(),
                                   [](const std::string& glob, const std::string& part) {
                                     return ::fnmatch(glob.c_str(), part.c_str(), FNM_PERIOD) == 0;
                                   });
      if (same) return true;
    }
    return false;
  });
}

FileReceiver::~FileReceiver() { start_over(); }

void FileReceiver::start_over() {
  if (file_) (void)::unlinkat(parent_.get(), partial_.c_str(), 0);  // what stays behind is only a partial file
  file_ = system::Descriptor();
  partial_.clear();
  whole_files_ = came_bytes_ = 0;
}

std::string FileReceiver::compare(std::uint64_t files, std::uint64_t bytes) const {
  if (!partial_.empty()) {
    return fmt::format("{}: it ended after {} bytes of those that it was said to have, so it was not kept",
                       wire::printable(path_), next_offset_);
  }
  if (files == whole_files_ && bytes == came_bytes_) return "";
  return fmt::format("the agent counts {} files of {} bytes, and {} of {} bytes came", files, bytes, whole_files_,
                     came_bytes_);
}

Result<void> FileReceiver::take(const wire::FilePiece& piece) {
  if (!wire::safe_relative_path(piece.path)) return Error{"a path that leaves the folder of the capture"};
  if (piece.offset == 0) {
    if (Result<void> begun = begin_file(piece); !begun) return begun;
  } else if (partial_.empty() || piece.path != path_ || piece.offset != next_offset_) {
    return Error{fmt::format("{}: a piece that does not follow the one before it", piece.path)};
  }
  if (piece.bytes.size() > piece.total || next_offset_ > piece.total - piece.bytes.size()) {
    return Error{fmt::format("{}: it is longer than it was said to be", wire::printable(piece.path))};
  }
  if (bytes_ + piece.bytes.size() > options_.limit_bytes) {
    return Error{fmt::format("more than {} bytes of files; send fewer", options_.limit_bytes)};
  }
  if (file_ && !system::write_all(file_.get(), piece.bytes))
    return system::system_error((folder_ / path_).string() + ": cannot write");
  next_offset_ += piece.bytes.size();
  bytes_ += piece.bytes.size();
  came_bytes_ += piece.bytes.size();
  return next_offset_ == piece.total ? end_file() : Result<void>();
}

// Step by step, so that no link can lead elsewhere.
Result<system::Descriptor> FileReceiver::open_parent(const fs::path& parent) {
  TRY(make_own_folder(folder_.string(), Sharing::group));
  system::Descriptor reached(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!reached) return system::system_error(folder_.string() + ": cannot open the folder");
  for (const std::string& part : parts_of(parent)) {
    if (::mkdirat(reached.get(), part.c_str(), 0700) != 0 && errno != EEXIST) {
      return system::system_error((folder_ / parent).string() + ": cannot make the folder");
    }
    system::Descriptor next(::openat(reached.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next)
      return system::system_error((folder_ / parent).string() +
                                  ": is no folder of its own there (a link is not followed)");
    reached = std::move(next);
  }
  return reached;
}

Result<void> FileReceiver::begin_file(const wire::FilePiece& piece) {
  if (!partial_.empty()) return Error{fmt::format("{}: begins before {} has ended", piece.path, path_)};
  if (options_.asked && !was_asked_for(*options_.asked, piece.path)) {
    return Error{fmt::format("{}: nobody asked for this file, so it was not taken", wire::printable(piece.path))};
  }
  const fs::path path(piece.path);
  system::Descriptor parent = TRY(open_parent(path.parent_path()));
  parent_ = std::move(parent);
  path_ = piece.path;
  next_offset_ = 0;
  struct stat there {};
  const bool exists = ::fstatat(parent_.get(), path.filename().c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  const bool own = written_.contains(piece.path);
  partial_ = fmt::format(".{}-{}.part", ::getpid(), written_.size());
  if (exists && (S_ISDIR(there.st_mode) || (!own && !options_.replaces))) {
    problems_ += fmt::format("{}{}: is there already and was left as it is", problems_.empty() ? "" : "; ",
                             (folder_ / path).string());
    return {};
  }
  const mode_t mode = options_.keeps_mode ? (piece.mode & 0777U) | 0600U : 0600U;
  (void)::unlinkat(parent_.get(), partial_.c_str(), 0);  // of a process of this number that is gone
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file_ = system::Descriptor(::openat(parent_.get(), partial_.c_str(), flags, mode));
  if (file_) return {};
  partial_.clear();
  return system::system_error((folder_ / path).string() + ": cannot write");
}

Result<void> FileReceiver::end_file() {
  const std::string partial = std::exchange(partial_, {});
  ++whole_files_;
  if (!file_) return {};
  file_ = system::Descriptor();
  const std::string name = fs::path(path_).filename().string();
  const int parent = parent_.get();
  const bool over = options_.replaces || written_.contains(path_);
  bool retained = !over && ::linkat(parent, partial.c_str(), parent, name.c_str(), 0) == 0;
  if (retained) {
    (void)::unlinkat(parent, partial.c_str(), 0);
  } else if (over || errno != EEXIST) {  // or a file system without links, where nothing was there a moment ago
    retained = ::renameat(parent, partial.c_str(), parent, name.c_str()) == 0;
  }
  if (!retained) {
    const Error failure = system::system_error((folder_ / path_).string() + ": cannot keep the file");
    (void)::unlinkat(parent, partial.c_str(), 0);
    return failure;
  }
  written_.insert(path_);
  return {};
}

Result<void> FileSender::open() {
  const FileToSend& next = files_[index_];
  std::error_code failure;
  const auto size = fs::file_size(next.path, failure);
  if (failure) return Error{fmt::format("{}: cannot read: {}", next.path.string(), failure.message())};
  file_ = std::ifstream(next.path, std::ios::binary);
  if (!file_) return system::system_error(next.path.string() + ": cannot read");
  const auto mode = static_cast<std::uint32_t>(fs::status(next.path, failure).permissions()) & 0777U;
  piece_ = {next.name, mode, 0, size, ""};
  offset_ = 0;
  opened_ = true;
  return {};
}

Result<std::optional<wire::FilePiece>> FileSender::next() {
  if (index_ == files_.size()) return std::optional<wire::FilePiece>();
  if (!opened_) {
    if (Result<void> begun = open(); !begun) {
      ++index_;
      return begun.error();
    }
  }
  wire::FilePiece piece = piece_;
  piece.offset = offset_;
  piece.bytes.resize(std::min<std::uint64_t>(wire::kFilePieceBytes, piece.total - offset_));
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
  return std::optional<wire::FilePiece>(std::move(piece));
}

}  // namespace accelscope::capture::log
