#include "capture/sources/rocm/run/values.h"

#include <fmt/format.h>

#include "capture/sources/rocm/run/run.h"
#include "capture/sources/tracks/flow_ends.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::rocm {
namespace {

using tracks::EventValues;
using tracks::KernelColumns;
using tracks::NvtxColumns;
using tracks::RuntimeColumns;
using tracks::TransferColumns;

// As many groups as there are, the last ones being smaller.
[[nodiscard]] Extent groups_of(const RocmDispatch& dispatch) noexcept {
  if (dispatch.groups != Extent{}) return dispatch.groups;
  Extent groups{};
  for (std::size_t axis = 0; axis < groups.size(); ++axis) {
    const std::int64_t items = dispatch.work_items[axis];
    const std::int64_t size = dispatch.workgroup[axis];
    if (items <= 0 || size <= 0) continue;
    groups[axis] = items / size + (items % size == 0 ? 0 : 1);
  }
  return groups;
}

[[nodiscard]] bool is_known(const Extent& extent) noexcept { return extent != Extent{}; }

}  // namespace

std::size_t RocmValues::ExtentHash::operator()(const Extent& extent) const noexcept {
  const auto bits = [&](std::size_t axis) { return static_cast<std::uint64_t>(extent[axis]); };
  return static_cast<std::size_t>(tracks::flow_key(tracks::flow_key(bits(0), bits(1)), bits(2)));
}

StringId RocmValues::extent_text(const Extent& extent) {
  constexpr std::size_t kMostExtents = 100'000;
  const auto known = extents_.find(extent);
  if (known != extents_.end()) return known->second;
  const StringId text = intern_(fmt::format("[{}, {}, {}]", extent[0], extent[1], extent[2]));
  if (extents_.size() < kMostExtents) extents_.emplace(extent, text);
  return text;
}

// Columns that kernels and copies begin with alike.
void RocmValues::put_ids(const RocmOnDevice& event, std::int64_t device) {
  static_assert(KernelColumns::kind == TransferColumns::kind && KernelColumns::stream == TransferColumns::stream);
  values_.clear();
  if (event.external.value_or(0) != 0) put(KernelColumns::external_id, event.external);
  put(KernelColumns::correlation, event.correlation);
  values_.integer(KernelColumns::device, device);
  put(KernelColumns::stream, event.stream);
  put_text(KernelColumns::kind, event.category);
}

const EventValues& RocmValues::of(const RocmDispatch& dispatch, std::int64_t device, MaybeNumber pid,
                                  std::span<const CounterValue> counters) {
  using Columns = RocmKernelColumns;
  put_ids(dispatch, device);
  if (const Extent groups = groups_of(dispatch); is_known(groups)) {
    values_.string(KernelColumns::grid, extent_text(groups));
  }
  if (is_known(dispatch.workgroup)) values_.string(KernelColumns::block, extent_text(dispatch.workgroup));
  put(KernelColumns::shared_memory, dispatch.shared_bytes);
  put(KernelColumns::registers, dispatch.vgprs);
  put(Columns::dispatch_id, dispatch.dispatch_id);
  put(Columns::queue_id, dispatch.queue);
  put(Columns::tid, dispatch.thread);
  put(Columns::pid, pid);
  put(Columns::kernel_id, dispatch.kernel_id);
  if (is_known(dispatch.work_items)) values_.string(Columns::grid_size, extent_text(dispatch.work_items));
  put(Columns::private_segment_size, dispatch.scratch_bytes);
  put(Columns::arch_vgpr_count, dispatch.vgprs);
  put(Columns::accum_vgpr_count, dispatch.accum_vgprs);
  put(Columns::sgpr_count, dispatch.sgprs);
  put_text(Columns::region, dispatch.region);
  put(Columns::graph_exec_id, dispatch.graph_exec);
  put(Columns::graph_node_id, dispatch.graph_node);
  if (!dispatch.further_counters.empty()) values_.text(Columns::further_counters, dispatch.further_counters);
  if (!dispatch.arguments.empty()) values_.text(Columns::arguments, dispatch.arguments);
  for (const CounterValue& counter : counters) values_.real(Columns::count + counter.counter, counter.value);
  return values_;
}

const EventValues& RocmValues::of(const RocmCopy& copy, std::int64_t device, MaybeNumber pid, StringId source,
                                  StringId destination) {
  using Columns = RocmCopyColumns;
  put_ids(copy, device);
  put(TransferColumns::bytes, copy.bytes);
  const std::int64_t duration = copy.duration();
  if (copy.bytes && *copy.bytes > 0 && duration > 0) {  // bytes per ns are GB/s
    values_.real(TransferColumns::bandwidth, static_cast<double>(*copy.bytes) / static_cast<double>(duration));
  }
  put_text(Columns::source, source);
  put_text(Columns::destination, destination);
  if (copy.source_address) values_.unsigned_integer(Columns::src_address, *copy.source_address);
  if (copy.destination_address) values_.unsigned_integer(Columns::dst_address, *copy.destination_address);
  put(Columns::queue_id, copy.queue);
  put(Columns::tid, copy.thread);
  put(Columns::pid, pid);
  put_text(Columns::region, copy.region);
  put(Columns::graph_exec_id, copy.graph_exec);
  put(Columns::graph_node_id, copy.graph_node);
  if (!copy.arguments.empty()) values_.text(Columns::arguments, copy.arguments);
  return values_;
}

const EventValues& RocmValues::of(const RocmOnHost& event) {
  values_.clear();
  if (event.table == RocmHostTable::mark) {
    values_.string(NvtxColumns::domain, intern_("ROCTX"));
    put_text(NvtxColumns::category, event.category);
    put_text(NvtxColumns::kind, event.mark_kind);
    put(RocmMarkColumns::correlation, event.correlation);
    if (!event.arguments.empty()) values_.text(RocmMarkColumns::arguments, event.arguments);
    if (!event.call_stack.empty()) values_.string(RocmMarkColumns::call_stack, intern_(event.call_stack));
  } else {
    const bool is_call = event.table == RocmHostTable::call;
    const std::size_t first = is_call ? RocmCallColumns::first : 0;
    const std::size_t external = is_call ? RuntimeColumns::external_id : RocmCallColumns::count;
    if (event.external.value_or(0) != 0) put(external, event.external);
    put(is_call ? RuntimeColumns::correlation : RocmCallColumns::count + 1, event.correlation);
    put_text(first + RocmCallColumns::category, event.category);
    put(first + RocmCallColumns::parent, event.parent);
    if (!event.arguments.empty()) values_.text(first + RocmCallColumns::arguments, event.arguments);
    if (!event.message.empty()) values_.text(first + RocmCallColumns::message, event.message);
    if (!event.call_stack.empty()) values_.string(first + RocmCallColumns::call_stack, intern_(event.call_stack));
    if (!event.line_info.empty()) values_.text(first + RocmCallColumns::line_info, event.line_info);
  }
  return values_;
}

const EventValues& RocmValues::of(const RocmAllocation& allocation, std::int64_t device, MaybeNumber pid,
                                  MaybeNumber bytes) {
  using Columns = RocmMemoryColumns;
  values_.clear();
  put(Columns::bytes, bytes);
  if (allocation.address) values_.unsigned_integer(Columns::address, *allocation.address);
  values_.integer(Columns::device, device);
  put_text(Columns::type, allocation.type);
  put_text(Columns::level, allocation.level);
  values_.integer(Columns::call_ns, allocation.duration());
  put(Columns::correlation, allocation.correlation);
  put(Columns::queue_id, allocation.queue);
  put(Columns::stream_id, allocation.stream);
  put(Columns::tid, allocation.thread);
  put(Columns::pid, pid);
  put_text(Columns::flags, allocation.flags);
  return values_;
}

void set_allocation_kind(RocmAllocation& allocation, std::string_view operation, bool is_scratch,
                         const RocmValues::Intern& intern) {
  allocation.releases = operation.ends_with("FREE") || operation.ends_with("RECLAIM");
  allocation.type = allocation.name;
  allocation.level = intern(is_scratch                                         ? "SCRATCH"
                            : operation.find("VMEM") != std::string_view::npos ? "VIRTUAL"
                                                                               : "REAL");
}

}  // namespace accelscope::capture::sources::rocm
