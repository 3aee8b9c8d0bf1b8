// A stand-in for rocprofiler-sdk and for the runtimes that feed it: programs of the tests start it, which loads the
// tools that ROCP_TOOL_LIBRARIES names, and play records and calls back into it. Its version is the environment's
// STAND_IN_SDK (10000); kinds of records have the numbers of that version. Structures are written after the project's
// headers, not after the collector's table of places, so that each holds the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stand_in {

struct Ids {
  std::uint64_t internal, external;
};
struct WideIds {  // from 1.0 on, of what threads called
  std::uint64_t internal, external, ancestor;
};
struct Extent {
  std::uint32_t x, y, z;
};

template <typename OfCall>
struct Call {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  OfCall ids;
  std::uint64_t start, end, thread;
};
struct Dispatch {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  Ids ids;
  std::uint64_t thread, start, end;
  struct {
    std::uint64_t size, agent, queue, kernel, dispatch;
    std::uint32_t private_bytes, group_bytes;
    Extent workgroup, grid;
    std::uint8_t reserved[56];
  } info;
};
struct Copy {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  Ids ids;
  std::uint64_t thread, start, end, target_agent, source_agent, bytes;
  std::uint64_t target_address, source_address;  // from 1.0 on
};
template <typename OfCall>
struct Allocation {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  OfCall ids;
  std::uint64_t thread, start, end, agent, address, bytes;
};
template <typename OfCall>
struct Scratch {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  OfCall ids;
  std::uint64_t agent, queue, thread, start, end;
  std::uint32_t flags;
  std::uint64_t bytes;  // from 1.3 on
};
struct Migration {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  std::uint64_t start, end;
  std::uint32_t process;
  std::uint64_t first, last, source_agent, target_agent, prefetch_agent, preferred_agent;
  std::int32_t error;
};
struct Fault {
  std::uint64_t size;
  std::uint32_t kind;
  std::int32_t operation;
  std::uint64_t start, end;
  std::uint32_t process;
  std::uint64_t agent, address;
};
static_assert(sizeof(Dispatch) == 184 && sizeof(Call<Ids>) == 56 && sizeof(Call<WideIds>) == 64 && sizeof(Copy) == 96);

struct Symbol {
  std::uint64_t size, kernel, code_object;
  const char* name;
  std::uint64_t object;
  std::uint32_t arguments_bytes, arguments_alignment, group_bytes, private_bytes, sgprs, vgprs, accum_vgprs;
  std::int64_t entry;
  std::uint64_t address;
};
struct Roctx {
  std::uint64_t size;
  union {
    const char* text;
    std::uint64_t range;
  } argument;
  std::uint64_t second;
  std::uint64_t result;
};
struct Stream {
  std::uint64_t size, id, value;
};

// As when HIP starts.
void start();
[[nodiscard]] std::uint32_t version();
// A record of so many bytes, which says that it has `says` of them (0: as many as it has). False: nobody wants it.
bool record(const char* kind, void* given, std::size_t bytes, std::uint64_t says = 0);
void call_back(const char* kind, std::int32_t operation, std::int32_t phase, const void* payload);
// The id that the tool gives what this thread enqueues now; kind 10: a copy, 11: a kernel.
[[nodiscard]] std::uint64_t external_id(std::uint32_t kind);
void drop(std::uint64_t records);  // as if no room had been there
void empty_header();               // a header of a record without one
// So often from now on a flush gives nothing out and says that the buffer is busy.
void hold(int flushes);
// Until the collector has all that was played: flushes of each of its buffers have begun and ended since. A minute at
// most.
void await_flush();

}  // namespace stand_in
