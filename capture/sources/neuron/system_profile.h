// What a system profile tells beyond its rows: who made each event, what lies in its attributes, arrows between events
// that share a flow, the rates at which hosts and devices exchanged data, the use of HBM, and which execution each
// device profile of the same run shows. Rows come in any order, so all of it is asked at the end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/sinks.h"

namespace accelscope::capture::sources::neuron {

// Who made an event: Python, the runtime on the host, a device.
enum class SystemSource : std::uint8_t { framework, runtime, hardware };

// By trace_event_source ("neuron_rt"), or what older profiles have in its place: group, type and the name.
[[nodiscard]] SystemSource system_source(std::span<const json::JsonField> row) noexcept;

inline constexpr std::string_view kExecutionEvent = "nc_exec_running";

// How a device's event is shown: "stream" of "Executions" ...
struct HardwareRow {
  std::string_view kind;
  std::string_view name;
};
[[nodiscard]] HardwareRow hardware_row(std::string_view event) noexcept;

// Newer exports keep what has no column of theirs in a text: the attributes that have one here become fields of the
// row, the others stay in the text.
class CallAttributes {
 public:
  // Valid until the next call, and as long as the row.
  [[nodiscard]] std::span<const json::JsonField> spread(std::span<const json::JsonField> row);

 private:
  std::vector<json::JsonField> fields_;
  std::optional<json::JsonCursor> cursor_;  // holds texts of the fields
  std::string rest_;
};

// Nanoseconds since 1970 of "2025-12-18 15:35:56.592459482 +0000 UTC"; nothing where it is no date, or one before 2001,
// as profiles have it that count from 0.
[[nodiscard]] std::optional<std::int64_t> unix_ns_of_date(std::string_view text);

// A core as the events of a process name it: its number is the process's own.
struct SystemCore {
  std::string instance;
  std::int64_t process = -1;
  std::int64_t number = -1;  // -1: the event names none
  std::int64_t worker = -1;  // among all of the job
  [[nodiscard]] bool is_known() const noexcept { return number >= 0 || worker >= 0; }
};

class SystemCores {
 public:
  // Its index.
  [[nodiscard]] std::uint32_t find(const SystemCore& core);
  [[nodiscard]] const SystemCore& core(std::uint32_t index) const { return cores_[index]; }
  // "nc0"; with its worker or process where several of one host are called that; "" of events that name none.
  [[nodiscard]] std::string device(std::uint32_t index) const;

 private:
  std::vector<SystemCore> cores_;
  std::map<std::array<std::string, 3>, std::uint32_t> known_;
};

enum class TransferDirection : std::uint8_t { to_device, to_host };
[[nodiscard]] std::string_view name_of(TransferDirection direction) noexcept;  // "Host to device"

// Calls that move data between host and device. A call within another of its thread and direction moves what that one
// was asked to move, so that each byte counts once: those of the inner calls, and what the outer one moved besides.
class HostTransfers {
 public:
  struct Call {
    std::uint32_t thread = 0;
    std::uint32_t core = 0;  // index of SystemCores
    TransferDirection direction = TransferDirection::to_device;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] static std::optional<TransferDirection> direction_of(std::string_view call) noexcept;
  void add(const Call& call) { calls_.push_back(call); }

  using Place = std::pair<std::uint32_t, TransferDirection>;  // core
  struct Step {
    std::int64_t time = 0;
    double rate = 0;  // B/s from here to the next one
  };
  // Of every core and direction what was moved, each byte once: call with start, end and bytes.
  [[nodiscard]] std::map<Place, std::vector<Call>> pieces(const SystemCores& cores);
  [[nodiscard]] static std::vector<Step> steps(std::span<const Call> pieces);

 private:
  std::vector<Call> calls_;
};

// Events that share the number of a flow, one after another.
class EventFlows {
 public:
  void add(std::uint32_t process, std::uint64_t flow, std::int64_t start, SystemSource source, std::uint64_t id) {
    ends_.push_back({process, flow, start, source, id});
  }
  void links(const std::function<void(std::uint64_t from, std::uint64_t to, std::int64_t start)>& link);

 private:
  struct End {
    std::uint32_t process;
    std::uint64_t flow;
    std::int64_t start;
    SystemSource source;
    std::uint64_t id;
    auto operator<=>(const End&) const = default;
  };
  std::vector<End> ends_;
};

// The use of each HBM by category.
class HbmSamples {
 public:
  static constexpr std::string_view kTable = "SystemProfileHbmUsage";
  struct Sample {
    std::int64_t time = 0;
    std::int64_t bytes = 0;
    auto operator<=>(const Sample&) const = default;
  };
  struct Memory {
    std::string instance;
    std::int64_t device = 0;
    std::int64_t number = 0;
    auto operator<=>(const Memory&) const = default;
  };
  using Categories = std::map<std::string, std::vector<Sample>, std::less<>>;  // "weights"; "total"

  // False: the row has no time.
  bool add(std::span<const json::JsonField> row);
  // By time; categories that are never above 0 are left out.
  void settle();
  [[nodiscard]] const std::map<Memory, Categories>& memories() const noexcept { return memories_; }

 private:
  std::map<Memory, Categories> memories_;
};

struct SystemProfile {
  struct Execution {
    std::uint32_t core = 0;
    std::int64_t model = -1;
    sources::ProfileExecution times;
    auto operator<=>(const Execution&) const = default;
  };
  // A device profile of the same run.
  struct Listed {
    std::string name;
    std::string instance;
    std::int64_t process = -1;
    std::int64_t core = -1;
    std::int64_t model = -1;
  };

  // A row of SystemProfileMetadata or DeviceProfileList.
  void look_at(std::string_view table, std::span<const json::JsonField> row);

  CallAttributes attributes;
  SystemCores cores;
  EventFlows flows;
  HostTransfers transfers;
  HbmSamples hbm;
  std::vector<Execution> executions;
  std::vector<Listed> listed;
  std::map<std::string, std::uint32_t> threads;        // numbers of host threads, by all that names them
  std::map<std::uint32_t, std::uint32_t> core_tracks;  // cores of tracks of the plan
  std::int64_t hbm_capacity = 0;
};

// The names of the device profiles of one run that the export of a system profile lists; none for other folders.
[[nodiscard]] std::vector<std::string> listed_profiles(const std::string& folder);

}  // namespace accelscope::capture::sources::neuron
