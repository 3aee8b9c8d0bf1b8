// Hosts that launch and GPUs that work, by a small model of time, as a session in the rows and tables of importers.
// Calls are told in the program's order; the model says when each is made and when what it starts runs.
//
//   GpuModel model(sink, seed);
//   const std::uint32_t rank = model.add_rank();
//   model.host(rank, "aten::linear", 8'000); model.launch(rank, kComputeStream, "gemm", 60'000);
//   model.synchronise(rank, kComputeStream); model.finish();
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/schedule.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sim {

inline constexpr std::int64_t kComputeStream = 7, kCopyStream = 20;

class GpuModel {
 public:
  GpuModel(EventSink& sink, std::uint64_t seed);

  // A process with a GPU of its own.
  std::uint32_t add_rank();
  // The host does something of its own.
  void host(std::uint32_t rank, std::string_view name, std::int64_t length_ns);
  // Calls up to the matching leave() lie within one of the name.
  void enter(std::uint32_t rank, std::string_view name);
  void leave(std::uint32_t rank);
  void launch(std::uint32_t rank, std::int64_t stream, std::string_view kernel, std::int64_t length_ns);
  // From pinned memory; returns when it is done.
  std::int64_t copy(std::uint32_t rank, std::int64_t stream, std::int64_t bytes);
  // Into pinned memory; the host waits for it or goes on.
  void copy_back(std::uint32_t rank, std::int64_t stream, std::int64_t bytes, bool blocks);
  // What the stream is given from now on begins no earlier.
  void wait_until(std::uint32_t rank, std::int64_t stream, std::int64_t ns);
  // When all that the stream was given is done.
  [[nodiscard]] std::int64_t done_ns(std::uint32_t rank, std::int64_t stream) const;
  // The host waits for the stream.
  void synchronise(std::uint32_t rank, std::int64_t stream);
  // Every rank calls it; it is done when all have come and it has taken its time.
  void all_reduce(std::int64_t length_ns);
  Result<void> finish();

 private:
  struct Rank {
    std::uint64_t number = 0;
    std::int64_t now = 0;                                 // of its host
    std::map<std::int64_t, std::int64_t> free;            // by stream
    std::deque<std::int64_t> begins;                      // of what was launched last
    std::vector<std::pair<StringId, std::int64_t>> open;  // calls, the outermost first
    std::uint32_t annotations = kNone, runtime = kNone, collectives = kNone;
    std::map<std::int64_t, std::uint32_t> rows, copy_rows;  // by stream
  };
  [[nodiscard]] std::int64_t drawn(std::int64_t least, std::int64_t most);
  [[nodiscard]] std::int64_t jittered(std::int64_t ns);
  // The call that starts something, and when that can begin on its stream.
  sources::tracks::WrittenEvent call(Rank& rank, std::string_view name, std::int64_t length_ns);
  [[nodiscard]] std::int64_t next_begin(const Rank& rank, std::int64_t stream);
  [[nodiscard]] sources::tracks::WrittenEvent write_copy(Rank& rank, std::int64_t stream, std::string_view name,
                                                         std::int64_t begin, std::int64_t bytes);
  void note(Rank& rank, std::int64_t stream, std::int64_t begin, std::int64_t end);
  void flow(const Rank& rank, const sources::tracks::WrittenEvent& from, const sources::tracks::WrittenEvent& to);
  [[nodiscard]] std::uint32_t stream_row(Rank& rank, std::int64_t stream);
  [[nodiscard]] std::uint32_t copy_row(Rank& rank, std::int64_t stream);

  sources::tracks::UnorderedSession session_;
  Jitter jitter_;
  std::uint32_t kernel_, memcpy_, runtime_, nvtx_;
  std::vector<Rank> ranks_;
  std::int64_t correlation_ = 0;
  sources::tracks::EventValues values_;
};

}  // namespace accelscope::capture::sim
