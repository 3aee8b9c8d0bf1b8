#include "capture/sources/perfetto/read/arguments.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/perfetto/read/wire.h"
#include "core/base/format.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr int kDeepest = 64;  // of values within values; tools write a few

[[nodiscard]] Argument named_number(Argument argument, Argument::Kind kind, std::uint64_t bits) {
  argument.kind = kind;
  argument.bits = bits;
  return argument;
}

// The old form of nested values.
void append_nested(std::string& out, std::string_view message, int depth) {
  enum : std::uint64_t { kDictionary = 1, kArray = 2 };
  std::uint64_t type = 0;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  Argument scalar;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        type = fields.whole();
        break;
      case 2:
        keys.push_back(fields.bytes());
        break;
      case 3:
      case 4:
        values.push_back(fields.bytes());
        break;
      case 5:
        scalar = named_number({}, Argument::Kind::integer, fields.whole());
        break;
      case 6:
        scalar = named_number({}, Argument::Kind::real, std::bit_cast<std::uint64_t>(fields.real()));
        break;
      case 7:
        scalar = named_number({}, Argument::Kind::boolean, fields.whole() != 0 ? 1 : 0);
        break;
      case 8:
        scalar.kind = Argument::Kind::text;
        scalar.text = fields.bytes();
        break;
      default:
        break;
    }
  }
  if (type != kDictionary && type != kArray) return append_json_value(out, scalar);
  out += type == kDictionary ? '{' : '[';
  for (std::size_t i = 0; i < values.size() && depth < kDeepest; ++i) {
    if (type == kDictionary && i >= keys.size()) break;
    if (i > 0) out += ',';
    if (type == kDictionary) {
      append_json_quoted(out, keys[i]);
      out += ':';
    }
    append_nested(out, values[i], depth + 1);
  }
  out += type == kDictionary ? '}' : ']';
}

struct ReadAnnotation {
  Argument argument;
  std::vector<std::string_view> entries;  // of a dictionary
  std::vector<std::string_view> items;    // of an array
  std::string_view old_nested;
  bool has_old_nested = false;
};

// What a field of the two messages for arguments is; their numbers are not the same.
enum class ArgumentPart : std::uint8_t {
  unknown,
  name_iid,
  name,
  boolean,
  whole,
  integer,
  real,
  text,
  text_iid,
  old_nested,
  json,  // as the program wrote it
  entry,
  item,
};
using ArgumentParts = std::array<ArgumentPart, 18>;  // by number

constexpr ArgumentParts kDebugAnnotation = [] {
  ArgumentParts parts{};
  parts[1] = ArgumentPart::name_iid;
  parts[2] = ArgumentPart::boolean;
  parts[3] = ArgumentPart::whole;
  parts[4] = ArgumentPart::integer;
  parts[5] = ArgumentPart::real;
  parts[6] = ArgumentPart::text;
  parts[7] = ArgumentPart::whole;  // a pointer
  parts[8] = ArgumentPart::old_nested;
  parts[9] = ArgumentPart::json;
  parts[10] = ArgumentPart::name;
  parts[11] = ArgumentPart::entry;
  parts[12] = ArgumentPart::item;
  parts[17] = ArgumentPart::text_iid;
  return parts;
}();
constexpr ArgumentParts kComputeArgument = [] {
  ArgumentParts parts{};
  parts[1] = ArgumentPart::name_iid;
  parts[2] = ArgumentPart::name;
  parts[3] = ArgumentPart::integer;
  parts[4] = ArgumentPart::whole;
  parts[5] = ArgumentPart::real;
  parts[6] = ArgumentPart::text;
  parts[7] = ArgumentPart::text_iid;
  return parts;
}();

[[nodiscard]] ReadAnnotation read_fields(std::string_view message, const ArgumentParts& parts,
                                         InternTable<InternedText>& names, SequenceState& state) {
  ReadAnnotation read;
  Argument& argument = read.argument;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number() < parts.size() ? parts[fields.number()] : ArgumentPart::unknown) {
      case ArgumentPart::name_iid:
        argument.entry = names.find(fields.whole());
        if (argument.entry != nullptr) argument.name = argument.entry->text;
        break;
      case ArgumentPart::name:
        argument.name = fields.bytes();
        break;
      case ArgumentPart::boolean:
        argument = named_number(argument, Argument::Kind::boolean, fields.flag() ? 1 : 0);
        break;
      case ArgumentPart::whole:
        argument = named_number(argument, Argument::Kind::whole, fields.whole());
        break;
      case ArgumentPart::integer:
        argument = named_number(argument, Argument::Kind::integer, fields.whole());
        break;
      case ArgumentPart::real:
        argument = named_number(argument, Argument::Kind::real, std::bit_cast<std::uint64_t>(fields.real()));
        break;
      case ArgumentPart::text:
        argument.kind = Argument::Kind::text;
        argument.text = fields.bytes();
        break;
      case ArgumentPart::text_iid:
        argument.value_entry = state.annotation_values.find(fields.whole());
        argument.kind = Argument::Kind::text;
        argument.text =
            argument.value_entry == nullptr ? std::string_view{} : std::string_view(argument.value_entry->text);
        break;
      case ArgumentPart::old_nested:
        read.old_nested = fields.bytes();
        read.has_old_nested = true;
        break;
      case ArgumentPart::json:
        argument.kind = Argument::Kind::nested;
        argument.text = fields.bytes();
        break;
      case ArgumentPart::entry:
        read.entries.push_back(fields.bytes());
        break;
      case ArgumentPart::item:
        read.items.push_back(fields.bytes());
        break;
      case ArgumentPart::unknown:
        break;
    }
  }
  return read;
}

[[nodiscard]] ReadAnnotation read_debug_annotation(std::string_view message, SequenceState& state) {
  return read_fields(message, kDebugAnnotation, state.annotation_names, state);
}

void append_value(std::string& out, const ReadAnnotation& read, SequenceState& state, int depth) {
  if (read.has_old_nested) return append_nested(out, read.old_nested, depth);
  if (read.entries.empty() && read.items.empty()) return append_json_value(out, read.argument);
  const bool dictionary = !read.entries.empty();
  out += dictionary ? '{' : '[';
  bool first = true;
  for (const std::string_view entry : dictionary ? read.entries : read.items) {
    if (depth >= kDeepest) break;
    const ReadAnnotation inner = read_debug_annotation(entry, state);
    if (!std::exchange(first, false)) out += ',';
    if (dictionary) {
      append_json_quoted(out, inner.argument.name);
      out += ':';
    }
    append_value(out, inner, state, depth + 1);
  }
  out += dictionary ? '}' : ']';
}

}  // namespace

Argument read_annotation(std::string_view message, SequenceState& state, std::string& scratch) {
  ReadAnnotation read = read_debug_annotation(message, state);
  if (!read.has_old_nested && read.entries.empty() && read.items.empty()) return read.argument;
  scratch.clear();
  append_value(scratch, read, state, 0);
  read.argument.kind = Argument::Kind::nested;
  read.argument.text = scratch;
  return read.argument;
}

Argument read_compute_argument(std::string_view message, SequenceState& state) {
  return read_fields(message, kComputeArgument, state.kernel_arguments, state).argument;
}

void append_json_value(std::string& out, const Argument& argument) {
  std::string scratch;
  const json::JsonField field = json_field_of(argument, scratch);
  switch (field.kind) {
    case json::JsonKind::string:
    case json::JsonKind::not_finite:
      append_json_quoted(out, field.text);
      break;
    case json::JsonKind::null:
      out += "null";
      break;
    default:
      out += field.text;
  }
}

json::JsonField json_field_of(const Argument& argument, std::string& scratch) {
  json::JsonField field{argument.name, {}, json::JsonKind::number};
  switch (argument.kind) {
    case Argument::Kind::none:
      field.kind = json::JsonKind::null;
      break;
    case Argument::Kind::boolean:
      field.kind = json::JsonKind::boolean;
      field.text = argument.bits != 0 ? "true" : "false";
      break;
    case Argument::Kind::integer:
      scratch = fmt::format("{}", static_cast<std::int64_t>(argument.bits));
      field.text = scratch;
      break;
    case Argument::Kind::whole:
      scratch = fmt::format("{}", argument.bits);
      field.text = scratch;
      break;
    case Argument::Kind::real: {
      const auto value = std::bit_cast<double>(argument.bits);
      scratch = fmt::format("{}", value);
      if (!std::isfinite(value)) field.kind = json::JsonKind::not_finite;
      field.text = scratch;
      break;
    }
    case Argument::Kind::text:
      field.kind = json::JsonKind::string;
      field.text = argument.text;
      break;
    case Argument::Kind::nested: {
      const std::size_t first = argument.text.find_first_not_of(" \t\r\n");
      const char begin = first == std::string_view::npos ? '"' : argument.text[first];
      field.kind = begin == '{'   ? json::JsonKind::object
                   : begin == '[' ? json::JsonKind::array
                                  : json::JsonKind::string;
      field.text = argument.text;
      break;
    }
  }
  return field;
}

std::string merged_json(std::string_view earlier, std::string_view later) {
  const auto within = [](std::string_view text) { return text.substr(1, text.size() - 2); };
  const bool arrays = earlier.starts_with('[') && later.starts_with('[');
  const bool objects = earlier.starts_with('{') && later.starts_with('{');
  if (arrays || objects) {
    if (earlier.size() <= 2) return std::string(later);
    if (later.size() <= 2) return std::string(earlier);
  }
  if (arrays) return fmt::format("[{},{}]", within(earlier), within(later));
  if (!objects) return std::string(later);
  std::vector<std::pair<std::string, std::string>> members;
  const auto add = [&](const json::JsonField& field) {
    std::string whole;
    json::append_json(whole, {"", field.text, field.kind});
    std::string value = whole.substr(3);  // behind "":
    for (auto& [key, known] : members) {
      if (key != field.key) continue;
      known = merged_json(known, value);
      return true;
    }
    members.emplace_back(field.key, std::move(value));
    return true;
  };
  (void)json::each_member(earlier, add);
  (void)json::each_member(later, add);
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out += ',';
    append_json_quoted(out, key);
    out += ':';
    out += value;
  }
  return out + "}";
}

}  // namespace accelscope::capture::sources::perfetto
