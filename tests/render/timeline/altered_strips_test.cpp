// Strips of sessions whose rows somebody altered, with every checksum mended.
#include "tests/render/timeline/altered_strips.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "tests/core/store/own_folder.h"
#include "tests/core/store/session_changes.h"

using namespace accelscope;

TEST_CASE("strips of altered sessions stay within their pixels, 40 seeds") {
  const OwnFolder folder;
  const std::string sound = folder.file("sound.accel");
  REQUIRE(accelscope::test::save_changeable_session(sound).ok());
  const std::string path = folder.file("altered.accel");
  std::uint64_t lit = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(1000 + seed);
    std::vector<std::uint8_t> steps((1 + seed % 3) * accelscope::test::SessionChanges::kStep);
    for (std::uint8_t& each : steps) each = static_cast<std::uint8_t>(random());
    std::filesystem::copy_file(sound, path, std::filesystem::copy_options::overwrite_existing);
    accelscope::test::SessionChanges(path).apply(steps);
    Result<std::unique_ptr<Store>> store = Store::open(path);
    if (store) lit += test::draw_strips(std::move(*store));
  }
  CHECK(lit > 1000);
}
