#include "capture/sources/pickle/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/base/format.h"

namespace accelscope::capture::sources::pickle {
namespace {
constexpr std::size_t kPickleBufferBytes = 256U << 10;
}

bool PickleBytes::fill(std::size_t count) {
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    begin_ += at_;
    end_ -= at_;
    at_ = 0;
  }
  while (end_ < count && !ended_) {
    // Grown by what really comes.
    if (end_ == buffer_.size()) buffer_.resize(std::max(kPickleBufferBytes, buffer_.size() * 2));
    const Result<std::size_t> got = source_.read({buffer_.data() + end_, buffer_.size() - end_});
    if (!got) failure_ = got.message();
    ended_ = !got || *got == 0;
    if (got) end_ += *got;
  }
  return end_ >= count;
}

std::optional<std::uint64_t> PickleBytes::number(std::size_t bytes) {
  const auto taken = take(bytes);
  if (!taken) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>((*taken)[i])} << (8 * i);
  }
  return value;
}

namespace {

constexpr OpcodeRow kOpcodeRows[] = {
    {0x80, "PROTO", PickleOp::skip, 1},
    {0x95, "FRAME", PickleOp::skip, 8},
    {'.', "STOP", PickleOp::stop},
    {'(', "MARK", PickleOp::mark},
    {'0', "POP", PickleOp::pop},
    {'1', "POP_MARK", PickleOp::pop_mark},
    {'2', "DUP", PickleOp::duplicate},
    {'N', "NONE", PickleOp::none},
    {0x88, "NEWTRUE", PickleOp::new_true},
    {0x89, "NEWFALSE", PickleOp::new_false},
    {'K', "BININT1", PickleOp::integer, 1},
    {'M', "BININT2", PickleOp::integer, 2},
    {'J', "BININT", PickleOp::integer, 4},
    {0x8a, "LONG1", PickleOp::long_integer, 1},
    {0x8b, "LONG4", PickleOp::long_integer, 4},
    {'G', "BINFLOAT", PickleOp::real},
    {0x8c, "SHORT_BINUNICODE", PickleOp::text, 1},
    {'X', "BINUNICODE", PickleOp::text, 4},
    {0x8d, "BINUNICODE8", PickleOp::text, 8},
    {'C', "SHORT_BINBYTES", PickleOp::text, 1},
    {'B', "BINBYTES", PickleOp::text, 4},
    {0x8e, "BINBYTES8", PickleOp::text, 8},
    {0x96, "BYTEARRAY8", PickleOp::text, 8},
    {'U', "SHORT_BINSTRING", PickleOp::text, 1},
    {'T', "BINSTRING", PickleOp::text, 4},
    {']', "EMPTY_LIST", PickleOp::empty_list},
    {0x8f, "EMPTY_SET", PickleOp::empty_list},
    {'a', "APPEND", PickleOp::append},
    {'e', "APPENDS", PickleOp::append_all},
    {0x90, "ADDITEMS", PickleOp::append_all},
    {'}', "EMPTY_DICT", PickleOp::empty_dict},
    {'s', "SETITEM", PickleOp::set_item},
    {'u', "SETITEMS", PickleOp::set_items},
    {')', "EMPTY_TUPLE", PickleOp::tuple_of, 0},
    {0x85, "TUPLE1", PickleOp::tuple_of, 1},
    {0x86, "TUPLE2", PickleOp::tuple_of, 2},
    {0x87, "TUPLE3", PickleOp::tuple_of, 3},
    {'t', "TUPLE", PickleOp::tuple},
    {0x91, "FROZENSET", PickleOp::tuple},
    {'h', "BINGET", PickleOp::get, 1},
    {'j', "LONG_BINGET", PickleOp::get, 4},
    {'q', "BINPUT", PickleOp::put, 1},
    {'r', "LONG_BINPUT", PickleOp::put, 4},
    {0x94, "MEMOIZE", PickleOp::memoize},
    {'c', "GLOBAL", PickleOp::refused},
    {0x93, "STACK_GLOBAL", PickleOp::refused},
    {'i', "INST", PickleOp::refused},
    {'o', "OBJ", PickleOp::refused},
    {'R', "REDUCE", PickleOp::refused},
    {'b', "BUILD", PickleOp::refused},
    {0x81, "NEWOBJ", PickleOp::refused},
    {0x92, "NEWOBJ_EX", PickleOp::refused},
    {0x82, "EXT1", PickleOp::refused},
    {0x83, "EXT2", PickleOp::refused},
    {0x84, "EXT4", PickleOp::refused},
    {'P', "PERSID", PickleOp::refused},
    {'Q', "BINPERSID", PickleOp::refused},
    {0x97, "NEXT_BUFFER", PickleOp::refused},
    {0x98, "READONLY_BUFFER", PickleOp::refused},
    {'I', "INT", PickleOp::text_form},
    {'L', "LONG", PickleOp::text_form},
    {'F', "FLOAT", PickleOp::text_form},
    {'S', "STRING", PickleOp::text_form},
    {'V', "UNICODE", PickleOp::text_form},
    {'d', "DICT", PickleOp::text_form},
    {'l', "LIST", PickleOp::text_form},
    {'g', "GET", PickleOp::text_form},
    {'p', "PUT", PickleOp::text_form},
};

constexpr std::array<OpcodeRow, 256> make_opcode_table() {
  std::array<OpcodeRow, 256> rows = {};
  for (const OpcodeRow& row : kOpcodeRows) rows[row.code] = row;
  return rows;
}

constexpr std::array<OpcodeRow, 256> kOpcodeTable = make_opcode_table();

}  // namespace

const OpcodeRow& opcode_row(std::uint8_t code) noexcept { return kOpcodeTable[code]; }

namespace {

constexpr int kNewestProtocol = 5;
constexpr std::size_t kMostMarks = 10'000;                  // data nested as deeply as that is made to do harm
constexpr std::size_t kMostWaiting = std::size_t{1} << 24;  // values on the stack; picklers hand over a thousand
// Real files have two bytes and more for a value, and pack to a tenth of that or a little less. One that packs better
// was made to fill the memory.
constexpr std::uint64_t kWordsOfAnyFile = 1U << 24, kWordsPerByte = 24;
constexpr std::uint64_t kTextOfAnyFile = 64U << 20, kTextPerByte = 64;
constexpr std::uint64_t kLongestText = 256U << 20;
constexpr std::size_t kWholeBatch = 1000;        // picklers write lists in batches of so many: more of it may follow
constexpr std::uint64_t kMostCopied = 4U << 20;  // values
constexpr std::uint64_t kFarPlace = 1U << 16;    // how far ahead of its end the memo is filled
constexpr std::uint64_t kOpsBetweenAsking = 1U << 16;
constexpr std::uint64_t kUsed = std::uint64_t{1} << 63;  // of an object's word: it was put somewhere

}  // namespace

PickleReader::PickleReader(json::ByteSource& source, const PickleOptions& options)
    : bytes_(source),
      options_(options),
      most_words_(kWordsOfAnyFile + kWordsPerByte * source.file_bytes()),
      most_text_bytes_(kTextOfAnyFile + kTextPerByte * source.file_bytes()) {}

bool PickleReader::too_large() const noexcept {
  const std::uint64_t words = read_.data.words() + objects_.size() + memo_.size() + far_memo_.size() * 4;
  return stack_.size() > kMostWaiting || words > most_words_ || read_.data.text_bytes() > most_text_bytes_;
}

PickleReader::Step PickleReader::fail(std::string what) {
  failure_ = fmt::format("{}: byte {}: {}", options_.name, op_place_, what);
  return Step::failed;
}

PickleReader::Step PickleReader::lacks(std::string_view what) {
  return fail(fmt::format("the opcode {} finds {}; the file is damaged, or no pickle", op_->name, what));
}

Result<ReadPickle> PickleReader::run() {
  std::uint64_t ops = 0;
  Step step = Step::on;
  while (step == Step::on) {
    if (ops++ % kOpsBetweenAsking == 0 && options_.go_on && !options_.go_on()) {
      return Error{options_.name + ": the import was cancelled"};
    }
    step = this->step();
  }
  read_.bytes = bytes_.place();
  // A file that goes wrong in its middle is read up to there, but for one that would run something.
  const bool refused = step == Step::failed && op_ != nullptr && op_->op == PickleOp::refused;
  if (refused || (step == Step::failed && objects_.empty())) return Error{failure_};
  if (step == Step::stopped) {
    read_.data.set_root(stack_.empty() ? PickleValue{} : settled(stack_.back()));
    read_.bytes_behind = bytes_.next() >= 0;
    return std::move(read_);
  }
  if (objects_.empty()) {
    return Error{fmt::format("{}: holds nothing: it ends at byte {}{}", options_.name, bytes_.place(),
                             bytes_.failure().empty() ? "" : ": " + bytes_.failure())};
  }
  read_.broken = step == Step::failed ? failure_
                 : !bytes_.failure().empty()
                     ? bytes_.failure()
                     : fmt::format("{}: ends at byte {}, before its end mark; was it copied whole?", options_.name,
                                   bytes_.place());
  salvage();
  return std::move(read_);
}

PickleReader::Step PickleReader::step() {
  op_place_ = bytes_.place();
  const int code = bytes_.next();
  if (code < 0) return Step::cut;
  op_ = &opcode_row(static_cast<std::uint8_t>(code));
  if (too_large()) return fail("it unpacks to more values or texts than any pickle of plain data of its size has");
  return run_op(*op_);
}

// One row for each kind of opcode.
PickleReader::Step PickleReader::run_op(const OpcodeRow& row) {
  switch (row.op) {
    case PickleOp::unknown:
      return fail("there is no such opcode; the file is damaged, or no pickle");
    case PickleOp::refused:
      return fail(fmt::format("the opcode {} could run code, and {} has no need of it: the file is not read", row.name,
                              options_.kind_of_file));
    case PickleOp::text_form:
      return fail(
          fmt::format("the opcode {} is of protocol 0 or 1; write the file with protocol 2 or later", row.name));
    case PickleOp::skip: {
      const auto argument = bytes_.number(row.size);
      if (!argument) return Step::cut;
      if (row.size != 1 || *argument <= kNewestProtocol) return Step::on;
      return fail(fmt::format("protocol {} is newer than 5, the newest that is known", *argument));
    }
    case PickleOp::stop:
      return Step::stopped;
    case PickleOp::mark:
      if (marks_.size() >= kMostMarks) return fail("its data are nested too deeply");
      marks_.push_back(stack_.size());
      return Step::on;
    case PickleOp::pop:
      if (above_mark() == 0) return lacks("nothing");
      stack_.pop_back();
      return Step::on;
    case PickleOp::pop_mark: {
      const auto first = take_mark();
      if (!first) return lacks("no mark");
      stack_.resize(*first);
      return Step::on;
    }
    case PickleOp::duplicate:
      return above_mark() == 0 ? lacks("nothing") : push(stack_.back());
    case PickleOp::none:
      return push({});
    case PickleOp::new_false:
    case PickleOp::new_true:
      return push(PickleData::boolean(row.op == PickleOp::new_true));
    case PickleOp::integer:
      return push_integer(row.size);
    case PickleOp::long_integer:
      return push_long(row.size);
    case PickleOp::real:
      return push_real();
    case PickleOp::text:
      return push_text(row.size);
    case PickleOp::empty_list:
    case PickleOp::empty_dict: {
      const auto kind = row.op == PickleOp::empty_list ? PickleData::kList : PickleData::kDict;
      objects_.push_back(PickleData::tagged(kind, 0).word);
      return push(PickleData::tagged(PickleData::kObject, objects_.size() - 1));
    }
    case PickleOp::append:
      return above_mark() < 2 ? lacks("no list") : append(stack_.size() - 1);
    case PickleOp::set_item:
      return above_mark() < 3 ? lacks("no dictionary") : set(stack_.size() - 2);
    case PickleOp::append_all:
    case PickleOp::set_items: {
      const auto first = take_mark();
      if (!first) return lacks("no mark");
      return row.op == PickleOp::append_all ? append(*first) : set(*first);
    }
    case PickleOp::tuple: {
      const auto first = take_mark();
      return first ? push_tuple(stack_.size() - *first) : lacks("no mark");
    }
    case PickleOp::tuple_of:
      return above_mark() < row.size ? lacks("too few values") : push_tuple(row.size);
    case PickleOp::get:
      return get(row.size);
    case PickleOp::put: {
      const auto place = bytes_.number(row.size);
      return place ? put(*place) : Step::cut;
    }
    case PickleOp::memoize:
      return put(memo_.size());
  }
  return Step::failed;
}

std::optional<std::size_t> PickleReader::take_mark() {
  if (marks_.empty()) return std::nullopt;
  const std::size_t height = marks_.back();
  marks_.pop_back();
  return height;
}

PickleReader::Step PickleReader::push_integer(std::size_t bytes) {
  const auto number = bytes_.number(bytes);
  if (!number) return Step::cut;
  const auto value = bytes == 4 ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(*number))}
                                : static_cast<std::int64_t>(*number);
  return push(read_.data.integer(value));
}

// Two's complement of any length. An address above 2^63 has nine bytes, the last of them 0.
PickleReader::Step PickleReader::push_long(std::size_t bytes) {
  const auto size = bytes_.number(bytes);
  if (!size) return Step::cut;
  if (*size > kLongestText) return fail("a number is longer than any can be");
  const auto taken = bytes_.take(static_cast<std::size_t>(*size));
  if (!taken) return Step::cut;
  std::string_view digits = *taken;
  const bool negative = !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80U) != 0;
  const char fill = negative ? '\xff' : '\0';
  while (digits.size() > 8 && digits.back() == fill) digits.remove_suffix(1);
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  if (digits.size() > 8 || (negative && digits.size() == 8 && (static_cast<unsigned char>(digits[7]) & 0x80U) == 0)) {
    ++read_.wide_numbers;
    return push({});
  }
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const unsigned shift = static_cast<unsigned>(8 * i);
    value &= ~(std::uint64_t{0xff} << shift);
    value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << shift;
  }
  return push(negative ? read_.data.integer(static_cast<std::int64_t>(value)) : read_.data.unsigned_integer(value));
}

PickleReader::Step PickleReader::push_real() {
  const auto taken = bytes_.take(8);
  if (!taken) return Step::cut;
  std::uint64_t bits = 0;
  for (const char byte : *taken) bits = bits << 8 | static_cast<unsigned char>(byte);
  return push(read_.data.real(std::bit_cast<double>(bits)));
}

PickleReader::Step PickleReader::push_text(std::size_t bytes) {
  const auto size = bytes_.number(bytes);
  if (!size) return Step::cut;
  if (*size > kLongestText) {
    return fail(fmt::format("a text of {} is longer than is read", format_bytes(*size)));
  }
  const auto taken = bytes_.take(static_cast<std::size_t>(*size));
  return taken ? push(read_.data.make_text(*taken)) : Step::cut;
}

PickleReader::Step PickleReader::push_tuple(std::size_t count) {
  const std::size_t first = stack_.size() - count;
  for (std::size_t i = first; i < stack_.size(); ++i) stack_[i] = settled(stack_[i]);
  const PickleValue made = read_.data.make_list(std::span(stack_).subspan(first));
  stack_.resize(first);
  return push(made);
}

PickleReader::Step PickleReader::get(std::size_t bytes) {
  const auto place = bytes_.number(bytes);
  if (!place) return Step::cut;
  if (*place < memo_.size()) return push(memo_[static_cast<std::size_t>(*place)]);
  const auto far = far_memo_.find(*place);
  return far == far_memo_.end() ? lacks("nothing where it was to be kept") : push(far->second);
}

PickleReader::Step PickleReader::put(std::uint64_t place) {
  if (above_mark() == 0) return lacks("nothing");
  if (place > memo_.size() + kFarPlace) {
    far_memo_[place] = stack_.back();
    return Step::on;
  }
  if (place >= memo_.size()) memo_.resize(static_cast<std::size_t>(place) + 1);
  memo_[static_cast<std::size_t>(place)] = stack_.back();
  return Step::on;
}

PickleReader::Step PickleReader::grow_below(std::size_t first, PickleData::Tag kind, const char* no_object,
                                            const char* too_often) {
  const auto object = object_of(stack_[first - 1], kind);
  if (!object) return lacks(no_object);
  for (std::size_t i = first; i < stack_.size(); ++i) stack_[i] = settled(stack_[i]);
  const bool grown = grow(*object, std::span(stack_).subspan(first));
  stack_.resize(first);
  return grown ? Step::on : fail(too_often);
}

PickleReader::Step PickleReader::append(std::size_t first) {
  if (first == 0) return lacks("no list");
  return grow_below(first, PickleData::kList, "no list", "lists go on growing too often after they were used");
}

PickleReader::Step PickleReader::set(std::size_t first) {
  if (first == 0 || (stack_.size() - first) % 2 != 0) return lacks("no dictionary, or a key without a value");
  return grow_below(first, PickleData::kDict, "no dictionary",
                    "it has more kinds of dictionaries than any data have, or they grow too often");
}

std::optional<std::uint32_t> PickleReader::object_of(PickleValue value, PickleData::Tag kind) const {
  if (PickleData::tag(value) != PickleData::kObject) return std::nullopt;
  const auto object = static_cast<std::uint32_t>(PickleData::payload(value));
  return PickleData::tag(content(object)) == kind ? std::optional(object) : std::nullopt;
}

PickleValue PickleReader::content(std::uint32_t object) const noexcept { return {objects_[object] & ~kUsed}; }

std::optional<PickleValue> PickleReader::make(PickleData::Tag kind, std::span<const PickleValue> items) {
  if (kind == PickleData::kDict) return read_.data.make_dict(items);
  return read_.data.make_list(items);
}

bool PickleReader::grow(std::uint32_t object, std::span<const PickleValue> items) {
  if (items.empty()) return true;
  if (const auto known = growing_.find(object); known != growing_.end()) {
    known->second.insert(known->second.end(), items.begin(), items.end());
    return true;
  }
  const PickleValue held = content(object);
  const PickleData::Tag kind = PickleData::tag(held);
  const bool empty = kind == PickleData::kDict ? read_.data.values(held).empty() : read_.data.list(held).empty();
  const std::size_t batch = kind == PickleData::kDict ? 2 * kWholeBatch : kWholeBatch;
  if (empty && items.size() < batch) {
    const auto made = make(kind, items);
    if (!made) return false;
    objects_[object] = made->word | (objects_[object] & kUsed);
    return true;
  }
  std::vector<PickleValue>& all = growing_[object];
  if (kind == PickleData::kDict) {
    const auto keys = read_.data.keys(read_.data.shape(held));
    const auto values = read_.data.values(held);
    for (std::size_t i = 0; i < keys.size(); ++i) all.insert(all.end(), {keys[i], values[i]});
  } else {
    const auto list = read_.data.list(held);
    all.assign(list.begin(), list.end());
  }
  copied_ += all.size();
  if (!empty && (objects_[object] & kUsed) != 0) ++read_.changed_late;
  all.insert(all.end(), items.begin(), items.end());
  return copied_ <= kMostCopied;
}

PickleValue PickleReader::settled(PickleValue value) {
  if (PickleData::tag(value) != PickleData::kObject) return value;
  const auto object = static_cast<std::uint32_t>(PickleData::payload(value));
  if (const auto known = growing_.find(object); known != growing_.end()) {
    // Too many kinds of dictionaries: it stays as it was, and set() says so for the next one.
    if (const auto made = make(PickleData::tag(content(object)), known->second)) objects_[object] = made->word;
    growing_.erase(known);
  }
  objects_[object] |= kUsed;
  return content(object);
}

// A file that is cut: whatever waits goes to where it would have gone.
void PickleReader::salvage() {
  while (!marks_.empty()) {
    const std::size_t first = *take_mark();
    salvage_above(first);
  }
  salvage_above(stack_.empty() ? 0 : 1);
  read_.data.set_root(stack_.empty() ? PickleValue{} : settled(stack_.front()));
}

void PickleReader::salvage_above(std::size_t first) {
  // Lists of one item get it by an opcode of its own, without a mark: such an item stands where a key is expected, or
  // at the end behind an empty list.
  const auto is_list = [&](std::size_t i) { return object_of(stack_[i], PickleData::kList).has_value(); };
  const bool in_dict = first > 0 && object_of(stack_[first - 1], PickleData::kDict).has_value();
  std::size_t chain = stack_.size();
  for (std::size_t i = first; in_dict && i < stack_.size(); i += 2) {
    if (i > first && PickleData::tag(stack_[i]) != PickleData::kText && is_list(i - 1)) {
      chain = i;
      break;
    }
  }
  if (!in_dict) {
    while (chain > first + 1 && is_list(chain - 2) &&
           !growing_.contains(static_cast<std::uint32_t>(PickleData::payload(stack_[chain - 2]))) &&
           read_.data.list(content(static_cast<std::uint32_t>(PickleData::payload(stack_[chain - 2])))).empty()) {
      --chain;
    }
  }
  while (stack_.size() > chain && stack_.size() > first + 1) {
    const PickleValue item = settled(stack_.back());
    stack_.pop_back();
    if (const auto list = object_of(stack_.back(), PickleData::kList)) (void)grow(*list, std::span(&item, 1));
  }
  if (first == 0) return;
  for (std::size_t i = first; i < stack_.size(); ++i) stack_[i] = settled(stack_[i]);
  std::span<const PickleValue> items = std::span(stack_).subspan(first);
  if (const auto list = object_of(stack_[first - 1], PickleData::kList)) (void)grow(*list, items);
  if (const auto dict = object_of(stack_[first - 1], PickleData::kDict)) {
    (void)grow(*dict, items.first(items.size() - items.size() % 2));
  }
  stack_.resize(first);
}

Result<ReadPickle> read_pickle(json::ByteSource& source, const PickleOptions& options) {
  return PickleReader(source, options).run();
}

}  // namespace accelscope::capture::sources::pickle
