// Cuts what a program prints into lines as a person would read them on a terminal: a line that is drawn over itself
// (a progress bar) counts once with what it says last, colours and cursor movements are left out, bytes that are no
// UTF-8 become U+FFFD, and a line of any length is given out in bounded pieces.
//
//   OutputLines lines;
//   lines.feed(bytes, [](const OutputPiece& piece) { ... });      // as they come
//   lines.feed_unfinished(...);                                   // now and then: what stands without an end of line
//   lines.finish(...);                                            // at the end of the stream
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace accelscope::capture::kinds::program {

struct OutputPiece {
  std::string_view text;       // valid during the call
  std::uint64_t line = 0;      // in its stream, from 1
  std::uint64_t piece = 0;     // of a line that comes in several, from 1; 0: the whole line
  std::uint64_t rewrites = 0;  // how often the line was drawn over itself so far
};

class OutputLines {
 public:
  static constexpr std::size_t kMaxPieceBytes = 16U << 10;

  template <typename Take>
  void feed(std::string_view bytes, Take take) {
    while (!bytes.empty()) {
      if (const std::size_t plain = plain_run(bytes); plain > 0) {
        text_.append(bytes.substr(0, plain));
        bytes.remove_prefix(plain);
        continue;
      }
      const char byte = bytes.front();
      bytes.remove_prefix(1);
      if (!add(byte)) continue;
      give(byte == '\n', take);
      if (byte != '\n') text_.push_back(byte);
    }
  }
  // A prompt, or a progress bar: what it says now. The rest of the line comes in further pieces.
  template <typename Take>
  void feed_unfinished(Take take) {
    if (readable_bytes(false) > 0) give(false, take);
  }
  template <typename Take>
  void finish(Take take) {
    if (!text_.empty() || pieces_ > 0) give(true, take);
  }

  // The line that stands now has been drawn over itself: a progress bar.
  [[nodiscard]] bool rewriting() const noexcept { return rewrites_ > 0; }
  [[nodiscard]] std::uint64_t lines() const noexcept { return line_; }  // that have ended
  [[nodiscard]] std::uint64_t cut_lines() const noexcept { return cut_lines_; }
  [[nodiscard]] std::uint64_t bad_bytes() const noexcept { return bad_bytes_; }

 private:
  enum class Escape : std::uint8_t { none, begun, sequence, command, command_end };

  // True if a piece must be given out first: at the end of a line, or because no room is left for the byte.
  bool add(char byte);
  // How many bytes at the front can be taken as they are.
  [[nodiscard]] std::size_t plain_run(std::string_view bytes) const;
  [[nodiscard]] bool skip_escape(char byte);
  [[nodiscard]] std::size_t readable_bytes(bool whole_line) const;
  void make_shown(std::size_t bytes);
  void begin_next(std::size_t given_bytes, bool line_ended);

  template <typename Take>
  void give(bool line_ended, Take take) {
    const std::size_t bytes = readable_bytes(line_ended);
    make_shown(bytes);
    const bool whole = line_ended && pieces_ == 0;
    // A line whose pieces were all given out ends without a further one.
    if (bytes > 0 || whole) take(OutputPiece{shown_, line_ + 1, whole ? 0 : pieces_ + 1, rewrites_});
    begin_next(bytes, line_ended);
  }

  std::string text_;  // of the line, or of its current piece, as it came
  std::string shown_;
  std::uint64_t line_ = 0;
  std::uint64_t pieces_ = 0;  // of the current line that were given out
  std::uint64_t rewrites_ = 0;
  std::uint64_t cut_lines_ = 0;
  std::uint64_t bad_bytes_ = 0;
  Escape escape_ = Escape::none;
  bool returned_ = false;  // the cursor stands at the line's beginning: the next character draws over it
  bool cut_ = false;       // the current line was counted in cut_lines_
};

}  // namespace accelscope::capture::kinds::program
