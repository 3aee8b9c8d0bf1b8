// Trees of Triton's profiler Proton (.hatchet).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::proton {
namespace {

using namespace columns;
using tracks::KernelColumns;
using tracks::UnorderedSession;

constexpr std::size_t kDeepest =
    512;  // scopes within scopes; the time of those deeper is in them, and their kernels are shown
constexpr std::size_t kLargestTree = std::size_t{1} << 30;

constexpr ColumnSpec kKernelMetrics[] = {
    {"count", kInt, "", kOperation, "Launches", "How often it was launched."},
    {"metrics", kText, "", kDetails, "Metrics", "All metrics of the node, as JSON."},
};
constexpr std::size_t kLaunches = KernelColumns::count, kMetrics = kLaunches + 1;
constexpr ColumnSpec kScopeColumns[] = {
    {"type", kString, "", kOperation, "Type", "What kind of scope it is to the profiler."},
    {"metrics", kText, "", kDetails, "Metrics", "Its own metrics, as JSON."},
};

struct ProtonNode {
  StringId name = 0, type = 0;
  std::string_view metrics;
  std::size_t depth = 0;
};

struct ProtonMetrics {
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> count, bytes, device;
  double flops = 0;
};

[[nodiscard]] ProtonMetrics read_metrics(std::string_view text) {
  ProtonMetrics read;
  (void)json::each_member(text, [&](const json::JsonField& metric) {
    const std::string key = lower_case(metric.key);
    if (key == "time (ns)" || key == "time") read.time_ns = json::to_rounded_int64(metric).value_or(0);
    if (key == "count") read.count = json::to_rounded_int64(metric);
    if (key == "bytes") read.bytes = json::to_rounded_int64(metric);
    if (key == "device_id") read.device = json::to_int64(metric);
    if (key.starts_with("flops")) read.flops += json::to_double(metric).value_or(0);
    return true;
  });
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  read.time_ns = std::clamp<std::int64_t>(read.time_ns, 0, kLongest);
  return read;
}

class HatchetImport {
 public:
  HatchetImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  // The nodes of a tree, each before those in it, in one pass over the text. The cursor is on the first one.
  [[nodiscard]] std::vector<ProtonNode> read_nodes(json::JsonCursor& cursor);
  [[nodiscard]] bool read_member(json::JsonCursor& cursor, ProtonNode& node);  // true: its children are entered
  // Writes the tree from `begin` on; returns where it ends.
  [[nodiscard]] std::int64_t write_tree(std::string_view text, std::int64_t begin);
  void write_kernel(const ProtonNode& node, const ProtonMetrics& metrics, std::int64_t begin);
  void write_scope(const ProtonNode& node, std::int64_t begin, std::int64_t end);
  [[nodiscard]] std::uint32_t kernel_row(std::int64_t device);
  void take_devices(std::string_view text);
  void add_unread(std::string_view name) {
    constexpr std::size_t kMostNames = 1'000;
    if (unread_.size() < kMostNames && !unread_.contains(name)) unread_.emplace(name);
  }

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  tracks::EventValues values_;
  std::uint32_t scopes_ = kNone, kernels_ = kNone;  // tables
  std::uint32_t scope_row_ = kNone;
  std::map<std::string, std::uint32_t> kernel_rows_;
  std::set<std::string, std::less<>> unread_;  // members of nodes
  std::uint64_t nodes_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t deep_ = 0;
};

std::uint32_t HatchetImport::kernel_row(std::int64_t number) {
  const std::string device = tracks::gpu_name(number);
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

void HatchetImport::write_kernel(const ProtonNode& node, const ProtonMetrics& metrics, std::int64_t begin) {
  values_.clear();
  if (metrics.device) values_.integer(KernelColumns::device, *metrics.device);
  if (metrics.count) values_.integer(kLaunches, *metrics.count);
  if (metrics.flops > 0) values_.real(KernelColumns::flops, metrics.flops);
  if (metrics.bytes) values_.integer(KernelColumns::bytes, *metrics.bytes);
  values_.text(kMetrics, node.metrics);
  session_.write(kernel_row(metrics.device.value_or(0)), begin, metrics.time_ns, node.name, values_);
}

void HatchetImport::write_scope(const ProtonNode& node, std::int64_t begin, std::int64_t end) {
  if (node.depth >= kDeepest) {
    ++deep_;
    return;
  }
  values_.clear();
  if (node.type != 0) values_.string(0, node.type);
  if (!node.metrics.empty()) values_.text(1, node.metrics);
  session_.write(scope_row_, begin, end - begin, node.name, values_);
}

bool HatchetImport::read_member(json::JsonCursor& cursor, ProtonNode& node) {
  const std::string_view key = cursor.key();
  if (!cursor.ok()) return false;
  if (key == "children" && cursor.enter('[')) return true;
  const json::JsonField field = cursor.value();
  if (!cursor.ok()) return false;
  if (key == "metrics") node.metrics = field.text;
  if (key != "metrics" && key != "frame" && key != "children") add_unread(key);
  if (key != "frame") return false;
  const bool whole = json::each_member(field.text, [&](const json::JsonField& part) {
    if (part.key == "name") node.name = session_.intern(part.text);
    if (part.key == "type" && !part.text.empty()) node.type = session_.intern(part.text);
    if (part.key != "name" && part.key != "type") add_unread(fmt::format("frame.{}", part.key));
    return true;
  });
  broken_ += whole ? 0 : 1;
  return false;
}

std::vector<ProtonNode> HatchetImport::read_nodes(json::JsonCursor& cursor) {
  struct Open {
    std::size_t node = 0;
    bool in_children = false;
  };
  std::vector<ProtonNode> nodes(1);
  std::vector<Open> open(1);
  while (!open.empty() && cursor.ok()) {
    Open& at = open.back();
    const bool more = cursor.next_element(at.in_children ? '[' : '{');
    if (!cursor.ok()) break;
    if (!more && at.in_children) {
      at.in_children = false;
    } else if (!more) {
      open.pop_back();
    } else if (!at.in_children) {
      at.in_children = read_member(cursor, nodes[at.node]);
    } else if (cursor.enter('{')) {
      nodes.push_back({.depth = open.size()});
      open.push_back({nodes.size() - 1, false});
    } else {
      (void)cursor.value();
      ++broken_;
    }
  }
  broken_ += open.size();  // what of them was read counts
  return nodes;
}

// Everything begins where what comes before it has ended, a node's own time before that of its children.
std::int64_t HatchetImport::write_tree(std::string_view text, std::int64_t begin) {
  json::JsonCursor cursor(text);
  if (!cursor.enter('{')) return begin;
  const std::vector<ProtonNode> nodes = read_nodes(cursor);
  struct Open {
    const ProtonNode* node;
    std::int64_t begin;
  };
  std::vector<Open> open;
  std::int64_t end = begin;
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) write_scope(*open.back().node, open.back().begin, end);
  };
  for (const ProtonNode& node : nodes) {
    close_to(node.depth);
    open.push_back({&node, end});
    const ProtonMetrics metrics = read_metrics(node.metrics);
    if (metrics.time_ns > 0) write_kernel(node, metrics, end);
    end = capped_sum(end, metrics.time_ns);
    if (session_.cancelled()) return end;
  }
  close_to(0);
  nodes_ += nodes.size();
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
        end = write_tree(row, end);
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
  set_row_counts(session_.writer(), "scope", nodes_, nodes_ - deep_);
  ImportReport& report = session_.report();
  report.note("time_unit", "the file tells how long everything took and not when: it lies one after another");
  report.note_unread("nodes", {unread_.begin(), unread_.end()});
  report.note("broken_args", "nodes were read in part, for the rest of them is no JSON", broken_);
  report.note(
      "rows_left_out",
      fmt::format("scopes that lie within {} others have no row of their own; their kernels are shown", kDeepest),
      deep_);
  return session_.finish({.clock = "total", .path = name_});
}

}  // namespace

int probe_hatchet(std::string_view head, const std::string& path) {
  constexpr int kLikely = 80;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return 0;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  const bool tree = has("\"frame\"") && has("\"metrics\"");
  // A node's children may come before all else of it.
  const bool named = path.ends_with(".hatchet");
  return (tree && (has("\"children\"") || named)) || (named && has("\"children\"")) ? kLikely : 0;
}

Result<void> import_hatchet(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                            const ImportOptions& options, EventSink& sink) {
  return HatchetImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::proton
