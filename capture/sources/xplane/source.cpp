#include "capture/sources/xplane/source.h"

#include <algorithm>
#include <array>

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

Result<void> import_xplane(const SpaceBytes& bytes, const std::string& name, const ImportOptions& options,
                           EventSink& sink) {
  AsyncSink receiver(sink);
  if (Result<void> done = XPlaneImporter(name, options, receiver).run(bytes); !done) return done;
  return receiver.finish();
}

Result<void> import_xplane(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<SpaceBytes>> bytes = SpaceBytes::open(path);
  if (!bytes) return bytes.error();
  return import_xplane(**bytes, path, options, sink);
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

}  // namespace accelscope::capture::sources::xplane
