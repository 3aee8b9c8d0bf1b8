#include "capture/probe/host/files.h"

#include <fmt/format.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "capture/request/options.h"
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

std::string_view content_of(const EmbeddedFile& file) {
  return {file.begin, static_cast<std::size_t>(file.end - file.begin)};
}

std::uint64_t sum_of(const std::vector<EmbeddedFile>& files) {
  std::string all;
  for (const EmbeddedFile& file : files) {
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
  const std::vector<EmbeddedFile> files = embedded_files();
  const Result<std::string> folder = make_probe_folder(sum_of(files));
  if (!folder) return folder.error();
  for (const EmbeddedFile& file : files) {
    if (Result<void> laid = lay_down_file(fs::path(*folder) / file.path, content_of(file)); !laid) return laid.error();
  }
  return ProbeFiles(*folder);
}

std::string ProbeFiles::path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

namespace {

// A listener and the folder that its socket lies in.
struct HeldListener {
  std::shared_ptr<system::PrivateFolder> folder;
  std::unique_ptr<ProbeListener> listener;
};

struct Preparation {
  const request::CaptureRequest& request;
  std::optional<ProbeFiles> files;
  std::shared_ptr<system::PrivateFolder> folder;  // null: the user's
  std::string path;
  ProbePlaces places;
};

Result<void> prepare_folder(Preparation& all) {
  if (all.files) return {};
  Result<ProbeFiles> files = ProbeFiles::lay_down();
  if (!files) return files.error();
  all.files = std::move(files).value();
  if (all.request.program.empty() && all.request.script.empty()) {
    Result<std::string> folder = ProbeListener::user_folder();
    if (!folder) return folder.error();
    all.path = *folder;
    return {};
  }
  Result<system::PrivateFolder> folder = system::PrivateFolder::make("probes");
  if (!folder) return folder.error();
  all.folder = std::make_shared<system::PrivateFolder>(std::move(folder).value());
  all.path = all.folder->path();
  all.places.environment.push_back(std::string(probe::kFolderVariable) + "=" + all.path);
  all.places.environment.push_back("ACCELSCOPE_AGENT=" + system::own_program());
  return {};
}

Result<std::shared_ptr<ProbeListener>> prepare_kind(Preparation& all, const request::KindChoice& choice) {
  const Result<const request::CaptureKind*> kind = request::find_kind(choice.name);
  if (!kind) return kind.error();
  if ((*kind)->environment == nullptr) return std::shared_ptr<ProbeListener>();
  const Result<request::OptionReader> options = request::read_options(**kind, choice);
  if (!options) return options.error();
  if (Result<void> ready = prepare_folder(all); !ready) return ready.error();
  Result<std::vector<std::string>> settings =
      (*kind)->environment(*options, *all.files, [&all](const std::string& name) {
        // What the program has until now: from earlier kinds, from the request, from this process.
        std::vector<std::string> known = all.request.environment;
        known.insert(known.end(), all.places.environment.begin(), all.places.environment.end());
        return system::environment_value(name, known);
      });
  if (!settings) return settings.error();
  all.places.environment.insert(all.places.environment.end(), settings->begin(), settings->end());
  Result<std::unique_ptr<ProbeListener>> listener = ProbeListener::open(choice.name, all.path);
  if (!listener) return listener.error();
  const auto held = std::make_shared<HeldListener>(HeldListener{all.folder, std::move(listener).value()});
  return std::shared_ptr<ProbeListener>(held, held->listener.get());
}

}  // namespace

Result<ProbePlaces> open_probe_places(const request::CaptureRequest& request) {
  Preparation all{request, {}, {}, {}, {}};
  for (const request::KindChoice& choice : request.kinds) {
    Result<std::shared_ptr<ProbeListener>> listener = prepare_kind(all, choice);
    if (!listener) return listener.error();
    all.places.listeners.push_back(std::move(listener).value());
  }
  return std::move(all.places);
}

}  // namespace accelscope::capture::probes
