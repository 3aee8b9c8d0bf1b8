#include "capture/sources/neuron/neff/debug_info.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace accelscope::capture::sources::neuron::neff {
namespace {

enum FileField : protozero::pbf_tag_type {
  kParentFile = 2,
  kInstruction = 3,
  kSourceFile = 5,
  kKernel = 7,
};
enum InstructionField : protozero::pbf_tag_type { kId = 1, kName = 2, kParents = 3, kAttribute = 7 };
enum AttributeField : protozero::pbf_tag_type { kKey = 1, kValue = 2 };

[[nodiscard]] std::string_view text_of(const protozero::data_view& view) { return {view.data(), view.size()}; }

[[nodiscard]] bool is_text(const protozero::pbf_reader& field) {
  return field.wire_type() == protozero::pbf_wire_type::length_delimited;
}

void read_attribute(protozero::pbf_reader pair, DebugInstruction& instruction) {
  std::string_view key;
  std::string_view value;
  while (pair.next()) {
    if (is_text(pair) && pair.tag() == kKey) {
      key = text_of(pair.get_view());
    } else if (is_text(pair) && pair.tag() == kValue) {
      value = text_of(pair.get_view());
    } else {
      pair.skip();
    }
  }
  if (key == "kernel_file" || key == "source_file") instruction.file = value;
  if (key == "kernel_line" || key == "source_line") instruction.line = value == "0" ? std::string_view() : value;
  if (key == "kernel_name") instruction.kernel = value;
}

[[nodiscard]] DebugInstruction read_instruction(protozero::pbf_reader field) {
  DebugInstruction instruction;
  while (field.next()) {
    if (field.tag() == kId && field.wire_type() == protozero::pbf_wire_type::varint) {
      instruction.id = field.get_uint64();
    } else if (field.tag() == kName && is_text(field)) {
      instruction.name = text_of(field.get_view());
    } else if (field.tag() == kParents && is_text(field)) {
      const auto parents = field.get_packed_uint64();
      if (parents.begin() != parents.end()) instruction.parent = *parents.begin();
    } else if (field.tag() == kAttribute && is_text(field)) {
      read_attribute(field.get_message(), instruction);
    } else {
      field.skip();
    }
  }
  return instruction;
}

// Replaces a place in the list by what stands there; other texts stay as they are.
void look_up(std::string_view& text, const std::vector<std::string_view>& list) {
  std::size_t place = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return;
  text = place < list.size() ? list[place] : std::string_view();
}

}  // namespace

std::optional<DebugInfo> DebugInfo::read(std::string bytes, std::size_t most_instructions) {
  DebugInfo info;
  info.bytes_ = std::make_unique<std::string>(std::move(bytes));
  if (!info.read_message(*info.bytes_, most_instructions)) return std::nullopt;
  return info;
}

bool DebugInfo::read_message(std::string_view bytes, std::size_t most_instructions) {
  try {
    protozero::pbf_reader file(bytes.data(), bytes.size());
    while (file.next()) {
      if (!is_text(file)) {
        file.skip();
        continue;
      }
      const protozero::pbf_tag_type tag = file.tag();  // which reading the field forgets
      const std::string_view field = text_of(file.get_view());
      if (tag == kParentFile) parent_file_ = field;
      if (tag == kSourceFile) files_.push_back(field);
      if (tag == kKernel) kernels_.push_back(field);
      if (tag != kInstruction) continue;
      if (in_order_.size() >= most_instructions) return false;
      in_order_.push_back(read_instruction(protozero::pbf_reader(field.data(), field.size())));
    }
  } catch (const protozero::exception&) {
    return false;
  }
  for (DebugInstruction& instruction : in_order_) {
    look_up(instruction.file, files_);
    look_up(instruction.kernel, kernels_);
  }
  by_id_.resize(in_order_.size());
  std::iota(by_id_.begin(), by_id_.end(), 0U);
  std::stable_sort(by_id_.begin(), by_id_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return in_order_[a].id < in_order_[b].id; });
  return true;
}

const DebugInstruction* DebugInfo::find(std::uint64_t id) const noexcept {
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                      [&](std::uint32_t place, std::uint64_t of) { return in_order_[place].id < of; });
  return found != by_id_.end() && in_order_[*found].id == id ? &in_order_[*found] : nullptr;
}

}  // namespace accelscope::capture::sources::neuron::neff
