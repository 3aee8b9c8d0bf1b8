#include "tests/capture/kinds/opencl/opencl_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "capture/probe/host/files.h"
#include "capture/probe/host/listener.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

using namespace std::chrono_literals;

const std::string kOpenClProgram = accelscope::test::programs_folder() + "/opencl_for_tests";

// PoCL keeps what it has compiled in a folder.
void run_program(OpenclRun& run, const std::vector<std::string>& arguments, std::vector<std::string> environment,
                 const ScratchFolder& cache) {
  environment.push_back("POCL_CACHE_DIR=" + cache.path.string());
  Result<std::unique_ptr<system::SupervisedChild>> child =
      system::SupervisedChild::start({kOpenClProgram, arguments, "", environment});
  REQUIRE_MESSAGE(child.ok(), child.message());
  std::vector<char> buffer(4096);
  while (!(*child)->ended() || (*child)->any_open()) {
    (*child)->wait(20ms);
    for (const system::OutputStream stream : {system::OutputStream::out, system::OutputStream::err}) {
      const std::size_t count = (*child)->read(stream, buffer);
      if (stream == system::OutputStream::out) run.printed.append(buffer.data(), count);
    }
  }
  run.end = (*child)->finish();
}

// Cancelled from outside, when the program has ended.
class EndingSink final : public ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;
  [[nodiscard]] bool cancelled() const override { return over; }
  std::atomic<bool> over{false};
};

const ScratchFolder& shared_cache() {
  static const ScratchFolder cache;
  return cache;
}

}  // namespace

bool opencl_is_there() {
  static const int kStatus = [] {
    OpenclRun run;
    run_program(run, {"launches", "0"}, {}, shared_cache());
    return run.end.exit_code;
  }();
  if (kStatus != 0) MESSAGE("skipped: no OpenCL platform is there; on Debian, install pocl-opencl-icd");
  return kStatus == 0;
}

OpenclRun run_plain(const std::vector<std::string>& arguments) {
  OpenclRun run;
  run_program(run, arguments, {}, shared_cache());
  return run;
}

OpenclRun run_traced(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& options, Compiler compiler) {
  OpenclRun run;
  const ScratchFolder empty;
  system::PrivateFolder folder = system::PrivateFolder::make("opencl-test").value();
  request::CaptureRequest request;
  request::KindChoice choice{"opencl", {}};
  for (const auto& [name, value] : options) choice.options.push_back({name, value});
  request.kinds = {choice};
  request.program = kOpenClProgram;
  const std::unique_ptr<probes::ProbeListener> listener = probes::ProbeListener::open("opencl", folder.path()).value();
  const request::CaptureKind& kind = **request::find_kind("opencl");
  const probes::ProbeFiles files = probes::ProbeFiles::lay_down().value();
  Result<std::vector<std::string>> environment = kind.environment(request::read_options(kind, choice).value(), files,
                                                                  [](const std::string&) { return std::string(); });
  REQUIRE_MESSAGE(environment.ok(), environment.message());
  environment->push_back("ACCELSCOPE_PROBES=" + folder.path());
  EndingSink sink(run.sink);
  const request::KindRun kind_run{request,
                                  request.kinds[0],
                                  std::chrono::steady_clock::now(),
                                  "",
                                  {},
                                  {},
                                  listener.get(),
                                  [](request::CaptureIntent, const std::string&, const std::function<void()>&) {}};
  std::thread reader([&] { run.result = request::run_kind(kind_run, sink); });
  run_program(run, arguments, *environment, compiler == Compiler::anew ? empty : shared_cache());
  sink.over = true;
  reader.join();
  REQUIRE_MESSAGE(run.result.ok(), run.result.message());
  return run;
}

std::vector<RecordedEvent> OpenclRun::table(const std::string& schema) const {
  std::vector<RecordedEvent> found;
  for (const RecordedEvent& event : sink.events()) {
    if (sink.schema_of(event).name == schema) found.push_back(event);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RecordedEvent& a, const RecordedEvent& b) { return a.start < b.start; });
  return found;
}

std::map<std::string, std::size_t> OpenclRun::count_by_name(const std::string& schema) const {
  std::map<std::string, std::size_t> counts;
  for (const RecordedEvent& event : table(schema)) ++counts[event.name];
  return counts;
}

std::string OpenclRun::text(const RecordedEvent& event, const std::string& column) const {
  const Schema& schema = sink.schema_of(event);
  const std::size_t index = schema.find(column).value();
  const ChunkView view = sink.view(event);
  if (!view.has_value(index, event.row)) return {};
  if (schema.columns[index].type == ColumnType::text) return std::string(view.text(index, event.row));
  return sink.strings.at(view.stored(index, event.row));
}

std::optional<std::int64_t> OpenclRun::number(const RecordedEvent& event, const std::string& column) const {
  const std::size_t index = sink.schema_of(event).find(column).value();
  const ChunkView view = sink.view(event);
  if (!view.has_value(index, event.row)) return std::nullopt;
  return sink.schema_of(event).columns[index].type == ColumnType::int64
             ? view.int64(index, event.row)
             : static_cast<std::int64_t>(view.stored(index, event.row));
}

std::map<std::string, std::size_t> OpenclRun::count_by_text(const std::string& schema,
                                                            const std::string& column) const {
  std::map<std::string, std::size_t> counts;
  for (const RecordedEvent& event : table(schema)) ++counts[text(event, column)];
  return counts;
}

const QualityEntry* OpenclRun::quality(const std::string& kind) const {
  for (const QualityEntry& entry : sink.qualities) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

}  // namespace accelscope::capture
