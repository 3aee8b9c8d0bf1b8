// Importing a generated profile of the XLA profiler into a store in memory, against stepping over all fields of the
// same file and doing nothing with them: kernels and the calls that launched them, operations of TPUs, functions of
// Python, what a host's threads hand over to each other.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sources/base/source.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/import/import_cost.h"

namespace accelscope::bench {
namespace {

constexpr std::uint64_t kXplaneLines = 8;  // of each kind: streams, TPUs, threads
constexpr std::uint64_t kXplaneNames = 300;
constexpr std::uint64_t kXplaneFirstText = 1000;  // texts that stats refer to have numbers from here on

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) to += static_cast<char>(value | 0x80U);
  to += static_cast<char>(value);
}
void put_number(std::string& to, std::uint32_t field, std::uint64_t value) {
  put_varint(to, field << 3U);
  put_varint(to, value);
}
void put_bytes(std::string& to, std::uint32_t field, std::string_view value) {
  put_varint(to, field << 3U | 2U);
  put_varint(to, value.size());
  to += value;
}

// The value's field tells its type: 3 and 4 are whole numbers, 7 is a text's number.
struct PlannedStat {
  std::uint64_t id = 0;
  std::uint32_t field = 0;
  std::uint64_t value = 0;
};

class PlannedLine {
 public:
  PlannedLine(std::uint64_t id, std::string_view name) {
    put_number(bytes_, 1, id);
    put_bytes(bytes_, 2, name);
    put_number(bytes_, 3, 1000);
  }
  void event(std::uint64_t name, std::uint64_t offset_ps, std::uint64_t duration_ps,
             std::initializer_list<PlannedStat> stats) {
    event_.clear();
    put_number(event_, 1, name);
    put_number(event_, 2, offset_ps);
    put_number(event_, 3, duration_ps);
    for (const PlannedStat& stat : stats) {
      stat_.clear();
      put_number(stat_, 1, stat.id);
      put_number(stat_, stat.field, stat.value);
      put_bytes(event_, 4, stat_);
    }
    put_bytes(bytes_, 4, event_);
    ++events_;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  std::string bytes_, event_, stat_;
  std::uint64_t events_ = 0;
};

constexpr std::string_view kXplaneStats[] = {"",
                                             "correlation_id",
                                             "kernel_details",
                                             "tf_op",
                                             "hlo_op",
                                             "hlo_module",
                                             "program_id",
                                             "name",
                                             "device_id",
                                             "_pt",
                                             "_p",
                                             "_ct",
                                             "_c",
                                             "run_id",
                                             "queue",
                                             "continuation",
                                             "core_type",
                                             "size",
                                             "device_offset_ps",
                                             "device_duration_ps"};
enum XplaneStat : std::uint64_t {
  kCorrelationStat = 1,
  kDetailsStat,
  kTfOpStat,
  kHloOpStat,
  kModuleStat,
  kProgramStat,
  kOpNameStat,
  kDeviceStat,
  kProducerTypeStat,
  kProducerStat,
  kConsumerTypeStat,
  kConsumerStat,
  kRunStat,
  kQueueStat,
  kContinuationStat,
  kCoreStat,
  kSizeStat,
  kDeviceOffsetStat,
  kDeviceDurationStat
};

class PlannedFile {
 public:
  explicit PlannedFile(const std::string& path) : file_(path, std::ios::binary) {}

  // Names and texts of every plane are alike; `prefix` is before those of its events.
  void add_plane(std::string_view name, std::string_view prefix, const std::vector<PlannedLine>& lines) {
    std::string plane;
    put_bytes(plane, 2, name);
    for (const PlannedLine& line : lines) {
      put_bytes(plane, 3, line.bytes());
      events_ += line.events();
    }
    for (std::uint64_t i = 1; i <= kXplaneNames; ++i) add_name(plane, 4, i, fmt::format("{}{}", prefix, i));
    for (std::uint64_t i = 1; i < std::size(kXplaneStats); ++i) add_name(plane, 5, i, kXplaneStats[i]);
    for (std::uint64_t i = 0; i < kXplaneNames; ++i) {
      add_name(plane, 5, kXplaneFirstText + i, fmt::format("jit(train)/transformer/layer_{}/dot_general", i));
      add_name(plane, 5, 2 * kXplaneFirstText + i,
               fmt::format(" regs:{} static_shared:0 dynamic_shared:{} grid:{},1,1 block:128,1,1 occ_pct:50",
                           16 + i % 200, i * 64, 1 + i));
    }
    std::string head;
    put_varint(head, 1U << 3U | 2U);
    put_varint(head, plane.size());
    file_ << head << plane;
  }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] bool written() {
    file_.close();
    return !file_.fail();
  }

 private:
  static void add_name(std::string& plane, std::uint32_t field, std::uint64_t id, std::string_view name) {
    std::string metadata;
    put_number(metadata, 1, id);
    put_bytes(metadata, 2, name);
    std::string entry;
    put_number(entry, 1, id);
    put_bytes(entry, 2, metadata);
    put_bytes(plane, field, entry);
  }

  std::ofstream file_;
  std::uint64_t events_ = 0;
};

// Of each line so many events; those of a line follow each other.
[[nodiscard]] std::vector<PlannedLine> gpu_streams(std::uint64_t gpu, std::uint64_t count) {
  std::vector<PlannedLine> lines;
  for (std::uint64_t line = 0; line < kXplaneLines; ++line) {
    PlannedLine& stream = lines.emplace_back(line, fmt::format("Stream #{}(Kernel)", 16 + line));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t op = (i * 13 + line) % kXplaneNames;
      stream.event(1 + op, 5'000'000 + i * 4'000'000, 2'000'000 + i * 7919 % 1'900'000,
                   {{kCorrelationStat, 3, 1 + (gpu * kXplaneLines + line) * count + i},
                    {kDetailsStat, 7, 2 * kXplaneFirstText + op},
                    {kTfOpStat, 7, kXplaneFirstText + op},
                    {kHloOpStat, 7, kXplaneFirstText + (op + 7) % kXplaneNames},
                    {kModuleStat, 7, kXplaneFirstText},
                    {kProgramStat, 4, 12},
                    {kOpNameStat, 7, kXplaneFirstText + op}});
    }
  }
  return lines;
}

[[nodiscard]] std::vector<PlannedLine> tpu_operations(std::uint64_t count) {
  PlannedLine ops(3, "XLA Ops");
  PlannedLine modules(2, "XLA Modules");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = i * 2'000'000 + i % 997;
    const std::uint64_t length = 1'000'000 + i * 7919 % 990'000;
    ops.event(1 + i * 13 % kXplaneNames, offset, length,
              {{kDeviceOffsetStat, 3, offset}, {kDeviceDurationStat, 3, length}});
    if (i % 100 == 0) {
      modules.event(1, offset, 190'000'000,
                    {{kRunStat, 3, i / 100}, {kConsumerTypeStat, 4, 12}, {kConsumerStat, 4, i / 100}});
    }
  }
  return {std::move(ops), std::move(modules)};
}

// A call for each kernel of a GPU; functions within one another; work that one thread hands to the next.
[[nodiscard]] std::vector<PlannedLine> host_threads(std::uint64_t gpu, std::uint64_t count) {
  std::vector<PlannedLine> lines;
  for (std::uint64_t line = 0; line < kXplaneLines; ++line) {
    PlannedLine& calls = lines.emplace_back(1000 + gpu * 100 + line, fmt::format("Host Threads/{}", 1000 + line));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t op = i * 13 % kXplaneNames;
      calls.event(1 + op % 9, 1'000'000 + i * 4'000'000, 900'000 + i * 31 % 900'000,
                  {{kDeviceStat, 3, gpu},
                   {kCorrelationStat, 3, 1 + (gpu * kXplaneLines + line) * count + i},
                   {kTfOpStat, 7, kXplaneFirstText + op},
                   {kHloOpStat, 7, kXplaneFirstText + op},
                   {kModuleStat, 7, kXplaneFirstText},
                   {kProgramStat, 4, 12},
                   {kOpNameStat, 7, kXplaneFirstText + op}});
    }
    PlannedLine& queue = lines.emplace_back(1050 + gpu * 100 + line, fmt::format("tfrt-queue/{}", line));
    for (std::uint64_t i = 0; i < count / 2; ++i) {
      const std::uint64_t id = gpu * 1'000'000'000 + i;
      queue.event(20 + i % 9, 1'000'000 + (i * kXplaneLines + line) * 1'000'000, 700'000,
                  {{kProducerTypeStat, 4, 5},
                   {kProducerStat, 4, id * kXplaneLines + line},
                   {kConsumerTypeStat, 4, 5},
                   {kConsumerStat, 4, id * kXplaneLines + line - (line == 0 ? 0 : 1)},
                   {kRunStat, 4, i / 100},
                   {kQueueStat, 4, line}});
    }
  }
  return lines;
}

[[nodiscard]] PlannedLine python_thread(std::uint64_t count) {
  PlannedLine python(7, "python");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t depth = i % 8;
    python.event(1 + i * 7 % kXplaneNames, i / 8 * 4'000'000 + depth * 100'000, 3'900'000 - depth * 250'000, {});
  }
  return python;
}

// Its number of events.
[[nodiscard]] std::uint64_t write_space(const std::string& path, double scale) {
  const auto share = [&](double of) { return static_cast<std::uint64_t>(of * scale); };
  PlannedFile file(path);
  for (std::uint64_t gpu = 0; gpu < 2; ++gpu) {
    file.add_plane(fmt::format("/device:GPU:{}", gpu), "void cutlass::Kernel<gemm_", gpu_streams(gpu, share(140e3)));
  }
  for (std::uint64_t tpu = 0; tpu < 2; ++tpu)
    file.add_plane(fmt::format("/device:TPU:{}", tpu), "%fusion.", tpu_operations(share(1000e3)));
  for (std::uint64_t gpu = 0; gpu < 2; ++gpu)
    file.add_plane(gpu == 0 ? "/host:CPU" : "/host:CUPTI", "cuda_call_", host_threads(gpu, share(140e3)));
  std::vector<PlannedLine> python;
  python.push_back(python_thread(share(2500e3)));
  file.add_plane("/host:python-tracer", "$model.py:77 forward_", python);
  return file.written() ? file.events() : 0;
}

[[nodiscard]] std::uint64_t varint_of(const unsigned char*& at, const unsigned char* end) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at != end; shift += 7) {
    const unsigned char byte = *at++;
    value |= std::uint64_t{byte & 0x7fU} << (shift & 63U);
    if (byte < 0x80U) break;
  }
  return value;
}

// Messages of a space by depth: plane, line, event, stat. Fields that hold them there.
std::uint64_t step_fields(const unsigned char* at, const unsigned char* end, unsigned depth) {
  constexpr std::uint64_t kHolding[] = {1, 3, 4, 4, 0};
  std::uint64_t fields = 0;
  while (at < end) {
    const std::uint64_t tag = varint_of(at, end);
    const std::uint64_t value = varint_of(at, end);  // the file holds numbers and bytes only
    ++fields;
    if ((tag & 7U) != 2) continue;
    if (tag >> 3U == kHolding[depth]) fields += step_fields(at, at + value, depth + 1);
    at += value;
  }
  return fields;
}

std::uint64_t step_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::filesystem::file_size(path));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const auto* const begin = reinterpret_cast<const unsigned char*>(bytes.data());
  return step_fields(begin, begin + bytes.size(), 0);
}

[[nodiscard]] double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

void bench_xplane_import(const BenchOptions& options) {
  const std::string path = options.work_folder + "/bench.xplane.pb";
  const std::uint64_t events = write_space(path, options.scale);
  if (events == 0) {
    fmt::print(stderr, "xplane_import: {} cannot be written\n", path);
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  std::uint64_t fields = 0;
  const double stepping = best_seconds(2, [&] { fields = step_file(path); });
  double processor = 0;
  const auto cost = import_cost("xplane_import", events, [&](EventSink& sink) {
    const double before = processor_seconds();
    Result<void> done = capture::sources::find_format("xplane").value()->run(path, {}, sink);
    processor = processor_seconds() - before;
    return done;
  });
  if (!cost) return;
  const std::string recipe = fmt::format(
      "{} events, {:.0f} MB: kernels and calls of 7 stats, TPU operations of 2, nested functions of Python without "
      "any, "
      "threads that hand over to each other; {} arrows; yardstick: reading the file, stepping over its {} fields",
      events, megabytes, cost->events - events, fields);
  report({"xplane_import", megabytes / cost->seconds, "MB/s", "at least 150", "stepping over the fields",
          megabytes / stepping, recipe});
  report({"xplane_import_processor", megabytes / processor, "MB/s of processor time", "", "stepping over the fields",
          megabytes / stepping, recipe});
  report({"xplane_import_memory", cost->grown_bytes / 1e6, "MB", "at most twice the final and 128 MB",
          "the store afterwards", cost->retained_bytes / 1e6, recipe});
  std::filesystem::remove(path);
}

}  // namespace accelscope::bench
