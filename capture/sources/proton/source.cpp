#include "capture/sources/proton/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/async_sink.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::proton {
namespace {

using namespace columns;
using tracks::KernelColumns;
using tracks::UnorderedSession;

constexpr int kDeepest = 512;  // scopes within scopes; what lies deeper is added to the scope above it
constexpr std::size_t kLargestTree = std::size_t{1} << 30;

constexpr ColumnSpec kKernelMetrics[] = {
    {"count", kInt, "", kOperation, "Launches", "How often it was launched."},
    {"flops", kReal, "FLOP", kOperation, "Operations", "Floating point operations of all widths, of all launches.",
     Role::flops},
    {"bytes", kInt, "B", kTransfer, "Bytes", "Bytes read and written, of all launches.", Role::bytes},
    {"metrics", kText, "", kDetails, "Metrics", "All metrics of the node, as JSON."},
};
constexpr std::size_t kLaunches = KernelColumns::count, kFlops = kLaunches + 1, kBytes = kLaunches + 2,
                      kMetrics = kLaunches + 3;
constexpr ColumnSpec kScopeColumns[] = {
    {"type", kString, "", kOperation, "Type", "What kind of scope it is to the profiler."},
    {"metrics", kText, "", kDetails, "Metrics", "Its own metrics, as JSON."},
};

struct ProtonNode {
  std::string name, type;
  std::string_view metrics, children;
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> count, bytes, device;
  double flops = 0;
  std::string device_type;
};

[[nodiscard]] bool read_node(std::string_view text, ProtonNode& node) {
  return json::each_member(text, [&](const json::JsonField& field) {
    if (field.key == "children") node.children = field.text;
    if (field.key == "metrics") node.metrics = field.text;
    if (field.key != "frame") return true;
    return json::each_member(field.text, [&](const json::JsonField& part) {
      if (part.key == "name") node.name = part.text;
      if (part.key == "type") node.type = part.text;
      return true;
    });
  });
}

void read_metrics(ProtonNode& node) {
  (void)json::each_member(node.metrics, [&](const json::JsonField& metric) {
    const std::string key = lower_case(metric.key);
    if (key == "time (ns)" || key == "time") node.time_ns = json::to_rounded_int64(metric).value_or(0);
    if (key == "count") node.count = json::to_rounded_int64(metric);
    if (key == "bytes") node.bytes = json::to_rounded_int64(metric);
    if (key == "device_id") node.device = json::to_int64(metric);
    if (key == "device_type") node.device_type = metric.text;
    if (key.starts_with("flops")) node.flops += json::to_double(metric).value_or(0);
    return true;
  });
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  node.time_ns = std::clamp<std::int64_t>(node.time_ns, 0, kLongest);
}

class HatchetImport {
 public:
  HatchetImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  // Writes the node and all below it from `begin` on; returns where it ends.
  std::int64_t write(std::string_view text, std::int64_t begin, int depth);
  void write_kernel(const ProtonNode& node, std::int64_t begin);
  [[nodiscard]] std::uint32_t kernel_row(const ProtonNode& node);
  void take_devices(std::string_view text);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  tracks::EventValues values_;
  std::uint32_t scopes_ = kNone, kernels_ = kNone;  // tables
  std::uint32_t scope_row_ = kNone;
  std::map<std::string, std::uint32_t> kernel_rows_;
  std::uint64_t nodes_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t deep_ = 0;
  std::uint64_t kernel_count_ = 0;
};

std::uint32_t HatchetImport::kernel_row(const ProtonNode& node) {
  const std::string device = tracks::gpu_name(node.device.value_or(0));
  const auto [row, added] = kernel_rows_.try_emplace(device, kNone);
  if (added) {
    Track track;
    track.name = "kernels";
    track.kind = "stream";
    track.device = device;
    row->second = session_.add_track(kernels_, std::move(track));
  }
  return row->second;
}

void HatchetImport::write_kernel(const ProtonNode& node, std::int64_t begin) {
  values_.clear();
  if (node.device) values_.integer(KernelColumns::device, *node.device);
  if (node.count) values_.integer(kLaunches, *node.count);
  if (node.flops > 0) values_.real(kFlops, node.flops);
  if (node.bytes) values_.integer(kBytes, *node.bytes);
  values_.text(kMetrics, node.metrics);
  session_.write(kernel_row(node), begin, node.time_ns, session_.intern(node.name), values_);
  ++kernel_count_;
}

std::int64_t HatchetImport::write(std::string_view text, std::int64_t begin, int depth) {
  ProtonNode node;
  if (!read_node(text, node)) ++broken_;  // what of it was read counts
  read_metrics(node);
  ++nodes_;
  if (node.time_ns > 0) write_kernel(node, begin);
  std::int64_t end = begin + node.time_ns;
  if (depth < kDeepest) {
    (void)json::each_element(node.children, [&](const json::JsonField& child) {
      end = write(child.text, end, depth + 1);
      return !session_.cancelled();
    });
  } else if (node.children.size() > 2) {
    ++deep_;
  }
  values_.clear();
  if (!node.type.empty()) values_.string(0, session_.intern(node.type));
  if (!node.metrics.empty()) values_.text(1, node.metrics);
  session_.write(scope_row_, begin, end - begin, session_.intern(node.name), values_);
  return end;
}

// {"CUDA": {"0": {"arch": "90", ...}}}
void HatchetImport::take_devices(std::string_view text) {
  (void)json::each_member(text, [&](const json::JsonField& kind) {
    return json::each_member(kind.text, [&](const json::JsonField& device) {
      return json::each_member(device.text, [&](const json::JsonField& fact) {
        session_.writer().set_meta(fmt::format("{}.{}.{}", kind.key, device.key, fact.key), std::string(fact.text));
        return true;
      });
    });
  });
}

Result<void> HatchetImport::run(std::unique_ptr<json::ByteSource> bytes) {
  scopes_ =
      session_.add_table(make_schema({"scope", EventKind::slice, "name", "What the program calls it."}, kScopeColumns));
  kernels_ = session_.add_table(make_gpu_schema(tracks::GpuTable::kernel, kKernelMetrics));
  Track track;
  track.name = "Scopes";
  track.kind = "layer";
  scope_row_ = session_.add_track(scopes_, std::move(track), {tracks::kDeviceRows, -1});
  json::JsonTableReader::Options reading;
  reading.max_row_bytes = kLargestTree;
  reading.max_depth = 1U << 20;
  json::JsonTableReader reader(std::move(bytes), reading);
  json::JsonWindow window;
  std::int64_t end = 0;
  while (reader.next(window)) {
    for (std::size_t i = 0; i < window.rows.size(); ++i) {
      const std::string_view row = window.row(i);
      if (row.find("\"frame\"") != std::string_view::npos) {
        end = write(row, end, 0);
      } else {
        take_devices(row);
      }
    }
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(reader.bytes_read(), reader.bytes_read());
  }
  for (const json::JsonProblem& problem : reader.problems()) session_.report().add(problem);
  if (nodes_ == 0) return Error{name_ + ": holds no tree of Proton: nodes with \"frame\" and \"metrics\""};
  session_.writer().set_meta("source_format", "Proton (hatchet)");
  session_.writer().set_meta("source.rows.scope", fmt::format("{}", nodes_));
  session_.writer().set_meta("source.rows.kernel", fmt::format("{}", kernel_count_));
  ImportReport& report = session_.report();
  report.note("time_unit", "the file tells how long everything took and not when: it lies one after another");
  report.note("broken_args", "nodes were read in part, for the rest of them is no JSON", broken_);
  report.note("rows_left_out",
              fmt::format("scopes that lie deeper than {} were left out with all below them", kDeepest), deep_);
  return session_.finish({.clock = "total", .path = name_});
}

}  // namespace

int probe_hatchet(std::string_view head, const std::string& path) {
  constexpr int kLikely = 80;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return 0;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  const bool tree = has("\"frame\"") && has("\"metrics\"");
  return tree && (has("\"children\"") || path.ends_with(".hatchet")) ? kLikely : 0;
}

Result<void> import_hatchet(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                            const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  if (Result<void> done = HatchetImport(name, options, receiver).run(std::move(bytes)); !done) return done;
  return receiver.finish();
}

Result<void> import_hatchet(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_hatchet(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::proton
