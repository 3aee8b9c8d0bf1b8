#include "tests/support/small_session.h"

#include <doctest/doctest.h>

#include "core/chunk/session_writer.h"

namespace accelscope::test {

namespace {

constexpr const char* kKernel =
    "import nl\n"
    "def kernel(x, w):\n"
    "    y = nl.matmul(x, w)  # the work\n"
    "    return nl.gelu(y)\n";

Schema instruction_schema() {
  return {.number = 0,
          .name = "instruction",
          .kind = EventKind::slice,
          .name_column = "opcode",
          .name_explanation = "What the engine did.",
          .wait_names = {"WAIT"},
          .columns = {
              {.name = "evt_wait_time",
               .type = ColumnType::int64,
               .unit = "ns",
               .group = "Timing",
               .title = "Waited before",
               .explanation = "How long it waited for its semaphore.",
               .role = Role::wait_ns},
              {.name = "operands",
               .type = ColumnType::text,
               .unit = "",
               .group = "Operation",
               .title = "Operands",
               .explanation = "As executed.",
               .role = Role::operands},
              {.name = "id",
               .type = ColumnType::uint64,
               .unit = "",
               .group = "IDs",
               .title = "Instruction",
               .explanation = "Own number.",
               .role = Role::key},
              {.name = "source",
               .type = ColumnType::string,
               .unit = "",
               .group = "Layer & source",
               .title = "Source",
               .explanation = "Line of the kernel.",
               .role = Role::source_location},
              {.name = "stack",
               .type = ColumnType::string,
               .unit = "",
               .group = "Layer & source",
               .title = "Stack",
               .explanation = "Calls.",
               .role = Role::stack},
          }};
}

Schema flow_schema() {
  return {.number = 0,
          .name = "dependency",
          .kind = EventKind::flow,
          .name_column = "kind",
          .name_explanation = "",
          .wait_names = {},
          .columns = {{.name = "from",
                       .type = ColumnType::uint64,
                       .unit = "",
                       .group = "",
                       .title = "",
                       .explanation = "",
                       .role = Role::flow_source,
                       .required = true},
                      {.name = "to",
                       .type = ColumnType::uint64,
                       .unit = "",
                       .group = "",
                       .title = "",
                       .explanation = "",
                       .role = Role::flow_target,
                       .required = true}}};
}

Schema memory_schema() {
  return {.number = 0,
          .name = "allocation",
          .kind = EventKind::memory,
          .name_column = "",
          .name_explanation = "",
          .wait_names = {},
          .columns = {{.name = "size",
                       .type = ColumnType::int64,
                       .unit = "B",
                       .group = "Memory",
                       .title = "Size",
                       .explanation = "",
                       .role = Role::allocation,
                       .required = true},
                      {.name = "address",
                       .type = ColumnType::uint64,
                       .unit = "",
                       .group = "Memory",
                       .title = "Address",
                       .explanation = "",
                       .role = Role::address,
                       .required = true},
                      {.name = "tensor",
                       .type = ColumnType::string,
                       .unit = "",
                       .group = "Memory",
                       .title = "Tensor",
                       .explanation = "",
                       .role = Role::tensor,
                       .required = true},
                      {.name = "pool",
                       .type = ColumnType::string,
                       .unit = "",
                       .group = "Memory",
                       .title = "Pool",
                       .explanation = "",
                       .role = Role::pool,
                       .required = true}}};
}

void write_engines(SessionWriter& writer, SmallSession& session) {
  const SchemaNumber schema = writer.add_schema(instruction_schema());
  const TrackNumber tensor =
      writer.add_track({.name = "Tensor", .kind = "engine", .device = "nc0", .host = "", .unit = "", .schema = schema});
  const TrackNumber scalar = writer.add_track(
      {.name = "Scalar", .kind = "engine", .device = "nc0", .host = "", .unit = "", .schema = schema, .order = 1});
  for (std::int64_t i = 0; i < 20; ++i) {
    Row row = writer.begin_event(tensor, 1'000 + i * 200, 100, writer.intern("MATMUL"));
    row.integer(0, i <= 1 ? 40 : 0);  // the first before the session begins
    row.text(1, "S[4] (Scalar)>=2 src=fp16@0x2fa00[1,0,0][128,1,1] dst=0x2000800[1,0,0][128,1,1] 128*128");
    row.unsigned_integer(2, static_cast<std::uint64_t>(100 + i));
    row.string(3, writer.intern("kernel.py:3"));
    row.string(4, writer.intern("kernel.py:3 in kernel\nmain.py:9 in run"));
    if (i == 0) session.first_matmul = row.id();
  }
  Row wait = writer.begin_event(scalar, 1'000, 120, writer.intern("WAIT"));
  wait.unsigned_integer(2, 199);
  for (std::int64_t i = 0; i < 10; ++i) {
    Row row = writer.begin_event(scalar, 1'150 + i * 400, 50, writer.intern("ACTIVATE"));
    row.unsigned_integer(2, static_cast<std::uint64_t>(200 + i));
    row.string(3, writer.intern("kernel.py:4"));
    if (i == 0) session.activate = row.id();
  }
  const TrackNumber flows = writer.add_track({.name = "Dependencies",
                                              .kind = "flow",
                                              .device = "nc0",
                                              .host = "",
                                              .unit = "",
                                              .schema = writer.add_schema(flow_schema())});
  Row flow = writer.begin_event(flows, 1'100, 0, writer.intern("semaphore"));
  flow.unsigned_integer(0, 100);
  flow.unsigned_integer(1, 200);
}

void write_counter(SessionWriter& writer) {
  Schema schema{.number = 0,
                .name = "counter",
                .kind = EventKind::counter,
                .name_column = "",
                .name_explanation = "",
                .wait_names = {},
                .columns = {{.name = "value",
                             .type = ColumnType::float64,
                             .unit = "",
                             .group = "Value",
                             .title = "Value",
                             .explanation = "",
                             .role = Role::value,
                             .required = true}}};
  const TrackNumber track = writer.add_track({.name = "Pending DMA",
                                              .kind = "counter",
                                              .device = "nc0",
                                              .host = "",
                                              .unit = "",
                                              .schema = writer.add_schema(std::move(schema))});
  for (std::int64_t i = 0; i < 50; ++i) writer.sample(track, 1'000 + i * 80, static_cast<double>(i % 7));
}

void write_memory(SessionWriter& writer) {
  const TrackNumber track = writer.add_track({.name = "Scratchpad",
                                              .kind = "memory",
                                              .device = "nc0",
                                              .host = "",
                                              .unit = "",
                                              .schema = writer.add_schema(memory_schema())});
  const auto allocate = [&](std::int64_t at, std::int64_t bytes, std::uint64_t address, const char* tensor) {
    Row row = writer.begin_event(track, at, 0, writer.intern(tensor));
    row.integer(0, bytes);
    row.unsigned_integer(1, address);
    row.string(2, writer.intern(tensor));
    row.string(3, writer.intern("SBUF"));
  };
  allocate(1'000, 65'536, 0x1000, "w1");
  allocate(1'200, 65'536, 0x11000, "w1");
  allocate(1'500, 32'768, 0x21000, "x");
  allocate(3'000, -65'536, 0x1000, "w1");
  allocate(4'000, -32'768, 0x21000, "x");
}

}  // namespace

SmallSession make_small_session() {
  SmallSession session;
  auto store = Store::create();
  REQUIRE(store.ok());
  session.store = std::move(*store);
  StoreSink sink(*session.store);
  SessionWriter writer(sink);
  write_engines(writer, session);
  write_counter(writer);
  write_memory(writer);
  writer.add_source_file("/kernels/kernel.py", kKernel);
  writer.add_metric({.name = "mfu", .group = "Utilisation", .value = 23.8, .unit = "%", .text = ""});
  writer.add_metric({.name = "total_time", .group = "Time", .value = 0.000393, .unit = "s", .text = ""});
  writer.add_quality({"missing_dge_notifications", 1, "DMA names are missing; capture with --enable-dge-notifs"});
  REQUIRE(writer.finish().ok());
  return session;
}

std::string save_small_session(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  const auto saved = make_small_session().store->save(path);
  REQUIRE_MESSAGE(saved.ok(), saved.message());
  return path;
}

}  // namespace accelscope::test
