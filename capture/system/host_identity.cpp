#include "capture/system/host_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <random>

namespace accelscope::capture::system {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace accelscope::capture::system
