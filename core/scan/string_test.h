// A test of texts that looks at each distinct string of a session once, by any number of threads.
//
//   StringTest test([](std::string_view text) { return text.starts_with("mat"); }, *snapshot.strings);
//   test.keeps(session_string_id);
#pragma once

#include <atomic>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/store/string_pool.h"

namespace accelscope {

using TextTest = std::function<bool(std::string_view)>;  // may be called by several threads

class StringTest {
 public:
  // The pool must outlive the test.
  StringTest(TextTest keeps, const StringPool& pool) : keeps_(std::move(keeps)), pool_(pool), known_(pool.size()) {}

  // Looks at all strings at once, so that later questions cost a look-up. Before others use the test.
  void answer_all(WorkerPool& workers, TaskControl& control);

  [[nodiscard]] bool keeps(std::string_view text) const { return keeps_(text); }
  // Of the pool.
  [[nodiscard]] bool keeps(StringId id) const {
    if (id < known_.size()) [[likely]] {
      const std::uint8_t known = std::atomic_ref(known_[id]).load(std::memory_order_relaxed);
      if (known != kUnknown) [[likely]]
        return known == kKept;
    }
    return find_out(id);
  }

 private:
  static constexpr std::uint8_t kUnknown = 0;
  static constexpr std::uint8_t kKept = 1;
  static constexpr std::uint8_t kLeftOut = 2;
  bool find_out(StringId id) const;

  TextTest keeps_;
  const StringPool& pool_;
  mutable std::vector<std::uint8_t> known_;  // by session-wide id
};

}  // namespace accelscope
