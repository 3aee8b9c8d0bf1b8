#include "tests/capture/kinds/python/python_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "capture/agent/control/local_capture.h"
#include "capture/system/shown_command.h"
#include "core/base/worker_pool.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string cell_text(const listing::SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return "";
}

}  // namespace

std::string python_program() { return fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3"; }

PythonFolder::PythonFolder(std::initializer_list<ScriptFile> files) {
  static const ScratchFolder cache;    // the collector is laid down there
  static const ScratchFolder runtime;  // where no other agent waits
  ::setenv("XDG_CACHE_HOME", cache.path.c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", runtime.path.c_str(), 1);
  for (const auto& [name, content] : files) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }
}

PlainRun PythonFolder::plain(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {python_program()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const ScratchFolder output;
  const int status = std::system(fmt::format("cd {} && exec {} < /dev/null > {} 2> {}", path("."),
                                             system::shell_command(argv), output.file("out"), output.file("err"))
                                     .c_str());
  return {content_of(output.file("out")), content_of(output.file("err")),
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

CapturedRun::CapturedRun(const PythonFolder& folder, const std::vector<std::string>& arguments,
                         std::vector<request::OptionSetting> options, std::vector<std::string> environment,
                         const std::string& paused_name)
    : file_(folder.path("session.accel")) {
  const ScratchFolder work;
  agent::LocalCaptureOptions capture;
  capture.request.kinds = {{"python", std::move(options)}};
  capture.request.program = python_program();
  capture.request.arguments = arguments;
  capture.request.directory = fs::canonical(folder.path(".")).string();
  capture.request.environment = std::move(environment);
  capture.request.name = paused_name;
  capture.request.paused = !paused_name.empty();
  capture.output = file_;
  capture.work_folder = work.path.string();
  capture.watch.printed = [this](bool is_error, std::string_view bytes) {
    (is_error ? plain.err : plain.out) += bytes;
  };
  capture.watch.ended = [this](int status) { plain.exit_status = status; };
  capture.asked_to_stop = [] { return false; };
  const Result<agent::LocalCaptureReport> report = agent::capture_locally(capture);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK(report->failure.empty());
  Result<std::unique_ptr<Store>> store = Store::open(file_);
  REQUIRE_MESSAGE(store.ok(), store.message());
  store_ = std::move(store).value();
  sql_ = std::make_unique<sql::Session>(*store_, store_->snapshot(), pool_);
}

std::vector<std::vector<std::string>> CapturedRun::rows(const std::string& sql) {
  TaskControl control;
  const Result<listing::SqlResult> result = sql_->run(sql, {.max_rows = 3'000'000}, control);
  REQUIRE_MESSAGE(result.ok(), result.message());
  std::vector<std::vector<std::string>> rows(result->row_count());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < result->columns.size(); ++column) {
      rows[row].push_back(cell_text(result->at(row, column)));
    }
  }
  return rows;
}

std::string CapturedRun::cell(const std::string& sql) {
  const std::vector<std::vector<std::string>> all = rows(sql);
  return all.empty() ? std::string() : all.front().front();
}

std::string CapturedRun::tree(const std::string& thread, const std::string& what) {
  std::string text;
  const std::string wanted = what.empty() ? "" : fmt::format(" AND c.what = '{}'", what);
  for (const std::vector<std::string>& row :
       rows(fmt::format("SELECT s.lane, s.name FROM slice s JOIN python_call c ON c.id = s.id JOIN track t ON t.id = "
                        "s.track_id WHERE t.name = '{}'{} ORDER BY s.ts_ns, s.lane",
                        thread, wanted))) {
    text += std::string(2 * std::stoul(row[0]), ' ') + row[1] + "\n";
  }
  return text;
}

std::string CapturedRun::quality(const std::string& kind) {
  return cell(fmt::format("SELECT detail FROM quality WHERE kind = '{}'", kind));
}

}  // namespace accelscope::capture
