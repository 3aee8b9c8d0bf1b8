// Numbers and texts out of a trace's unpacked bytes, in order. Past the end everything is zero and ended() true, so
// that loops over counts that a file only claims end there: nothing is ever reserved for a count.
//
//   while (count-- > 0) {
//     TraceRecord record = reader.record(24);
//     if (reader.ended()) break;
//     const auto id = record.next<std::uint64_t>();
//   }
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/json/byte_source.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::tracy {

// The container of a .tracy file: blocks of at most 64 KiB, packed by LZ4 or zstd, dealt in turn to one stream or
// several. A stream's blocks refer to those before them, so all are unpacked, in order.
//
//   tlZ\x04 (LZ4) or tZst (zstd): one stream; since 0.11: tr\xfdP, a byte for the packing (0 LZ4, 1 zstd), a byte for
//   the number of streams; then again and again the packed size (u32) and as many bytes. All is little-endian.

inline constexpr std::size_t kTracyBlockBytes = 64U << 10;

enum class BlocksEnd : std::uint8_t {
  none,     // more may follow
  whole,    // the last block was whole
  cut,      // the file ends within a block
  damaged,  // a block cannot be unpacked; what lies behind it neither
};

// Whether a file that begins so is a .tracy file.
[[nodiscard]] bool begins_as_tracy(std::string_view head) noexcept;

class TracyBlocks {
 public:
  // Reads the first bytes. Fails if they are none of a .tracy file.
  [[nodiscard]] static Result<TracyBlocks> open(std::unique_ptr<json::ByteSource> source);
  TracyBlocks(TracyBlocks&&) noexcept;
  TracyBlocks& operator=(TracyBlocks&&) noexcept;
  ~TracyBlocks();

  // The next block unpacked, until the one after it is asked for; empty at the end.
  [[nodiscard]] std::span<const char> next();
  [[nodiscard]] BlocksEnd end() const noexcept { return end_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // why it is damaged or cut
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept { return position_; }
  [[nodiscard]] const json::ByteSource& source() const noexcept { return *source_; }

 private:
  struct Stream;
  TracyBlocks(std::unique_ptr<json::ByteSource> source, bool zstd, std::size_t streams);
  // How many of the bytes there were.
  [[nodiscard]] std::size_t read(std::span<char> out);
  void stop(BlocksEnd end, std::string problem);

  std::unique_ptr<json::ByteSource> source_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<char> packed_;
  std::size_t turn_ = 0;
  std::uint64_t position_ = 0;
  bool zstd_ = false;
  BlocksEnd end_ = BlocksEnd::none;
  std::string problem_;
};

// Bytes of one record, taken from its begin to its end.
class TraceRecord {
 public:
  explicit TraceRecord(const char* bytes) noexcept : bytes_(bytes) {}
  template <typename Number>
  [[nodiscard]] Number next() noexcept {
    Number number;
    std::memcpy(&number, bytes_, sizeof number);
    bytes_ += sizeof number;
    return number;
  }
  [[nodiscard]] std::uint32_t next24() noexcept {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes_, 3);
    bytes_ += 3;
    return number;
  }
  // Of 48 bits, signed.
  [[nodiscard]] std::int64_t next48() noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes_, 6);
    bytes_ += 6;
    constexpr unsigned kSpare = 16;
    return static_cast<std::int64_t>(number << kSpare) >> kSpare;
  }

 private:
  const char* bytes_;
};

class TraceReader {
 public:
  static constexpr std::size_t kLongestRecord = 256;

  explicit TraceReader(TracyBlocks blocks) : blocks_(std::move(blocks)) {}

  // The next bytes, at most kLongestRecord, valid until more are read; zeros if there are not as many.
  [[nodiscard]] const char* take(std::size_t bytes) {
    assert(bytes <= kLongestRecord);
    if (static_cast<std::size_t>(end_ - at_) < bytes && !refill(bytes)) return zeros_.data();
    const char* const found = at_;
    at_ += bytes;
    return found;
  }
  // The same, which take() then gives again; null if there are not as many.
  [[nodiscard]] const char* peek(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes && !gather(bytes)) return nullptr;
    return at_;
  }
  [[nodiscard]] TraceRecord record(std::size_t bytes) { return TraceRecord(take(bytes)); }
  template <typename Number>
  [[nodiscard]] Number number() {
    return record(sizeof(Number)).template next<Number>();
  }
  [[nodiscard]] std::uint64_t count() { return number<std::uint64_t>(); }

  void skip(std::uint64_t bytes);
  // `count` items of `each` bytes; a product that no file can hold ends the trace.
  void skip(std::uint64_t count, std::uint64_t each);
  // Appended to `out`, as far as there are any.
  void append(std::uint64_t bytes, std::vector<char>& out);
  [[nodiscard]] std::string text(std::uint64_t bytes, std::size_t most);  // further bytes are skipped

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  // Nothing that follows can be made sense of: everything ends here.
  void give_up(std::string why);
  [[nodiscard]] const std::string& gave_up() const noexcept { return gave_up_; }
  // Whether nothing is left, the trace having been read to here.
  [[nodiscard]] bool at_end();
  [[nodiscard]] const TracyBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t unpacked_bytes() const noexcept {
    return unpacked_ - static_cast<std::uint64_t>(end_ - at_);
  }

 private:
  [[nodiscard]] bool gather(std::size_t bytes);  // so many lie together then, where there are as many
  [[nodiscard]] bool refill(std::size_t bytes);  // gather(), or the end

  TracyBlocks blocks_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t unpacked_ = 0;
  std::vector<char> joined_;  // where what is wanted lies in two blocks
  std::vector<char> rest_;    // of the block before
  std::vector<char> zeros_ = std::vector<char>(kLongestRecord);
  bool ended_ = false;
  std::string gave_up_;
};

// The texts of a trace, and what refers to them: texts by number, literals by their address in the program, names of
// threads, places in the source.

inline constexpr std::uint32_t kNoText = UINT32_MAX;

struct SourcePlace {
  std::uint32_t name = kNoText;  // given by the program; often none
  std::uint32_t function = kNoText;
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
  std::uint32_t colour = 0;
};

class TraceNames {
 public:
  void read_texts(TraceReader& reader);    // all texts, and which of them literals, threads, programs are
  void read_threads(TraceReader& reader);  // the threads' short numbers
  void read_places(TraceReader& reader);   // in the source

  [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept;
  // As events refer to texts: a number above by one, 0 for none.
  [[nodiscard]] std::string_view text_above(std::uint32_t number) const noexcept {
    return number == 0 ? std::string_view{} : text(number - 1);
  }
  // Eight bytes, of an address or a number, and a byte that says which.
  [[nodiscard]] std::uint32_t reference(TraceRecord& record) const;
  static constexpr std::size_t kReferenceBytes = 9;

  [[nodiscard]] std::string_view literal(std::uint64_t address) const;
  [[nodiscard]] std::string_view thread_name(std::uint64_t thread) const;    // "" if it has none
  [[nodiscard]] std::string_view other_program(std::uint64_t thread) const;  // that a thread of another process is of
  [[nodiscard]] std::uint64_t thread(std::uint16_t number) const noexcept;
  [[nodiscard]] std::uint64_t other_thread(std::uint16_t number) const noexcept;
  // Places that the program knew when it was built have numbers from 0, those made later from -1 downwards. Null for
  // numbers that no place has.
  [[nodiscard]] const SourcePlace* place(std::int16_t number) const;

 private:
  using TextsByKey = std::unordered_map<std::uint64_t, std::uint32_t>;
  // Keys and the addresses that their texts had in the profiler.
  using KeysAndAddresses = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  [[nodiscard]] static KeysAndAddresses read_keys(TraceReader& reader, std::size_t bytes_behind);
  void read_text(TraceReader& reader, std::uint64_t size);
  [[nodiscard]] SourcePlace read_place(TraceReader& reader) const;
  [[nodiscard]] std::string_view found(const TextsByKey& map, std::uint64_t key) const;

  std::vector<std::vector<char>> pages_;  // of texts, each of which lies in one
  std::deque<std::string_view> texts_;    // in them, by number
  TextsByKey literals_;
  TextsByKey thread_names_;
  TextsByKey programs_;
  std::vector<std::uint64_t> threads_;
  std::vector<std::uint64_t> other_threads_;
  std::unordered_map<std::uint64_t, SourcePlace> built_in_;
  std::vector<std::uint64_t> addresses_;  // of places by number
  std::vector<SourcePlace> made_later_;
};

}  // namespace accelscope::capture::sources::tracy
