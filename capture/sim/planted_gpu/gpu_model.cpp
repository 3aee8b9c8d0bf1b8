#include "capture/sim/planted_gpu/gpu_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sim {
namespace {

namespace tracks = sources::tracks;

constexpr std::int64_t kLeastCallNs = 2'000, kMostCallNs = 4'000;
constexpr std::int64_t kLaunchLatencyNs = 1'500;
constexpr std::int64_t kLeastPauseNs = 500, kMostPauseNs = 900;
constexpr std::int64_t kLeastWakeNs = 2'000, kMostWakeNs = 4'000;
constexpr std::int64_t kOwnNs = 100;                // of an outer call, beside what lies in it
constexpr std::int64_t kPinnedBytesPerUs = 24'000;  // PCIe 4.0 x16, about
constexpr std::size_t kMostOutstanding = 1'024;

}  // namespace

GpuModel::GpuModel(EventSink& sink, std::uint64_t seed)
    : session_(sink),
      jitter_(seed),
      kernel_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::kernel))),
      memcpy_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::memcpy))),
      runtime_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::runtime_call))),
      nvtx_(session_.add_table(tracks::make_gpu_schema(tracks::GpuTable::nvtx))) {}

std::uint32_t GpuModel::add_rank() {
  const auto number = static_cast<std::uint32_t>(ranks_.size());
  Rank& rank = ranks_.emplace_back();
  rank.number = number;
  const std::string host = fmt::format("python ({})", 4'000 + number);
  const tracks::RowPlace place{tracks::kMainThreadRows, number};
  const std::uint32_t group = session_.add_group({.name = "Main thread", .kind = "host_thread", .host = host}, place);
  rank.annotations =
      session_.add_track(nvtx_, {.name = "Main thread annotations", .kind = "host_thread", .host = host}, place, group);
  rank.runtime =
      session_.add_track(runtime_, {.name = "Main thread runtime", .kind = "host_thread", .host = host}, place, group);
  return number;
}

std::int64_t GpuModel::drawn(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>((jitter_.next() >> 16) % static_cast<std::uint64_t>(most - least + 1));
}

// A tenth more or less.
std::int64_t GpuModel::jittered(std::int64_t ns) { return ns + drawn(-ns / 10, ns / 10); }

void GpuModel::host(std::uint32_t rank, std::string_view name, std::int64_t length_ns) {
  enter(rank, name);
  ranks_[rank].now += jittered(length_ns);
  leave(rank);
}

void GpuModel::enter(std::uint32_t rank, std::string_view name) {
  Rank& at = ranks_[rank];
  at.open.emplace_back(session_.intern(name), at.now);
  at.now += kOwnNs;
}

void GpuModel::leave(std::uint32_t rank) {
  Rank& at = ranks_[rank];
  at.now += kOwnNs;
  const auto [name, begin] = at.open.back();
  at.open.pop_back();
  values_.clear();
  session_.write(at.annotations, begin, at.now - begin, name, values_);
}

tracks::WrittenEvent GpuModel::call(Rank& rank, std::string_view name, std::int64_t length_ns) {
  const std::int64_t begin = rank.now;
  std::int64_t end = begin + length_ns;
  if (rank.begins.size() >= kMostOutstanding) end = std::max(end, rank.begins.front());
  rank.now = end;
  values_.clear();
  values_.integer(tracks::RuntimeColumns::correlation, ++correlation_);
  return session_.write(rank.runtime, begin, end - begin, session_.intern(name), values_);
}

std::int64_t GpuModel::next_begin(const Rank& rank, std::int64_t stream) {
  const std::int64_t launched = rank.now + kLaunchLatencyNs;
  const auto known = rank.free.find(stream);
  if (known == rank.free.end()) return launched;
  return std::max(launched, known->second + drawn(kLeastPauseNs, kMostPauseNs));
}

void GpuModel::note(Rank& rank, std::int64_t stream, std::int64_t begin, std::int64_t end) {
  rank.free[stream] = end;
  rank.begins.push_back(begin);
  if (rank.begins.size() > kMostOutstanding) rank.begins.pop_front();
}

void GpuModel::flow(const Rank& rank, const tracks::WrittenEvent& from, const tracks::WrittenEvent& to) {
  const auto id = static_cast<std::uint64_t>(correlation_);
  const std::uint64_t key = tracks::flow_key(rank.number, id);
  session_.add_flow(tracks::FlowSide::source, key, id, from);
  session_.add_flow(tracks::FlowSide::target, key, id, to);
}

std::uint32_t GpuModel::stream_row(Rank& rank, std::int64_t stream) {
  const auto [known, added] = rank.rows.try_emplace(stream, kNone);
  if (added) {
    known->second = session_.add_track(kernel_, {.name = fmt::format("stream {}", stream),
                                                 .kind = "stream",
                                                 .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
  }
  return known->second;
}

std::uint32_t GpuModel::copy_row(Rank& rank, std::int64_t stream) {
  const auto [known, added] = rank.copy_rows.try_emplace(stream, kNone);
  if (added) {
    known->second = session_.add_track(memcpy_, {.name = fmt::format("memcpy stream {}", stream),
                                                 .kind = "dma_queue",
                                                 .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
  }
  return known->second;
}

void GpuModel::launch(std::uint32_t rank, std::int64_t stream, std::string_view kernel, std::int64_t length_ns) {
  Rank& at = ranks_[rank];
  const tracks::WrittenEvent from = call(at, "cudaLaunchKernel", drawn(kLeastCallNs, kMostCallNs));
  const std::int64_t begin = next_begin(at, stream);
  values_.clear();
  values_.integer(tracks::KernelColumns::correlation, correlation_);
  values_.integer(tracks::KernelColumns::stream, stream);
  const auto to = session_.write(stream_row(at, stream), begin, length_ns, session_.intern(kernel), values_);
  flow(at, from, to);
  note(at, stream, begin, begin + length_ns);
}

tracks::WrittenEvent GpuModel::write_copy(Rank& rank, std::int64_t stream, std::string_view name, std::int64_t begin,
                                          std::int64_t bytes) {
  const std::int64_t length = bytes * 1'000 / kPinnedBytesPerUs;
  values_.clear();
  values_.integer(tracks::TransferColumns::correlation, correlation_);
  values_.integer(tracks::TransferColumns::stream, stream);
  values_.integer(tracks::TransferColumns::bytes, bytes);
  note(rank, stream, begin, begin + length);
  return session_.write(copy_row(rank, stream), begin, length, session_.intern(name), values_);
}

std::int64_t GpuModel::copy(std::uint32_t rank, std::int64_t stream, std::int64_t bytes) {
  Rank& at = ranks_[rank];
  const tracks::WrittenEvent from = call(at, "cudaMemcpyAsync", drawn(kLeastCallNs, kMostCallNs));
  const std::int64_t begin = next_begin(at, stream);
  flow(at, from, write_copy(at, stream, "Memcpy HtoD (Pinned -> Device)", begin, bytes));
  return done_ns(rank, stream);
}

void GpuModel::copy_back(std::uint32_t rank, std::int64_t stream, std::int64_t bytes, bool blocks) {
  constexpr std::string_view kName = "Memcpy DtoH (Device -> Pinned)";
  Rank& at = ranks_[rank];
  const std::int64_t own = drawn(kLeastCallNs, kMostCallNs), wake = drawn(kLeastWakeNs, kMostWakeNs);
  if (!blocks) {
    const tracks::WrittenEvent from = call(at, "cudaMemcpyAsync", own);
    const std::int64_t begin = next_begin(at, stream);
    flow(at, from, write_copy(at, stream, kName, begin, bytes));
    return;
  }
  ++correlation_;
  const std::int64_t called = at.now;
  at.now += own;
  const tracks::WrittenEvent to = write_copy(at, stream, kName, next_begin(at, stream), bytes);
  at.now = done_ns(rank, stream) + wake;
  values_.clear();
  values_.integer(tracks::RuntimeColumns::correlation, correlation_);
  flow(at, session_.write(at.runtime, called, at.now - called, session_.intern("cudaMemcpy"), values_), to);
}

void GpuModel::wait_until(std::uint32_t rank, std::int64_t stream, std::int64_t ns) {
  std::int64_t& free = ranks_[rank].free[stream];
  free = std::max(free, ns);
}

std::int64_t GpuModel::done_ns(std::uint32_t rank, std::int64_t stream) const {
  const auto known = ranks_[rank].free.find(stream);
  return known == ranks_[rank].free.end() ? 0 : known->second;
}

void GpuModel::synchronise(std::uint32_t rank, std::int64_t stream) {
  Rank& at = ranks_[rank];
  const std::int64_t wake = drawn(kLeastWakeNs, kMostWakeNs);
  call(at, "cudaStreamSynchronize", std::max<std::int64_t>(0, done_ns(rank, stream) - at.now) + wake);
}

void GpuModel::all_reduce(std::int64_t length_ns) {
  constexpr std::string_view kName = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  struct Part {
    tracks::WrittenEvent from;
    std::int64_t correlation = 0, begin = 0;
  };
  std::vector<Part> parts;
  std::int64_t all_there = 0;
  for (Rank& rank : ranks_) {
    Part& part = parts.emplace_back();
    part.from = call(rank, "cudaLaunchKernelExC", drawn(kLeastCallNs, kMostCallNs));
    part.correlation = correlation_;
    part.begin = next_begin(rank, kComputeStream);
    all_there = std::max(all_there, part.begin);
  }
  const std::int64_t end = all_there + jittered(length_ns);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.collectives == kNone) {
      rank.collectives =
          session_.add_track(kernel_, {.name = fmt::format("NCCL, stream {}", kComputeStream),
                                       .kind = "collective",
                                       .device = tracks::gpu_name(static_cast<std::int64_t>(rank.number))});
    }
    correlation_ = parts[i].correlation;
    values_.clear();
    values_.integer(tracks::KernelColumns::correlation, correlation_);
    values_.integer(tracks::KernelColumns::stream, kComputeStream);
    const std::int64_t begin = parts[i].begin;
    flow(rank, parts[i].from, session_.write(rank.collectives, begin, end - begin, session_.intern(kName), values_));
    note(rank, kComputeStream, begin, end);
  }
  correlation_ = parts.back().correlation;
}

Result<void> GpuModel::finish() { return session_.finish({.path = "planted"}); }

}  // namespace accelscope::capture::sim
