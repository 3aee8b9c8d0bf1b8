#include "app/content/tab_titles.h"

#include <doctest/doctest.h>

#include <set>

#include "core/names/short_names.h"

using namespace accelscope;
using app::content::titles_that_differ;

TEST_CASE("tab titles: what all begin and end with is left out, as whole words") {
  CHECK(titles_that_differ({"profile_128x128x1024", "profile_128x128x136"}, 20) ==
        std::vector<std::string>{"…1024", "…136"});
  CHECK(titles_that_differ({"llama_base_bf16_s512", "llama_fused_bf16_s512"}, 20) ==
        std::vector<std::string>{"…base…", "…fused…"});
  CHECK(titles_that_differ({"only one"}, 20) == std::vector<std::string>{"only one"});
  CHECK(titles_that_differ({"run-1", "run-1-again"}, 20) == std::vector<std::string>{"…1", "…1-again"});
}

TEST_CASE("tab titles: of however few characters, no two read alike") {
  std::vector<std::string> titles;
  for (int i = 0; i < 40; ++i) titles.push_back("training_of_a_model_step_" + std::to_string(i * 37) + "_on_trn1.ü");
  for (const std::size_t characters : std::initializer_list<std::size_t>{4, 6, 9, 30}) {
    const std::vector<std::string> shorter = titles_that_differ(titles, characters);
    CHECK(std::set<std::string>(shorter.begin(), shorter.end()).size() == titles.size());
    CHECK(character_count(shorter.front()) <= std::max<std::size_t>(characters, 12));
  }
}
