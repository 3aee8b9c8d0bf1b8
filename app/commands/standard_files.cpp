#include "app/commands/standard_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "app/commands/terminal.h"
#include "core/store/file_system.h"

namespace accelscope::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInputName = "standard input";
constexpr const char* kOutputName = "standard output";

Result<void> copy_standard_input(const std::string& path) {
  if (is_terminal(stdin)) return Error{"-: the standard input is a terminal; pipe a file into it"};
  std::ofstream file(path, std::ios::binary);
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  while (std::cin.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || std::cin.gcount() > 0) {
    file.write(buffer.data(), std::cin.gcount());
    bytes += static_cast<std::uint64_t>(std::cin.gcount());
  }
  file.close();
  if (!file) return Error{path + ": the standard input cannot be kept there; set TMPDIR to a folder with room"};
  if (bytes == 0) return Error{"-: the standard input is empty; did the program before the pipe fail?"};
  return {};
}

}  // namespace

Result<std::shared_ptr<TemporaryFolder>> TemporaryFolder::make() {
  const std::string path = temporary_path("", "accelscope", "");
  std::error_code failure;
  fs::create_directories(path, failure);
  fs::permissions(path, fs::perms::owner_all, failure);
  if (failure) return Error{path + ": cannot be made; set TMPDIR to a folder that can be written"};
  return std::make_shared<TemporaryFolder>(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a folder that stays behind is the system's to clear
  fs::remove_all(path_, ignored);
}

Result<InputPaths> InputPaths::read(std::vector<std::string> given) {
  InputPaths inputs;
  inputs.paths_ = std::move(given);
  const auto standard = std::count(inputs.paths_.begin(), inputs.paths_.end(), kStandardStream);
  if (standard == 0) return inputs;
  if (standard > 1) return Error{"-: the standard input can be read once only; name the other files"};
  Result<std::shared_ptr<TemporaryFolder>> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  inputs.folder_ = std::move(*folder);
  const std::string path = (fs::path(inputs.folder_->path()) / kInputName).string();
  if (auto copied = copy_standard_input(path); !copied) return copied.error();
  std::replace(inputs.paths_.begin(), inputs.paths_.end(), std::string(kStandardStream), path);
  return inputs;
}

std::string InputPaths::shown(std::string message) const {
  if (!folder_) return message;
  const std::string path = (fs::path(folder_->path()) / kInputName).string();
  for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path, at)) {
    message.replace(at, path.size(), kStandardStream);
  }
  return message;
}

Result<FileTarget> FileTarget::open(const std::string& path, const CommandRun& run) {
  FileTarget target;
  target.path_ = path;
  if (path != kStandardStream) return target;
  if (run.streams.out_is_terminal) return Error{"-: this is no text for a terminal; pipe it on, or name a file"};
  Result<std::shared_ptr<TemporaryFolder>> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  target.folder_ = std::move(*folder);
  target.path_ = (fs::path(target.folder_->path()) / kOutputName).string();
  return target;
}

Result<void> FileTarget::finish(const CommandRun& run) const {
  if (!folder_) return {};
  std::ifstream file(path_, std::ios::binary);
  std::ostream& out = run.streams.out;
  out << file.rdbuf() << std::flush;
  if (!file || !out.good()) return Error{"-: the standard output cannot be written; is the disk full?"};
  return {};
}

Result<void> check_source_roots(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) return Error{folder + ": there is no such folder; check --source-root"};
  }
  return {};
}

}  // namespace accelscope::app
