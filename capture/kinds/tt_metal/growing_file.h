// A file that another program writes: read as far as it goes, again and again. It may not be there yet, grow by any
// number of bytes, be cut and written anew in place, or be replaced by another file under its name; what the one that
// was replaced still holds is read first. A rewrite is seen by its size and by the bytes before the place that was
// reached. What is particular to the operating system is in growing_file.cpp.
//
//   GrowingFile file(path);
//   while (true) { const GrowingFile::Piece piece = file.read(buffer); if (piece.anew) ...; use(piece.bytes); }
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace accelscope::capture::kinds::tt_metal {

class GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  struct Piece {
    bool anew = false;             // the bytes are the first of a file, or of a file written anew
    std::uint64_t lost_bytes = 0;  // of the one before, that were there and can be read no more
    std::string_view bytes;        // in the buffer; empty: there is no more now
  };
  [[nodiscard]] Piece read(std::span<char> buffer);
  [[nodiscard]] bool found() const noexcept { return file_ >= 0; }
  // Why it cannot be read though it is there; "" otherwise.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  static constexpr std::size_t kTailBytes = 256;

  [[nodiscard]] bool open();
  void close();
  [[nodiscard]] bool was_replaced() const;
  [[nodiscard]] bool was_rewritten();
  void keep_tail(std::string_view bytes);

  std::string path_;
  int file_ = -1;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;  // as it was last seen
  std::string tail_;        // the bytes before the offset
  std::string failure_;
};

}  // namespace accelscope::capture::kinds::tt_metal
