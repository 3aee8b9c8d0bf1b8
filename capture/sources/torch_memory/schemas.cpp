#include "capture/sources/torch_memory/schemas.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::torch_memory {
namespace {

using namespace columns;

constexpr ColumnSpec kTorchDevice = {"Device Id", kInt, "", kIds, "", "Number of the device."};
constexpr ColumnSpec kTorchAllocated = {"Total Allocated", kInt, "B", kMemory, "", "In use on the device after this."};
constexpr ColumnSpec kTorchReserved = {"Total Reserved", kInt, "B",
                                       kMemory,          "",   "Held by the framework's allocator after this."};
constexpr ColumnSpec kTorchAction = {"action", kString, "", kMemory, "Action", "What the allocator did."};
constexpr ColumnSpec kTorchEntry = {
    "entry", kInt, "", kIds, "Entry", "Place in the trace of its device; what is older than the trace has none."};
constexpr ColumnSpec kTorchStream = {"stream", kUnsigned, "", kIds, "Stream", "The stream that it is for."};
constexpr ColumnSpec kTorchStack = {
    "stack", kString, "", kSource, "Stack", "Where it was called from, innermost first.", Role::stack};
constexpr ColumnSpec kTorchSource = {
    "source", kString, "", kSource, "Source", "The innermost line of the program itself.", Role::source_location};
constexpr ColumnSpec kTorchCompile = {"compile_context", kString,    "",
                                      kOperation,        "Compiled", "The compiled region that it belongs to."};
constexpr ColumnSpec kTorchUser = {"user_metadata", kString,    "",
                                   kOperation,      "Metadata", "What the program said of it."};

constexpr ColumnSpec kBlock[] = {
    {"Bytes", kInt, "B", kMemory, "", "Taken by the allocator for it, or given back if negative.", Role::allocation},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    kTorchDevice,
    kTorchAllocated,
    kTorchReserved,
    {"requested", kInt, "B", kMemory, "Requested", "What was asked for; the rest is lost to rounding.",
     Role::requested},
    kTorchAction,
    kTorchEntry,
    kTorchStream,
    {"segment", kUnsigned, "", kMemory, "Segment", "Address of the segment that it lies in."},
    {"estimated", kFlag, "", kMemory, "Size estimated",
     "It is older than the trace and gone at its end, so that its size follows from what was asked for."},
    kTorchStack,
    kTorchSource,
    kTorchCompile,
    kTorchUser,
    {"category", kString, "", kOperation, "Category", "What kind of tensor it is, if the recorder knew."},
};
constexpr ColumnSpec kSegment[] = {
    {"Bytes", kInt, "B", kMemory, "", "Got from the driver, or given back if negative.", Role::reserved},
    {"Addr", kUnsigned, "", kMemory, "", "Where it lies.", Role::address},
    kTorchDevice,
    kTorchReserved,
    kTorchAction,
    kTorchEntry,
    kTorchStream,
    {"expandable", kFlag, "", kMemory, "Expandable", "It goes on where the one that it touches ends.", Role::joins},
    {"segment_type", kString, "", kMemory, "Type", "What it is for: small or large blocks."},
    {"segment_pool_id", kString, "", kMemory, "Pool", "The private pool that it belongs to, such as a CUDA graph's."},
    kTorchStack,
    kTorchSource,
    {"memory", kString, "", kMemory, "Memory", "Whose allocations are cut from it.", Role::pool},
};
constexpr ColumnSpec kOom[] = {
    {"asked", kInt, "B", kMemory, "Asked for", "What was asked for in vain."},
    {"device_free", kInt, "B", kMemory, "Free on the device", "What the driver had left."},
    kTorchDevice,
    {"allocated", kInt, "B", kMemory, "In use", "Blocks in use at that moment."},
    {"active", kInt, "B", kMemory, "Active", "Those, and blocks that a stream had not done with."},
    {"reserved", kInt, "B", kMemory, "Reserved", "Segments that the allocator held."},
    kTorchEntry,
    kTorchStream,
    kTorchStack,
    kTorchSource,
    kTorchCompile,
    kTorchUser,
};
constexpr ColumnSpec kMoment[] = {
    kTorchDevice,
    {"allocated", kInt, "B", kMemory, "In use", "Blocks in use."},
    {"active", kInt, "B", kMemory, "Active", "Those, and blocks that a stream had not done with."},
    {"requested", kInt, "B", kMemory, "Requested", "What was asked for of the active ones."},
    {"reserved", kInt, "B", kMemory, "Reserved", "Segments that the allocator held."},
    kTorchEntry,
};
constexpr ColumnSpec kTotal[] = {{"value", kInt, "B", kMemory, "Value", "Bytes.", Role::value, true}};

}  // namespace

Schema block_schema() {
  return make_schema({"memory", EventKind::memory, "allocated by", "The line of the program that asked for it."},
                     kBlock);
}

Schema segment_schema() { return make_schema({"memory_segment", EventKind::memory}, kSegment); }

Schema oom_schema() { return make_schema({"out_of_memory", EventKind::slice}, kOom); }

Schema snapshot_schema() { return make_schema({"memory_snapshot", EventKind::instant}, kMoment); }

Schema annotation_schema() {
  return make_schema({"user_annotation", EventKind::slice, "name"}, std::span(&kTorchDevice, 1));
}

Schema total_schema() { return make_schema({"counter", EventKind::counter}, kTotal); }

namespace {

constexpr std::uint64_t kLeastBlock = 512;
constexpr std::uint64_t kLeastRest = 1U << 20;  // of a large segment: smaller rests stay with the block
constexpr int kFirstClassBit = 20;              // 1 MiB

}  // namespace

BlockSizes::BlockSizes(const pickle::PickleData& data, pickle::PickleValue settings) {
  if (const auto most = data.to_int64(data.find(settings, "max_split_size")); most && *most > 0) {
    largest_split_ = static_cast<std::uint64_t>(*most);
  }
  const pickle::PickleValue divisions = data.find(settings, "roundup_power2_divisions");
  const auto keys = data.keys(data.shape(divisions));
  const auto values = data.values(divisions);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t mib = 0;
    if (!read_number(data.text(keys[i]), mib) || mib == 0) continue;
    const auto place = static_cast<std::size_t>(std::bit_width(mib) - 1);
    if (place < kSizeClasses) divisions_[place] = data.to_uint64(values[i]).value_or(0);
  }
}

std::uint64_t BlockSizes::rounded(std::uint64_t requested) const noexcept {
  if (requested < kLeastBlock) return kLeastBlock;
  const int bits = static_cast<int>(std::bit_width(requested)) - 1;
  const auto place = static_cast<std::size_t>(std::clamp(bits - kFirstClassBit, 0, static_cast<int>(kSizeClasses) - 1));
  const std::uint64_t divisions = divisions_[place];
  const bool in_divisions =
      divisions > 1 && divisions < (std::uint64_t{1} << 32) && requested > kLeastBlock * divisions;
  if (!in_divisions) return (requested + kLeastBlock - 1) / kLeastBlock * kLeastBlock;
  if (std::has_single_bit(requested)) return requested;
  const std::uint64_t below = std::bit_floor(requested);
  const std::uint64_t step = below >> (std::bit_width(divisions) - 1);
  if (step == 0) return below << 1;
  const std::uint64_t floor = requested & ~(step - 1);
  return floor == requested ? requested : floor + step;
}

std::uint64_t BlockSizes::taken(std::uint64_t requested, std::uint64_t room, bool splits_finely) const noexcept {
  const std::uint64_t size = rounded(requested);
  if (size >= room) return std::max(requested, room);
  const std::uint64_t rest = room - size;
  const bool splits = splits_finely ? rest >= kLeastBlock : size < largest_split_ && rest > kLeastRest;
  return splits ? size : room;
}

}  // namespace accelscope::capture::sources::torch_memory
