#include "tests/core/analysis/advice/planted_session.h"

#include <algorithm>

namespace accelscope::test {

PlantedSession::PlantedSession() {
  Schema instruction;
  instruction.name = "instruction";
  instruction.wait_names = {"EVENT_SEMAPHORE"};
  instruction.columns = {{.name = "elements", .type = ColumnType::int64},
                         {.name = "instruction_type", .type = ColumnType::string},
                         {.name = "operands", .type = ColumnType::text, .role = Role::operands},
                         {.name = "line", .type = ColumnType::string, .role = Role::source_location},
                         {.name = "hbm_read_bytes", .type = ColumnType::int64},
                         {.name = "hbm_write_bytes", .type = ColumnType::int64}};
  instruction_ = writer.add_schema(instruction);
  Schema dma;
  dma.name = "dma";
  dma.columns = {{.name = "transfer_size", .type = ColumnType::int64, .role = Role::bytes},
                 {.name = "source", .type = ColumnType::string},
                 {.name = "dest", .type = ColumnType::string},
                 {.name = "queue_type", .type = ColumnType::string},
                 {.name = "line", .type = ColumnType::string, .role = Role::source_location}};
  dma_ = writer.add_schema(dma);
  Schema throttle;
  throttle.name = "throttle";
  throttle.columns = {{.name = "util_limit", .type = ColumnType::float64}};
  throttle_ = writer.add_schema(throttle);
  kernel_ = writer.add_schema({.name = "kernel"});
  copy_ = writer.add_schema(
      {.name = "memcpy", .columns = {{.name = "bytes", .type = ColumnType::int64, .role = Role::bytes}}});
  error_ = writer.add_schema({.name = "error", .kind = EventKind::instant});
  call_ = writer.add_schema({.name = "call", .wait_names = {"cudaStreamSynchronize"}});
  zone_ = writer.add_schema({.name = "zone"});
  total_ = writer.add_schema({.name = "zone_total",
                              .kind = EventKind::instant,
                              .columns = {{.name = "ns", .type = ColumnType::int64, .unit = "ns"}}});
  run_ = writer.add_schema({.name = "run"});
  Schema tensor;
  tensor.name = "neff_node";
  tensor.kind = EventKind::table;
  tensor.columns = {{.name = "size", .type = ColumnType::int64},
                    {.name = "load_to_sbuf_repeat_factor", .type = ColumnType::float64},
                    {.name = "type", .type = ColumnType::string}};
  tensor_ = writer.add_schema(tensor);
}

void PlantedSession::multiply(TrackNumber on, std::int64_t begin, std::int64_t length, std::int64_t elements,
                              bool transpose, const char* line) {
  Row row = writer.begin_event(on, begin, length, writer.intern("MATMUL"));
  row.integer(0, elements);
  row.string(1, writer.intern(transpose ? "TRANSPOSE" : "REGULAR"));
  row.string(3, writer.intern(line));
}

void PlantedSession::access(TrackNumber on, std::int64_t begin, std::int64_t length, std::int64_t read,
                            std::int64_t written) {
  Row row = writer.begin_event(on, begin, length, writer.intern("ACTIVATE"));
  row.integer(4, read);
  row.integer(5, written);
}

void PlantedSession::move(TrackNumber on, std::int64_t begin, std::int64_t length, const Transfer& transfer) {
  Row row = writer.begin_event(on, begin, length, writer.intern(transfer.tensor));
  row.integer(0, transfer.bytes);
  row.string(1, writer.intern(transfer.from));
  row.string(2, writer.intern(transfer.to));
  row.string(3, writer.intern(transfer.purpose));
  row.string(4, writer.intern(transfer.line));
}

void PlantedSession::limit(TrackNumber on, std::int64_t begin, std::int64_t length, double limit, const char* kind) {
  writer.begin_event(on, begin, length, writer.intern(kind)).real(0, limit);
}

void PlantedSession::tensor(const char* name, std::int64_t bytes) {
  if (!tensors_) tensors_ = track("Tensors", "table", tensor_);
  Row row = writer.begin_event(*tensors_, 0, 0, writer.intern(name));
  row.integer(0, bytes);
  row.string(2, writer.intern("IN"));
}

std::shared_ptr<const Advice> PlantedSession::advice(const EventFilter& filter) {
  REQUIRE(writer.finish());
  auto found = find_advice({*store, store->snapshot(), pool, control}, filter);
  REQUIRE(found.ok());
  return *found;
}

const Finding* PlantedSession::found(RuleId rule) {
  if (!advice_) advice_ = advice();
  const auto& findings = advice_->findings;
  const auto at =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& each) { return each.rule->id == rule; });
  return at == findings.end() ? nullptr : &*at;
}

}  // namespace accelscope::test
