#include "capture/sources/perfetto/read/sequence_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

[[nodiscard]] std::uint64_t iid_of(std::string_view message) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) return fields.whole();
  }
  return 0;
}

void add_text(InternTable<InternedText>& table, std::string_view message) {
  InternedText entry;
  std::uint64_t iid = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) iid = fields.whole();
    if (fields.number() == 2) entry.text = fields.bytes();
  }
  if (iid != 0) table.set(iid, std::move(entry));
}

[[nodiscard]] InternedLocation location_of(std::string_view message) {
  InternedLocation entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) entry.file = fields.bytes();
    if (fields.number() == 3) entry.function = fields.bytes();
    if (fields.number() == 4) entry.line = fields.integer();
  }
  return entry;
}

[[nodiscard]] InternedFrame frame_of(std::string_view message) {
  InternedFrame entry;
  Fields fields(message);
  while (fields.next()) {
    (void)fields.into(At{2, entry.function}, At{3, entry.mapping}, At{4, entry.relative_pc}, At{5, entry.source_path},
                      At{6, entry.line});
  }
  return entry;
}

[[nodiscard]] std::vector<std::uint64_t> numbers_of(std::string_view message, std::uint32_t field) {
  std::vector<std::uint64_t> numbers;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == field) {
      fields.each(WireType::varint, [&](std::uint64_t value) { numbers.push_back(value); });
    }
  }
  return numbers;
}

[[nodiscard]] InternedContext context_of(std::string_view message) {
  InternedContext entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) entry.pid = fields.integer32();
    if (fields.number() == 3) entry.api = fields.whole();
  }
  return entry;
}

[[nodiscard]] InternedStage stage_of(std::string_view message) {
  InternedStage entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) entry.name = fields.bytes();
    if (fields.number() == 3) entry.description = fields.bytes();
    if (fields.number() == 4) entry.category = fields.whole();
  }
  return entry;
}

[[nodiscard]] InternedKernel kernel_of(std::string_view message) {
  InternedKernel entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) entry.name = fields.bytes();
    if (fields.number() == 3) entry.demangled = fields.bytes();
    if (fields.number() == 4) entry.architecture = fields.bytes();
    if (fields.number() == 5) entry.arguments.emplace_back(fields.bytes());
  }
  return entry;
}

[[nodiscard]] InternedCounters counters_of(std::string_view message) {
  InternedCounters entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) entry.descriptor = fields.bytes();
    if (fields.number() == 3) entry.gpu = fields.integer32();
  }
  return entry;
}

}  // namespace

void SequenceState::clear() {
  const std::uint32_t number = id;
  const std::optional<std::int64_t> of_process = pid;
  const std::optional<std::int64_t> of_thread = tid;
  *this = {};
  id = number;
  pid = of_process;
  tid = of_thread;
  valid = true;
  seen = true;
}

void SequenceState::add_interned(std::string_view message) {
  Fields fields(message);
  while (fields.next()) {
    const std::string_view entry = fields.bytes();
    switch (fields.number()) {
      case 1:
        add_text(categories, entry);
        break;
      case 2:
        add_text(names, entry);
        break;
      case 3:
        add_text(annotation_names, entry);
        break;
      case 4:
        locations.set(iid_of(entry), location_of(entry));
        break;
      case 5:
        add_text(functions, entry);
        break;
      case 6:
        frames.set(iid_of(entry), frame_of(entry));
        break;
      case 7:
        callstacks.set(iid_of(entry), {numbers_of(entry, 2), 0});
        break;
      case 17:
        add_text(mapping_paths, entry);
        break;
      case 18:
        add_text(source_paths, entry);
        break;
      case 19:
        mappings.set(iid_of(entry), {numbers_of(entry, 7)});
        break;
      case 20:
        add_text(log_bodies, entry);
        break;
      case 23:
        contexts.set(iid_of(entry), context_of(entry));
        break;
      case 24:
        stages.set(iid_of(entry), stage_of(entry));
        break;
      case 27:
        add_text(type_names, entry);
        break;
      case 29:
        add_text(annotation_values, entry);
        break;
      case 43:
        add_text(correlations, entry);
        break;
      case 47:
        gpu_counters.set(iid_of(entry), counters_of(entry));
        break;
      case 1000:
        kernels.set(iid_of(entry), kernel_of(entry));
        break;
      case 1001:
        add_text(kernel_arguments, entry);
        break;
      default:
        break;
    }
  }
}

void SequenceState::set_defaults(std::string_view message) {
  default_clock.reset();
  default_track.reset();
  extra_counters.clear();
  extra_real_counters.clear();
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 58) default_clock = fields.whole();
    if (fields.number() != 11) continue;
    Fields defaults(fields.bytes());
    while (defaults.next()) {
      if (defaults.number() == 11) default_track = defaults.whole();
      if (defaults.number() == 31) {
        defaults.each(WireType::varint, [&](std::uint64_t uuid) { extra_counters.push_back(uuid); });
      }
      if (defaults.number() == 45) {
        defaults.each(WireType::varint, [&](std::uint64_t uuid) { extra_real_counters.push_back(uuid); });
      }
    }
  }
}

std::string SequenceState::stack_text(const InternedCallstack& callstack) {
  std::string text;
  const auto named = [](InternTable<InternedText>& table, std::uint64_t iid) -> std::string_view {
    const InternedText* const found = table.find(iid);
    return found == nullptr ? std::string_view{} : std::string_view(found->text);
  };
  constexpr std::size_t kMostText = 16U << 20;  // few bytes of a file may name long functions many times
  for (auto iid = callstack.frames.rbegin(); iid != callstack.frames.rend() && text.size() < kMostText; ++iid) {
    const InternedFrame* const frame = frames.find(*iid);
    if (frame == nullptr) continue;
    if (!text.empty()) text += '\n';
    const std::string_view function = named(functions, frame->function);
    text += function.empty() ? fmt::format("0x{:x}", frame->relative_pc) : std::string(function);
    std::string_view file = named(source_paths, frame->source_path);
    const InternedMapping* const mapping = mappings.find(frame->mapping);
    if (!file.empty()) {
      text += frame->line > 0 ? fmt::format(" ({}:{})", file, frame->line) : fmt::format(" ({})", file);
    } else if (mapping != nullptr && !mapping->path.empty()) {
      file = named(mapping_paths, mapping->path.back());
      if (!file.empty()) text += fmt::format(" ({})", file);
    }
  }
  return text;
}

}  // namespace accelscope::capture::sources::perfetto
