// XPlane profiles: what the XLA profiler of JAX, TensorFlow and PyTorch/XLA writes as HOST.xplane.pb, plain or packed.
#include <algorithm>
#include <array>
#include <functional>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/xplane/importer.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::xplane {
namespace {

constexpr int kSurePlane = 96;  // a plane with a name that they have
constexpr int kNamedSo = 30;    // what is called so and is none: the import says what is wrong
constexpr std::string_view kEnding = ".xplane.pb";

[[nodiscard]] bool has_ending(std::string_view path) {
  return path.ends_with(kEnding) || path.ends_with(".xplane.pb.gz") || path.ends_with(".xplane.pb.zst");
}

// The name of the first plane, if the bytes begin with one.
[[nodiscard]] std::string first_plane_name(std::string_view head) {
  const std::unique_ptr<SpaceBytes> bytes = SpaceBytes::from_memory(head);
  SpaceWindow window(*bytes);
  SpaceWindow names(*bytes);
  MessageWalk space(window, 0, bytes->size());
  std::size_t planes = 0;
  constexpr std::size_t kMostPlanes = 16;  // those without a name come first, if any
  for (WireField plane; space.next(plane) && planes < kMostPlanes;) {
    if (!plane.is_bytes(space_fields::kPlanes)) continue;
    ++planes;
    MessageWalk fields(window, plane.begin, plane.begin + plane.size);
    for (WireField field; fields.next(field);) {
      if (field.number > plane_fields::kStats || field.number == 0) return {};
      if (!field.is_bytes(plane_fields::kName)) continue;
      if (field.cut) return {};
      return text_at(names, {field.begin, field.size}, 4096);
    }
  }
  return {};
}

}  // namespace

int probe_xplane(std::string_view head, const std::string& path) {
  if (!head.empty() && (head.front() == '\x0a' || head.front() == '\x22' || head.front() == '\x12') &&
      is_plane_name(first_plane_name(head)))
    return kSurePlane;
  return !head.empty() && has_ending(path) ? kNamedSo : 0;
}

Result<void> import_xplane(const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::unique_ptr<SpaceBytes> bytes = TRY(SpaceBytes::open(path));
  return XPlaneImporter(path, options, sink).run(*bytes);
}

std::string host_of_file(const std::string& path) {
  const std::string name = file_name(path);
  const std::size_t at = name.find(kEnding);
  return at == std::string::npos || at == 0 ? std::string() : name.substr(0, at);
}

bool is_double_of_xplane(const std::string& path) {
  constexpr std::string_view kDoubles[] = {".trace.json.gz",     ".trace.json",      ".memory_profile.json.gz",
                                           ".hlo_proto.pb",      "_stats.pb",        ".op_profile.json",
                                           ".input_pipeline.pb", ".overview_page.pb"};
  return std::any_of(std::begin(kDoubles), std::end(kDoubles),
                     [&](std::string_view each) { return path.ends_with(each); });
}

// The first reading of the events: which columns their tables need.

namespace {

constexpr std::uint32_t kNotAsked = StatTable::kNoField - 1;
constexpr std::size_t kMostAllocations = 2'000'000;

// What StatTable::see() asks of a value, as a bit: once it has seen one, it learns nothing from another. 0: of texts it
// wants each.
[[nodiscard]] std::uint8_t trait_of(const StatValue& value) noexcept {
  const bool high = (value.bits >> 63U) != 0;
  switch (value.kind) {
    case StatValue::Kind::real:
      return 1U;
    case StatValue::Kind::natural:
      return high ? 2U : 4U;
    case StatValue::Kind::whole:
      return high ? 8U : 16U;
    case StatValue::Kind::reference:
      return 32U;
    default:
      return 0;
  }
}

}  // namespace

void XPlaneImporter::survey_event(PlaneState& plane, LineState& line, const EventRecord& event) {
  ++survey_events_;
  const std::optional<std::int64_t> start = start_of(line, event);
  if (!start) ++beyond_ps_;
  if (line.role.of == LineClass::counters) return;
  MetadataSlot& metadata = metadata_of(plane, event.metadata);
  Meanings meanings;
  slots_.clear();
  for (const StatValue& stat : event.stats) {
    slots_.push_back(&slot_of(plane, stat.id));
    understand(plane, stat, *slots_.back(), meanings);
  }
  const XTable which = table_of(line, metadata, meanings, event.is_total);
  TableState& to = table(which);
  to.stats.add_event();
  line.tables |= 1U << static_cast<unsigned>(which);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const StatValue& stat = event.stats[i];
    StatSlot& slot = *slots_[i];
    const std::uint8_t trait = trait_of(stat);
    if ((slot.seen[static_cast<std::size_t>(which)] & trait) != 0) continue;
    slot.seen[static_cast<std::size_t>(which)] |= trait;
    std::uint32_t& field = slot.fields[static_cast<std::size_t>(which)];
    if (field == kNotAsked) field = to.stats.field(slot.name, slot.stat);
    to.stats.see(field, stat, stat.kind == StatValue::Kind::text ? stat.text : std::string_view(), false);
  }
  if ((metadata.tables_seen >> static_cast<unsigned>(which) & 1U) == 0) {
    metadata.tables_seen |= 1U << static_cast<unsigned>(which);
    survey_constants(plane, metadata, event.metadata, which);
  }
  if (metadata.hlo != 0) to.stats.see(OwnColumn::hlo);
  if (metadata.layer != 0 || !meanings.tf_op.empty() || !meanings.op_name.empty()) to.stats.see(OwnColumn::layer);
  if (metadata.bytes || meanings.bytes) to.stats.see(OwnColumn::bytes);
  if (metadata.flops || meanings.flops) to.stats.see(OwnColumn::flops);
  if (meanings.is_kernel && !to.stats.has_seen(OwnColumn::private_memory) &&
      meanings.kernel_details.find("private_mem") != std::string_view::npos)
    to.stats.see(OwnColumn::private_memory);
  if (event.is_total) {
    to.stats.see(OwnColumn::occurrences);
    to.stats.see(OwnColumn::total_ps);
  }
  if (event.duration_ps % 1000 != 0) to.stats.see(OwnColumn::dur_ps);
  if (event.offset_ps % 1000 != 0) to.stats.see(OwnColumn::start_ps);
  if (which != XTable::memory || !meanings.address) return;
  if (metadata.release) {
    any_release_without_size_ = any_release_without_size_ || !meanings.allocation;
  } else if (meanings.allocation && allocation_count_ < kMostAllocations) {
    if (!start) return;
    ++allocation_count_;
    allocations_[tracks::flow_key(std::hash<std::string_view>{}(meanings.allocator) +
                                      static_cast<std::uint64_t>(meanings.host_index.value_or(0)),
                                  static_cast<std::uint64_t>(*meanings.address))]
        .push_back({*start, *meanings.allocation});
  }
}

void XPlaneImporter::survey_constants(PlaneState& plane, MetadataSlot& slot, std::int64_t id, XTable which) {
  TableState& to = table(which);
  const auto place = plane.index.event_metadata.find(id);
  if (place == plane.index.event_metadata.end()) return;
  const std::string message(text_at(*metadata_window_, place->second, 16U << 20));
  EventMetadata metadata;
  (void)read_event_metadata(message, metadata);  // what it holds up to a mistake; counted when it was read first
  if (slot.async_end && which == XTable::xla_op) {
    to.stats.add_wait_name(metadata.display_name.empty() ? metadata.name : metadata.display_name);
  }
  for (const StatValue& stat : metadata.stats) {
    StatSlot& of = slot_of(plane, stat.id);
    std::uint32_t& field = of.fields[static_cast<std::size_t>(which)];
    if (field == kNotAsked) field = to.stats.field(of.name, of.stat);
    to.stats.see(field, stat, {}, true);
  }
}

void XPlaneImporter::make_tables() {
  for (TableState& each : tables_) {
    if (each.stats.events() == 0) continue;
    each.number = session_.add_table(each.stats.make_schema());
  }
  if (!any_release_without_size_) allocations_.clear();
  for (auto& [key, all] : allocations_) {
    std::sort(all.begin(), all.end(), [](const Allocation& a, const Allocation& b) { return a.start < b.start; });
  }
}

}  // namespace accelscope::capture::sources::xplane
