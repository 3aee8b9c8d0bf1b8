// Text from files and peers on its way to a terminal: nothing in it may move the cursor, change colours or titles, or
// show letters in another order than they are written (C0 and C1 controls, DEL, the marks that set the direction of
// writing). What is no UTF-8 goes too, since terminals that are not in UTF-8 take single bytes for controls.
//
// A program's own output streams are wrapped once, in a PlainTextStream; data for other programs (JSON, CSV, bytes)
// passes it by with exact_stream().
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace accelscope {

// On one line. What is no UTF-8, control characters and those that turn the direction of writing become U+FFFD, so that
// it is seen that there was something; line ends and tabs become blanks.
[[nodiscard]] std::string plain_text(std::string_view text);
// The same, with its line ends and tabs.
[[nodiscard]] std::string plain_lines(std::string_view text);

class PlainTextBuffer final : public std::streambuf {
 public:
  explicit PlainTextBuffer(std::ostream& target) : target_(target) {}
  ~PlainTextBuffer() override;  // what was begun of a character is shown as no character
  PlainTextBuffer(const PlainTextBuffer&) = delete;
  PlainTextBuffer& operator=(const PlainTextBuffer&) = delete;
  [[nodiscard]] std::ostream& target() noexcept { return target_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  std::ostream& target_;
  std::string begun_;  // of a character whose last bytes are still to come
};

class PlainTextStream final : public std::ostream {
 public:
  explicit PlainTextStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) { rdbuf(&buffer_); }

 private:
  PlainTextBuffer buffer_;
};

// The stream behind a PlainTextStream; any other is given back.
[[nodiscard]] std::ostream& exact_stream(std::ostream& stream);

}  // namespace accelscope
