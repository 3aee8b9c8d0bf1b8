// What the ROCm collector tells the kind `rocm`, beside what all such collectors tell: records of the rings and bodies
// of definitions. Times are ns of the library's clock, those of marks of CLOCK_MONOTONIC; agents, queues, kernels, ids
// and operations are the library's own.
#pragma once

#include <cstdint>

#include "capture/probe/tracing_format.h"

namespace accelscope::probe::rocm {

enum class RecordType : std::uint16_t {
  // A record of the library's behind the head, as far as it is read; by sdk::Layout from 1. head.value: operation, as
  // defined.
  first_of_sdk = 1,
  mark = 32,  // MarkRecord; head.value: name; so for the next two
  push,
  start,
  pop,  // MarkRecord without a name
  stop,
};

struct SdkRecord {
  RecordHead head;
};

struct MarkRecord {
  RecordHead head;
  std::uint64_t time, range;  // range: number of one that is started
};

// Bodies, as BodyWriter packs them.
enum class DefinitionType : std::uint32_t {
  collector = 1,  // u32 version of the library, text path
  operation,      // u32 number, text kind ("HIP_RUNTIME_API"), text name
  agent,   // u64 id, u8 is a GPU, u64 bytes of memory, text name, text product, u32 count, then text fact and u32
           // value of each
  kernel,  // u64 id, u32 scalar, vector and accumulation registers, text name
};

}  // namespace accelscope::probe::rocm
