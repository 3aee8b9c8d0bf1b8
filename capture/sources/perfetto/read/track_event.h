// The fields of a message TrackEvent, as they come.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::perfetto {

class Fields;

struct LegacyFields {
  bool present = false;
  std::optional<std::uint64_t> name_iid;
  char phase = 0;
  std::int64_t duration_us = 0;
  std::optional<std::int64_t> thread_duration_us;
  std::optional<std::int64_t> instructions;
  enum class Id : std::uint8_t { none, unscoped, local, global };
  Id id_kind = Id::none;
  std::uint64_t id = 0;
  std::string_view scope;
  std::optional<std::uint64_t> bind_id;
  bool bind_to_enclosing = false;
  bool use_async_tts = false;
  std::uint64_t direction = 0;      // of the flow: 1 in, 2 out, 3 both
  std::uint64_t instant_scope = 0;  // 1 global, 2 process, 3 thread
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

struct TrackEventFields {
  enum Type : std::uint64_t { kNone = 0, kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4, kState = 5 };
  std::uint64_t type = kNone;
  bool has_type = false;
  std::optional<std::uint64_t> track;
  std::optional<std::uint64_t> name_iid;
  std::string_view name;
  bool has_name = false;
  std::vector<std::uint64_t> category_iids;
  std::vector<std::string_view> categories;
  std::vector<std::string_view> annotations;
  std::optional<std::int64_t> counter;
  std::optional<double> real_counter;
  std::vector<std::uint64_t> flows;
  std::optional<std::uint64_t> source_location_iid;
  bool broken = false;
  // Few events have any of these.
  std::vector<std::uint64_t> extra_tracks;
  std::vector<std::int64_t> extra_values;
  std::vector<std::uint64_t> extra_real_tracks;
  std::vector<double> extra_real_values;
  std::vector<std::uint64_t> ending_flows;
  std::optional<std::uint64_t> correlation;
  std::string_view correlation_text;
  std::optional<std::uint64_t> correlation_iid;
  std::string_view callstack;
  std::optional<std::uint64_t> callstack_iid;
  std::string_view source_location;
  std::string_view task_execution;
  std::string_view log_message;
  std::string_view gpu_correlation;
  std::optional<std::uint64_t> gpu_api;
  std::optional<std::int64_t> delta_us;
  std::optional<std::int64_t> absolute_us;
  std::optional<std::int64_t> thread_delta_us;
  std::optional<std::int64_t> thread_absolute_us;
  std::optional<std::int64_t> instructions_delta;
  std::optional<std::int64_t> instructions_absolute;
  LegacyFields legacy;
  std::uint32_t unread_field = 0;  // an argument of a type that is not known here; 0: none

  void clear();
  // Replaces what was read before.
  void read(std::string_view message);
  [[nodiscard]] bool any_seldom() const noexcept { return any_seldom_; }

 private:
  void clear_seldom();
  void read_seldom(Fields& fields);

  bool any_seldom_ = false;  // fields are set that few events have
};

}  // namespace accelscope::capture::sources::perfetto
