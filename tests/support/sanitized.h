// Tests are compiled once for several builds; this tells them apart while they run.
#pragma once

namespace accelscope::test {

// What is tested keeps memory of its own that a sanitizer adds.
[[nodiscard]] bool sanitized() noexcept;

}  // namespace accelscope::test
