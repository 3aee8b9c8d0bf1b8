#include "capture/kinds/python/torch_memory.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "capture/json/byte_source.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/pickle/pickle_reader.h"
#include "capture/sources/torch_memory/snapshot_writer.h"

namespace accelscope::capture::kinds::python {
namespace {

namespace fs = std::filesystem;

// "1234.000002.pickle": the third snapshot of process 1234.
[[nodiscard]] std::pair<std::string, std::string> process_and_number(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  const std::size_t point = stem.find('.');
  return {stem.substr(0, point), point == std::string::npos ? std::string() : stem.substr(point + 1)};
}

}  // namespace

// What was allocated until a stop is wanted whole.
struct TorchMemory::Program {
  Program(std::unique_ptr<EventSink> opened, const std::string& label, sources::SharedFacts& facts,
          std::int64_t zero_unix_ns)
      : scope(std::move(opened)),
        retained(*scope, [] { return false; }),
        labelled(retained, label, facts),
        writer(labelled),
        snapshots(writer, report, zero_unix_ns) {}

  std::unique_ptr<EventSink> scope;
  sources::SupervisedSink retained;
  sources::LabelledSink labelled;
  SessionWriter writer;
  sources::ImportReport report;
  sources::torch_memory::SnapshotWriter snapshots;
  std::size_t read = 0;
  std::int64_t interval_ms = 1000;  // between two snapshots, as last reported
};

TorchMemory::TorchMemory(const request::KindRun& run, EventSink& sink) : run_(run), sink_(sink) {}

TorchMemory::~TorchMemory() = default;

Result<std::string> TorchMemory::make_folder() {
  const fs::path folder = fs::absolute(run_.work_folder) / "torch-memory";
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return Error{fmt::format("{}: {}", folder.string(), failure.message())};
  zero_unix_ns_ = program::origin_unix_ns(run_);
  return folder_ = folder.string();
}

void TorchMemory::turn() {
  constexpr auto kLookPeriod = std::chrono::milliseconds(50);
  const auto now = std::chrono::steady_clock::now();
  if (folder_.empty() || now - looked_ < kLookPeriod) return;
  looked_ = now;
  read_all();
}

void TorchMemory::read_all() {
  for (const std::string& path : program::find_tool_traces(folder_, {".pickle"})) {
    read(path);
    std::error_code gone;
    fs::remove(path, gone);  // the program waits for it before it takes another
  }
}

// The first one of several programs has no label: its device is the one that other kinds show.
TorchMemory::Program& TorchMemory::program_of(const std::string& process, bool is_first) {
  Program*& running = running_[process];
  if (running != nullptr && is_first) end(*std::exchange(running, nullptr));  // it became another program
  if (running == nullptr) {
    programs_.push_back(
        std::make_unique<Program>(run_.open_scope(), programs_.empty() ? "" : process, facts_, zero_unix_ns_));
    running = programs_.back().get();
  }
  return *running;
}

void TorchMemory::read(const std::string& path) {
  const auto [process, number] = process_and_number(path);
  const auto take = [&, process = process, number = number]() -> Result<void> {
    const std::unique_ptr<json::ByteSource> bytes = TRY(json::ByteSource::open(path));
    sources::pickle::ReadPickle snapshot =
        TRY(sources::pickle::read_pickle(*bytes, {.name = path, .kind_of_file = "a memory snapshot", .go_on = {}}));
    const auto own = snapshot.data.find(snapshot.data.root(), "accelscope");
    const bool is_last = snapshot.data.to_int64(snapshot.data.find(own, "last")).value_or(1) != 0;
    const std::int64_t interval_ms = snapshot.data.to_int64(snapshot.data.find(own, "interval_ms")).value_or(0);
    Program& program = program_of(process, number.find_first_not_of('0') == std::string::npos);
    TRY(program.snapshots.write(std::move(snapshot)));
    ++program.read;
    if (interval_ms >= 2 * program.interval_ms) {
      program.interval_ms = interval_ms;
      program.writer.add_quality(
          {"memory_snapshots_rare", 1,
           fmt::format(
               "taking a snapshot of PyTorch's memory has become slow: one is taken every {:.1f} s now, so that "
               "it costs the program a twentieth of its time",
               static_cast<double>(interval_ms) / 1000)});
    }
    program.writer.flush();
    if (is_last) end(*std::exchange(running_[process], nullptr));
    return {};
  };
  if (const Result<void> done = take(); !done) {
    if (unreadable_.empty()) unreadable_ = done.message();
    fail(sink_.define(QualityEntry{"trace_unreadable", 1, done.message()}));
  }
}

void TorchMemory::end(Program& program) {
  program.snapshots.end();
  program.report.write(program.writer);
  fail(program.writer.finish());
}

void TorchMemory::fail(const Result<void>& done) {
  if (status_.ok()) status_ = done;
}

Result<void> TorchMemory::finish() {
  if (folder_.empty()) return {};
  read_all();
  std::size_t read = 0;
  for (auto& [process, running] : running_) {
    if (running == nullptr) continue;
    running->report.note(QualityKind("truncated").as(Severity::warning),
                         "the last snapshot of PyTorch's memory is missing: the program was killed before it could be "
                         "taken; what it did since the one before is not there");
    end(*running);
  }
  for (const std::unique_ptr<Program>& program : programs_) read += program->read;
  if (read > 0 || !status_.ok()) return status_;
  if (!unreadable_.empty()) return Error{unreadable_};
  return sink_.define(QualityEntry{
      "no_trace", 1,
      "PyTorch has left no memory snapshot: the program did not use it on a GPU, or was killed before it could"});
}

}  // namespace accelscope::capture::kinds::python
