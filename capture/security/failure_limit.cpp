#include "capture/security/failure_limit.h"

#include <algorithm>
#include <asio/ip/address.hpp>
#include <utility>

namespace accelscope::capture {
namespace {

constexpr std::size_t kNetworkBytes = 8;  // of an IPv6 address

std::string network_of(const std::string& ip) {
  asio::error_code failure;
  const asio::ip::address parsed = asio::ip::make_address(ip, failure);
  if (failure || parsed.is_v4()) return ip;
  if (parsed.to_v6().is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, parsed.to_v6()).to_string();
  asio::ip::address_v6::bytes_type bytes = parsed.to_v6().to_bytes();
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), static_cast<unsigned char>(0));
  return asio::ip::address_v6(bytes).to_string();
}

}  // namespace

std::chrono::seconds FailureLimit::wait_time(const std::string& ip) const {
  const auto found = records_.find(network_of(ip));
  if (found == records_.end()) return std::chrono::seconds(0);
  const auto left = std::chrono::ceil<std::chrono::seconds>(found->second.blocked_until - clock_());
  return std::max(left, std::chrono::seconds(0));
}

void FailureLimit::failed(const std::string& ip) {
  const TimePoint now = clock_();
  const std::string network = network_of(ip);
  if (!records_.contains(network)) {
    make_room();
    records_[network] = {.since = now, .blocked_until = now};
  }
  Record& record = records_[network];
  if (now - record.since > kWithin) record = {.since = now, .blocked_until = now, .next_block = record.next_block};
  record.last = now;
  if (++record.failures < kFailures) return;
  record.failures = 0;
  record.since = now;
  record.blocked_until = now + record.next_block;
  record.next_block = std::min(2 * record.next_block, kLongestBlock);
}

void FailureLimit::succeeded(const std::string& ip) { records_.erase(network_of(ip)); }

// Forgets who has been quiet for longer than any block; if nobody has, whoever failed longest ago.
void FailureLimit::make_room() {
  if (records_.size() < kMostAddresses) return;
  const TimePoint now = clock_();
  std::erase_if(records_, [now](const auto& entry) {
    return now - entry.second.last > kWithin && now - entry.second.blocked_until > kLongestBlock;
  });
  if (records_.size() < kMostAddresses) return;
  records_.erase(std::min_element(records_.begin(), records_.end(),
                                  [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace accelscope::capture
