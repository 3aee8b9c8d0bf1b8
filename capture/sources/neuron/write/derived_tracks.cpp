#include "capture/sources/neuron/write/derived_tracks.h"

#include <algorithm>
#include <cmath>

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::int64_t kLeastBucketNs = 1000;  // as fine as the figure means anything: a few matrix multiplications
constexpr std::int64_t kMostBuckets = 1 << 16;

}  // namespace

PeUtilization::PeUtilization(std::int64_t begin, std::int64_t end, std::int64_t ticks_per_ns, double macs_per_ns)
    : begin_(begin), bucket_(std::max(kLeastBucketNs * ticks_per_ns, (end - begin) / kMostBuckets + 1)) {
  macs_per_bucket_ = macs_per_ns * static_cast<double>(bucket_) / static_cast<double>(ticks_per_ns);
  macs_.resize(static_cast<std::size_t>((end - begin) / bucket_ + 1));
}

void PeUtilization::add(std::int64_t start, std::int64_t duration, std::int64_t macs) {
  any_ = true;
  const auto bucket_of = [&](std::int64_t ticks) {
    return std::clamp<std::int64_t>((ticks - begin_) / bucket_, 0, std::ssize(macs_) - 1);
  };
  const std::int64_t first = bucket_of(start);
  const std::int64_t last = bucket_of(start + std::max<std::int64_t>(duration - 1, 0));
  for (std::int64_t bucket = first; bucket <= last; ++bucket) {
    const std::int64_t from = std::max(start, begin_ + bucket * bucket_);
    const std::int64_t until = std::min(start + duration, begin_ + (bucket + 1) * bucket_);
    const double share = first == last ? 1.0 : static_cast<double>(until - from) / static_cast<double>(duration);
    macs_[static_cast<std::size_t>(bucket)] += share * static_cast<double>(macs);
  }
}

void PeUtilization::samples(const std::function<void(std::int64_t ticks, double share)>& sample) const {
  double last = -1;
  for (std::size_t i = 0; i < macs_.size(); ++i) {
    const double share = macs_per_bucket_ > 0 ? macs_[i] / macs_per_bucket_ : 0;
    if (share != last) sample(begin_ + static_cast<std::int64_t>(i) * bucket_, share);
    last = share;
  }
  if (last > 0) sample(begin_ + std::ssize(macs_) * bucket_, 0);
}

void TriggerLinks::add_instruction(std::int64_t start, std::int64_t triggered_start, std::uint64_t id) {
  instructions_.push_back({start, triggered_start, id});
}

void TriggerLinks::add_transfer(std::int64_t start, std::int64_t trigger_start, std::uint64_t id) {
  transfers_.push_back({trigger_start, start, id});
}

void TriggerLinks::links(
    const std::function<void(std::uint64_t instruction, std::uint64_t transfer, std::int64_t start)>& link) {
  std::sort(instructions_.begin(), instructions_.end());
  for (const End& transfer : transfers_) {
    const auto by_start = [](const End& a, const End& b) { return a.instruction_start < b.instruction_start; };
    const auto [first, last] = std::equal_range(instructions_.begin(), instructions_.end(), transfer, by_start);
    const auto agrees = [&](const End& instruction) { return instruction.transfer_start == transfer.transfer_start; };
    auto found = std::find_if(first, last, agrees);
    // The instruction may name another of several transfers that it set off.
    if (found == last && last - first == 1) found = first;
    if (found != last) link(found->id, transfer.id, transfer.transfer_start);
  }
}

void SpillLifetimes::add(std::string_view variable, std::int64_t start, std::int64_t end, std::int64_t bytes,
                         bool is_save) {
  auto found = moves_.find(variable);
  if (found == moves_.end()) found = moves_.emplace(std::string(variable), std::vector<Move>{}).first;
  found->second.push_back({start, end, bytes, is_save});
}

std::optional<std::int64_t> EventStarts::find(std::uint64_t id) {
  if (!sorted_) std::sort(starts_.begin(), starts_.end());
  sorted_ = true;
  const auto found = std::lower_bound(starts_.begin(), starts_.end(), Start{id, INT64_MIN});
  return found == starts_.end() || found->id != id ? std::nullopt : std::optional(found->start);
}

std::vector<SpillLifetimes::Block> SpillLifetimes::blocks() const {
  std::vector<Block> blocks;
  for (const auto& [variable, unsorted] : moves_) {
    std::vector<Move> moves = unsorted;
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.start < b.start; });
    // Saves after a reload begin the next lifetime; saves in a row fill one block.
    Block block;
    bool reloaded = true;
    for (const Move& move : moves) {
      if (reloaded && move.is_save) {
        if (block.bytes > 0) blocks.push_back(block);
        block = {variable, move.start, move.end, 0};
        reloaded = false;
      } else if (block.variable.empty()) {
        block = {variable, move.start, move.end, 0};  // its save is not in the profile
      }
      if (move.is_save) block.bytes += move.bytes;
      if (!move.is_save) {
        if (block.bytes == 0) block.bytes = move.bytes;
        reloaded = true;
      }
      block.end = std::max(block.end, move.end);
    }
    if (block.bytes > 0) blocks.push_back(block);
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
  return blocks;
}

}  // namespace accelscope::capture::sources::neuron
