#include "core/analysis/neuron/facts/operands.h"

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace accelscope::analysis::neuron {

bool MatmulWork::has_work(const LaneSnapshot& lane) {
  return lane.schema && lane.schema->name == "instruction" &&
         (lane.schema->find("elements") || lane.schema->find("raw_flops"));
}

MatmulWork::MatmulWork(const LaneSnapshot& lane, const StringPool& pool)
    : matmul_(pool.find("MATMUL")), transpose_(pool.find("TRANSPOSE")) {
  const Schema& schema = *lane.schema;
  const auto find = [&](Number& number, std::string_view name) {
    number.column = schema.find(name);
    if (number.column) number.type = schema.columns[*number.column].type;
  };
  find(elements_, "elements");
  find(raw_flops_, "raw_flops");
  const auto type = schema.find("instruction_type");
  if (type && schema.columns[*type].type == ColumnType::string) type_column_ = type;
}

void MatmulWork::read(BlockReader& reader) {
  names_ = reader.names();
  for (Number* number : {&elements_, &raw_flops_}) {
    if (number->column) number->values.read(reader, *number->column, number->type);
  }
  types_ = type_column_ ? reader.column(*type_column_, ColumnType::string) : BlockValues{};
}

bool MatmulWork::transposes(std::uint32_t index) const noexcept {
  if (transpose_ == kNone) return false;
  if (names_[index] == transpose_) return true;
  return matmul_ != kNone && names_[index] == matmul_ && types_.has(index) && types_.values[index] == transpose_;
}

double MatmulWork::operator[](std::uint32_t index) const noexcept {
  if (matmul_ == kNone || names_[index] != matmul_) return 0;
  if (transpose_ != kNone && types_.has(index) && types_.values[index] == transpose_) return 0;
  const std::int64_t elements = elements_.at(index);
  return static_cast<double>(elements != 0 ? 2 * elements : raw_flops_.at(index));
}

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

}  // namespace accelscope::analysis::neuron
