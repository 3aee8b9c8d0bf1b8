// XPlane profiles: what the XLA profiler of JAX, TensorFlow and PyTorch/XLA writes as HOST.xplane.pb, plain or packed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "capture/sources/base/source.h"
#include "capture/sources/xplane/read/space_bytes.h"

namespace accelscope::capture::sources::xplane {

[[nodiscard]] int probe_xplane(std::string_view head, const std::string& path);

[[nodiscard]] Result<void> import_xplane(const SpaceBytes& bytes, const std::string& name, const ImportOptions& options,
                                         EventSink& sink);
[[nodiscard]] Result<void> import_xplane(const std::string& path, const ImportOptions& options, EventSink& sink);

// "tw003" of ".../plugins/profile/2026_02_20_13_54_10/tw003.xplane.pb"; "" of files that are called otherwise.
[[nodiscard]] std::string host_of_file(const std::string& path);
// Whether a profiler's log directory has this file beside its XPlane file: the same once more, or a part of it.
[[nodiscard]] bool is_double_of_xplane(const std::string& path);

}  // namespace accelscope::capture::sources::xplane
