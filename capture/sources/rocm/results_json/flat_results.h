// The bytes of a result of rocprofv3 as one object of tables, so that they can be read in windows of rows. In the file
// the tables lie within others, of which each is one row of any size:
//
//   {"rocprofiler-sdk-tool": [{"metadata": {...}, "agents": [...], "buffer_records": {"kernel_dispatch": [...]}}]}
//
// What encloses the tables becomes blanks; places in the file stay what they are. A second process's tables follow
// those of the first, beginning with its "metadata".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/json/byte_source.h"

namespace accelscope::capture::sources::rocm {

class FlatResults final : public json::ByteSource {
 public:
  explicit FlatResults(std::unique_ptr<json::ByteSource> source) : source_(std::move(source)) {}

  Result<std::size_t> read(std::span<char> out) override;
  [[nodiscard]] std::uint64_t file_bytes() const override { return source_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return source_->file_bytes_read(); }

 private:
  // Where the scan is among what encloses the tables.
  enum class Level : std::uint8_t { outside, root, list, process, records };
  // What is awaited there.
  enum class Await : std::uint8_t { key, colon, value, end };

  void take(char& character, std::size_t place);
  void take_structure(char& character, std::size_t place);
  void begin_value(char& character, std::size_t place);
  void blank(std::size_t from, std::size_t to);
  [[nodiscard]] bool fill();

  std::unique_ptr<json::ByteSource> source_;
  std::vector<char> bytes_;  // those from released_ on were not handed out yet
  std::size_t released_ = 0;
  std::size_t scanned_ = 0;
  std::size_t key_at_ = 0;  // of the key at hand
  std::string key_;
  std::vector<Level> levels_ = {Level::outside};
  Await await_ = Await::value;
  std::uint32_t depth_ = 0;  // within a value of a table; 0: not in one
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_scalar_ = false;
  bool any_since_comma_ = false;
  bool ended_ = false;
  Result<std::size_t> failure_ = std::size_t{0};
};

}  // namespace accelscope::capture::sources::rocm
