// Products of matrices against the device's peaks, and operations of tt-metal against what their cores could do.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/analysis/advice/advice.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct ProductSession {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink{*store};
  SessionWriter writer{sink};
  WorkerPool pool{2};
  TaskControl control;
  SchemaNumber kernel =
      writer.add_schema({.name = "kernel",
                         .columns = {{.name = "flops", .type = ColumnType::float64, .role = Role::flops},
                                     {.name = "bytes", .role = Role::bytes},
                                     {.name = "precision", .type = ColumnType::string},
                                     {.name = "work from", .type = ColumnType::string}}});
  TrackNumber stream = writer.add_track({.name = "stream 7", .kind = "stream", .device = "GPU 0", .schema = kernel});
  std::int64_t at = 0;

  void add(const char* name, std::int64_t ns, double flops, std::int64_t bytes, const char* precision) {
    Row row = writer.begin_event(stream, at, ns, writer.intern(name));
    row.real(0, flops);
    row.integer(1, bytes);
    row.string(2, writer.intern(precision));
    row.string(3, writer.intern("aten::mm"));
    at += ns;
  }
  std::vector<Finding> findings(RuleId rule) {
    writer.set_meta("device.0.name", "NVIDIA H100 80GB HBM3");
    REQUIRE(writer.finish().ok());
    const auto advice = find_advice({*store, store->snapshot(), pool, control}, {});
    REQUIRE(advice.ok());
    std::vector<Finding> all;
    for (const Finding& each : (*advice)->findings) {
      if (each.rule->id == rule) all.push_back(each);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("advice: products in fp32 of unknown size are told where the device has units that they pass by") {
  for (const char* gemm : {"volta_sgemm_128x64_nn", "ampere_sgemm_128x64_nn_s1688_tf32"}) {
    CAPTURE(gemm);
    ProductSession session;
    session.add(gemm, 3'000'000, 0, 0, "");
    session.add("cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", 1'000'000, 0, 0, "");
    session.add("vectorized_layer_norm_kernel", 1'000'000, 0, 0, "");
    const auto found = session.findings(RuleId::plain_products);
    const bool plain = std::string_view(gemm).starts_with("volta");
    REQUIRE(found.size() == (plain ? 1 : 0));  // a fifth is not more than a fifth
    if (!plain) continue;
    CHECK(found[0].headline.ends_with("matrix units, 80.0 % of 5 ms"));
    CHECK(found[0].saving_ns == doctest::Approx(4'000'000 * (1 - 66.9 / 989.4)).epsilon(0.01));
    CHECK(found[0].least_ns == 0);
  }
}

TEST_CASE("advice: a product far below the device's peak is told with what its operations would take there") {
  ProductSession session;
  session.add("slow_gemm", 1'000'000, 98.94e9, 1'000'000, "bf16");        // 100 us at 989.4 TFLOP/s: 10 % of the peak
  session.add("good_gemm", 1'000'000, 800e9, 1'000'000, "bf16");          // 81 %
  session.add("moving_gemm", 1'000'000, 98.94e9, 2'680'000'000, "bf16");  // 800 us at 3.35 TB/s: near that roof
  const auto found = session.findings(RuleId::slow_products);
  REQUIRE(found.size() == 1);
  CHECK(found[0].headline == "slow_gemm at 98.94 TFLOP/s, 10.0 % of the peak in bf16");
  CHECK(found[0].saving_ns == doctest::Approx(900'000).epsilon(0.001));
  CHECK(found[0].count == 1);
}

TEST_CASE("advice: products in fp32 that pass by the matrix units are told what these would do") {
  ProductSession session;
  session.add("ampere_sgemm", 1'000'000, 60e9, 1'000'000, "fp32");  // 90 % of 66.9 TFLOP/s
  const auto found = session.findings(RuleId::slow_products);
  REQUIRE(found.size() == 1);
  CHECK(found[0].headline.find("89.7 % of the peak in fp32; 494.7 TFLOP/s in TF32") != std::string::npos);
  CHECK(found[0].remedy.find("set_float32_matmul_precision") != std::string::npos);
}

TEST_CASE("advice: operations of a report are told by what their cores and the chip's memory could do") {
  ProductSession session;
  SessionWriter& writer = session.writer;
  const auto text = [](const char* name) { return Column{.name = name, .type = ColumnType::string}; };
  const SchemaNumber op = writer.add_schema({.name = "op",
                                             .columns = {{.name = "GLOBAL CALL COUNT"},
                                                         {.name = "DEVICE ID"},
                                                         {.name = "CORE COUNT"},
                                                         {.name = "DEVICE KERNEL DURATION [ns]"},
                                                         text("MATH FIDELITY"),
                                                         text("DEVICE ARCH"),
                                                         text("INPUT_0_Y"),
                                                         text("INPUT_0_X"),
                                                         text("INPUT_1_X"),
                                                         text("INPUT_0_MEMORY")}});
  const TrackNumber chip = writer.add_track({.name = "operations", .kind = "stream", .device = "chip 0", .schema = op});
  const auto add = [&](std::int64_t begin, std::int64_t ns, const char* name, std::int64_t cores) {
    Row row = writer.begin_event(chip, begin, ns, writer.intern(name));
    row.integer(0, begin);
    row.integer(1, 0);
    row.integer(2, cores);
    row.integer(3, ns);
    row.string(4, writer.intern("HiFi4"));
    row.string(5, writer.intern("wormhole_b0"));
    for (std::size_t i = 6; i < 9; ++i) row.string(i, writer.intern("1024"));
    row.string(9, writer.intern("DEV_1_L1_BLOCK_SHARDED"));
  };
  // 2 x 1024^3 operations; 64 cores of 262 / 72 / 4 TFLOP/s take 36.9 us for them.
  add(0, 369'000, "Matmul", 64);
  add(400'000, 40'000, "Matmul", 64);  // at 92 %: bound by arithmetic
  const auto found = session.findings(RuleId::slow_operations);
  REQUIRE(found.size() == 1);
  CHECK(found[0].headline.find("Matmul 1024 x 1024 x 1024 at 10.0 % of its cores' FLOP/s in HiFi4") == 0);
  CHECK(found[0].saving_ns == doctest::Approx(332'000).epsilon(0.01));
  CHECK(found[0].count == 1);
}
