// Which files of a Neuron capture are taken.
#include <doctest/doctest.h>

#include <fstream>

#include "capture/kinds/neuron/run.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/stand_in_tool.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

std::string write(const ScratchFolder& scratch, const std::string& name, const std::string& content) {
  fs::create_directories((scratch.path / name).parent_path());
  std::ofstream(scratch.path / name, std::ios::binary) << content;
  return scratch.file(name);
}

TEST_CASE("only files that came or changed since are found, to the depth that was asked for") {
  const ScratchFolder scratch;
  write(scratch, "old.neff", "a");
  const std::string changed = write(scratch, "cache/changed.neff", "a");
  const kinds::program::FolderWatch watch({scratch.path.string(), scratch.file("cache"), scratch.file("not there")},
                                          ".neff", 2);
  CHECK(watch.changed().empty());
  write(scratch, "cache/changed.neff", "longer");
  const std::string deep = write(scratch, "cache/b/new.neff", "abc");
  write(scratch, "cache/b/c/d/too_deep.neff", "abc");
  write(scratch, ".hidden/new.neff", "abc");
  write(scratch, "new.ntff", "abc");
  const std::vector<kinds::program::FolderWatch::File> files = watch.changed();
  REQUIRE(files.size() == 2);  // each once, though its folder is named twice
  CHECK(files[0].path == deep);
  CHECK(files[0].bytes == 3);
  CHECK(files[1].path == changed);
}

TEST_CASE("of several NEFFs the largest is taken, or the newest, or the one that is named") {
  const auto now = fs::file_time_type::clock::now();
  const std::vector<kinds::program::FolderWatch::File> files = {{"/c/a/model.neff", 10, now},
                                                                {"/c/b/model.neff", 900, now - std::chrono::hours(1)},
                                                                {"/c/d/init.neff", 900, now - std::chrono::hours(2)}};
  CHECK(kinds::neuron::choose_neff(files, "largest").value() == 1);
  CHECK(kinds::neuron::choose_neff(files, "newest").value() == 0);
  CHECK(kinds::neuron::choose_neff(files, "3").value() == 2);
  CHECK(kinds::neuron::choose_neff(files, "init").value() == 2);
  CHECK(contains(kinds::neuron::choose_neff(files, "model").message(), "several"));
  CHECK(contains(kinds::neuron::choose_neff(files, "4").message(), "none"));
  CHECK(contains(kinds::neuron::choose_neff(files, "4").message(), "2. /c/b/model.neff"));
}

TEST_CASE("one trace of each rank is read: that of the wanted execution, else the last one") {
  const std::vector<std::string> paths = {"w/p_rank_10_exec_2.ntff", "w/p_rank_2_exec_2.ntff",
                                          "w/p_rank_2_exec_10.ntff", "w/p_rank_2_exec_3.ntff",
                                          "w/profile_rank_1/x.ntff"};
  const kinds::neuron::ChosenTraces last = kinds::neuron::choose_traces(paths, std::nullopt);
  REQUIRE(last.chosen.size() == 3);
  CHECK(last.chosen[0].label == "rank 1");
  CHECK(last.chosen[1].path == "w/p_rank_2_exec_10.ntff");
  CHECK(last.chosen[2].label == "rank 10");
  CHECK(last.left.size() == 2);
  CHECK(kinds::neuron::choose_traces(paths, 3).chosen[1].path == "w/p_rank_2_exec_3.ntff");
  const kinds::neuron::ChosenTraces two = kinds::neuron::choose_traces(paths, std::nullopt, 2);
  CHECK(two.chosen.size() == 2);
  CHECK(two.beyond == std::vector<std::string>{"w/p_rank_10_exec_2.ntff"});
  CHECK(kinds::neuron::choose_traces({"w/profile_exec_2.ntff"}, 2).chosen.front().label.empty());
}

TEST_CASE("inputs that hold nothing but zeros are told from others, and files that are none are refused") {
  const ScratchFolder scratch;
  CHECK(kinds::neuron::is_all_zero(write(scratch, "z.npy", test::npy_of(300'000, 0))).value());
  CHECK_FALSE(kinds::neuron::is_all_zero(write(scratch, "v.npy", test::npy_of(300'000, 1))).value());
  std::string last_is_one(3'000'000, '\0');
  CHECK(kinds::neuron::is_all_zero(write(scratch, "z.bin", last_is_one)).value());
  last_is_one.back() = 1;
  CHECK_FALSE(kinds::neuron::is_all_zero(write(scratch, "v.bin", last_is_one)).value());
  CHECK(contains(kinds::neuron::is_all_zero(write(scratch, "text.npy", "just some text")).message(), "no .npy file"));
  CHECK(contains(kinds::neuron::is_all_zero(write(scratch, "head.npy", test::npy_of(0, 0))).message(), "no values"));
  CHECK(contains(kinds::neuron::is_all_zero(write(scratch, "empty.bin", "")).message(), "no values"));
  CHECK(contains(kinds::neuron::is_all_zero(scratch.file("gone.bin")).message(), "cannot be read"));
}

}  // namespace
}  // namespace accelscope::capture
