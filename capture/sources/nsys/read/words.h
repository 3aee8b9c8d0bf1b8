// Numbers of an export as words, as every version means them: exports since schema 3.0 bring tables of them, older ones
// do not. Names without what only the driver needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "capture/sources/sqlite/foreign_database.h"

namespace accelscope::capture::sources::nsys {

// The families of numbers that are shown as words.
enum class NsysEnum : std::uint8_t {
  copy_kind,     // of memcpy
  memory_kind,   // where bytes lie
  sync_type,     // what was waited for
  launch_type,   // of kernels
  cache_config,  // of kernels
  overhead,
  event_class,      // whose call it was
  migration_cause,  // of unified memory
  access_type,      // of page faults
  pool_operation,
  thread_state,
  thread_block,  // what a thread waits for
  severity,
  message_source,
};

// As every version numbers it, without a file; "" if nobody knows the number.
[[nodiscard]] std::string_view usual_word(NsysEnum family, std::int64_t number) noexcept;

class NsysWords {
 public:
  // The tables that the file brings count before those known here.
  void read(const sqlite::ForeignDatabase& file);
  // "" if nobody knows the number.
  [[nodiscard]] std::string_view word(NsysEnum family, std::int64_t number) const;

 private:
  std::map<std::pair<NsysEnum, std::int64_t>, std::string> words_;
};

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000": the driver numbers its functions by version.
[[nodiscard]] std::string_view without_version(std::string_view function) noexcept;
// "aten::view" of "aten::view, op_id = 314290": what PyTorch's ranges say beside their names is new each time.
[[nodiscard]] std::string_view without_operator_id(std::string_view range) noexcept;
// Of NVIDIA's, AMD's and Microsoft's libraries.
[[nodiscard]] bool is_collective_kernel_name(std::string_view kernel) noexcept;

// The parts of a globalTid or globalPid.
[[nodiscard]] constexpr std::uint64_t process_key_of(std::int64_t global) noexcept {  // host, virtual machine and pid
  return static_cast<std::uint64_t>(global) >> 24;
}
[[nodiscard]] constexpr std::uint32_t pid_of(std::int64_t global) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) >> 24 & 0xFFFFFF);
}
[[nodiscard]] constexpr std::uint32_t tid_of(std::int64_t global) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) & 0xFFFFFF);
}
[[nodiscard]] constexpr std::uint32_t machine_of(std::int64_t global) noexcept {  // host and virtual machine
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) >> 48);
}

}  // namespace accelscope::capture::sources::nsys
