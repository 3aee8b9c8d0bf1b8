#include "capture/sources/xplane/read/records.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace accelscope::capture::sources::xplane {
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

}  // namespace accelscope::capture::sources::xplane
