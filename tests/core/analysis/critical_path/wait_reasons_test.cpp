// What a wait is put down to where no transfer tells of itself, as in profiles of which only the instructions are
// joined.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/critical_path/waits.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

class InstructionSession {
 public:
  InstructionSession() {
    const SchemaNumber work =
        writer_.add_schema({.name = "instruction",
                            .wait_names = {"EVENT_SEMAPHORE"},
                            .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                                        {.name = "operands", .type = ColumnType::text, .role = Role::operands},
                                        {.name = "subgroup", .type = ColumnType::string}}});
    const SchemaNumber flow =
        writer_.add_schema({.name = "dependency",
                            .kind = EventKind::flow,
                            .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source},
                                        {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target}}});
    flows_ = writer_.add_track({.name = "flows", .kind = "flow", .device = "nc0", .schema = flow});
    for (const char* name : {"Sync", "Vector", "Tensor"}) {
      tracks_[name] = writer_.add_track({.name = name, .kind = "engine", .device = "nc0", .schema = work});
    }
  }
  void instruction(const char* engine, std::uint64_t id, const char* name, std::int64_t begin, std::int64_t length,
                   const char* operands = "") {
    Row row = writer_.begin_event(tracks_.at(engine), begin, length, writer_.intern(name));
    row.unsigned_integer(0, id);
    row.text(1, operands);
    row.string(2, writer_.intern(engine));
  }
  void after(std::uint64_t from, std::uint64_t to) {
    Row row = writer_.begin_event(flows_, 0, 0, writer_.intern("semaphore"));
    row.unsigned_integer(0, from);
    row.unsigned_integer(1, to);
  }
  std::shared_ptr<const WorkGraph> graph() {
    REQUIRE(writer_.finish().ok());
    const QueryContext query{*store_, store_->snapshot(), pool, control};
    const auto dependencies = Dependencies::build(query);
    REQUIRE(dependencies.ok());
    auto built = WorkGraph::build(query, **dependencies);
    REQUIRE(built.ok());
    return *built;
  }
  WorkerPool pool{1};
  TaskControl control;

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  std::map<std::string, TrackNumber> tracks_;
  TrackNumber flows_ = 0;
};

std::map<std::string, std::int64_t> gaps_by_reason(const WorkGraph& graph) {
  std::map<std::string, std::int64_t> gaps;
  const CriticalPath path = find_critical_path(graph, {graph.begin_of_all_ns, graph.end_of_all_ns});
  for (const PathSegment& segment : path.segments) {
    if (segment.is_gap) gaps[std::string(wait_reason_name(segment.reason))] += segment.length_ns();
  }
  return gaps;
}

}  // namespace

TEST_CASE("waits: what comes after an instruction that sets off a transfer waits for the transfer") {
  InstructionSession session;
  session.instruction("Sync", 1, "DMA_DIRECT2D", 0, 100);
  session.instruction("Vector", 2, "TENSOR_REDUCE", 3'000, 200);  // 2,900 ns after what set the transfer off
  session.instruction("Tensor", 3, "MATMUL", 3'500, 100);         // 300 ns after an instruction that moves nothing
  session.after(1, 2);
  session.after(2, 3);
  const auto gaps = gaps_by_reason(*session.graph());
  CHECK(gaps.at("dma") == 2'900);
  CHECK(gaps.at("dependency") == 300);
}

TEST_CASE("waits: a semaphore that is a queue's stands for its transfers, one of an engine for the engine") {
  InstructionSession session;
  session.instruction("Vector", 1, "EVENT_SEMAPHORE", 0, 3'500, "S[9] (qGpSimdDynamic)>=16 setter=0");
  session.instruction("Vector", 2, "COPY", 3'500, 100);
  session.instruction("Tensor", 3, "EVENT_SEMAPHORE", 0, 700, "S[4] (Scalar)>=2 setter=0");
  session.instruction("Tensor", 4, "MATMUL", 700, 100);
  session.instruction("Sync", 5, "EVENT_SEMAPHORE", 0, 600, "setter=0");
  const std::shared_ptr<const WorkGraph> graph = session.graph();
  const auto report = attribute_waits(*graph, TimeRange{}, session.pool, session.control);
  REQUIRE(report.ok());
  std::map<std::int64_t, std::string> reasons;  // by length
  for (const AttributedWait& wait : report->waits) {
    reasons[wait.length_ns()] = wait_reason_name(wait.reason);
    CHECK(wait.source == kNoNode);  // nothing tells who did it
  }
  CHECK(reasons == std::map<std::int64_t, std::string>{{3'500, "dma"}, {700, "semaphore"}, {600, "unknown"}});
}
