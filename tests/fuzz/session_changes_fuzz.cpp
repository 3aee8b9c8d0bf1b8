// A sound session file whose rows are changed by somebody who mends every checksum: it opens or is refused, and what
// opens is drawn, asked, queried and written out. Steps of eight bytes: see SessionChanges.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/core/store/session_changes.h"
#ifdef ACCELSCOPE_DRAWS
#include "tests/render/timeline/altered_strips.h"
#endif

using namespace accelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("accelscope-changes-" + std::to_string(::getpid()) + ".accel"))
          .string();
  static const std::string sound = [] {
    if (!test::save_changeable_session(path)) std::abort();
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  }();
  constexpr std::size_t kMostSteps = 16;
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(sound.data(), std::ssize(sound));
  test::SessionChanges(path).apply({data, std::min(size, kMostSteps * test::SessionChanges::kStep)});
  if (Result<std::unique_ptr<Store>> store = Store::open(path); store) {
    const std::shared_ptr<const Store> opened = std::move(*store);
#ifdef ACCELSCOPE_DRAWS
    (void)test::draw_strips(opened);
#endif
    test::SessionUse use(opened);
    use.draw();
    use.ask();
    use.query();
    use.write_out();
  }
  SalvageReport report;
  if (Result<std::unique_ptr<Store>> store = salvage_session(path, report); store) {
    test::SessionUse(std::move(*store)).query();
  }
  std::filesystem::remove(path);
  return 0;
}
