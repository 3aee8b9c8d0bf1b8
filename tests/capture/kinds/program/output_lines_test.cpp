// Lines of output as a person would read them on a terminal.
#include "capture/kinds/program/output_lines.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace accelscope::capture {
namespace {

struct Piece {
  std::string text;
  std::uint64_t line = 0;
  std::uint64_t piece = 0;
  std::uint64_t rewrites = 0;
  bool operator==(const Piece&) const = default;
};

struct Reader {
  void feed(std::string_view bytes) {
    lines.feed(bytes, [this](const kinds::program::OutputPiece& piece) { take(piece); });
  }
  void unfinished() {
    lines.feed_unfinished([this](const kinds::program::OutputPiece& piece) { take(piece); });
  }
  void finish() {
    lines.finish([this](const kinds::program::OutputPiece& piece) { take(piece); });
  }
  void take(const kinds::program::OutputPiece& piece) {
    pieces.push_back({std::string(piece.text), piece.line, piece.piece, piece.rewrites});
  }
  kinds::program::OutputLines lines;
  std::vector<Piece> pieces;
};

std::vector<std::string> texts(std::string_view bytes) {
  Reader reader;
  reader.feed(bytes);
  reader.finish();
  std::vector<std::string> all;
  for (const Piece& piece : reader.pieces) all.push_back(piece.text);
  return all;
}

TEST_CASE("every line is kept, empty ones and one without an end too") {
  CHECK(texts("a\n\nb\r\nc") == std::vector<std::string>{"a", "", "b", "c"});
  CHECK(texts("").empty());
  CHECK(texts("\n") == std::vector<std::string>{""});
}

TEST_CASE("a progress bar counts as one line that says what it said last") {
  Reader reader;
  reader.feed("start\n\r 10%\r 50%\r100%\ndone\n");
  REQUIRE(reader.pieces.size() == 3);
  CHECK(reader.pieces[1] == Piece{"100%", 2, 0, 2});
  CHECK(reader.pieces[2] == Piece{"done", 3, 0, 0});
  CHECK(texts("10%\r50%\r100%\r") == std::vector<std::string>{"100%"});  // with the return at the end of each state
}

TEST_CASE("a progress bar that runs and a prompt that stands are shown before their line ends") {
  Reader reader;
  reader.feed("10%\r20%");
  reader.unfinished();
  reader.unfinished();  // nothing new
  reader.feed("\r30%");
  reader.unfinished();
  reader.feed("\nName: ");
  reader.unfinished();
  reader.feed("x\n");
  reader.finish();
  CHECK(reader.pieces == std::vector<Piece>{{"20%", 1, 1, 1}, {"30%", 1, 2, 2}, {"Name: ", 2, 1, 0}, {"x", 2, 2, 0}});
  CHECK(reader.lines.lines() == 2);
}

TEST_CASE("colours and cursor movements are left out, what is no text is replaced and counted") {
  CHECK(texts("\x1b[1;31mred\x1b[0m \x1b]0;title\apl\x1b]8;;u\x1b\\ain\x1b=\n") ==
        std::vector<std::string>{"red plain"});
  CHECK(texts("\x1b[31\nnext\n") == std::vector<std::string>{"", "next"});
  Reader reader;
  reader.feed(std::string_view("a\xff\0\tb\n", 6));
  REQUIRE(reader.pieces.size() == 1);
  CHECK(reader.pieces[0].text == "a\uFFFD\uFFFD\tb");
  CHECK(reader.lines.bad_bytes() == 2);
}

TEST_CASE("a line of any length comes in bounded pieces that make it up again, none in the middle of a character") {
  std::string line;
  while (line.size() < 5 * kinds::program::OutputLines::kMaxPieceBytes + 77) line += "aé€😀";
  Reader reader;
  reader.feed(line + "\nshort\n");
  std::string joined;
  for (std::size_t i = 0; i + 1 < reader.pieces.size(); ++i) {
    const Piece& piece = reader.pieces[i];
    CHECK(piece.text.size() <= kinds::program::OutputLines::kMaxPieceBytes);
    CHECK(piece.line == 1);
    CHECK(piece.piece == i + 1);
    CHECK(piece.text.find("\uFFFD") == std::string::npos);
    joined += piece.text;
  }
  CHECK(joined == line);
  CHECK(reader.pieces.back() == Piece{"short", 2, 0, 0});
  CHECK(reader.lines.cut_lines() == 1);
  CHECK(reader.lines.bad_bytes() == 0);
}

// The whole output at once, line by line, with plain string functions.
std::vector<Piece> naive(const std::string& bytes) {
  std::vector<Piece> pieces;
  std::string line;
  const auto end_line = [&] {
    Piece piece{.line = pieces.size() + 1};
    std::string text = line;
    while (text.ends_with('\r')) text.pop_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r' && text[i + 1] != '\r' && text.find_first_not_of('\r') < i) ++piece.rewrites;
    }
    if (const std::size_t last = text.rfind('\r'); last != std::string::npos) text.erase(0, last + 1);
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = utf8_length(std::string_view(text).substr(i));
      piece.text += length == 0 ? "\uFFFD" : text.substr(i, length);
      i += std::max<std::size_t>(length, 1);
    }
    pieces.push_back(piece);
    line.clear();
  };
  for (const char byte : bytes) {
    if (byte == '\n') {
      end_line();
    } else {
      line += byte;
    }
  }
  std::string rest = line;
  std::erase(rest, '\r');
  if (!rest.empty()) end_line();
  return pieces;
}

TEST_CASE("lines are the same however the pipe cuts them, as a naive reader would have them") {
  std::mt19937 random(7);
  constexpr std::string_view kLetters[] = {"a", "b", "\n", "\r", "é", "\xff", " ", "\r\n", "😀"};
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (auto length = random() % 60; length > 0; --length) bytes += kLetters[random() % std::size(kLetters)];
    CAPTURE(bytes);
    Reader reader;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t count = 1 + random() % 5;
      reader.feed(std::string_view(bytes).substr(at, count));
      at += count;
    }
    reader.finish();
    REQUIRE(reader.pieces == naive(bytes));
  }
}

}  // namespace
}  // namespace accelscope::capture
