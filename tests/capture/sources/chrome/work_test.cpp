// Kernels of traces have the operations of the operators that launched them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "capture/sources/tracks/gpu_tables.h"
#include "tests/capture/sources/chrome/imported_trace.h"

namespace accelscope::capture {
namespace {

struct Op {
  int id = 0, begin = 0, duration = 0;
  std::string name = "aten::mm", dims = "[[64,32],[32,128]]";
};
std::string row(const Op& op) {
  return fmt::format(
      R"json(,{{"ph":"X","cat":"cpu_op","name":"{}","pid":9,"tid":9,"ts":{},"dur":{},"args":{{"External id":{},"Input Dims":{},"Input type":["float","float"]}}}})json",
      op.name, op.begin, op.duration, op.id, op.dims);
}
std::string runtime_call(int correlation, int begin) {
  return fmt::format(
      R"json(,{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{},"dur":2,"args":{{"correlation":{}}}}})json",
      begin, correlation);
}
std::string kernel(const std::string& name, int begin, int duration, int id, int correlation,
                   const std::string& grid = "[4,4,1]") {
  return fmt::format(
      R"json(,{{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"External id":{},"correlation":{},"device":0,"stream":7,"grid":{},"block":[128,1,1]}}}})json",
      name, begin, duration, id, correlation, grid);
}
Imported trace(const std::string& rows) {
  return imported_trace(R"({"schemaVersion":1,"traceEvents":[{"ph":"M","name":"process_name","pid":0,"args":{}})" +
                        row({99, 0, 1, "aten::empty", "[]"}) + rows + "]}");
}
// By the begin, in us; 0: none.
std::map<std::int64_t, double> flops(const Imported& session) {
  std::map<std::int64_t, double> all;
  for (const EventValues& each : session.events("kernel")) all[each.begin / 1000] = each.real("flops").value_or(0);
  return all;
}
constexpr double kWork = 2.0 * 64 * 32 * 128;

}  // namespace

TEST_CASE("work: the product has the operations, the sum of its parts and the copy of a bias have none") {
  const Imported session =
      trace(row({1, 100, 50, "aten::addmm", "[[128],[64,32],[32,128]]"}) +
            kernel("void at::native::elementwise_kernel<4>()", 200, 5, 1, 11) +
            kernel("ampere_sgemm_64x64_nn", 210, 20, 1, 12) + kernel("void splitKreduce_kernel<32>()", 230, 5, 1, 13));
  CHECK(flops(session) == std::map<std::int64_t, double>{{200, 0}, {210, kWork}, {230, 0}});
  for (const EventValues& each : session.events("kernel")) {
    if (each.begin != 210'000) continue;
    CHECK(each.integer("bytes") == 4 * (64 * 32 + 32 * 128 + 64 * 128));
    CHECK(each.string("precision") == "fp32");
    CHECK(each.string("work from") == "aten::addmm fp32 [64, 32] x [32, 128]");
  }
}

TEST_CASE("work: an operator is found by its launch where ids are those of calls, whatever the order of the rows") {
  // Operator 12 has the number of the call of another: of 2022.
  const std::string ops = row({11, 100, 50, "aten::linear", "[[64,32],[128,32]]"}) + row({12, 110, 30}) +
                          row({13, 300, 50, "aten::mm", "[[2,2],[2,2]]"});
  const std::string rest = runtime_call(13, 120) + runtime_call(12, 310);
  const std::string kernels = kernel("sgemm_a", 1000, 20, 13, 13) + kernel("sgemm_b", 1100, 20, 12, 12, "[1,1,1]");
  for (const bool kernels_first : {false, true}) {
    const Imported session = trace(kernels_first ? kernels + rest + ops : ops + rest + kernels);
    CHECK(flops(session) == std::map<std::int64_t, double>{{1000, kWork}, {1100, 2.0 * 8}});
  }
}

TEST_CASE("work: kernels that come out of order keep it") {
  const Imported session = trace(row({1, 100, 50}) + row({2, 200, 50, "aten::mm", "[[2,2],[2,2]]"}) +
                                 kernel("sgemm_a", 1100, 20, 2, 12, "[1,1,1]") + kernel("sgemm_a", 1000, 20, 1, 11));
  CHECK(flops(session) == std::map<std::int64_t, double>{{1000, kWork}, {1100, 2.0 * 8}});
}

TEST_CASE("work: without launch and id, the same function and grid tell it where they are always the same") {
  const std::string known = row({1, 100, 50}) + row({2, 200, 50}) + row({3, 300, 50, "aten::mm", "[[2,2],[2,2]]"}) +
                            kernel("sgemm_a", 1000, 20, 1, 11) + kernel("sgemm_b", 1100, 20, 2, 12, "[8,1,1]") +
                            kernel("sgemm_b", 1200, 20, 3, 13, "[8,1,1]");
  const Imported session =
      trace(known + kernel("sgemm_a", 2000, 20, 0, 0) + kernel("sgemm_b", 2100, 20, 0, 0, "[8,1,1]") +
            kernel("sgemm_a", 2200, 20, 0, 0, "[9,9,1]"));
  const auto all = flops(session);
  CHECK(all.at(2000) == kWork);
  CHECK(all.at(2100) == 0);  // two sizes have that grid
  CHECK(all.at(2200) == 0);
}

TEST_CASE("work: several kernels that multiply share an operator's work by their time") {
  const Imported session =
      trace(row({1, 100, 50}) + kernel("sgemm_a", 1000, 30, 1, 11) + kernel("sgemm_a", 1100, 10, 1, 12));
  CHECK(flops(session) == std::map<std::int64_t, double>{{1000, kWork * 0.75}, {1100, kWork * 0.25}});
}

TEST_CASE("work: what a collective moves is its message, by its own facts or by its operator's shapes") {
  const Imported session = trace(
      R"json(,{"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":9,"tid":9,"ts":100,"dur":50,"args":{"External id":1,"Input Dims":[[1000,50]],"Input type":["float"]}})json" +
      runtime_call(11, 120) + kernel("ncclKernel_AllReduce_RING_LL_Sum_float(args)", 1000, 100, 11, 11) +
      R"json(,{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)","pid":0,"tid":7,"ts":2000,"dur":100,"args":{"device":0,"stream":7,"In msg nelems":77,"Out msg nelems":88,"dtype":"BFloat16"}})json");
  std::map<std::int64_t, std::int64_t> bytes;
  for (const EventValues& each : session.events("kernel")) bytes[each.begin / 1000] = each.integer("bytes").value_or(0);
  CHECK(bytes == std::map<std::int64_t, std::int64_t>{{1000, 200'000}, {2000, 176}});
  for (const EventValues& each : session.events("kernel")) {
    if (each.begin == 1'000'000) CHECK(each.string("Collective name") == "all_reduce");
  }
}

}  // namespace accelscope::capture
