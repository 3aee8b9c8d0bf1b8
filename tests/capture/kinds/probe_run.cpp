#include "tests/capture/kinds/probe_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "capture/probe/host/files.h"
#include "capture/probe/host/listener.h"
#include "capture/request/options.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {

void run_to_end(ProbeRun& run, const ProbedProgram& program) {
  Result<std::unique_ptr<system::SupervisedChild>> child = system::SupervisedChild::start(
      {accelscope::test::programs_folder() + "/" + program.name, program.arguments, "", program.environment});
  REQUIRE_MESSAGE(child.ok(), child.message());
  std::vector<char> buffer(4096);
  while (!(*child)->ended() || (*child)->any_open()) {
    (*child)->wait(std::chrono::milliseconds(20));
    for (const system::OutputStream stream : {system::OutputStream::out, system::OutputStream::err}) {
      const std::size_t count = (*child)->read(stream, buffer);
      if (stream != system::OutputStream::out) continue;
      run.printed.append(buffer.data(), count);
      program.after_print();
    }
  }
  run.end = (*child)->finish();
}

void run_probed(ProbeRun& run, const request::KindChoice& choice, const ProbedProgram& program, EventSink& sink,
                const std::function<void()>& end) {
  system::PrivateFolder folder = system::PrivateFolder::make(choice.name + "-test").value();
  request::CaptureRequest request;
  request.kinds = {choice};
  if (program.is_started_by_capture) request.program = program.name;
  const auto listener = probes::ProbeListener::open(choice.name, folder.path()).value();
  const request::CaptureKind& kind = **request::find_kind(choice.name);
  const probes::ProbeFiles files = probes::ProbeFiles::lay_down().value();
  Result<std::vector<std::string>> environment = kind.environment(request::read_options(kind, choice).value(), files,
                                                                  [](const std::string&) { return std::string(); });
  REQUIRE_MESSAGE(environment.ok(), environment.message());
  environment->push_back("ACCELSCOPE_PROBES=" + folder.path());
  environment->insert(environment->end(), program.environment.begin(), program.environment.end());
  const request::KindRun kind_run{request,
                                  request.kinds[0],
                                  program.origin,
                                  "",
                                  {},
                                  {},
                                  listener.get(),
                                  [](request::CaptureIntent, const std::string&, const std::function<void()>&) {}};
  std::thread reader([&] { run.result = request::run_kind(kind_run, sink); });
  ProbedProgram traced = program;
  traced.environment = *environment;
  run_to_end(run, traced);
  end();
  reader.join();
  REQUIRE_MESSAGE(run.result.ok(), run.result.message());
}

std::vector<RecordedEvent> ProbeRun::table(const std::string& schema) const {
  std::vector<RecordedEvent> found;
  for (const RecordedEvent& event : sink.events()) {
    if (sink.schema_of(event).name == schema) found.push_back(event);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RecordedEvent& a, const RecordedEvent& b) { return a.start < b.start; });
  return found;
}

RecordedEvent ProbeRun::only(const std::string& schema, const std::string& name) const {
  std::vector<RecordedEvent> found = table(schema);
  std::erase_if(found, [&](const RecordedEvent& event) { return event.name != name; });
  CAPTURE(schema);
  CAPTURE(name);
  REQUIRE(found.size() == 1);
  return found.front();
}

std::map<std::string, std::size_t> ProbeRun::count_by_name(const std::string& schema) const {
  std::map<std::string, std::size_t> counts;
  for (const RecordedEvent& event : table(schema)) ++counts[event.name];
  return counts;
}

std::map<std::string, std::size_t> ProbeRun::count_by_text(const std::string& schema, const std::string& column) const {
  std::map<std::string, std::size_t> counts;
  for (const RecordedEvent& event : table(schema)) ++counts[text(event, column)];
  return counts;
}

std::string ProbeRun::text(const RecordedEvent& event, const std::string& column) const {
  const Schema& schema = sink.schema_of(event);
  const std::size_t index = schema.find(column).value();
  const ChunkView view = sink.view(event);
  if (!view.has_value(index, event.row)) return {};
  if (schema.columns[index].type == ColumnType::text) return std::string(view.text(index, event.row));
  return sink.strings.at(view.stored(index, event.row));
}

std::optional<std::int64_t> ProbeRun::number(const RecordedEvent& event, const std::string& column) const {
  const std::size_t index = sink.schema_of(event).find(column).value();
  const ChunkView view = sink.view(event);
  if (!view.has_value(index, event.row)) return std::nullopt;
  return sink.schema_of(event).columns[index].type == ColumnType::int64
             ? view.int64(index, event.row)
             : static_cast<std::int64_t>(view.stored(index, event.row));
}

double ProbeRun::real(const RecordedEvent& event, const std::string& column) const {
  return sink.view(event).float64(sink.schema_of(event).find(column).value(), event.row);
}

const QualityEntry* ProbeRun::quality(const std::string& kind) const {
  for (const QualityEntry& entry : sink.qualities) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

std::string ProbeRun::meta(const std::string& key) const {
  const auto known = sink.meta.find(key);
  return known == sink.meta.end() ? std::string() : known->second;
}

std::unique_ptr<Store> ProbeRun::store() const {
  std::unique_ptr<Store> made = Store::create().value();
  StoreSink into(*made);
  for (const Bytes& definition : sink.definition_bytes) {
    REQUIRE(into.define(*decode_definition(definition).value()).ok());
  }
  for (const SealedChunk& chunk : sink.chunks) REQUIRE(into.append(SealedChunk(chunk)).ok());
  return made;
}

}  // namespace accelscope::capture
