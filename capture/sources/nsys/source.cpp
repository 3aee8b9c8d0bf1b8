#include "capture/sources/nsys/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "capture/sources/nsys/importer.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "core/base/own_files.h"

namespace accelscope::capture::sources::nsys {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMark("SQLite format 3\0", 16);
constexpr std::string_view kReportMark = "NVIDIA Tegra Profiler Report";
constexpr std::string_view kReportEndings[] = {".nsys-rep", ".qdrep"};
constexpr int kByTables = 95, kByMark = 95, kByReportEnding = 80;
constexpr std::size_t kShownToolOutput = 2000;

// Tables that only these files have.
[[nodiscard]] bool is_nsys_table(std::string_view table) noexcept {
  constexpr std::string_view kBegins[] = {"CUPTI_ACTIVITY_KIND_", "TARGET_INFO_", "ENUM_NSYS_",
                                          "NVTX_EVENTS",          "OSRT_API",     "GPU_METRICS"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return table.starts_with(begin); });
}

// Where the vendor's packages put the tool: a folder for each release, the newest last in order.
[[nodiscard]] std::vector<std::string> tool_folders() {
  std::vector<std::string> folders;
  for (const char* root : {"/opt/nvidia/nsight-systems", "/opt/nvidia/nsight-systems-cli"}) {
    std::error_code failure;
    std::vector<std::string> releases;
    for (fs::directory_iterator entry(root, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure)) {
      releases.push_back((entry->path() / "bin").string());
    }
    std::sort(releases.rbegin(), releases.rend());
    folders.insert(folders.end(), releases.begin(), releases.end());
  }
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

[[nodiscard]] std::vector<std::string> export_command(const std::string& tool, const std::string& report,
                                                      const std::string& output) {
  return {tool, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", output, report};
}

[[nodiscard]] std::string last_of_output(std::string text) {
  if (text.size() > kShownToolOutput) text = "..." + text.substr(text.size() - kShownToolOutput);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

Result<void> import_as(const std::string& file, const std::string& shown, const ImportOptions& options,
                       EventSink& sink) {
  Result<sqlite::ForeignDatabase> opened = sqlite::ForeignDatabase::open(file);
  if (!opened) {
    return Error{fmt::format("{}: cannot be read as a database: {}; export the report anew", shown, opened.message())};
  }
  const std::vector<std::string>& tables = opened->tables();
  if (std::none_of(tables.begin(), tables.end(), is_nsys_table)) {
    return Error{
        fmt::format("{}: none of the {} tables is one of Nsight Systems; write the file by nsys export "
                    "--type sqlite",
                    shown, tables.size())};
  }
  Result<sqlite::ForeignDatabase> again = opened->another();
  if (!again) return Error{fmt::format("{}: cannot be read as a database: {}", shown, again.message())};
  NsysImporter importer(std::move(opened).value(), std::move(again).value(), shown, options, sink);
  return importer.run();
}

}  // namespace

int probe_nsys(std::string_view head, const std::string& path) {
  constexpr std::size_t kOwnerAt = 68;  // the mark of the program that the database is of; a session's is its own
  const bool session = head.size() > kOwnerAt && head.substr(kOwnerAt).starts_with("ACSC");
  if (!head.starts_with(kSqliteMark) || session) return 0;
  const Result<sqlite::ForeignDatabase> file = sqlite::ForeignDatabase::open(path);
  if (file) return std::any_of(file->tables().begin(), file->tables().end(), is_nsys_table) ? kByTables : 0;
  // Where the list of tables is damaged, some of it stands at the beginning of the file.
  const bool named = head.find("CREATE TABLE CUPTI_ACTIVITY_KIND_") != std::string_view::npos ||
                     head.find("CREATE TABLE TARGET_INFO_") != std::string_view::npos ||
                     head.find("CREATE TABLE ENUM_NSYS_") != std::string_view::npos;
  return named ? kByTables : 0;
}

Result<void> import_nsys(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_as(path, path, options, sink);
}

int probe_nsys_report(std::string_view head, const std::string& path) {
  if (head.substr(0, 256).find(kReportMark) != std::string_view::npos) return kByMark;
  const std::string ending = fs::path(path).extension().string();
  const bool ends = std::find(std::begin(kReportEndings), std::end(kReportEndings), ending) != std::end(kReportEndings);
  return ends && !head.starts_with(kSqliteMark) ? kByReportEnding : 0;
}

Result<void> import_nsys_report(const std::string& path, const ImportOptions& options, EventSink& sink) {
  const std::string tool = system::find_program("nsys", tool_folders());
  const std::string beside = fs::path(path).replace_extension(".sqlite").string();
  if (tool.empty()) {
    return Error{
        fmt::format("{}: a report of Nsight Systems has to be converted by its own tool, and nsys is not on "
                    "PATH here; where it is, run: {} and open what it writes",
                    path, system::shell_command(export_command("nsys", path, beside)))};
  }
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("nsys");
  if (!folder) return Error{fmt::format("{}: it cannot be converted: {}", path, folder.message())};
  const std::string converted = (*folder)->file("report.sqlite");
  std::vector<std::string> command = export_command(tool, path, converted);
  command.insert(command.end() - 1, options.converter_options.begin(), options.converter_options.end());
  const Result<system::ChildOutcome> ended = system::run_child(command, [&] { return sink.cancelled(); });
  if (!ended) return Error{fmt::format("{}: {}", path, ended.message())};
  if (ended->cancelled) return Error{fmt::format("{}: the import was cancelled", path)};
  const std::string rerun = system::shell_command(export_command(tool, path, beside));
  std::error_code failure;
  if (ended->exit_code != 0 || !fs::exists(converted, failure)) {
    return Error{
        fmt::format("{}: {} could not convert it (exit code {}); it reads reports of its own release and "
                    "older ones; to try by hand: {}; {}",
                    path, tool, ended->exit_code, rerun, last_of_output(ended->output))};
  }
  return import_as(converted, path, options, sink);
}

}  // namespace accelscope::capture::sources::nsys
