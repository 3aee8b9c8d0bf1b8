#include "capture/sources/tracy/read/trace_reader.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::string_view kOneLz4 = "tlZ\x04";
constexpr std::string_view kOneZstd = "tZst";
constexpr std::string_view kStreams = "tr\xfdP";
constexpr std::size_t kMagicBytes = 4;
// More than either packing makes of a block.
constexpr std::size_t kMostPackedBytes = 2 * kTracyBlockBytes;

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

}  // namespace

bool begins_as_tracy(std::string_view head) noexcept {
  return head.starts_with(kOneLz4) || head.starts_with(kOneZstd) || head.starts_with(kStreams);
}

// A block of LZ4 refers at most 64 KiB back: to the stream's block before it, which is always full.
struct TracyBlocks::Stream {
  std::array<std::vector<char>, 2> buffers;
  std::size_t current = 0;
  std::size_t before = 0;  // bytes of the block before
  std::unique_ptr<ZSTD_DStream, FreeZstd> zstd;

  // The bytes unpacked; nothing if it cannot be done.
  [[nodiscard]] bool unpack_lz4(std::span<const char> packed, std::span<const char>& out) {
    const std::vector<char>& last = buffers[current];
    current = 1 - current;
    std::vector<char>& buffer = buffers[current];
    buffer.resize(kTracyBlockBytes);
    const int size =
        LZ4_decompress_safe_usingDict(packed.data(), buffer.data(), static_cast<int>(packed.size()),
                                      static_cast<int>(buffer.size()), last.data(), static_cast<int>(before));
    if (size <= 0) return false;
    before = static_cast<std::size_t>(size);
    out = {buffer.data(), before};
    return true;
  }

  [[nodiscard]] bool unpack_zstd(std::span<const char> packed, std::span<const char>& out) {
    if (!zstd) zstd.reset(ZSTD_createDStream());
    std::vector<char>& buffer = buffers[0];
    buffer.resize(kTracyBlockBytes);
    ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
    ZSTD_outBuffer to = {buffer.data(), buffer.size(), 0};
    while (in.pos < in.size) {
      const std::size_t had = in.pos + to.pos;
      if (ZSTD_isError(ZSTD_decompressStream(zstd.get(), &to, &in)) != 0U) break;
      if (in.pos + to.pos == had) break;  // it wants more room than a block has
    }
    out = {buffer.data(), to.pos};
    return in.pos == in.size && to.pos > 0;
  }
};

TracyBlocks::TracyBlocks(std::unique_ptr<json::ByteSource> source, bool zstd, std::size_t streams)
    : source_(std::move(source)), streams_(streams), zstd_(zstd) {}
TracyBlocks::TracyBlocks(TracyBlocks&&) noexcept = default;
TracyBlocks& TracyBlocks::operator=(TracyBlocks&&) noexcept = default;
TracyBlocks::~TracyBlocks() = default;

Result<TracyBlocks> TracyBlocks::open(std::unique_ptr<json::ByteSource> source) {
  TracyBlocks blocks(std::move(source), false, 1);
  std::array<char, kMagicBytes> magic = {};
  const std::string_view head(magic.data(), blocks.read(magic));
  if (head == kOneZstd) {
    blocks.zstd_ = true;
  } else if (head == kStreams) {
    std::array<unsigned char, 2> more = {};
    const bool whole = blocks.read({reinterpret_cast<char*>(more.data()), more.size()}) == more.size();
    if (!whole || more[0] > 1 || more[1] == 0) return Error{"its packing is neither LZ4 nor zstd"};
    blocks.zstd_ = more[0] == 1;
    blocks.streams_.resize(more[1]);
  } else if (head != kOneLz4) {
    return Error{"it does not begin as a file of Tracy does"};
  }
  return blocks;
}

std::size_t TracyBlocks::read(std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const Result<std::size_t> got = source_->read(out.subspan(done));
    if (!got) {
      stop(BlocksEnd::damaged, got.message());
      break;
    }
    if (got.value() == 0) break;
    done += got.value();
  }
  position_ += done;
  return done;
}

void TracyBlocks::stop(BlocksEnd end, std::string problem) {
  if (end_ != BlocksEnd::none) return;
  end_ = end;
  problem_ = std::move(problem);
}

std::span<const char> TracyBlocks::next() {
  if (end_ != BlocksEnd::none) return {};
  const std::uint64_t at = position_;
  std::uint32_t size = 0;
  const std::size_t got = read({reinterpret_cast<char*>(&size), sizeof size});
  if (got == 0) stop(BlocksEnd::whole, "");
  if (got < sizeof size) {
    stop(BlocksEnd::cut, fmt::format("it ends within the block that begins at byte {}", at));
    return {};
  }
  if (size == 0 || size > kMostPackedBytes) {
    stop(BlocksEnd::damaged, fmt::format("at byte {} it tells of a block of {} bytes, which none has", at, size));
    return {};
  }
  packed_.resize(size);
  if (read(packed_) < size) {
    stop(BlocksEnd::cut, fmt::format("it ends within the block that begins at byte {}", at));
    return {};
  }
  std::unique_ptr<Stream>& stream = streams_[turn_];
  turn_ = (turn_ + 1) % streams_.size();
  if (!stream) stream = std::make_unique<Stream>();
  std::span<const char> out;
  if (zstd_ ? stream->unpack_zstd(packed_, out) : stream->unpack_lz4(packed_, out)) return out;
  stop(BlocksEnd::damaged, fmt::format("the block at byte {} cannot be unpacked", at));
  return out;
}

bool TraceReader::gather(std::size_t bytes) {
  if (ended_) return false;
  while (static_cast<std::size_t>(end_ - at_) < bytes) {
    // The next block takes the place of the one at hand.
    rest_.assign(at_, end_);
    const std::span<const char> block = blocks_.next();
    if (!block.empty()) unpacked_ += block.size();
    if (rest_.empty()) {
      at_ = block.data();
      end_ = at_ + block.size();
    } else {
      rest_.insert(rest_.end(), block.begin(), block.end());
      joined_.swap(rest_);
      at_ = joined_.data();
      end_ = at_ + joined_.size();
    }
    if (block.empty()) return false;
  }
  return true;
}

bool TraceReader::refill(std::size_t bytes) {
  if (gather(bytes)) return true;
  at_ = end_;
  ended_ = true;
  return false;
}

void TraceReader::skip(std::uint64_t bytes) {
  while (bytes > 0 && !ended_) {
    if (at_ == end_ && !refill(1)) return;
    const auto part = std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(end_ - at_));
    at_ += part;
    bytes -= part;
  }
}

void TraceReader::skip(std::uint64_t count, std::uint64_t each) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  skip(count > kMost / each ? kMost : count * each);
}

void TraceReader::append(std::uint64_t bytes, std::vector<char>& out) {
  while (bytes > 0 && !ended_) {
    if (at_ == end_ && !refill(1)) return;
    const auto part = std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(end_ - at_));
    out.insert(out.end(), at_, at_ + part);
    at_ += part;
    bytes -= part;
  }
}

std::string TraceReader::text(std::uint64_t bytes, std::size_t most) {
  std::vector<char> retained;
  append(std::min<std::uint64_t>(bytes, most), retained);
  if (bytes > most) skip(bytes - most);
  return {retained.begin(), retained.end()};
}

void TraceReader::give_up(std::string why) {
  if (!ended_) gave_up_ = std::move(why);
  at_ = end_;
  ended_ = true;
}

bool TraceReader::at_end() { return ended_ || peek(1) == nullptr; }

namespace {

constexpr std::uint8_t kByNumber = 1;
constexpr std::uint8_t kThere = 2;
constexpr std::size_t kPageBytes = 1U << 20;

void read_numbers(TraceReader& reader, std::vector<std::uint64_t>& numbers) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const auto number = reader.number<std::uint64_t>();
    if (reader.ended()) return;
    numbers.push_back(number);
  }
}

}  // namespace

// Texts may be most of a trace: they are kept in pages, which are never moved.
void TraceNames::read_text(TraceReader& reader, std::uint64_t size) {
  if (size > kPageBytes || pages_.empty() || pages_.back().capacity() - pages_.back().size() < size) {
    pages_.emplace_back().reserve(kPageBytes);
  }
  std::vector<char>& page = pages_.back();
  const std::size_t begin = page.size();
  reader.append(size, page);
  texts_.emplace_back(page.data() + begin, page.size() - begin);
}

TraceNames::KeysAndAddresses TraceNames::read_keys(TraceReader& reader, std::size_t bytes_behind) {
  KeysAndAddresses keys;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16 + bytes_behind);
    if (reader.ended()) break;
    const auto key = record.next<std::uint64_t>();
    keys.emplace_back(key, record.next<std::uint64_t>());
  }
  return keys;
}

void TraceNames::read_texts(TraceReader& reader) {
  std::deque<std::uint64_t> addresses;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16);
    if (reader.ended()) break;
    addresses.push_back(record.next<std::uint64_t>());
    read_text(reader, record.next<std::uint64_t>());
  }
  const KeysAndAddresses literals = read_keys(reader, 0);
  const KeysAndAddresses threads = read_keys(reader, 0);
  // Of threads of other processes: the program's name, and the thread's.
  const KeysAndAddresses programs = read_keys(reader, 8);
  // Few texts are asked for by their address.
  TextsByKey wanted;
  for (const KeysAndAddresses* keys : {&literals, &threads, &programs}) {
    for (const auto& [key, address] : *keys) wanted.emplace(address, kNoText);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (const auto found = wanted.find(addresses[i]); found != wanted.end()) {
      found->second = static_cast<std::uint32_t>(i);
    }
  }
  const auto resolve = [&](const KeysAndAddresses& keys, TextsByKey& map) {
    for (const auto& [key, address] : keys) {
      if (const std::uint32_t text = wanted[address]; text != kNoText) map.emplace(key, text);
    }
  };
  resolve(literals, literals_);
  resolve(threads, thread_names_);
  resolve(programs, programs_);
}

void TraceNames::read_threads(TraceReader& reader) {
  read_numbers(reader, threads_);
  read_numbers(reader, other_threads_);
}

SourcePlace TraceNames::read_place(TraceReader& reader) const {
  TraceRecord record = reader.record(3 * kReferenceBytes + 8);
  SourcePlace place;
  place.name = reference(record);
  place.function = reference(record);
  place.file = reference(record);
  place.line = record.next<std::uint32_t>();
  place.colour = record.next<std::uint32_t>();
  return place;
}

void TraceNames::read_places(TraceReader& reader) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const auto address = reader.number<std::uint64_t>();
    const SourcePlace place = read_place(reader);
    if (reader.ended()) return;
    built_in_.emplace(address, place);
  }
  read_numbers(reader, addresses_);
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const SourcePlace place = read_place(reader);
    if (reader.ended()) return;
    made_later_.push_back(place);
  }
}

std::string_view TraceNames::text(std::uint32_t number) const noexcept {
  return number < texts_.size() ? texts_[number] : std::string_view{};
}

std::uint32_t TraceNames::reference(TraceRecord& record) const {
  const auto value = record.next<std::uint64_t>();
  const auto flags = record.next<std::uint8_t>();
  if ((flags & kThere) == 0) return kNoText;
  if ((flags & kByNumber) != 0) return value < texts_.size() ? static_cast<std::uint32_t>(value) : kNoText;
  const auto literal = literals_.find(value);
  return literal == literals_.end() ? kNoText : literal->second;
}

std::string_view TraceNames::found(const TextsByKey& map, std::uint64_t key) const {
  const auto place = map.find(key);
  return place == map.end() ? std::string_view{} : text(place->second);
}

std::string_view TraceNames::literal(std::uint64_t address) const { return found(literals_, address); }
std::string_view TraceNames::thread_name(std::uint64_t thread) const { return found(thread_names_, thread); }
std::string_view TraceNames::other_program(std::uint64_t thread) const { return found(programs_, thread); }

std::uint64_t TraceNames::thread(std::uint16_t number) const noexcept {
  return number < threads_.size() ? threads_[number] : number;
}
std::uint64_t TraceNames::other_thread(std::uint16_t number) const noexcept {
  return number < other_threads_.size() ? other_threads_[number] : number;
}

const SourcePlace* TraceNames::place(std::int16_t number) const {
  if (number < 0) {
    const auto later = static_cast<std::size_t>(-(number + 1));
    return later < made_later_.size() ? &made_later_[later] : nullptr;
  }
  if (static_cast<std::size_t>(number) >= addresses_.size()) return nullptr;
  const auto place = built_in_.find(addresses_[static_cast<std::size_t>(number)]);
  return place == built_in_.end() ? nullptr : &place->second;
}

}  // namespace accelscope::capture::sources::tracy
