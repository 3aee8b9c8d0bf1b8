#include "capture/probe/host/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "capture/probe/host/carried_files.h"
#include "capture/system/descriptor.h"
#include "core/base/checksum.h"
#include "core/base/own_files.h"

namespace accelscope::capture::probes {
namespace {

namespace fs = std::filesystem;

std::string base_folder() {
  if (const std::string cache = system::environment_value("XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/accelscope";
  }
  if (const std::string home = system::environment_value("HOME"); !home.empty()) return home + "/.cache/accelscope";
  return fmt::format("/tmp/accelscope-{}", ::getuid());
}

// Each of them by itself: what lies in a folder of another user is not ours to keep.
Result<std::string> make_probe_folder(std::uint64_t sum) {
  std::string folder = base_folder();
  for (const std::string& part : {std::string(), std::string("/probes"), fmt::format("/{:016x}", sum)}) {
    folder += part;
    const Sharing sharing = part.starts_with("/p") || part.empty() ? Sharing::group : Sharing::reading;
    if (Result<void> own = make_own_folder(folder, sharing); !own) {
      return Error{own.message() +
                   "; the files that go into profiled programs need a folder: set XDG_CACHE_HOME to one of yours"};
    }
  }
  return folder;
}

std::string_view content_of(const CarriedFile& file) {
  return {file.begin, static_cast<std::size_t>(file.end - file.begin)};
}

std::uint64_t sum_of(const std::vector<CarriedFile>& files) {
  std::string all;
  for (const CarriedFile& file : files) {
    const std::string_view content = content_of(file);
    all += fmt::format("{} {:x}\n", file.path,
                       checksum(ByteView(reinterpret_cast<const std::byte*>(content.data()), content.size())));
  }
  return checksum(ByteView(reinterpret_cast<const std::byte*>(all.data()), all.size()));
}

bool probe_files_holds(const fs::path& path, std::string_view content) {
  std::error_code failure;
  if (fs::file_size(path, failure) != content.size() || failure) return false;
  std::ifstream file(path, std::ios::binary);
  const std::string there((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return file.good() && there == content;
}

// Programs may be loading the file at this moment: it is put in place whole.
Result<void> lay_down_file(const fs::path& path, std::string_view content) {
  if (probe_files_holds(path, content)) return {};
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  const fs::path fresh = path.string() + fmt::format(".{}", ::getpid());
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  const bool written = static_cast<bool>(file);
  if (written) fs::rename(fresh, path, failure);
  if (written && !failure) return {};
  fs::remove(fresh, failure);
  return Error{
      fmt::format("{}: cannot be written; the files that go into profiled programs need a folder: set "
                  "XDG_CACHE_HOME to one",
                  path.string())};
}

}  // namespace

Result<ProbeFiles> ProbeFiles::lay_down() {
  const std::vector<CarriedFile> files = carried_files();
  const Result<std::string> folder = make_probe_folder(sum_of(files));
  if (!folder) return folder.error();
  for (const CarriedFile& file : files) {
    if (Result<void> laid = lay_down_file(fs::path(*folder) / file.path, content_of(file)); !laid) return laid.error();
  }
  return ProbeFiles(*folder);
}

std::string ProbeFiles::path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

}  // namespace accelscope::capture::probes
