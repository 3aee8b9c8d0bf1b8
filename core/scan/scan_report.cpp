#include "core/scan/scan_report.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace accelscope {

void ScanReport::skip(std::uint64_t events, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  ++chunks_;
  events_ += events;
  if (why_.empty()) why_ = why;
}

void ScanReport::clear() {
  const std::scoped_lock lock(mutex_);
  chunks_ = 0;
  events_ = 0;
  why_.clear();
}

std::uint64_t ScanReport::skipped_events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

std::string ScanReport::sentence() const {
  const std::scoped_lock lock(mutex_);
  if (chunks_ == 0) return {};
  return fmt::format("{} events in {} {} could not be read and are left out: {}", format_count(events_),
                     format_count(chunks_), chunks_ == 1 ? "chunk" : "chunks", why_);
}

}  // namespace accelscope
