// What is known of collective operations whoever ran them, as tables: how runtimes spell them and their algorithms,
// groups of ranks, types of elements, and what a link carries for each byte of the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace accelscope {

// "AllReduce" of "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)", "all-reduce", "allreduce"; nothing if no operation is
// named.
[[nodiscard]] std::optional<std::string_view> collective_operation(std::string_view name) noexcept;
// "Ring" of "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"; "" if the name says none.
[[nodiscard]] std::string_view collective_algorithm(std::string_view name) noexcept;

// What a link carries for each byte of the operation's size, by the accounting of the NCCL tests (doc/PERFORMANCE.md of
// nccl-tests): 2 (n - 1) / n for AllReduce; (n - 1) / n for AllGather, ReduceScatter and AllToAll; 1 for Broadcast,
// Reduce, SendRecv and what is not known. n: ranks; 1 below two of them. The size is the larger of what a rank brings
// and what it receives. Algorithm bandwidth is that size over the time, bus bandwidth the same times this factor.
[[nodiscard]] double bus_factor(std::string_view operation, std::size_t ranks) noexcept;

// The groups of "[[0,1],[2,3]]", "[0, 1]" or "0,1" as numbers of ranks. Empty if the text leaves some out ("[0, ...,
// 7]") or names none.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> replica_groups(std::string_view text);

// Bytes of an element: 2 of "bfloat16", "BFloat16" and "Half"; 0 if the type is not known.
[[nodiscard]] std::uint64_t element_bytes(std::string_view type) noexcept;

}  // namespace accelscope
