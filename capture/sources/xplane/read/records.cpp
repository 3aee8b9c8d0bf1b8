#include "capture/sources/xplane/read/records.h"

#include <bit>
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

void take_stat(pbf_reader reader, StatValue& stat) {
  stat = {};
  const auto set = [&](StatValue::Kind kind, std::uint64_t bits) {
    stat.kind = kind;
    stat.bits = bits;
  };
  const auto set_text = [&](StatValue::Kind kind) {
    stat.kind = kind;
    stat.text = view_of(reader);
  };
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, Wire::varint):
        stat.id = reader.get_int64();
        break;
      case tag_and_type(2, Wire::fixed64):
        set(StatValue::Kind::real, std::bit_cast<std::uint64_t>(reader.get_double()));
        break;
      case tag_and_type(3, Wire::varint):
        set(StatValue::Kind::natural, reader.get_uint64());
        break;
      case tag_and_type(4, Wire::varint):
        set(StatValue::Kind::whole, static_cast<std::uint64_t>(reader.get_int64()));
        break;
      case tag_and_type(5, Wire::length_delimited):
        set_text(StatValue::Kind::text);
        break;
      case tag_and_type(6, Wire::length_delimited):
        set_text(StatValue::Kind::bytes);
        break;
      case tag_and_type(7, Wire::varint):
        set(StatValue::Kind::reference, reader.get_uint64());
        break;
      case tag_and_type(8, Wire::length_delimited):
        set_text(StatValue::Kind::packed);
        break;
      default:
        reader.skip();
    }
  }
}

void take_event(pbf_reader reader, EventRecord& event) {
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, Wire::varint):
        event.metadata = reader.get_int64();
        break;
      case tag_and_type(2, Wire::varint):
        event.offset_ps = reader.get_int64();
        event.is_total = false;
        break;
      case tag_and_type(3, Wire::varint):
        event.duration_ps = reader.get_int64();
        break;
      case tag_and_type(4, Wire::length_delimited):
        event.stats.emplace_back();
        take_stat(reader.get_message(), event.stats.back());
        break;
      case tag_and_type(5, Wire::varint):
        event.occurrences = reader.get_uint64();
        event.is_total = true;
        break;
      default:
        reader.skip();
    }
  }
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

bool read_event(std::string_view message, EventRecord& event) {
  event.metadata = 0;
  event.offset_ps = 0;
  event.duration_ps = 0;
  event.occurrences = 0;
  event.is_total = false;
  event.stats.clear();
  return is_whole([&] { take_event(reader_of(message), event); });
}

bool read_stat(std::string_view message, StatValue& stat) {
  return is_whole([&] { take_stat(reader_of(message), stat); });
}

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
          take_stat(reader.get_message(), metadata.stats.back());
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
