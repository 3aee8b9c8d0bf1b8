#include "core/analysis/hierarchy/path_tree.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace accelscope::analysis {

bool has_text(std::string_view text, std::string_view lower_part) {
  const auto found = std::search(text.begin(), text.end(), lower_part.begin(), lower_part.end(),
                                 [](char a, char b) { return lower_case(a) == b; });
  return found != text.end() || lower_part.empty();
}

void PairTable::add(std::uint32_t a, std::uint32_t b, std::uint32_t value) {
  constexpr std::size_t kFirstSlots = 256;
  const auto put = [this](const Slot& slot) {
    std::size_t at = slot_of(slot.key);
    while (slots_[at].value != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  };
  if (2 * (used_ + 1) > slots_.size()) {
    const std::vector<Slot> old = std::exchange(slots_, {});
    slots_.resize(old.empty() ? kFirstSlots : 2 * old.size());
    for (const Slot& slot : old) {
      if (slot.value != 0) put(slot);
    }
  }
  ++used_;
  put({key_of(a, b), value});
}

PathTree::PathTree(std::string marked) : marked_(std::move(marked)) {
  labels_.emplace_back();
  label_numbers_.emplace(labels_.back(), 0);
  nodes_.push_back({});
}

std::uint32_t PathTree::child(std::uint32_t parent, std::string_view text, bool detail) {
  const std::scoped_lock lock(mutex_);
  auto label = label_numbers_.find(text);
  const bool full = nodes_.size() >= kMostNodes;
  if (label == label_numbers_.end()) {
    if (full) return parent;
    labels_.emplace_back(text);
    label = label_numbers_.emplace(labels_.back(), static_cast<std::uint32_t>(labels_.size() - 1)).first;
  }
  const std::uint32_t key = 2 * label->second + (detail ? 1 : 0);
  if (const std::uint32_t known = children_.find(parent, key); known != 0) return known;
  if (full) return parent;
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  const bool marked = !marked_.empty() && (nodes_[parent].marked || has_text(text, marked_));
  nodes_.push_back({parent, label->second, static_cast<std::uint16_t>(nodes_[parent].depth + 1), detail, marked});
  children_.add(parent, key, made);
  return made;
}

void PathTree::copy_new(std::vector<PathNode>& copy) const {
  const std::scoped_lock lock(mutex_);
  copy.insert(copy.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(copy.size()), nodes_.end());
}

bool PathTree::is_full() const {
  const std::scoped_lock lock(mutex_);
  return nodes_.size() >= kMostNodes;
}

std::size_t PathTree::size() const {
  const std::scoped_lock lock(mutex_);
  return nodes_.size();
}

std::vector<std::string> PathTree::labels() const {
  const std::scoped_lock lock(mutex_);
  return {labels_.begin(), labels_.end()};
}

}  // namespace accelscope::analysis
