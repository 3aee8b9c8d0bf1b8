// What devices can do at most: where it comes from, and what a user types.
#include "core/analysis/peaks/peaks.h"

#include <doctest/doctest.h>

#include <set>

#include "core/analysis/figures/metrics.h"
#include "core/analysis/neuron/facts/devices.h"
#include "core/base/format.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

[[nodiscard]] std::shared_ptr<const Snapshot> session_with(
    const std::vector<std::pair<std::string, std::string>>& meta) {
  static std::vector<std::unique_ptr<Store>> stores;
  stores.push_back(std::move(Store::create()).value());
  StoreSink sink(*stores.back());
  SessionWriter writer(sink);
  for (const auto& [key, value] : meta) writer.set_meta(key, value);
  REQUIRE(writer.finish().ok());
  return stores.back()->snapshot();
}

}  // namespace

TEST_CASE("peaks: a profile's own metadata come first, and figures use the same values") {
  const auto snapshot = session_with({{"metadata.pe_clock_freq", "2.8"},
                                      {"metadata.hbm_ddr_bandwidth", "410000000000"},
                                      {"metadata.dma_ddr_bandwidth", "435000000000"}});
  const PeakList peaks = peaks_of_device(*snapshot, "nc0");
  CHECK(peaks.model == "NeuronCore at 2.8 GHz");
  CHECK(*peaks.value("bf16") == doctest::Approx(2 * 128 * 128 * 2.8e9));
  CHECK(*peaks.value("fp32") == doctest::Approx(*peaks.value("bf16") / 4));
  CHECK(*peaks.value("dma") == doctest::Approx(435e9));
  CHECK(peaks.find("sbuf") != nullptr);  // nobody knows it: it can be entered
  CHECK_FALSE(peaks.value("sbuf").has_value());
  CHECK(peaks.best_compute()->what == "bf16");
  const DevicePeaks stated = device_peaks(*snapshot, "nc0");
  CHECK(stated.flops == *peaks.value("bf16"));
  CHECK(stated.bandwidth == *peaks.value("hbm"));
}

TEST_CASE("peaks: a Trainium chip has what its documents state beside what its profile states, by its cores") {
  // 1, 2 and 4 physical cores as one logical core.
  for (const int cores : {1, 2, 4}) {
    CAPTURE(cores);
    const auto snapshot = session_with({{"metadata.pe_clock_freq", "2.4"},
                                        {"metadata.num_physical_cores", std::to_string(cores)},
                                        {"metadata.hbm_ddr_bandwidth", "716000000000"},
                                        {"instance_type", "trn2.48xlarge"}});
    const PeakList peaks = peaks_of_device(*snapshot, "nc0");
    CHECK(*peaks.value("bf16") == doctest::Approx(2 * 128 * 128 * 2.4e9 * cores));
    CHECK(peaks.find("bf16")->origin == PeakOrigin::file);
    CHECK(*peaks.value("hbm") == doctest::Approx(716e9));  // as the profile states it
    CHECK(*peaks.value("tf32") == *peaks.value("bf16"));
    CHECK(*peaks.best_compute()->value == *peaks.value("bf16"));
    CHECK(*peaks.value("fp8") == doctest::Approx(1299e12 / 8 * cores));
    CHECK(*peaks.value("sparse") == doctest::Approx(2563e12 / 8 * cores));
    CHECK(*peaks.value("dma") == doctest::Approx(3.5e12 / 8 * cores));
    CHECK(peaks.find("mxfp8") == nullptr);
    CHECK(peaks.find("fp8")->source == "Trainium2 Architecture, dense rates of the maker");
    CHECK(*peaks.best_compute()->value < *peaks.value("fp8"));  // which is no peak of other work
  }
  const PeakList third = peaks_of_device(*session_with({{"metadata.instance_type", "trn3"}}), "nc0");
  CHECK(*third.value("mxfp8") == doctest::Approx(2517e12 / 8));
  CHECK(*third.value("bf16") == doctest::Approx(671e12 / 8));
  CHECK(*third.value("fp16") == *third.value("bf16"));
  CHECK(*third.value("hbm") == doctest::Approx(4.9e12 / 8));
  CHECK(third.find("fp8") == nullptr);
  CHECK(third.compute_in("mxfp8") != nullptr);
}

TEST_CASE("peaks: each figure of the table of Trainium chips is positive, has its source and stands there once") {
  using namespace neuron;
  std::set<std::pair<Chip, ChipFigure>> seen;
  for (const ChipFigureRow& row : chip_figures()) {
    CHECK(seen.emplace(row.chip, row.figure).second);
    CHECK(row.value > 0);
    CHECK_FALSE(row.source.empty());
  }
  for (const Chip chip : {Chip::trn1, Chip::trn2, Chip::trn3}) {
    CHECK(chip_of_instance(chip_name(chip)) == chip);
    CHECK(chip_figure(chip, ChipFigure::tensor_clock) ==
          doctest::Approx(2 * chip_figure(chip, ChipFigure::core_clock)));
    // The array's own peak: 128 x 128 multiplications and additions a cycle.
    CHECK(chip_figure(chip, ChipFigure::bf16) ==
          doctest::Approx(2 * 128 * 128 * chip_figure(chip, ChipFigure::tensor_clock)).epsilon(0.07));
    for (const int size : logical_core_sizes(chip))
      CHECK(static_cast<int>(chip_figure(chip, ChipFigure::cores)) % size == 0);
  }
  CHECK(chip_figure(Chip::trn2, ChipFigure::hbm_bytes) == 96.0 * (1 << 30));
  CHECK(chip_figure(Chip::trn3, ChipFigure::hbm_bytes) == 144.0 * (1 << 30));
  CHECK(chip_figure(Chip::trn1, ChipFigure::sparse) == 0);
  CHECK(logical_core_sizes(Chip::trn1).size() == 1);
  CHECK(logical_core_sizes(Chip::trn3).back() == 4);
  CHECK(chip_of_instance("trn2u.48xlarge") == Chip::trn2);
  CHECK(chip_of_instance("inf2.8xlarge") == Chip::trn1);
  CHECK_FALSE(chip_of_instance("trn22.8xlarge"));
  CHECK_FALSE(chip_of_instance("simulated"));
}

TEST_CASE("peaks: GPUs and chips are found by name, and what the table says is not told as the file's") {
  const auto snapshot =
      session_with({{"device.0.name", "NVIDIA H100 80GB HBM3"}, {"device.1.name", "Some Accelerator"}});
  const PeakList known = peaks_of_device(*snapshot, "gpu 0");
  CHECK(known.model == "NVIDIA H100 80GB HBM3");
  CHECK(*known.value("hbm") == doctest::Approx(3350e9));
  CHECK(known.find("hbm")->origin == PeakOrigin::table);
  CHECK(device_peaks(*snapshot, "gpu 0").bandwidth == 0);
  const PeakList unknown = peaks_of_device(*snapshot, "gpu 1");
  CHECK(unknown.model == "Some Accelerator");
  CHECK_FALSE(unknown.any_known());
  CHECK(unknown.find("bf16") != nullptr);
  CHECK(peaks_of_device(*session_with({{"arch", "wormhole_b0"}}), "chip 0").value("hbm").has_value());
  CHECK(find_sheet("NVIDIA H100 PCIe")->peaks[0].value < find_sheet("NVIDIA H100 80GB HBM3")->peaks[0].value);
  CHECK(find_sheet("a100-sxm4-80gb") != nullptr);
}

TEST_CASE("peaks: work in a type has the peak of that type, and fp8 is no peak of other work") {
  const auto snapshot = session_with({{"device.0.name", "NVIDIA H100 80GB HBM3"},
                                      {"device.1.name", "Tesla V100-SXM2-32GB"},
                                      {"device.2.name", "AMD Instinct MI350X"},
                                      {"device.3.name", "NVIDIA GeForce RTX 4060 Laptop GPU"}});
  const PeakList h100 = peaks_of_device(*snapshot, "GPU 0");
  CHECK(*h100.compute_in("tf32")->value == doctest::Approx(494.7e12));
  CHECK(*h100.compute_in("fp16")->value == *h100.value("bf16"));  // half precision of either kind
  CHECK(*h100.compute_in("fp8")->value > *h100.best_compute()->value);
  CHECK(h100.best_compute()->what == "bf16");
  CHECK(h100.compute_in("int8") == nullptr);
  const PeakList v100 = peaks_of_device(*snapshot, "GPU 1");
  CHECK(v100.compute_in("tf32") == nullptr);  // it has no such units
  CHECK(*v100.compute_in("fp32")->value == doctest::Approx(15.7e12));
  CHECK(peaks_of_device(*snapshot, "GPU 2").value("hbm").has_value());
  const PeakList laptop = peaks_of_device(*snapshot, "GPU 3");
  CHECK_FALSE(laptop.any_known());
  CHECK(laptop.find("bf16") != nullptr);  // it can be entered
}

TEST_CASE("peaks: a device that the process numbers otherwise is what all devices are that are named") {
  const auto alike =
      session_with({{"device.0.name", "AMD Instinct MI300X VF"}, {"device.1.name", "AMD Instinct MI300X VF"}});
  CHECK(peaks_of_device(*alike, "GPU 2").model == "AMD Instinct MI300X VF");
  const auto mixed = session_with({{"device.0.name", "AMD Instinct MI300X"}, {"device.1.name", "NVIDIA L4"}});
  CHECK_FALSE(peaks_of_device(*mixed, "GPU 2").any_known());
}

TEST_CASE("peaks: what the user entered goes before, for devices of that model alone") {
  const auto snapshot = session_with({{"device.0.name", "Some Accelerator"}, {"device.1.name", "Another"}});
  const PeakEdits edits = {{"Some Accelerator", "hbm", 5e11}};
  const PeakList peaks = peaks_of_device(*snapshot, "gpu 0", edits);
  CHECK(*peaks.value("hbm") == 5e11);
  CHECK(peaks.find("hbm")->origin == PeakOrigin::user);
  CHECK_FALSE(peaks.find("hbm")->built_in.has_value());
  CHECK_FALSE(peaks_of_device(*snapshot, "gpu 1", edits).any_known());
}

TEST_CASE("peaks: rates are read with or without their unit, and nonsense is told") {
  CHECK(*parse_peak("435 GB/s", kBytesPerSecond) == doctest::Approx(435e9));
  CHECK(*parse_peak("2.9TB/s", kBytesPerSecond) == doctest::Approx(2.9e12));
  CHECK(*parse_peak("435G", kBytesPerSecond) == doctest::Approx(435e9));
  CHECK(*parse_peak("78.6 TFLOP/s", kFlopsPerSecond) == doctest::Approx(78.6e12));
  CHECK(*parse_peak("1.3 PFLOPS", kFlopsPerSecond) == doctest::Approx(1.3e15));
  CHECK(*parse_peak("500000000000", kBytesPerSecond) == doctest::Approx(5e11));
  for (const char* wrong : {"", "fast", "0", "-3 GB/s", "max", "12 TFLOP/s x"})
    CHECK_FALSE(parse_peak(wrong, kFlopsPerSecond).ok());
  CHECK_FALSE(parse_peak("12 GB/s", kFlopsPerSecond).ok());
  CHECK_FALSE(parse_peak("12 TFLOP/s", kBytesPerSecond).ok());
  CHECK(*parse_peak(format_value(83.4e12, kFlopsPerSecond), kFlopsPerSecond) == doctest::Approx(83.4e12));
}

TEST_CASE("peaks: what a profile states of a device as figures goes before the table, in its own units") {
  std::unique_ptr<Store> store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  writer.set_meta("device.0.name", "TPU v6 Lite");
  writer.add_metric({.name = "peak_teraflops_per_second", .value = 918, .device = "TPU 0"});
  writer.add_metric({.name = "peak_hbm_bw_gigabytes_per_second", .value = 1638, .device = "TPU 0"});
  writer.add_metric({.name = "memory_bandwidth", .value = 3.0e12, .device = "GPU 1"});
  writer.set_meta("device.1.name", "NVIDIA H100 80GB HBM3");
  REQUIRE(writer.finish().ok());
  const PeakList tpu = peaks_of_device(*store->snapshot(), "TPU 0");
  CHECK(tpu.model == "TPU v6 Lite");
  CHECK(*tpu.value("bf16") == doctest::Approx(918e12));
  CHECK(*tpu.value("hbm") == doctest::Approx(1638e9));
  CHECK(tpu.find("bf16")->origin == PeakOrigin::file);
  CHECK(tpu.find("fp32") != nullptr);  // can be entered
  const PeakList gpu = peaks_of_device(*store->snapshot(), "GPU 1");
  CHECK(*gpu.value("hbm") == doctest::Approx(3.0e12));
  CHECK(gpu.find("hbm")->origin == PeakOrigin::file);
  CHECK(gpu.find("bf16")->origin == PeakOrigin::table);
}
