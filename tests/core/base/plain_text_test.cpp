// Names from files and peers must not steer the terminal that they are printed on.
#include "core/base/text.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace accelscope;

namespace {

const std::string kMark = "\xef\xbf\xbd";

std::string through_stream(const std::vector<std::string>& pieces) {
  std::ostringstream target;
  {
    PlainTextStream stream(target);
    for (const std::string& piece : pieces) stream << piece;
  }
  return target.str();
}

}  // namespace

TEST_CASE("terminal escapes, C1 controls and marks that turn the direction of writing are shown as unknown") {
  CHECK(plain_text("\x1b]0;title\x07 \x1b[31mred") == kMark + "]0;title" + kMark + " " + kMark + "[31mred");
  CHECK(plain_text("a\xc2\x9b"
                   "31m") == "a" + kMark + "31m");
  CHECK(plain_text("a\x9b"
                   "31m") == "a" + kMark + "31m");  // a single byte, which is CSI in terminals that are not in UTF-8
  CHECK(plain_text("\xe2\x80\xae"
                   "evil\xe2\x81\xa6") == kMark + "evil" + kMark);
  CHECK(plain_text("one\ntwo\tthree\r") == "one two three ");
  CHECK(plain_lines("one\ntwo\tthree\r") == "one\ntwo\tthree" + kMark);
  CHECK(plain_lines("Größe 测试 \xf0\x9f\x9a\x80") == "Größe 测试 \xf0\x9f\x9a\x80");
}

TEST_CASE("a stream that is cleaned keeps characters whose bytes come one by one, and lets data pass as they are") {
  CHECK(through_stream({"G", "r\xc3", "\xb6\xc3", "\x9f", "e\n"}) == "Größe\n");
  CHECK(through_stream({"\xf0", "\x9f\x9a", "\x80!"}) == "\xf0\x9f\x9a\x80!");
  CHECK(through_stream({"a\xc2", "\x9b", "m"}) == "a" + kMark + "m");
  CHECK(through_stream({"a\xe2", "b"}) == "a" + kMark + "b");
  CHECK(through_stream({"cut \xe2\x80"}) == "cut " + kMark);
  CHECK(through_stream({"\x1b", "[2J"}) == kMark + "[2J");
  std::ostringstream target;
  PlainTextStream stream(target);
  exact_stream(stream) << "\x1b[2K";
  CHECK(target.str() == "\x1b[2K");
  CHECK(&exact_stream(target) == &target);
}

TEST_CASE("a cleaned stream passes on that nothing more can be written") {
  std::ostringstream target;
  PlainTextStream stream(target);
  target.setstate(std::ios::badbit);
  stream << "text" << std::flush;
  CHECK_FALSE(stream.good());
}
