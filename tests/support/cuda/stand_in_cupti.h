// A stand-in for libcupti and for the driver's part that feeds it: programs of the tests play records into it, which it
// gives to whoever has registered, as CUPTI does: buffers that it asks for, one for each thread, handed over by a
// thread of its own when they are full and by whoever flushes. Its version is the environment's STAND_IN_CUPTI
// (130001); its records have the sizes of that version.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// A record as the newest version lays it out; the rest of its bytes is 0. False: nobody wants such records.
bool stand_in_record(const std::uint8_t* record, std::size_t bytes);
// A launch as the driver makes it: the call, and a kernel of one us that begins when the call has ended.
std::uint32_t stand_in_launch(const char* kernel, std::uint32_t stream);
// Bytes as they are, in a buffer of their own, of which it says that `valid` are valid.
void stand_in_buffer(const std::uint8_t* bytes, std::size_t count, std::size_t valid);
void stand_in_drop(std::size_t records);  // as if no buffer had been there
void stand_in_profiler(bool on);          // cudaProfilerStart, cudaProfilerStop
// The callbacks of a call, if somebody wants them.
void stand_in_call(std::uint32_t domain, std::uint32_t id, std::uint32_t correlation, bool is_exit);
// What PM sampling samples from now on: numbers of samples count from 0; kNoSample: none is so.
struct StandInPm {
  static constexpr std::size_t kNoSample = ~std::size_t{0};
  std::uint64_t begin, period;  // ns
  std::size_t samples;
  std::size_t image_samples = 1000;  // that one decode gives
  std::size_t overflow_at = 0;       // the hardware's buffer is full then; 0: never
  std::size_t fails_at = 0;          // no decode works from then on; 0: all do
  std::size_t unreadable = kNoSample, backwards = kNoSample, not_finite = kNoSample;
  bool lies = false;  // of how many samples there are
};
void stand_in_pm_play(const StandInPm* play);
std::uint64_t stand_in_pm_interval(std::uint32_t* trigger);  // as it was configured last
std::uint64_t stand_in_pm_starts();
// The calling thread's buffer has a record that is not complete: only a forced flush gives it out.
void stand_in_incomplete(bool is_incomplete);
// Flushes that have ended, and who was not let in because another tool is served.
std::uint64_t stand_in_flushes();
std::uint64_t stand_in_refusals();
}
