#include "tests/bench/base/plain_rows.h"

#include <random>

#include "core/database/database.h"
#include "tests/bench/base/figure.h"

namespace accelscope::bench {

double plain_rows_per_second(std::size_t count) {
  Result<std::unique_ptr<Database>> database = Database::open("", OpenMode::memory);
  if (!database || !(*database)->execute(
                       "PRAGMA page_size = 8192; CREATE TABLE e(a INT, b INT, c INT, d INT, e INT, f INT); BEGIN;")) {
    return 0;
  }
  Result<Statement> insert = (*database)->prepare("INSERT INTO e VALUES(?, ?, ?, ?, ?, ?)");
  if (!insert) return 0;
  std::mt19937 random(1);
  std::vector<std::uint32_t> numbers(1U << 16);
  for (std::uint32_t& number : numbers) number = static_cast<std::uint32_t>(random());
  bool failed = false;
  const double time = seconds([&] {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t n = numbers[i % numbers.size()];
      insert->bind(1, at += n % 128).bind(2, 64 + n / 128 % 512).bind(3, n / 65536 % 20);
      insert->bind(4, n / 1024 % 60).bind(5, 65536 * (1 + n % 4)).bind(6, n / 512 % 512);
      failed |= !insert->run();
    }
    failed |= !(*database)->execute("COMMIT;");
  });
  return failed || count == 0 ? 0 : static_cast<double>(count) / time;
}

}  // namespace accelscope::bench
