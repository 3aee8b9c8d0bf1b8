#include "capture/sources/base/source_finder.h"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

namespace accelscope::capture::sources {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path path;
  const std::string* content = nullptr;  // null: in the file
};
using FilesByName = std::map<std::string, std::vector<Candidate>>;

// The files whose last part is wanted.
[[nodiscard]] FilesByName index_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                                      const std::vector<SourceFile>& others) {
  FilesByName files;
  for (const std::string& name : names) files[fs::path(name).filename().string()];
  std::size_t visited = 0;
  for (const std::string& root : roots) {
    std::error_code failure;
    fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, failure);
    for (; !failure && entry != fs::recursive_directory_iterator() && ++visited < kMostSourceFiles;
         entry.increment(failure)) {
      const auto found = files.find(entry->path().filename().string());
      std::error_code ignored;  // an entry that cannot be looked at is not a source file
      if (found != files.end() && entry->is_regular_file(ignored)) found->second.push_back({entry->path()});
    }
  }
  for (const SourceFile& other : others) {
    const auto found = files.find(fs::path(other.path).filename().string());
    if (found != files.end()) found->second.push_back({other.path, &other.content});
  }
  return files;
}

[[nodiscard]] std::size_t common_ending(const fs::path& a, const fs::path& b) {
  std::vector<fs::path> a_parts(a.begin(), a.end());
  std::vector<fs::path> b_parts(b.begin(), b.end());
  const auto mismatch = std::mismatch(a_parts.rbegin(), a_parts.rend(), b_parts.rbegin(), b_parts.rend());
  return static_cast<std::size_t>(mismatch.first - a_parts.rbegin());
}

[[nodiscard]] std::optional<std::string> content_of(const Candidate& source) {
  if (source.content != nullptr) return *source.content;
  std::error_code failure;
  if (fs::file_size(source.path, failure) > kMostSourceBytes || failure) return std::nullopt;
  std::ifstream file(source.path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

FoundSources find_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                               const std::vector<SourceFile>& others) {
  FoundSources search;
  const bool has_files = !names.empty() && !(roots.empty() && others.empty());
  const FilesByName files = has_files ? index_files(names, roots, others) : FilesByName{};
  for (const std::string& name : names) {
    const auto found = files.find(fs::path(name).filename().string());
    std::optional<std::string> content;
    if (found != files.end() && !found->second.empty()) {
      const auto& candidates = found->second;
      content = content_of(*std::ranges::max_element(
          candidates, {}, [&](const Candidate& each) { return common_ending(each.path, name); }));
    }
    if (content) {
      search.files.push_back({name, std::move(*content)});
    } else {
      search.missing.push_back(name);
    }
  }
  return search;
}

void add_source_files(const std::set<std::string>& names, const std::vector<std::string>& roots,
                      std::string_view who_names, SessionWriter& writer, std::string_view hint,
                      const std::vector<SourceFile>& others) {
  FoundSources found = find_source_files(names, roots, others);
  for (SourceFile& file : found.files) writer.add_source_file(std::move(file.path), std::move(file.content));
  if (found.missing.empty()) return;
  constexpr std::size_t kMostNames = 5;
  std::string shown;
  for (std::size_t i = 0; i < found.missing.size() && i < kMostNames; ++i)
    shown += (i == 0 ? "" : ", ") + found.missing[i];
  writer.add_quality({"source_files_missing", found.missing.size(),
                      fmt::format("source files that {} were not found ({}{}); name the folder that holds them{} with "
                                  "--source-root",
                                  who_names, shown, found.missing.size() > kMostNames ? ", ..." : "", hint)});
}

std::string_view file_of_location(std::string_view location) noexcept {
  const std::size_t colon = location.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == location.size()) return {};
  if (location.find_first_not_of("0123456789", colon + 1) != std::string_view::npos) return {};
  return location.substr(0, colon);
}

Result<std::uint64_t> TemporaryFile::append(std::span<const std::byte> bytes) {
  const auto failed = [] {
    return Error{
        fmt::format("the temporary file for sorting cannot be written: {}; free space in the folder for "
                    "temporary files or point TMPDIR to a larger one",
                    std::strerror(errno))};
  };
  if (file_ == nullptr) file_.reset(std::tmpfile());
  if (file_ == nullptr) return failed();
  const std::uint64_t begin = size_;
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fileno(file_.get()), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
  return begin;
}

Result<void> TemporaryFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = pread(fileno(file_.get()), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Error{fmt::format("the temporary file for sorting cannot be read back: {}",
                               count == 0 ? "it has become shorter" : std::strerror(errno))};
    }
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

}  // namespace accelscope::capture::sources
