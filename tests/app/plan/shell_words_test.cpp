// Typed command lines: split as a shell does, and quoted back so that splitting gives the same again.
#include "app/plan/editor.h"
#include "capture/system/shown_command.h"

#include <doctest/doctest.h>

#include <random>

using namespace accelscope;
using namespace accelscope::app::plan;
using namespace accelscope::app;

namespace {

std::vector<std::string> words_of(std::string_view line) {
  auto split = split_words(line);
  REQUIRE(split.ok());
  return split->words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("shell words: blanks part, quotes hold together, backslashes take the sign itself") {
  CHECK(words_of("python3 bench.py  --m 512") == Words{"python3", "bench.py", "--m", "512"});
  CHECK(words_of("a 'b  c' \"d e\"f") == Words{"a", "b  c", "d ef"});
  CHECK(words_of(R"(a\ b \"c '\n' "\n \" \\")") == Words{"a b", "\"c", "\\n", "\\n \" \\"});
  CHECK(words_of("x '' \"\"") == Words{"x", "", ""});
  CHECK(words_of("   ").empty());
  CHECK(words_of("a \\\n b") == Words{"a", "b"});
}

TEST_CASE("shell words: what is not closed is said") {
  CHECK(split_words("a 'b").message().find("'") != std::string::npos);
  CHECK_FALSE(split_words("a \"b").ok());
  CHECK_FALSE(split_words("a\\").ok());
}

TEST_CASE("shell words: a sign that only a shell acts on is noticed, unless it is quoted") {
  CHECK(split_words("a | b")->shell_sign == '|');
  CHECK(split_words("echo $HOME")->shell_sign == '$');
  CHECK(split_words("echo '$HOME' \\* \"|\"")->shell_sign == 0);
}

TEST_CASE("shell words: any words survive being joined and split again") {
  std::mt19937 random(3);
  constexpr std::string_view kSigns = "ab '\"\\$|\t\n-=~#!{";
  for (int round = 0; round < 2'000; ++round) {
    Words words(1 + random() % 4);
    for (std::string& word : words) {
      for (std::size_t n = random() % 6; n > 0; --n) word += kSigns[random() % kSigns.size()];
    }
    CHECK(words_of(capture::system::shell_command(words)) == words);
  }
}

TEST_CASE("shell words: a long command is wrapped so that a shell reads the same, options beside their values") {
  const Words words = {"accelscope",
                       "record",
                       "ssh://ubuntu@trn1-07",
                       "-o",
                       "mlp fwd.accel",
                       "--duration",
                       "60",
                       "--env",
                       "A=1",
                       "--",
                       "python3",
                       "bench.py",
                       "--m",
                       "512"};
  const auto lines = wrap_command(words, 44);
  REQUIRE(lines.size() > 2);
  std::string joined;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].size() <= 44);
    CHECK(lines[i].ends_with(" \\") == (i + 1 < lines.size()));
    CHECK_FALSE(lines[i].ends_with("--duration \\"));
    joined += lines[i] + "\n";
  }
  CHECK(words_of(joined) == words);
  CHECK(wrap_command(words, 1'000).size() == 1);
}
