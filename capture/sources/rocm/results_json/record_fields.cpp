#include "capture/sources/rocm/results_json/record_fields.h"

#include <unordered_map>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources::rocm {
namespace {

struct RecordPath {
  std::string_view path;  // without what dispatches of counters have around it
  RecordField field;
};

constexpr RecordPath kRecordPaths[] = {
    {"kind", RecordField::kind},
    {"operation", RecordField::operation},
    {"thread_id", RecordField::thread},
    {"correlation_id.internal", RecordField::internal},
    {"correlation_id.external", RecordField::external},
    {"correlation_id.external.value", RecordField::external},
    {"correlation_id.ancestor", RecordField::ancestor},
    {"start_timestamp", RecordField::start},
    {"end_timestamp", RecordField::end},
    {"agent_id.handle", RecordField::agent},
    {"queue_id.handle", RecordField::queue},
    {"stream_id.handle", RecordField::stream},
    {"dispatch_info.agent_id.handle", RecordField::agent},
    {"dispatch_info.queue_id.handle", RecordField::queue},
    {"dispatch_info.kernel_id", RecordField::kernel},
    {"dispatch_info.dispatch_id", RecordField::dispatch},
    {"dispatch_info.private_segment_size", RecordField::private_segment},
    {"dispatch_info.group_segment_size", RecordField::group_segment},
    {"dispatch_info.workgroup_size.x", RecordField::workgroup_x},
    {"dispatch_info.workgroup_size.y", RecordField::workgroup_y},
    {"dispatch_info.workgroup_size.z", RecordField::workgroup_z},
    {"dispatch_info.grid_size.x", RecordField::grid_x},
    {"dispatch_info.grid_size.y", RecordField::grid_y},
    {"dispatch_info.grid_size.z", RecordField::grid_z},
    {"dispatch_info.graph_exec_id", RecordField::graph_exec},
    {"dispatch_info.graph_node_id", RecordField::graph_node},
    {"graph_exec_id", RecordField::graph_exec},
    {"graph_node_id", RecordField::graph_node},
    {"src_agent_id.handle", RecordField::source_agent},
    {"dst_agent_id.handle", RecordField::destination_agent},
    {"src_address", RecordField::source_address},
    {"src_address.handle", RecordField::source_address},
    {"src_address.value", RecordField::source_address},
    {"dst_address", RecordField::destination_address},
    {"dst_address.handle", RecordField::destination_address},
    {"dst_address.value", RecordField::destination_address},
    {"bytes", RecordField::bytes},
    {"address", RecordField::address},
    {"address.handle", RecordField::address},
    {"address.value", RecordField::address},
    {"allocation_size", RecordField::allocation_size},
    {"flags", RecordField::flags},
    {"arch_vgpr_count", RecordField::vgprs},
    {"accum_vgpr_count", RecordField::accum_vgprs},
    {"sgpr_count", RecordField::sgprs},
};

[[nodiscard]] const std::unordered_map<std::string_view, RecordField>& record_paths() {
  static const auto paths = [] {
    std::unordered_map<std::string_view, RecordField> map;
    for (const RecordPath& row : kRecordPaths) map.emplace(row.path, row.field);
    return map;
  }();
  return paths;
}

}  // namespace

void RecordFields::add(const json::JsonField& field) {
  path_.clear();
  add(path_, field, 0);
}

void RecordFields::add_unread(std::string_view path) {
  constexpr std::size_t kMostUnread = 1'000;
  if (unread_.size() < kMostUnread && !unread_.contains(path)) unread_.emplace(path);
}

void RecordFields::add(std::string& path, const json::JsonField& field, unsigned depth) {
  constexpr unsigned kDeepest = 4;
  constexpr std::string_view kAround = "dispatch_data";
  const std::size_t before = path.size();
  if (depth > 0 || field.key != kAround) {
    if (!path.empty()) path += '.';
    path += field.key;
  }
  if (field.kind == json::JsonKind::object && path == "args") {
    arguments_ = field.text == "{}" ? std::string_view{} : field.text;
  } else if (field.kind == json::JsonKind::object && depth < kDeepest) {
    const unsigned deeper = path.empty() ? 0 : depth + 1;
    (void)json::each_member(field.text, [&](const json::JsonField& inner) {
      add(path, inner, deeper);
      return true;
    });
  } else if (field.kind == json::JsonKind::number || field.kind == json::JsonKind::string) {
    const auto known = record_paths().find(path);
    if (known != record_paths().end()) {
      MaybeNumber number = json::to_int64(field);
      if (!number) {
        if (const auto bits = json::to_uint64(field)) number = static_cast<std::int64_t>(*bits);  // addresses
      }
      numbers_[static_cast<std::size_t>(known->second)] = number;
    } else {
      add_unread(path);
    }
  }
  path.resize(before);
}

}  // namespace accelscope::capture::sources::rocm
