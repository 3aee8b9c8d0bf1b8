#include "capture/sources/perfetto/read/track_event.h"

#include <bit>

#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

void add_numbers(Fields& fields, WireType wire, std::vector<std::uint64_t>& to) {
  fields.each(wire, [&to](std::uint64_t value) { to.push_back(value); });
}

void read_legacy(std::string_view message, LegacyFields& legacy) {
  legacy.present = true;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        legacy.name_iid = fields.whole();
        break;
      case 2:
        legacy.phase = static_cast<char>(fields.whole());
        break;
      case 3:
        legacy.duration_us = fields.integer();
        break;
      case 4:
        legacy.thread_duration_us = fields.integer();
        break;
      case 6:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::unscoped;
        break;
      case 7:
        legacy.scope = fields.bytes();
        break;
      case 8:
        legacy.bind_id = fields.whole();
        break;
      case 9:
        legacy.use_async_tts = fields.flag();
        break;
      case 10:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::local;
        break;
      case 11:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::global;
        break;
      case 12:
        legacy.bind_to_enclosing = fields.flag();
        break;
      case 13:
        legacy.direction = fields.whole();
        break;
      case 14:
        legacy.instant_scope = fields.whole();
        break;
      case 15:
        legacy.instructions = fields.integer();
        break;
      case 18:
        legacy.pid = fields.integer32();
        break;
      case 19:
        legacy.tid = fields.integer32();
        break;
      default:
        break;
    }
  }
}

}  // namespace

void TrackEventFields::clear() {
  type = kNone;
  has_type = false;
  track.reset();
  name_iid.reset();
  name = {};
  has_name = false;
  category_iids.clear();
  categories.clear();
  annotations.clear();
  counter.reset();
  real_counter.reset();
  flows.clear();
  source_location_iid.reset();
  broken = false;
  if (any_seldom_) clear_seldom();
}

void TrackEventFields::clear_seldom() {
  any_seldom_ = false;
  extra_tracks.clear();
  extra_values.clear();
  extra_real_tracks.clear();
  extra_real_values.clear();
  ending_flows.clear();
  correlation.reset();
  correlation_text = {};
  correlation_iid.reset();
  callstack = {};
  callstack_iid.reset();
  source_location = {};
  task_execution = {};
  log_message = {};
  gpu_correlation = {};
  gpu_api.reset();
  delta_us.reset();
  absolute_us.reset();
  thread_delta_us.reset();
  thread_absolute_us.reset();
  instructions_delta.reset();
  instructions_absolute.reset();
  legacy = {};
  unread_field = 0;
}

void TrackEventFields::read(std::string_view message) {
  clear();
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 9:
        type = fields.whole();
        has_type = true;
        break;
      case 11:
        track = fields.whole();
        break;
      case 10:
        name_iid = fields.whole();
        break;
      case 23:
        name = fields.bytes();
        has_name = true;
        break;
      case 3:
        if (fields.type() != WireType::bytes) {
          category_iids.push_back(fields.whole());
        } else {
          add_numbers(fields, WireType::varint, category_iids);
        }
        break;
      case 22:
        categories.push_back(fields.bytes());
        break;
      case 4:
        annotations.push_back(fields.bytes());
        break;
      case 30:
        counter = fields.integer();
        break;
      case 44:
        real_counter = fields.real();
        break;
      case 36:
        add_numbers(fields, WireType::varint, flows);
        break;
      case 47:
        add_numbers(fields, WireType::fixed64, flows);
        break;
      case 34:
        source_location_iid = fields.whole();
        break;
      default:
        read_seldom(fields);
    }
  }
  broken = fields.broken();
}

void TrackEventFields::read_seldom(Fields& fields) {
  any_seldom_ = true;
  switch (fields.number()) {
    case 31:
      add_numbers(fields, WireType::varint, extra_tracks);
      break;
    case 12:
      fields.each(WireType::varint,
                  [this](std::uint64_t value) { extra_values.push_back(static_cast<std::int64_t>(value)); });
      break;
    case 45:
      add_numbers(fields, WireType::varint, extra_real_tracks);
      break;
    case 46:
      fields.each(WireType::fixed64,
                  [this](std::uint64_t value) { extra_real_values.push_back(std::bit_cast<double>(value)); });
      break;
    case 42:
      add_numbers(fields, WireType::varint, ending_flows);
      break;
    case 48:
      add_numbers(fields, WireType::fixed64, ending_flows);
      break;
    case 52:
      correlation = fields.whole();
      break;
    case 53:
      correlation_text = fields.bytes();
      break;
    case 54:
      correlation_iid = fields.whole();
      break;
    case 55:
      callstack = fields.bytes();
      break;
    case 56:
      callstack_iid = fields.whole();
      break;
    case 57:  // the weight of the stack
      break;
    case 33:
      source_location = fields.bytes();
      break;
    case 5:
      task_execution = fields.bytes();
      break;
    case 21:
      log_message = fields.bytes();
      break;
    case 6:
      read_legacy(fields.bytes(), legacy);
      break;
    case 1:
      delta_us = fields.integer();
      break;
    case 16:
      absolute_us = fields.integer();
      break;
    case 2:
      thread_delta_us = fields.integer();
      break;
    case 17:
      thread_absolute_us = fields.integer();
      break;
    case 8:
      instructions_delta = fields.integer();
      break;
    case 20:
      instructions_absolute = fields.integer();
      break;
    case 3000:
      gpu_correlation = fields.bytes();
      break;
    case 3001:
      gpu_api = fields.whole();
      break;
    default:
      unread_field = fields.number();
  }
}

}  // namespace accelscope::capture::sources::perfetto
