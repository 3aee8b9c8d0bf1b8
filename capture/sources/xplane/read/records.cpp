#include "capture/sources/xplane/read/records.h"

#include <fmt/format.h>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "capture/json/byte_source.h"
#include "core/base/json.h"

namespace accelscope::capture::sources::xplane {

Result<std::unique_ptr<SpaceBytes>> SpaceBytes::open(const std::string& path) {
  auto made = std::make_unique<SpaceBytes>();
  made->file_.reset(std::fopen(path.c_str(), "rb"));
  if (made->file_ == nullptr || std::fseek(made->file_.get(), 0, SEEK_END) != 0)
    return Error{fmt::format("{}: cannot be opened: {}; check the path", path, std::strerror(errno))};
  made->size_ = static_cast<std::uint64_t>(std::max(0L, std::ftell(made->file_.get())));
  std::array<char, 8> first{};
  if (!json::is_packed({first.data(), made->read(0, first)})) return made;
  made->size_ = 0;
  TRY(made->inflate(path));
  return made;
}

std::unique_ptr<SpaceBytes> SpaceBytes::from_memory(std::span<const char> bytes) {
  auto made = std::make_unique<SpaceBytes>();
  made->memory_ = bytes;
  made->size_ = bytes.size();
  return made;
}

Result<void> SpaceBytes::inflate(const std::string& path) {
  std::unique_ptr<json::ByteSource> source = TRY(json::ByteSource::open(path));
  file_.reset(std::tmpfile());
  const auto no_room = [&] {
    return Error{fmt::format("{}: cannot be unpacked to a temporary file: {}; make room, or unpack it first", path,
                             std::strerror(errno))};
  };
  if (file_ == nullptr) return no_room();
  std::vector<char> part(1U << 20);
  for (;;) {
    const Result<std::size_t> count = source->read(part);
    if (!count) {
      if (size_ == 0) return count.error();
      broken_off_ = count.message();
      break;
    }
    if (*count == 0) break;
    if (std::fwrite(part.data(), 1, *count, file_.get()) != *count) return no_room();
    size_ += *count;
  }
  if (std::fflush(file_.get()) != 0) return no_room();
  return {};
}

std::size_t SpaceBytes::read(std::uint64_t offset, std::span<char> out) const noexcept {
  if (offset >= size_) return 0;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset));
  if (file_ == nullptr) {
    std::memcpy(out.data(), memory_.data() + offset, wanted);
    return wanted;
  }
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t count =
        pread(fileno(file_.get()), out.data() + done, wanted - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) failure_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string_view SpaceWindow::fill(std::uint64_t offset, std::size_t count) {
  const std::uint64_t left = offset < bytes_.size() ? bytes_.size() - offset : 0;
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, left));
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(count, window_bytes_), left));
  if (buffer_.size() < wanted || buffer_.size() > 2 * std::max(wanted, window_bytes_)) {
    buffer_ = {};
    buffer_.resize(wanted);
  }
  begin_ = offset;
  filled_ = bytes_.read(offset, std::span(buffer_).first(wanted));
  return {buffer_.data(), std::min(count, filled_)};
}

namespace {

constexpr std::size_t kLongestVarint = 10;
constexpr std::uint32_t kHighestField = (1U << 29) - 1;

// False: it is cut, or longer than 64 bits.
[[nodiscard]] bool take_varint(std::string_view& bytes, std::uint64_t& value) noexcept {
  value = 0;
  const std::size_t most = std::min(bytes.size(), kLongestVarint);
  for (std::size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if (byte < 0x80U) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

bool MessageWalk::fail(Problem problem, std::uint64_t at) noexcept {
  problem_ = problem;
  problem_at_ = at;
  at_ = end_;
  return false;
}

bool MessageWalk::next(WireField& field) {
  if (at_ >= end_) return false;
  const std::uint64_t left = end_ - at_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, 2 * kLongestVarint));
  const std::string_view head = window_.at(at_, count);
  std::string_view bytes = head;
  // What lies before a number that the message's end cuts was cut itself; a longer one is none.
  const auto broken = [&] { return bytes.size() < kLongestVarint ? Problem::cut : Problem::wrong; };
  std::uint64_t tag = 0;
  if (!take_varint(bytes, tag)) return fail(broken(), at_);
  const std::uint64_t number = tag >> 3U;
  if (number == 0 || number > kHighestField) return fail(Problem::wrong, at_);
  field = {};
  field.number = static_cast<std::uint32_t>(number);
  field.type = static_cast<protozero::pbf_wire_type>(tag & 7U);
  const std::uint64_t begin = at_;
  const auto after = [&] { return begin + (head.size() - bytes.size()); };
  switch (field.type) {
    case protozero::pbf_wire_type::varint:
      if (!take_varint(bytes, field.value)) return fail(broken(), begin);
      at_ = after();
      return true;
    case protozero::pbf_wire_type::length_delimited: {
      if (!take_varint(bytes, field.size)) return fail(broken(), begin);
      field.begin = after();
      const std::uint64_t room = end_ - field.begin;
      field.cut = field.size > room;
      field.size = std::min(field.size, room);
      at_ = field.begin + field.size;
      if (field.cut) fail(Problem::cut, begin);
      return true;
    }
    case protozero::pbf_wire_type::fixed64:
    case protozero::pbf_wire_type::fixed32: {
      const std::size_t size = field.type == protozero::pbf_wire_type::fixed64 ? 8 : 4;
      if (bytes.size() < size) return fail(Problem::cut, begin);
      for (std::size_t i = size; i-- > 0;) field.value = field.value << 8U | static_cast<unsigned char>(bytes[i]);
      bytes.remove_prefix(size);
      at_ = after();
      return true;
    }
    default:
      return fail(Problem::wrong, begin);
  }
}

namespace {

using protozero::pbf_reader;
using protozero::tag_and_type;
using Wire = protozero::pbf_wire_type;

[[nodiscard]] std::string_view view_of(pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

constexpr std::uint32_t tag_of(std::uint32_t field, Wire type) noexcept {
  return field << 3U | static_cast<std::uint32_t>(type);
}

// Goes over the fields of a message as pbf_reader does and is as strict, without calls and exceptions: most of a
// profile's bytes are events.
class FieldCursor {
 public:
  explicit FieldCursor(std::string_view message) noexcept
      : at_(message.data()), end_(message.data() + message.size()) {}

  // False at the end, and where the message is broken: see broken().
  [[nodiscard]] bool next() noexcept {
    if (at_ == end_) return false;
    const std::uint64_t tag = number();
    constexpr std::uint32_t kFirstReserved = 19'000, kLastReserved = 19'999;
    const auto field = static_cast<std::uint32_t>(tag >> 3U);
    if (field == 0 || (field >= kFirstReserved && field <= kLastReserved)) broken_ = true;
    tag_ = field << 3U | static_cast<std::uint32_t>(tag & 7U);
    return !broken_;
  }
  [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  // What is broken is 0 and ends the walk.
  [[nodiscard]] std::uint64_t number() noexcept {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80U) return static_cast<unsigned char>(*at_++);
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 70; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80U) return value;
    }
    return fail();
  }
  [[nodiscard]] std::uint64_t fixed64() noexcept {
    std::uint64_t value = 0;
    if (end_ - at_ < 8) return fail();
    for (unsigned i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at_[i])) << 8U * i;
    at_ += 8;
    return value;
  }
  [[nodiscard]] std::string_view bytes() noexcept {
    const std::uint64_t size = number();
    if (size > static_cast<std::uint64_t>(end_ - at_)) fail();
    if (broken_) return {};
    const std::string_view view(at_, static_cast<std::size_t>(size));
    at_ += size;
    return view;
  }
  void skip() noexcept {
    switch (static_cast<Wire>(tag_ & 7U)) {
      case Wire::varint:
        (void)number();
        return;
      case Wire::fixed64:
        (void)fixed64();
        return;
      case Wire::length_delimited:
        (void)bytes();
        return;
      case Wire::fixed32:
        if (end_ - at_ < 4) {
          fail();
        } else {
          at_ += 4;
        }
        return;
      default:
        fail();
    }
  }

 private:
  std::uint64_t fail() noexcept {
    broken_ = true;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  std::uint32_t tag_ = 0;
  bool broken_ = false;
};

bool take_stat(std::string_view message, StatValue& stat) noexcept {
  stat = {};
  const auto set = [&](StatValue::Kind kind, std::uint64_t bits) {
    stat.kind = kind;
    stat.bits = bits;
  };
  const auto set_text = [&](StatValue::Kind kind, std::string_view text) {
    stat.kind = kind;
    stat.text = text;
  };
  FieldCursor fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case tag_of(1, Wire::varint):
        stat.id = static_cast<std::int64_t>(fields.number());
        break;
      case tag_of(2, Wire::fixed64):
        set(StatValue::Kind::real, fields.fixed64());
        break;
      case tag_of(3, Wire::varint):
        set(StatValue::Kind::natural, fields.number());
        break;
      case tag_of(4, Wire::varint):
        set(StatValue::Kind::whole, fields.number());
        break;
      case tag_of(5, Wire::length_delimited):
        set_text(StatValue::Kind::text, fields.bytes());
        break;
      case tag_of(6, Wire::length_delimited):
        set_text(StatValue::Kind::bytes, fields.bytes());
        break;
      case tag_of(7, Wire::varint):
        set(StatValue::Kind::reference, fields.number());
        break;
      case tag_of(8, Wire::length_delimited):
        set_text(StatValue::Kind::packed, fields.bytes());
        break;
      default:
        fields.skip();
    }
    if (fields.broken()) break;
  }
  return !fields.broken();
}

// protozero throws where a message is broken.
template <typename Read>
[[nodiscard]] bool is_whole(Read read) {
  try {
    read();
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

[[nodiscard]] pbf_reader reader_of(std::string_view message) { return pbf_reader{message.data(), message.size()}; }

}  // namespace

bool read_event(std::string_view message, EventRecord& event, std::vector<StatValue>& stats) {
  event = {};
  FieldCursor fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case tag_of(1, Wire::varint):
        event.metadata = static_cast<std::int64_t>(fields.number());
        break;
      case tag_of(2, Wire::varint):
        event.offset_ps = static_cast<std::int64_t>(fields.number());
        event.is_total = false;
        break;
      case tag_of(3, Wire::varint):
        event.duration_ps = static_cast<std::int64_t>(fields.number());
        break;
      case tag_of(4, Wire::length_delimited): {
        const std::string_view stat = fields.bytes();
        if (fields.broken() || !take_stat(stat, stats.emplace_back())) return false;
        break;
      }
      case tag_of(5, Wire::varint):
        event.occurrences = fields.number();
        event.is_total = true;
        break;
      default:
        fields.skip();
    }
    if (fields.broken()) return false;
  }
  return !fields.broken();
}

bool read_stat(std::string_view message, StatValue& stat) { return take_stat(message, stat); }

bool read_event_metadata(std::string_view message, EventMetadata& metadata) {
  metadata = {};
  return is_whole([&] {
    pbf_reader reader = reader_of(message);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case tag_and_type(2, Wire::length_delimited):
          metadata.name = view_of(reader);
          break;
        case tag_and_type(4, Wire::length_delimited):
          metadata.display_name = view_of(reader);
          break;
        case tag_and_type(5, Wire::length_delimited):
          metadata.stats.emplace_back();
          if (!take_stat(view_of(reader), metadata.stats.back())) throw protozero::end_of_buffer_exception{};
          break;
        default:
          reader.skip();
      }
    }
  });
}

bool read_stat_metadata(std::string_view message, std::string_view& name) {
  name = {};
  return is_whole([&] {
    pbf_reader reader = reader_of(message);
    while (reader.next()) {
      if (reader.tag_and_type() == tag_and_type(2, Wire::length_delimited)) {
        name = view_of(reader);
      } else {
        reader.skip();
      }
    }
  });
}

double real_of(const StatValue& value) noexcept {
  switch (value.kind) {
    case StatValue::Kind::real:
      return std::bit_cast<double>(value.bits);
    case StatValue::Kind::natural:
      return static_cast<double>(value.bits);
    default:
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
  }
}

std::string number_text(const StatValue& value) {
  switch (value.kind) {
    case StatValue::Kind::real:
      return json_number(std::bit_cast<double>(value.bits));
    case StatValue::Kind::natural:
      return std::to_string(value.bits);
    default:
      return std::to_string(static_cast<std::int64_t>(value.bits));
  }
}

}  // namespace accelscope::capture::sources::xplane
