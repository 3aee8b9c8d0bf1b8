#include "core/analysis/neuron/facts/operand_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace accelscope::neuron {

namespace {

constexpr std::uint64_t kPsumAddress = 0x2000000;  // observed: operands at and above it lie in PSUM
constexpr std::uint64_t kPsumEnd = 0x2800000;      // 2 MiB of PSUM and its mirror; above: device addresses

struct KnownKey {
  std::string_view key;
  std::string_view meaning;
};
constexpr std::array kKnownKeys = {
    KnownKey{"src", "What the instruction reads."},
    KnownKey{"dst", "Where the instruction writes."},
    KnownKey{"addr", "Memory that the instruction loads or stores."},
    KnownKey{"data", "Registers or constants that are moved."},
    KnownKey{"acc_flags", "How a matrix multiplication adds up: 1 begins a sum, 2 ends it, 3 does both."},
    KnownKey{"semaphore", "Semaphore that the transfer signals when it is done."},
    KnownKey{"sem_increment", "By how much the semaphore rises when the transfer is done."},
    KnownKey{"src_pattern", "Strides and counts with which the source is walked."},
    KnownKey{"dst_pattern", "Strides and counts with which the destination is walked."},
    KnownKey{"src_elem_size", "Bytes of one element of the source."},
    KnownKey{"dst_elem_size", "Bytes of one element of the destination."},
    KnownKey{"channels", "Partitions that take part."},
    KnownKey{"scale", "Factor applied to the input before the function."},
    KnownKey{"bias_imm", "Constant added to the input before the function."},
    KnownKey{"imm", "Constant operand."},
    KnownKey{"cycle", "Cycles that the instruction holds its engine."},
    KnownKey{"accumulator_cmd", "What the instruction does with the engine's accumulator."},
    KnownKey{"compute_op", "Arithmetic applied on the way."},
    KnownKey{"cmp_op", "Comparison on which the branch depends."},
    KnownKey{"dtype", "Data type."},
    KnownKey{"label_id", "Where the branch goes."},
    KnownKey{"ordering_mode", "How strictly memory accesses keep their order."},
    KnownKey{"table_sel", "Table of activation functions that is loaded."},
    KnownKey{"setter", "Who set the semaphore."},
};

constexpr std::array kPartExamples = {
    OperandPartExample{"Data type", "TYPE", "type of an element: fp32, bf16, fp8e4, int32 ..."},
    OperandPartExample{"Address", "@ADDRESS", "where the first element lies"},
    OperandPartExample{"Lies in", "", "SBUF, PSUM or device memory, as the address says"},
    OperandPartExample{"Steps", "[step,...]", "elements from one to the next, in each dimension"},
    OperandPartExample{"Sizes", "[size,...]", "elements along each dimension"},
    OperandPartExample{"Number", "S[n] or E[n]", "which semaphore or event"},
    OperandPartExample{"Signalled by", "(ENGINE)", "engine or queue that sets it"},
    OperandPartExample{"Waits until", ">=n, ==n", "value that must be reached"},
    OperandPartExample{"Does", "++, +=n, =n", "what becomes of its value"},
    OperandPartExample{"When", "@MOMENT", "moment at which that happens"},
    OperandPartExample{"K (rows)", "K*M", "rows of the array in use: the contraction"},
    OperandPartExample{"M (columns)", "K*M", "columns of the array in use"},
    OperandPartExample{"Value", "KEY=VALUE", "constant, flag or register"},
};

// Parts between spaces; a word in round brackets belongs to the semaphore before it.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    int depth = 0;
    std::size_t end = at;
    for (; end < text.size() && (text[end] != ' ' || depth > 0); ++end) {
      if (text[end] == '[' || text[end] == '(') ++depth;
      if (text[end] == ']' || text[end] == ')') --depth;
    }
    std::string word(text.substr(at, end - at));
    if (word.front() == '(' && !words.empty()) {
      words.back() += " " + word;
    } else {
      words.push_back(std::move(word));
    }
    at = end;
  }
  return words;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string memory_of(std::uint64_t address) {
  if (address < kPsumAddress) return "SBUF";
  return address < kPsumEnd ? "PSUM" : "device memory";
}

// TYPE@ADDRESS[step,...][size,...]
bool parse_memory(std::string_view value, Operand& operand) {
  const std::size_t at = value.find('@');
  if (at == std::string_view::npos || at == 0) return false;
  const std::size_t steps = value.find('[', at);
  const auto address = parse_hex(value.substr(at + 1, std::min(steps, value.size()) - at - 1));
  if (!address) return false;
  operand.parts.push_back({"Data type", std::string(value.substr(0, at))});
  operand.parts.push_back({"Address", std::string(value.substr(at + 1, std::min(steps, value.size()) - at - 1))});
  operand.parts.push_back({"Lies in", memory_of(*address)});
  if (steps == std::string_view::npos) return true;
  const std::size_t sizes = value.find('[', steps + 1);
  operand.parts.push_back({"Steps", std::string(value.substr(steps, std::min(sizes, value.size()) - steps))});
  if (sizes != std::string_view::npos) operand.parts.push_back({"Sizes", std::string(value.substr(sizes))});
  return true;
}

// S[5] (Tensor)>=1, $S[2]++@complete, $E[4]==1-
bool parse_semaphore(std::string_view word, Operand& operand) {
  const std::string_view body = word.starts_with('$') ? word.substr(1) : word;
  if (!body.starts_with("S[") && !body.starts_with("E[")) return false;
  const std::size_t close = body.find(']');
  if (close == std::string_view::npos) return false;
  const bool is_event = body[0] == 'E';
  operand.title = is_event ? "event" : "semaphore";
  operand.parts.push_back({"Number", std::string(body.substr(2, close - 2))});
  std::string_view rest = body.substr(close + 1);
  if (rest.starts_with(" (")) {
    const std::size_t end = rest.find(')');
    operand.parts.push_back({"Signalled by", std::string(rest.substr(2, end - 2))});
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  const std::size_t when = rest.find('@');
  const std::string_view action = rest.substr(0, when);
  const bool waits = action.starts_with(">=") || action.starts_with("==") || action.starts_with(">");
  operand.meaning = waits ? "The instruction waits until this holds before it begins."
                          : "The instruction signals this to those that wait for it.";
  operand.parts.push_back({waits ? "Waits until" : "Does", std::string(action)});
  if (when != std::string_view::npos) operand.parts.push_back({"When", std::string(rest.substr(when + 1))});
  return true;
}

// 128*128: rows and columns of the systolic array in use
bool parse_tile(std::string_view word, Operand& operand) {
  const std::size_t star = word.find('*');
  if (star == std::string_view::npos || star == 0) return false;
  for (const char c : word) {
    if (c != '*' && std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  operand.title = "tile";
  operand.meaning = "Rows and columns of the systolic array that are in use.";
  operand.parts = {{"K (rows)", std::string(word.substr(0, star))},
                   {"M (columns)", std::string(word.substr(star + 1))}};
  return true;
}

}  // namespace

OperandPartExample example_of_part(std::string_view label) noexcept {
  for (const OperandPartExample& example : kPartExamples) {
    if (example.label == label) return example;
  }
  return {};
}

std::vector<Operand> parse_operands(std::string_view text) {
  std::vector<Operand> operands;
  for (std::string& word : split_operands(text)) {
    Operand operand;
    operand.text = word;
    const std::size_t equals = word.find('=');
    if (!parse_semaphore(word, operand) && !parse_tile(word, operand)) {
      if (equals != std::string::npos && equals > 0) {
        operand.title = word.substr(0, equals);
        const std::string_view value = std::string_view(word).substr(equals + 1);
        if (!parse_memory(value, operand)) operand.parts.push_back({"Value", std::string(value)});
        for (const KnownKey& known : kKnownKeys) {
          if (known.key == operand.title) operand.meaning = known.meaning;
        }
      } else {
        operand.title = word;
        operand.meaning = "Function or flag of the instruction.";
      }
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

}  // namespace accelscope::neuron
