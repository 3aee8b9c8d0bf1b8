#include "core/analysis/neuron/facts/semaphore_text.h"

#include <charconv>

namespace accelscope::neuron {
namespace {

// The whole number that a text begins with, which is taken off it.
template <typename Number>
bool take_number(std::string_view& text, Number& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) noexcept {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

void visit_semaphores(std::string_view operands, const ConditionVisitor& waits_for, const UpdateVisitor& adds_to) {
  constexpr std::string_view kOpen = "S[";
  for (std::size_t at = operands.find(kOpen); at != std::string_view::npos; at = operands.find(kOpen)) {
    operands.remove_prefix(at + kOpen.size());
    std::uint32_t semaphore = 0;
    if (!take_number(operands, semaphore) || !take_word(operands, "]")) continue;
    bool of_transfers = false;
    if (operands.starts_with(" (")) {  // its owner
      of_transfers = operands.starts_with(" (q");
      const std::size_t close = operands.find(')');
      if (close == std::string_view::npos) return;
      operands.remove_prefix(close + 1);
    }
    std::int64_t value = 0;
    const bool exactly = operands.starts_with("==");
    if (exactly || operands.starts_with(">=")) {
      operands.remove_prefix(2);
      if (take_number(operands, value)) waits_for(semaphore, value, exactly, of_transfers);
    } else if (take_word(operands, "++") || take_word(operands, "+=")) {
      adds_to(semaphore);
    }
  }
}

std::int64_t semaphore_number(std::string_view text) noexcept {
  const bool bracketed = take_word(text, "S[");
  std::uint32_t number = 0;
  if (!take_number(text, number)) return -1;
  if (bracketed ? !text.starts_with("]") : !text.empty()) return -1;
  return number;
}

}  // namespace accelscope::neuron
