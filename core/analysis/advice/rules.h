// The rules of advice, a row each: what must be seen, from where on it is told and who says so, what its cost means,
// and what to try. Judging is left to the functions of judgement.h; words for the user come from here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace accelscope::analysis {

enum class RuleId : std::uint8_t {
  reloaded_tensor,
  spills,
  small_transfers,
  starved,
  throttling,
  transposes,
  launch_gaps,
  tiny_kernels,
  synchronising,
  one_stream,
  unbalanced_cores,
  dispatch_gaps,
  loader_waits,
  serial_engines,
  low_utilisation,
  recompilation,
  single_buffer,
  late_collective,
  straggling_rank,
  host_setup,
  waits_for_data,
  waits_for_room,
  few_cores,
  reread_inputs,
  hardware_error,
  round_trips,
  transfers_alone,
  blocking_copies,
  page_migrations,
  exposed_communication,
  freeing,
  serial_parts,
  out_of_memory,
  held_memory,
  slow_products,
  slow_operations,
  crowded_links,
  unfused_kernels,
  plain_products,
  memory_bound,
};
inline constexpr std::size_t kRuleCount = 40;

// What a saving is a share of.
enum class CostBase : std::uint8_t {
  active,   // the time in which anything of the device is under way
  stretch,  // from the device's first to its last work
};

struct AdviceRule {
  RuleId id{};
  std::string_view name;       // for programs: "reloaded_tensor"
  std::string_view title;      // "Tensor loaded more than twice"
  std::string_view needs;      // what a session must hold for it
  double threshold = 0;        // told from here on
  std::string_view condition;  // that in words: "loaded more than 2 times"
  std::string_view source;     // where the threshold comes from
  double least_share = 0;      // of the base: what saves less is not told
  CostBase base = CostBase::active;
  std::string_view cost;         // what the saving is an upper bound of
  std::string_view explanation;  // why it costs time
  std::string_view remedy;       // what to try
  std::string_view page;         // of the vendor, by name
  bool of_gaps = false;          // it rests on stretches in which nothing runs
  bool of_device = false;        // it speaks of a device as a whole: a box on the timeline points at nothing
  bool once = false;             // it happens once, however long the session is: no share of its work
  bool reported = false;         // a device or an allocator says it: there is nothing to judge
  bool needs_all = false;        // it cannot be judged behind a filter: what is left out would look idle
};

[[nodiscard]] std::span<const AdviceRule> advice_rules() noexcept;  // in the order of their numbers
[[nodiscard]] const AdviceRule& rule_of(RuleId id) noexcept;

}  // namespace accelscope::analysis
