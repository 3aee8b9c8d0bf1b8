#include "capture/probe/host/ring.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>

namespace accelscope::capture::probes {
namespace {

constexpr std::size_t kHead = probe::kRingHeadBytes;

Error no_ring() { return Error{"a thread's memory is no ring of events"}; }

}  // namespace

Result<std::unique_ptr<ProbeRing>> ProbeRing::map(const system::Descriptor& memory) {
  struct stat facts {};
  if (!memory || ::fstat(memory.get(), &facts) != 0) return no_ring();
  const std::uint64_t bytes = static_cast<std::uint64_t>(facts.st_size) - kHead;
  if (static_cast<std::uint64_t>(facts.st_size) < kHead + probe::kMinRingBytes || bytes > probe::kMaxRingBytes ||
      !std::has_single_bit(bytes)) {
    return no_ring();
  }
  void* base = ::mmap(nullptr, kHead + 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Error{"there is no memory left to read a thread's events"};
  std::unique_ptr<ProbeRing> ring(new ProbeRing);
  char* at = static_cast<char*>(base);
  ring->head_ = static_cast<probe::RingHead*>(base);
  ring->bytes_ = bytes;
  ring->words_ = reinterpret_cast<const std::uint64_t*>(at + kHead);
  const auto map_at = [&](char* to, std::size_t from, std::size_t size, int access) {
    return ::mmap(to, size, access, MAP_SHARED | MAP_FIXED, memory.get(), static_cast<off_t>(from)) != MAP_FAILED;
  };
  if (!map_at(at, 0, kHead, PROT_READ | PROT_WRITE) || !map_at(at + kHead, kHead, bytes, PROT_READ) ||
      !map_at(at + kHead + bytes, kHead, bytes, PROT_READ)) {
    return Error{"there is no memory left to read a thread's events"};
  }
  if (ring->head_->magic != probe::kRingMagic || ring->head_->bytes != bytes) return no_ring();
  return ring;
}

ProbeRing::~ProbeRing() { ::munmap(head_, kHead + 2 * bytes_); }

}  // namespace accelscope::capture::probes
