#include "app/persist/persist.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/files.h"

using namespace accelscope;
using namespace accelscope::app::persist;
using namespace accelscope::app;

TEST_CASE("peak book: what is entered is there again, replaces what was, and can be forgotten") {
  const test::TemporaryFolder folder;
  const std::string file = peak_book_file(folder.path() + "/state");
  PeakBook book(file);
  REQUIRE(book.load().ok());  // there is none yet
  REQUIRE(book.enter({"Chip\tA", "hbm", 4e11}).ok());
  REQUIRE(book.enter({"Chip\tA", "hbm", 1.0 / 3}).ok());
  REQUIRE(book.enter({"Chip B", "bf16", 8e13}).ok());
  PeakBook again(file);
  REQUIRE(again.load().ok());
  CHECK(again.edits() == analysis::PeakEdits{{"Chip\tA", "hbm", 1.0 / 3}, {"Chip B", "bf16", 8e13}});
  REQUIRE(again.forget("Chip\tA", "hbm").ok());
  REQUIRE(again.forget("Chip\tA", "hbm").ok());  // nothing to forget
  REQUIRE(book.load().ok());
  CHECK(book.edits() == analysis::PeakEdits{{"Chip B", "bf16", 8e13}});
}

TEST_CASE("peak book: lines that a hand has spoilt are passed over, and a file that cannot be written is told") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("peaks.txt");
  std::ofstream(file) << "Chip\thbm\t4e11\nChip\thbm\nChip\tdma\tfast\nChip\tdma\t-1\nChip\tdma\tinf\n\nnonsense\n";
  PeakBook book(file);
  REQUIRE(book.load().ok());
  CHECK(book.edits() == analysis::PeakEdits{{"Chip", "hbm", 4e11}});
  PeakBook nowhere("/proc/nobody/peaks.txt");
  CHECK_FALSE(nowhere.enter({"Chip", "hbm", 1}).ok());
  CHECK(nowhere.edits().size() == 1);  // it holds for this run
  PeakBook unnamed("");
  CHECK(unnamed.enter({"Chip", "hbm", 1}).ok());
}
