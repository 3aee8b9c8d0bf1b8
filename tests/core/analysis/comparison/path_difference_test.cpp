#include "core/analysis/comparison/name_matching.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

PathShare path_share(std::string label, std::int64_t length, std::uint64_t count = 1, bool gap = false) {
  return {std::move(label), count, length, gap};
}

const PathTerm& term_of(const PathDifference& difference, const std::string& label, bool gap = false) {
  for (const PathTerm& term : difference.terms) {
    if (term.label == label && term.is_gap == gap) return term;
  }
  FAIL("no term " << label);
  return difference.terms.front();
}

}  // namespace

TEST_CASE("a difference along two paths: longer terms first, then shorter ones, and what only one path has") {
  const PathDifference found =
      path_difference({path_share("mlp.py:33", 500, 64), path_share("mlp.py:37", 200), path_share("dma", 300, 9, true),
                       path_share("mlp.py:50", 40)},
                      {path_share("mlp.py:33", 100, 16), path_share("mlp.py:37", 260), path_share("dma", 310, 9, true),
                       path_share("mlp.py:44", 90), path_share("mlp.py:50", 40)},
                      PathBy::line);
  CHECK(found.base_ns == 1040);
  CHECK(found.other_ns == 800);
  CHECK(found.longer_ns == 160);
  CHECK(found.shorter_ns == -400);
  REQUIRE(found.terms.size() == 5);
  CHECK(found.terms[0].label == "mlp.py:44");
  CHECK(found.terms[1].label == "mlp.py:37");
  CHECK(found.terms[2].is_gap);
  CHECK(found.terms[3].difference_ns() == 0);
  CHECK(found.terms[4].label == "mlp.py:33");
  CHECK(found.terms[4].base_count == 64);
  CHECK(found.terms[4].other_count == 16);
  CHECK(term_of(found, "mlp.py:44").base_count == 0);
}

TEST_CASE(
    "a difference along two paths: kernels whose numbers moved are one term, lines and waits of that name are not") {
  const std::vector<PathShare> base = {path_share("fusion.12", 10), path_share("fusion.12", 3, 1, true)};
  const std::vector<PathShare> other = {path_share("fusion.14", 30), path_share("fusion.14", 5, 1, true)};
  const PathDifference names = path_difference(base, other, PathBy::name);
  CHECK(term_of(names, "fusion").difference_ns() == 20);
  CHECK(term_of(names, "fusion.12", true).difference_ns() == -3);
  CHECK(term_of(names, "fusion.14", true).difference_ns() == 5);
  CHECK(term_of(path_difference(base, other, PathBy::line), "fusion.12").other_ns == 0);
}

TEST_CASE("a difference along two paths: one stream is one term, whatever number it has in either run") {
  const std::vector<PathShare> base = {path_share("stream 7", 40), path_share("dma, on stream 7", 3, 1, true)};
  const std::vector<PathShare> other = {path_share("stream 0", 30), path_share("dma, on stream 0", 5, 1, true)};
  CHECK(term_of(path_difference(base, other, PathBy::resource), "stream #").difference_ns() == -10);
  CHECK(term_of(path_difference(base, other, PathBy::wait), "dma, on stream #", true).difference_ns() == 2);
}

TEST_CASE("a difference along two paths adds up exactly, whatever the paths hold") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::array<std::vector<PathShare>, 2> sides;
    std::array<std::int64_t, 2> totals{};
    for (std::size_t side = 0; side < 2; ++side) {
      for (int i = 0; i < 30; ++i) {
        if (random() % 3 == 0) continue;
        const auto length = static_cast<std::int64_t>(random() % 1'000'000'007);
        sides[side].push_back(
            path_share("k_" + std::to_string(i) + (random() % 4 == 0 ? "_9" : ""), length, 1, i % 5 == 0));
        totals[side] += length;
      }
    }
    for (const PathBy by : {PathBy::name, PathBy::line}) {
      const PathDifference found = path_difference(sides[0], sides[1], by);
      CHECK(found.base_ns == totals[0]);
      CHECK(found.other_ns == totals[1]);
      CHECK(found.longer_ns + found.shorter_ns == totals[1] - totals[0]);
    }
  }
}
