// Paths as numbers: each path is a node below the node of what it begins with, and each level's text is kept once. Any
// number of threads add to it; each keeps a copy of what it has met, so that a path that is known costs no lock.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace accelscope::analysis {

struct PathNode {
  std::uint32_t parent = 0;
  std::uint32_t label = 0;
  std::uint16_t depth = 0;  // of the root: 0
  bool detail = false;      // a source line below the path itself: its time is still the path's own
  bool marked = false;      // its text, or one above, has what is looked for
};

// In any letter case.
[[nodiscard]] bool has_text(std::string_view text, std::string_view lower_part);

// Two numbers -> one. Grows; nothing is ever taken out.
class PairTable {
 public:
  // 0 where it is not known.
  [[nodiscard]] std::uint32_t find(std::uint32_t a, std::uint32_t b) const noexcept {
    if (slots_.empty()) return 0;
    const std::uint64_t key = key_of(a, b);
    for (std::size_t at = slot_of(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].value == 0 || slots_[at].key == key) return slots_[at].value;
    }
  }
  void add(std::uint32_t a, std::uint32_t b, std::uint32_t value);  // > 0; the pair is not known

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };
  [[nodiscard]] static std::uint64_t key_of(std::uint32_t a, std::uint32_t b) noexcept {
    return std::uint64_t{a} << 32U | b;
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept {
    key ^= key >> 29U;
    key *= 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(key >> 32U) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;  // a power of two
  std::size_t used_ = 0;
};

class PathTree {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::size_t kMostNodes = 1'000'000;

  // `marked`: a text in small letters; "": no node is marked.
  explicit PathTree(std::string marked = {});
  // The node of that text below `parent`, made if it is new; the parent itself once there are kMostNodes.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::string_view text, bool detail);
  // Appends the nodes that the copy lacks.
  void copy_new(std::vector<PathNode>& copy) const;
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<std::string> labels() const;  // by PathNode::label

 private:
  mutable std::mutex mutex_;
  std::string marked_;
  std::vector<PathNode> nodes_;
  std::deque<std::string> labels_;
  std::unordered_map<std::string_view, std::uint32_t> label_numbers_;
  PairTable children_;  // of a node and a label (twice its number, and one more of a detail)
};

}  // namespace accelscope::analysis
