// What the collector inside one process that uses ROCm tells, as events of the tables that files of ROCm's profilers
// become (sources/rocm/run): the same columns and words, filled by the same code.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "capture/kinds/base/open_spans.h"
#include "capture/kinds/base/traced_process.h"
#include "capture/probe/rocm/format.h"
#include "capture/probe/rocm/sdk_abi.h"
#include "capture/sources/rocm/run/run.h"

namespace accelscope::capture::kinds::rocm {

namespace rocm_files = sources::rocm;
using rocm_files::MaybeNumber;
using rocm_files::RocmTable;

// What all processes of a capture share.
class RocmSession {
 public:
  RocmSession(SessionWriter& session_writer, std::chrono::steady_clock::time_point origin);

  // Defined when it is first asked for.
  [[nodiscard]] SchemaNumber schema(RocmTable table);
  [[nodiscard]] Row write(TrackNumber track, RocmTable table, const rocm_files::RocmRecord& record,
                          const sources::tracks::EventValues& of, std::optional<std::uint32_t> depth = {});

  SessionWriter& writer;
  Flows flows;
  rocm_files::RocmValues values;
  std::int64_t origin_ns;
  std::uint64_t process_count = 0;

 private:
  std::array<Schema, rocm_files::kRocmTableCount> schemas_;
  std::array<SchemaNumber, rocm_files::kRocmTableCount> numbers_;
};

class RocmProcess final : public TracedProcess {
 public:
  RocmProcess(const probes::ProbeProcess& process, RocmSession& session);

 private:
  void define_own(std::uint32_t type, probe::BodyReader& body) override;
  void define_name(std::uint32_t number, std::string text) override { names_[number] = word(text); }
  void record_own(const probes::ProbeThread& thread, probe::RecordHead head,
                  std::span<const std::uint64_t> words) override;
  void write(probe::RecordHead head, const std::uint64_t* words) override;
  void take_clock(const probe::ClockRecord& record) override;
  [[nodiscard]] std::uint64_t settle(std::int64_t end_ns) override;
  void tell_own() override;

  struct Operation {
    StringId kind = 0, name = 0;
    std::string text;
  };
  struct Kernel {
    StringId name = 0;
    bool is_collective = false;
    std::uint32_t sgprs = 0, vgprs = 0, accum_vgprs = 0;
  };
  struct OpenRange {
    std::uint32_t name = 0;
    std::int64_t start = 0;
  };
  struct Allocated {
    std::int64_t bytes = 0;
    std::uint64_t agent = 0;
  };
  enum class Sort : std::uint8_t { kernels, collectives, copies, memory };

  void define_agent(probe::BodyReader& body);
  void define_kernel(probe::BodyReader& body);

  void take_mark(const probes::ProbeThread& thread, const probe::rocm::MarkRecord& record);
  void write_mark(TrackNumber track, std::uint32_t lane, const OpenRange& range, std::int64_t end, const char* kind);
  // What all records begin with; those without a thread are of the system.
  template <typename Record>
  [[nodiscard]] Record begin(const probe::RawRecord& raw, const Operation& operation, probe::rocm::sdk::Layout layout,
                             probe::U64 thread) const;
  void write_dispatch(const probe::RawRecord& raw, const Operation& operation);
  void write_copy(const probe::RawRecord& raw, const Operation& operation);
  void write_allocation(const probe::RawRecord& raw, const Operation& operation, bool is_scratch);
  void write_call(const probe::RawRecord& raw, const Operation& operation);
  void write_page(const probe::RawRecord& raw, const Operation& operation, bool is_fault);

  [[nodiscard]] std::uint16_t wider(probe::rocm::sdk::Layout layout) const noexcept {
    using namespace probe::rocm::sdk;
    return version_ >= kWideIds && row_of(layout).is_wider ? kWider : 0;
  }
  [[nodiscard]] const rocm_files::RocmAgent& agent(std::uint64_t id);
  [[nodiscard]] std::string device(std::uint64_t agent);  // "GPU 0"
  [[nodiscard]] TrackNumber device_track(Sort sort, std::uint64_t agent, const rocm_files::RocmOnDevice& event);
  [[nodiscard]] TrackNumber started_track();
  [[nodiscard]] TrackNumber marks_track(std::uint32_t thread);
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ns, std::int64_t offset) const noexcept {
    return bounded_ns(ns) + offset - session_.origin_ns;
  }
  [[nodiscard]] StringId word(std::string_view text) { return session_.writer.intern(text); }

  RocmSession& session_;
  std::uint64_t process_index_;
  std::uint32_t version_ = 0;

  std::unordered_map<std::uint32_t, StringId> names_;
  std::unordered_map<std::uint32_t, Operation> operations_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  std::map<std::uint64_t, rocm_files::RocmAgent> agents_;
  std::array<std::int64_t, 2> agent_counts_{};              // of processors, of GPUs
  std::map<std::uint32_t, NestedSpans<OpenRange>> ranges_;  // by thread
  OverlappingSpans<std::uint64_t, OpenRange> started_;
  std::map<std::tuple<Sort, std::uint64_t, bool, std::int64_t>, TrackNumber> tracks_;  // agent, by stream, number
  TrackNumber started_track_ = kNone, pages_track_ = kNone;
  std::unordered_map<std::uint64_t, Allocated> allocated_;  // by address

  std::uint64_t unknown_releases_ = 0;
};

}  // namespace accelscope::capture::kinds::rocm
