// The one group-by over events. Each worker adds what it reads to a part of its own, without a lock; the parts are
// merged in the order of the workers once all is read. A part is keys and measures:
//
//   a number                          a count or a sum
//   bool                              whether any
//   Least<T>, Extent                  the least value, the stretch of time
//   std::optional                     nothing, or what is merged
//   std::vector, std::set             a list: one behind the other
//   std::map, std::unordered_map      groups by key, each merged with its like
//   std::array, ByPlace<T>            groups by number, each merged with its like
//   a class with merge(T&&), append(const T&) or add(const T&)
//   a struct with measures()            each of them; what it leaves out stays the worker's own
//
//   struct Sums {
//     std::uint64_t count = 0;
//     std::unordered_map<StringId, Cost> names;
//     auto measures() { return std::tie(count, names); }
//   };
//   Result<Sums> sums = gather(query, lanes, range, Sums{}, [&](const ScannedChunk& chunk, Sums& part) { ... });
#pragma once

#include <algorithm>
#include <concepts>
#include <iterator>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/capped.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

template <typename T, typename From>
void merge_part(T& to, From&& from);  // a copy of it, or what is moved

// Groups by number: the event's device, thread, table, ...
template <typename T>
struct ByPlace : std::vector<T> {
  using std::vector<T>::vector;
  void append(const ByPlace& from) {
    if (this->size() < from.size()) this->resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) merge_part((*this)[i], from[i]);
  }
  void merge(ByPlace&& from) {
    if (this->size() < from.size()) this->resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) merge_part((*this)[i], std::move(from[i]));
    from = {};
  }
};

template <typename T>
struct Least {
  T value = std::numeric_limits<T>::max();  // as long as nothing was added
  void add(T other) noexcept { value = std::min(value, other); }
  void add(const Least& other) noexcept { add(other.value); }
};

// From the first begin to the last end of what was added.
struct Extent {
  TimeRange range{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  void add(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
    range = {std::min(range.begin_ns, begin_ns), std::max(range.end_ns, end_ns)};
  }
  void add(const Extent& other) noexcept { add(other.range.begin_ns, other.range.end_ns); }
};

template <typename T, typename From>
void merge_part(T& to, From&& from) {
  const auto passed = [](auto& value) -> decltype(auto) {
    if constexpr (std::is_lvalue_reference_v<From>) {
      return std::as_const(value);
    } else {
      return std::move(value);
    }
  };
  if constexpr (std::is_same_v<T, bool>) {
    to = to || from;
  } else if constexpr (std::signed_integral<T>) {
    to = capped_sum(to, static_cast<T>(from));
  } else if constexpr (std::is_arithmetic_v<T>) {
    to = static_cast<T>(to + from);
  } else if constexpr (requires { to.measures(); }) {
    std::apply(
        [&](auto&... into) {
          std::apply([&](auto&... each) { (merge_part(into, passed(each)), ...); }, const_cast<T&>(from).measures());
        },
        to.measures());
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (auto& [key, value] : from) {
      const auto [place, is_new] = to.try_emplace(key, passed(value));
      if (!is_new) merge_part(place->second, passed(value));
    }
  } else if constexpr (requires { typename T::key_type; }) {  // std::set
    to.insert(from.begin(), from.end());
  } else if constexpr (requires { to.merge(passed(from)); }) {
    to.merge(passed(from));
  } else if constexpr (requires { to.append(from); }) {
    to.append(from);
  } else if constexpr (requires { to.add(from); }) {
    to.add(from);
  } else if constexpr (requires { to.has_value(); }) {
    if (!to) {
      to = std::forward<From>(from);
    } else if (from) {
      merge_part(*to, passed(*from));
    }
  } else if constexpr (requires { std::tuple_size<T>::value; }) {  // std::array
    for (std::size_t i = 0; i < to.size(); ++i) merge_part(to[i], passed(from[i]));
  } else if (to.empty()) {
    to = std::forward<From>(from);
  } else if constexpr (std::is_lvalue_reference_v<From>) {
    to.insert(to.end(), from.begin(), from.end());
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from = {};
  }
}

// A part for each worker of a query, made when that worker first asks for it.
template <typename Make>
class WorkerParts {
 public:
  using Part = std::invoke_result_t<const Make&>;
  WorkerParts(const QueryContext& query, Make make) : make_(std::move(make)), parts_(query.pool.concurrency()) {}

  [[nodiscard]] Part& of(std::size_t worker) {
    if (!parts_[worker]) parts_[worker] = std::unique_ptr<Part>(new Part(make_()));  // also what cannot be moved
    return *parts_[worker];
  }
  template <typename Body>
  void for_each(Body body) const {
    for (const auto& part : parts_) {
      if (part) body(*part);
    }
  }
  [[nodiscard]] Part merged() {
    std::unique_ptr<Part> all;
    for (auto& part : parts_) {
      if (all && part) merge_part(*all, std::move(*part));
      if (!all) all = std::move(part);
      part.reset();
    }
    return all ? std::move(*all) : make_();
  }

 private:
  Make make_;
  std::vector<std::unique_ptr<Part>> parts_;  // by worker
};

// Of the chunks of some lanes in a range, or of some chunks; as scan_chunks() reads them. Every part begins as `first`.
template <typename Part, typename Body>
[[nodiscard]] Result<Part> gather(const QueryContext& query, const std::vector<ChunkRequest>& requests,
                                  const Part& first, Body body) {
  WorkerParts parts(query, [&first] { return first; });
  const Result<void> scanned = scan_chunks(
      query, requests, [&](const ScannedChunk& chunk, std::size_t worker) { body(chunk, parts.of(worker)); });
  if (!scanned) return scanned.error();
  return parts.merged();
}
template <typename Part, typename Body>
[[nodiscard]] Result<Part> gather(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                  const Part& first, Body body) {
  return gather(query, requests_in(query, lanes, range), first, std::move(body));
}

// Of windows, as scan_windows() reads them: add(chunk, window, part) and close(window, part).
template <typename Part, typename Add, typename Close>
[[nodiscard]] Result<Part> gather_windows(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                          const Part& first, Add add, Close close) {
  WorkerParts parts(query, [&first] { return first; });
  const Result<void> scanned =
      scan_windows(query, lanes, range,
                   {.chunk = [&](const ScannedChunk& chunk, const ScanWindow& window,
                                 std::size_t worker) { add(chunk, window, parts.of(worker)); },
                    .end = [&](const ScanWindow& window, std::size_t worker) { close(window, parts.of(worker)); }});
  if (!scanned) return scanned.error();
  return parts.merged();
}

}  // namespace accelscope
