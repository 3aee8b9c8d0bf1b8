// The collector inside a program that uses ROCm: a tool of rocprofiler-sdk, which loads it when HIP or HSA start.
//
//   collector.cpp  what is collected when, and how the library is configured, switched and flushed
//   records.cpp    records of its buffers, and what it calls back for, become records of the rings
//
// What is known of memory, kernels and streams while nothing is collected is in one context of the library, all else in
// another, which is stopped meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/probe/client/tracing_collector.h"
#include "capture/probe/rocm/format.h"
#include "capture/probe/rocm/sdk_abi.h"

namespace accelscope::probe::rocm {

struct KindRow {  // of records of buffers
  const char* name;
  const char* setting;  // that turns it on; "": it is always on
  sdk::Layout layout;
  bool while_paused;
};

class Collector final : public TracingCollector {
 public:
  [[nodiscard]] static Collector& instance();

  // What the library calls when it starts, `caller` being a place in it. Null: nothing is collected.
  [[nodiscard]] sdk::Tool* configure(std::uint32_t version, const void* caller);

 private:
  Collector() : TracingCollector("rocm"), roctx_(is_on("roctx") || has_range()) {}
  void switch_tracing(bool on) override;
  void flush() override;
  void flush_all() override;
  [[nodiscard]] bool read_library_clock(std::uint64_t& ns) override;
  void release() override;
  void forked() override { operations_.clear(); }

  [[nodiscard]] bool find_library(const void* caller);
  [[nodiscard]] bool initialize();
  [[nodiscard]] bool make_context(sdk::Context& context, sdk::Buffer& buffer);
  void choose_records();
  void choose_callbacks();
  void define_agents();

  void translate(const sdk::RecordHeader& header);
  [[nodiscard]] std::uint32_t operation_of(std::uint32_t kind, std::int32_t operation);  // 0: it is left out
  template <typename OfCall>
  static void called(sdk::CallbackRecord<OfCall> record, std::uint64_t* user_data, void* user);
  void called(std::uint32_t kind, std::int32_t operation, std::int32_t phase, const RawRecord& raw);
  void mark(std::int32_t operation, std::int32_t phase, const RawRecord& raw);
  void put_mark(RecordType type, const char* text, std::uint64_t range);

  static void taken(sdk::Context, sdk::Buffer, sdk::RecordHeader** headers, std::size_t count, void*,
                    std::uint64_t dropped);
  static int requested(std::uint64_t, sdk::Context, std::uint32_t, std::int32_t, std::uint64_t, std::uint64_t* external,
                       void*);

  sdk::Library library_{};
  std::uint32_t version_ = 0;
  std::string path_;
  bool roctx_;

  // By the library's number of the kind.
  static constexpr std::size_t kMostKinds = 64, kMostOperations = 2048;
  std::array<const KindRow*, kMostKinds> rows_{};
  struct Callbacks {
    std::uint32_t symbols = 0, marks = 0, controls = 0, names = 0, streams = 0;  // 0: there is none
  } callbacks_;
  RecordedCalls<kMostKinds, kMostOperations> operations_;

  // Under the lock.
  sdk::Context always_{}, traced_{};
  sdk::Buffer always_buffer_{}, traced_buffer_{};
  std::vector<std::uint64_t> chosen_;  // started ranges that the user chose, and that are open
};

}  // namespace accelscope::probe::rocm
