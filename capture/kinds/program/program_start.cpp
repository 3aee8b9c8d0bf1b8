#include "capture/kinds/program/program_start.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScriptName = "accelscope-script.sh";

}  // namespace

std::string program_folder(const CaptureRequest& request, const std::string& work_folder) {
  if (request.directory.empty()) return work_folder;
  const fs::path sent = fs::path(work_folder) / request.directory;
  std::error_code failure;
  const bool was_sent =
      !work_folder.empty() && fs::path(request.directory).is_relative() && fs::is_directory(sent, failure);
  return was_sent ? sent.string() : request.directory;
}

ChildStart program_start(const CaptureRequest& request, const std::string& work_folder) {
  ChildStart start;
  start.directory = program_folder(request, work_folder);
  start.environment = request.environment;
  if (request.script.empty()) {
    start.program = request.program;
    start.arguments = request.arguments;
  } else {
    const std::string script = (fs::absolute(work_folder) / kScriptName).string();
    start.program = "sh";
    start.arguments = {script};
    start.arguments.insert(start.arguments.end(), request.arguments.begin(), request.arguments.end());
  }
  return start;
}

Result<void> write_script(const std::string& text, const std::string& work_folder) {
  const fs::path path = fs::path(work_folder) / kScriptName;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Error{fmt::format("{}: the script cannot be written there", path.string())};
  std::error_code failure;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, failure);
  return {};
}

}  // namespace accelscope::capture
