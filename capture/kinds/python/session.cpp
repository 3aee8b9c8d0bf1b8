#include "capture/kinds/python/session.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "capture/json/json_cursor.h"
#include "capture/kinds/base/kind_list.h"

namespace accelscope::capture::kinds::python {
namespace {

namespace fs = std::filesystem;

// What users install may lie inside the library's folder.
[[nodiscard]] bool of_library(std::string_view path, std::string_view library) {
  if (library.empty() || !path.starts_with(library) || path.size() == library.size() || path[library.size()] != '/') {
    return false;
  }
  const std::string_view rest = path.substr(library.size());
  return !rest.starts_with("/site-packages/") && !rest.starts_with("/dist-packages/");
}

}  // namespace

void SourceShelf::take(const std::string& path, std::string_view library) {
  if (!path.starts_with('/') || of_library(path, library) || files_.contains(path)) return;
  File& file = files_[path];
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure) return;
  if (size > kMaxFileBytes || bytes_ + size > kMaxAllBytes) {
    ++left_out_;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  file.content.assign(std::istreambuf_iterator<char>(stream), {});
  if (!json::is_utf8(file.content)) file.content = json::repair_utf8(file.content);
  file.begins.push_back(0);
  for (std::size_t at = 0; at < file.content.size(); ++at) {
    if (file.content[at] == '\n') file.begins.push_back(at + 1);
  }
  file.begins.push_back(file.content.size());
  bytes_ += file.content.size();
  writer_.add_source_file(path, file.content);
}

std::string_view SourceShelf::line(const std::string& path, std::uint32_t number) const {
  const auto found = files_.find(path);
  if (found == files_.end() || number == 0 || number + std::size_t{1} > found->second.begins.size()) return {};
  const File& file = found->second;
  std::string_view text(file.content);
  text = text.substr(file.begins[number - 1], file.begins[number] - file.begins[number - 1]);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  return text;
}

namespace {

using namespace columns;

constexpr ColumnSpec kCalls[] = {
    {"location", kString, "", kSource, "Source",
     "Where the function begins, or the line that ran. Times of calls hold those of what they called, so a function "
     "that calls itself counts its time for each call.",
     Role::source_location},
    {"module", kString, "", kSource, "Module", "The module that the code belongs to."},
    {"what", kString, "", kOperation, "What",
     "function, module, generator or coroutine (a slice for each time that it runs on), built-in, line, garbage "
     "collection."},
    {"caller", kString, "", kOperation, "Caller", "The function that called it."},
    {"self_ns", kInt, "ns", kTiming, "Own time", "Its time without that of what it called."},
    {"raised", kFlag, "", kOperation, "Raised", "It was left by an exception."},
    {"partial", kFlag, "", kTiming, "Partial",
     "Its own begin or end was not collected: it ran on while the collection was switched on or off, or when the "
     "process ended."},
    {"metadata", kText, "", kOperation, "Metadata", "What append_meta_data() added."},
};
constexpr ColumnSpec kSignposts[] = {
    {"message", kText, "", kOperation, "Message", "The signpost's message."},
    {"location", kString, "", kSource, "Source", "Where it was set.", Role::source_location},
    {"thread", kString, "", kIds, "Thread", "The thread that set it."},
};
constexpr ColumnSpec kTests[] = {
    {"outcome", kString, "", kOperation, "Outcome",
     "passed, failed, skipped, xfailed, xpassed, or error in setup or teardown; unfinished if the process ended."},
    {"location", kString, "", kSource, "Source", "Where the test begins.", Role::source_location},
    {"phase", kString, "", kOperation, "Phase", "test, setup, call or teardown."},
    {"test_id", kString, "", kIds, "Test", "The test that a phase belongs to."},
};

}  // namespace

// By PythonTable.
const std::array<TableSpec, 3> kPythonTables = {{
    {{"python_call", EventKind::slice, "function",
      "The function's qualified name; of a line, its number and its text."},
     kCalls},
    {{"python_signpost", EventKind::instant, "header", "The signpost's header."}, kSignposts},
    {{"python_test", EventKind::slice, "test", "The test's id; within it its setup, call and teardown."}, kTests},
}};

PythonSession::PythonSession(SessionWriter& pen) : writer(pen), sources(pen), tables(pen, kPythonTables) {
  tables.define_all();
}

void PythonSession::report() {
  tell(writer, "",
       {{"python_calls_open", open_calls,
         "calls in Python whose process ended first (by os._exit, exec, a signal or a crash) are shown until its end"},
        {"python_calls_running", running_calls,
         "calls in Python that ran on when the capture ended are shown until then"},
        {"python_calls_too_deep", deep_calls,
         fmt::format("calls in Python are not shown: a thread is more than {} calls deep, or all together more than "
                     "{}; leave modules out with --skip-modules, or collect parts with --functions enabled",
                     kMaxDepth, kMaxLanes)},
        {"python_threads_left_out", threads_left_out,
         fmt::format("threads in Python are not shown: there were more than {}", kMaxThreads)},
        {"python_records_broken", broken_records, "records of a collector in Python were not understood and left out"},
        {"python_profile_replaced", profile_replaced,
         "a program in Python set a profile function of its own (sys.setprofile, cProfile); what came after is "
         "missing"},
        {"python_trace_replaced", trace_replaced,
         "a program in Python set a trace function of its own (sys.settrace, a debugger, coverage); lines that came "
         "after are missing"},
        {"sources_left_out", sources.left_out(),
         fmt::format("source files of Python are not in the session: larger than {} MiB, or more than {} MiB together",
                     SourceShelf::kMaxFileBytes >> 20, SourceShelf::kMaxAllBytes >> 20)}});
}

}  // namespace accelscope::capture::kinds::python
