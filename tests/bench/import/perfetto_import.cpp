// Importing generated Perfetto traces into a store in memory, against a loop that steps over every field of the same
// bytes and does nothing with them: nested slices as the SDK writes them, sorted; and as PyTorch writes them, all
// begins first.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "capture/sources/base/source.h"
#include "capture/sources/perfetto/read/wire.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"
#include "tests/support/perfetto_writer.h"

namespace accelscope::bench {
namespace {

using test::TraceMessage;

constexpr std::uint64_t kThreads = 40;
constexpr std::uint64_t kInternedNames = 200;
constexpr std::uint64_t kNested = 4;  // slices within each

std::string head() {
  std::string trace;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    trace += test::thread_packet(100 + thread, 77, 1000 + thread, fmt::format("worker {}", thread));
  }
  TraceMessage interned;
  interned.message(1, TraceMessage().number(1, 1).text(2, "work"));
  for (std::uint64_t i = 1; i <= kInternedNames; ++i) {
    const std::string name = fmt::format("function_{:03}", i);
    interned.message(2, TraceMessage().number(1, i).text(2, name));
    interned.message(
        4, TraceMessage().number(1, i).text(2, fmt::format("/src/file_{:03}.cc", i)).text(3, name).number(4, i));
  }
  return trace + test::packet(TraceMessage().number(10, 1).number(13, 1).message(12, interned));
}

std::string mark(std::uint64_t ns, std::uint64_t thread, std::uint64_t name) {
  TraceMessage event;
  event.number(9, name == 0 ? 2 : 1).number(11, 100 + thread);
  if (name > 0) event.number(3, 1).number(10, name).number(34, name);
  return test::packet(TraceMessage().number(8, ns).number(10, 1).number(13, 2).message(11, event));
}

// A slice and those within it, on one thread after another; what `wanted` says of begins (true) and ends is written.
template <typename Wanted>
bool write_slices(std::ofstream& file, std::uint64_t slices, Wanted wanted) {
  std::string text;
  for (std::uint64_t group = 0; group * (kNested + 1) < slices; ++group) {
    const std::uint64_t thread = group % kThreads;
    const std::uint64_t ns = 1'000'000 + group * 100;
    const auto put = [&](std::uint64_t at, std::uint64_t name) {
      if (wanted(name > 0)) text += mark(ns + at, thread, name);
    };
    put(0, 1 + group % kInternedNames);
    for (std::uint64_t inner = 0; inner < kNested; ++inner) {
      put(10 + inner * 20, 1 + (group + inner) % kInternedNames);
      put(25 + inner * 20, 0);
    }
    put(95, 0);
    if (text.size() > 1U << 20) {
      file << text;
      text.clear();
    }
  }
  file << text;
  return file.good();
}

std::uint64_t count_trace_fields(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t count = 0;
  const auto step = [&](const auto& self, std::string_view message, int depth) -> void {
    capture::sources::perfetto::Fields fields(message);
    while (fields.next()) {
      ++count;
      const bool holds_fields = depth == 0 || (depth == 1 && fields.number() == 11);
      if (holds_fields) self(self, fields.bytes(), depth + 1);
    }
  };
  step(step, bytes, 0);
  return count;
}

void measure(const std::string& name, const std::string& shape, const std::string& path, std::uint64_t slices) {
  const auto cost = import_cost(name, slices, [&](EventSink& sink) {
    return capture::sources::find_format("perfetto").value()->run(path, {}, sink);
  });
  if (!cost) return;
  std::uint64_t fields = 0;
  const double stepping = best_seconds(2, [&] { fields = count_trace_fields(path); });
  const double millions = static_cast<double>(slices) / 1e6;
  const std::string recipe = fmt::format(
      "{} slices of two packets each, {:.0f} MB: {}; yardstick: stepping over the {} fields of the whole file", slices,
      static_cast<double>(std::filesystem::file_size(path)) / 1e6, shape, fields);
  report({name, millions / cost->seconds, "M slices/s", "at least 4", "stepping over fields", millions / stepping,
          recipe});
  report({name + "_memory", cost->grown_bytes / static_cast<double>(slices), "B a slice at peak", "at most 60",
          "the store afterwards", cost->retained_bytes / static_cast<double>(slices), recipe});
}

}  // namespace

void bench_perfetto_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/perfetto_import.pftrace";
  const auto slices = static_cast<std::uint64_t>(5e6 * options.scale);
  {
    std::ofstream file(path, std::ios::binary);
    file << head();
    if (!write_slices(file, slices, [](bool) { return true; })) return;
  }
  measure("perfetto_import", "40 threads, 200 interned names, four slices within one, a source location each", path,
          slices);
  {
    std::ofstream file(path, std::ios::binary);
    file << head();
    if (!write_slices(file, slices, [](bool begins) { return begins; })) return;
    if (!write_slices(file, slices, [](bool begins) { return !begins; })) return;
  }
  measure("perfetto_import_unsorted", "the same, all begins and then all ends", path, slices);
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
