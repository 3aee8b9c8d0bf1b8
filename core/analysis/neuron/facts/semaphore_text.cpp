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

namespace {

// The number after "key=" at a word's begin.
template <typename Number>
bool number_of(std::string_view operands, std::string_view key, Number& number, int base = 10) noexcept {
  for (std::size_t at = operands.find(key); at != std::string_view::npos; at = operands.find(key, at + 1)) {
    if (at > 0 && operands[at - 1] != ' ') continue;
    const char* first = operands.data() + at + key.size();
    return std::from_chars(first, operands.data() + operands.size(), number, base).ec == std::errc();
  }
  return false;
}

}  // namespace

std::string_view semaphore_queue(std::string_view text) noexcept {
  const std::size_t open = text.find(" (q"), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return text.substr(open + 2, close - open - 2);
}

bool read_transfer_signal(std::string_view operands, std::uint32_t& semaphore, std::uint32_t& increment) noexcept {
  return number_of(operands, "semaphore=", semaphore) && number_of(operands, "sem_increment=", increment) &&
         increment > 0;
}

// The pattern is "[step,...][count,...]" with the innermost dimension last, in bytes.
DeviceRange transfer_range(std::string_view operands, bool written) noexcept {
  DeviceRange range;
  if (!number_of(operands, written ? "dst_addr_imm=0x" : "src_addr_imm=0x", range.address, 16)) return {};
  if (!number_of(operands, written ? "dst_elem_size=" : "src_elem_size=", range.bytes)) return {};
  const std::string_view key = written ? " dst_pattern=[" : " src_pattern=[";
  const std::size_t at = operands.find(key);
  if (at == std::string_view::npos) return range;
  std::string_view steps = operands.substr(at + key.size());
  const std::size_t middle = steps.find("][");
  if (middle == std::string_view::npos) return range;
  std::string_view counts = steps.substr(middle + 2);
  std::uint64_t step = 0, count = 0;
  while (take_number(steps, step) && take_number(counts, count)) {
    if (count > 1 && step > 1) range.bytes += step * (count - 1);
    if (!take_word(steps, ",") || !take_word(counts, ",")) break;
  }
  return range;
}

std::int64_t semaphore_number(std::string_view text) noexcept {
  const bool bracketed = take_word(text, "S[");
  std::uint32_t number = 0;
  if (!take_number(text, number)) return -1;
  if (bracketed ? !text.starts_with("]") : !text.empty()) return -1;
  return number;
}

}  // namespace accelscope::neuron
