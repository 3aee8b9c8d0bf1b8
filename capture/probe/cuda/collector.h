// The collector inside a program that uses CUDA: its parts, and what they share.
//
//   library.cpp    finds libcupti and takes its functions
//   collector.cpp  what is collected when, and how CUPTI is started, switched and flushed
//   records.cpp    buffers of CUPTI's records become records of the rings
//   stacks.cpp     from where the program calls, each stack told once
//   nvtx.cpp       ranges and marks of the program itself
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "capture/probe/client/tracing_collector.h"
#include "capture/probe/cuda/cupti_abi.h"
#include "capture/probe/cuda/format.h"
#include "capture/probe/cuda/library.h"

namespace accelscope::probe::cuda {

// Numbers of call stacks. One is told when it is first met, with the files that its code is of; after that it costs the
// walk and a look into a table that is never locked.
class Stacks {
 public:
  Stacks();
  // Of the caller and what is around it; 0: there are too many.
  [[nodiscard]] std::uint32_t number();

 private:
  static constexpr int kMostFrames = 72;
  static constexpr std::size_t kSlots = std::size_t{1} << 17U;  // a power of two; three quarters are used at most
  struct Slot {
    std::atomic<std::uint64_t> hash{0};  // 0: free; set after its number
    std::uint32_t number = 0;
  };
  struct Module {
    std::uintptr_t begin = 0, end = 0;
    std::uintptr_t base = 0;  // what its file's addresses are counted from
    std::uint32_t number = 0;
    std::string path;
  };
  [[nodiscard]] std::uint32_t define(std::uint64_t hash, void* const* frames, int count);
  void find_modules();
  [[nodiscard]] const Module* module_of(std::uintptr_t address) const noexcept;

  std::vector<Slot> slots_;
  std::mutex mutex_;  // of what follows, and of new slots
  std::uint32_t last_ = 0, last_module_ = 0;
  std::vector<Module> modules_;
  unsigned long long loaded_ = 0, unloaded_ = 0;  // files, when modules_ was made
};

// Buffers that CUPTI fills. They are made as they are wanted, and used again.
class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 1U << 20;

  explicit BufferPool(std::size_t most_bytes) : most_(most_bytes / kBufferBytes) {}
  [[nodiscard]] std::uint8_t* take();  // null: as many are out as may be
  void give_back(std::uint8_t* buffer);

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::size_t made_ = 0;
  std::size_t most_;
};

class Collector final : public TracingCollector {
 public:
  [[nodiscard]] static Collector& instance();

  // What the driver calls when a program starts CUDA; a further time does nothing.
  void start();
  [[nodiscard]] bool collects_nvtx() const noexcept { return nvtx_; }
  void name_stream(void* stream, const char* name);
  void name_context(void* context, const char* name);
  void name_resource(Resource resource, std::uint32_t number, const char* name);

 private:
  Collector() : TracingCollector("cuda"), nvtx_(is_on("nvtx")) {}
  void switch_tracing(bool on) override;
  void flush() override;
  void flush_all() override;
  [[nodiscard]] bool read_library_clock(std::uint64_t& ns) override;
  void release() override;
  void forked() override;

  [[nodiscard]] bool is_used_by_another();
  void enable_callbacks();
  void choose_activities();
  void translate(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes);
  void translate(const cupti::RawRecord& raw);
  [[nodiscard]] bool records_call(std::uint32_t domain, std::uint32_t id);

  static void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
  static void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                               std::size_t valid_bytes);
  static void called(void* user, std::uint32_t domain, std::uint32_t id, const void* data);
  void record_stack(const cupti::CallbackData& data);

  struct Chosen {
    cupti::Activity kind;
    bool while_paused;  // what is in use then is in use afterwards
    bool enabled;
  };

  static constexpr std::size_t kMostFunctions = 4096;  // of a domain

  BufferPool* pool_ = nullptr;
  Stacks* stacks_ = nullptr;  // null: none are wanted
  const cupti::Library* library_ = nullptr;
  void* subscriber_ = nullptr;  // null: CUPTI's place for callbacks is free
  bool nvtx_;

  // Under the lock.
  bool another_ = false;  // tool has CUPTI now
  int flushes_ = 0;
  std::vector<Chosen> activities_;
  RecordedCalls<2, kMostFunctions> calls_;  // by domain, from 0
  std::atomic<int> translating_{0};         // threads that have a buffer in hand
};

}  // namespace accelscope::probe::cuda
