#include "bare_debian.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <variant>

#include "core/base/worker_pool.h"
#include "core/sql/base/sql.h"
#include "core/store/store.h"
#include "tests/support/programs_folder.h"

namespace accelscope::test {
namespace {

constexpr const char* kRoot = "/var/tmp/accelscope-debian-11";
constexpr const char* kScript = ACCELSCOPE_PORTABLE_TESTS "/bare_debian.sh";

[[nodiscard]] capture::system::ChildOutcome outcome_of(const std::vector<std::string>& words) {
  const Result<capture::system::ChildOutcome> done = capture::system::run_child(words, [] { return false; });
  REQUIRE_MESSAGE(done.ok(), done.message());
  return *done;
}

}  // namespace

std::unique_ptr<BareDebian> BareDebian::open() {
  const capture::system::ChildOutcome made = outcome_of({"/bin/sh", kScript, "make", kRoot});
  INFO(made.output);
  REQUIRE(made.exit_code == 0);
  if (made.output == "ready\n") return std::unique_ptr<BareDebian>(new BareDebian(kRoot));
  MESSAGE(made.output);
  return nullptr;
}

std::vector<std::string> BareDebian::command(const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"/bin/sh", kScript, "run", kRoot, programs_folder(), folder_.path()};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

capture::system::ChildOutcome BareDebian::run(const std::vector<std::string>& words) const {
  return outcome_of(command(words));
}

std::string BareDebian::cell(const std::string& session, const std::string& sql) const {
  return first_cell(folder_.file(session), sql);
}

std::string first_cell(const std::string& session_file, const std::string& sql) {
  const Result<std::unique_ptr<Store>> store = Store::open(session_file);
  REQUIRE_MESSAGE(store.ok(), store.message());
  WorkerPool pool(1);
  sql::Session asked(**store, (*store)->snapshot(), pool);
  TaskControl control;
  const Result<listing::SqlResult> result = asked.run(sql, {}, control);
  REQUIRE_MESSAGE(result.ok(), result.message());
  if (result->row_count() == 0) return {};
  const listing::SqlValue& value = result->at(0, 0);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  return {};
}

}  // namespace accelscope::test
