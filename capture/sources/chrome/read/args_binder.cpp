#include "capture/sources/chrome/read/args_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "capture/json/json_cursor.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/launch_details.h"
#include "core/base/checksum.h"
#include "core/base/format.h"

namespace accelscope::capture::sources::chrome {
namespace {

// The framework's numbers of kinds of devices; 0 is the host, the others are as its users call them.
[[nodiscard]] std::string pool_name(std::int64_t type, std::int64_t device) {
  constexpr std::int64_t kHost = 0;
  constexpr std::int64_t kCuda = 1;
  constexpr std::int64_t kHip = 6;
  constexpr std::int64_t kXpu = 12;
  if (type == kHost) return "CPU memory";
  if (type == kCuda || type == kHip || type == kXpu) return tracks::gpu_name(device) + " memory";
  return fmt::format("device {} memory (type {})", device, type);
}

}  // namespace

bool ArgsBinder::worth_a_lookup(Usefulness& use) const noexcept {
  constexpr std::uint32_t kTrial = 2048;
  constexpr std::uint32_t kPause = 32 * kTrial;
  if (use.pause > 0) {
    --use.pause;
    return false;
  }
  if (++use.lookups == kTrial) {
    if (use.hits < kTrial / 8) use.pause = kPause;
    use.lookups = 0;
    use.hits = 0;
  }
  return true;
}

ValueRange ArgsBinder::bind(const TableBinding& binding, std::string_view name, std::string_view args,
                            std::span<const json::JsonField> beside, EventBatch& batch) {
  Usefulness& use = use_[static_cast<std::size_t>(binding.table())];
  const bool of_args_alone = binding.table() != ChromeTable::python_function;
  const bool cached =
      of_args_alone && beside.empty() && !args.empty() && args.size() <= kMaxCachedBytes && worth_a_lookup(use);
  CacheEntry* entry = nullptr;
  if (cached) {
    entry = &cache_[checksum(std::as_bytes(std::span(args))) & (kCacheEntries - 1)];
    if (entry->binding == &binding && entry->args == args) {
      ++use.hits;
      if (entry->batch_number != batch_number_) {
        entry->batch_number = batch_number_;
        entry->range.first = static_cast<std::uint32_t>(batch.values.size());
        batch.values.insert(batch.values.end(), entry->values.begin(), entry->values.end());
      }
      return entry->range;
    }
  }
  const std::size_t first = batch.values.size();
  first_ = first;
  const std::size_t text_before = batch.text.size();
  rest_.clear();
  next_guess_ = 0;
  bind_object(binding, args, batch);
  for (const json::JsonField& field : beside) bind_field(binding, field, batch);
  if (binding.location != TableBinding::kNoColumn) add_location(binding, name, batch);
  if (binding.pool != TableBinding::kNoColumn) add_pool(binding, batch);
  if (binding.layer != TableBinding::kNoColumn && value_of(batch, binding.layer) == nullptr) {
    const std::string_view module = string_at(binding, batch, binding.module);
    if (!module.empty()) batch.values.push_back({binding.layer, 0, strings_.intern(layer_path(module))});
  }
  if (binding.grid != TableBinding::kNoColumn) add_launch(binding, batch);
  if (binding.transfer_details != TableBinding::kNoColumn) add_transfer(binding, batch);
  if (!rest_.empty()) {
    rest_ += '}';
    const TextRange range = batch.add_text(rest_);
    batch.values.push_back({binding.rest, range.size, range.first});
  }
  const ValueRange range{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(batch.values.size() - first)};
  // Texts lie in this batch, so that their values cannot be used again in another one.
  if (entry != nullptr && batch.text.size() == text_before) {
    entry->args = args;
    entry->binding = &binding;
    entry->values.assign(batch.values.begin() + static_cast<std::ptrdiff_t>(first), batch.values.end());
    entry->batch_number = batch_number_;
    entry->range = range;
  }
  return range;
}

void ArgsBinder::bind_object(const TableBinding& binding, std::string_view args, EventBatch& batch) {
  const bool whole = json::each_member(args, [&](const json::JsonField& field) {
    bind_field(binding, field, batch);
    return true;
  });
  if (!whole && !args.empty()) ++batch.broken_args;
}

std::uint32_t ArgsBinder::column_of(const TableBinding& binding, std::string_view key) {
  constexpr std::size_t kMostGuesses = 128;
  if (next_guess_ == kMostGuesses) return binding.column_of(key).value_or(TableBinding::kNoColumn);
  std::vector<Guess>& guesses = guesses_[static_cast<std::size_t>(binding.table())];
  if (next_guess_ == guesses.size()) guesses.emplace_back();
  Guess& guess = guesses[next_guess_++];
  if (guess.key != key || key.empty())
    guess = {std::string(key), binding.column_of(key).value_or(TableBinding::kNoColumn)};
  return guess.column;
}

// Stacks get a line per frame; lists lose the blanks that some writers indent them with.
std::string_view ArgsBinder::text_of(const json::JsonField& field, Role role) {
  if (role == Role::stack) {
    scratch_ = stack_lines(field.text);
    return scratch_;
  }
  const bool nested = field.kind == json::JsonKind::array || field.kind == json::JsonKind::object;
  if (!nested || field.text.find_first_of(" \n\t\r") == std::string_view::npos) return field.text;
  scratch_.clear();
  bool in_string = false;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    const char c = field.text[i];
    if (in_string && c == '\\' && i + 1 < field.text.size()) {
      scratch_ += c;
      scratch_ += field.text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (in_string || !blank) scratch_ += c;
  }
  return scratch_;
}

// "[8, 1, 1]" of "[8,1,1]", as every other source writes it.
std::string_view ArgsBinder::spaced(std::string_view list) {
  if (list.find(' ') != std::string_view::npos) return list;
  spaced_.clear();
  for (const char c : list) {
    spaced_ += c;
    if (c == ',') spaced_ += ' ';
  }
  return spaced_;
}

void ArgsBinder::bind_field(const TableBinding& binding, const json::JsonField& field, EventBatch& batch) {
  if (field.kind == json::JsonKind::null) return;
  if (const std::uint32_t column = column_of(binding, field.key); column != TableBinding::kNoColumn) {
    const Column& target = binding.schema().columns[column];
    const std::string_view text = text_of(field, target.role);
    if (target.type == ColumnType::string) {
      if (column == binding.grid || column == binding.block) {
        batch.values.push_back({column, 0, strings_.intern(spaced(text))});
        return;
      }
      if (target.role == Role::stack && text.empty()) return;
      batch.values.push_back({column, 0, strings_.intern(text)});
      return;
    }
    if (target.type == ColumnType::text) {
      const TextRange range = batch.add_text(text);
      const auto bound = std::find_if(batch.values.begin() + static_cast<std::ptrdiff_t>(first_), batch.values.end(),
                                      [&](const BoundValue& value) { return value.column == column; });
      if (bound != batch.values.end()) batch.values.erase(bound);  // a key that comes twice: the last one counts
      batch.values.push_back({column, range.size, range.first});
      return;
    }
    if (const auto value = to_bits(target.type, field)) {
      batch.values.push_back({column, 0, *value});
      return;
    }
  }
  rest_ += rest_.empty() ? '{' : ',';
  json::append_json(rest_, field);
}

const BoundValue* ArgsBinder::value_of(const EventBatch& batch, std::uint32_t column) const noexcept {
  for (std::size_t i = batch.values.size(); i > first_; --i) {
    if (batch.values[i - 1].column == column) return &batch.values[i - 1];
  }
  return nullptr;
}

void ArgsBinder::add_location(const TableBinding& binding, std::string_view name, EventBatch& batch) {
  if (value_of(batch, binding.location) != nullptr) return;  // stated
  if (binding.table() == ChromeTable::python_function) {
    const auto place = parse_code_place(name);
    if (!place) return;
    scratch_.assign(place->file).append(":").append(place->line);
  } else {
    const BoundValue* file = value_of(batch, binding.file);
    const BoundValue* line = value_of(batch, binding.line);
    const std::vector<Column>& columns = binding.schema().columns;
    if (file == nullptr || line == nullptr || columns[binding.file].type != ColumnType::string ||
        columns[binding.line].type != ColumnType::int64) {
      return;
    }
    scratch_ =
        fmt::format("{}:{}", strings_.text(static_cast<StringId>(file->value)), static_cast<std::int64_t>(line->value));
  }
  batch.values.push_back({binding.location, 0, strings_.intern(scratch_)});
}

std::string_view ArgsBinder::string_at(const TableBinding& binding, const EventBatch& batch,
                                       std::uint32_t column) const {
  const BoundValue* value = column == TableBinding::kNoColumn ? nullptr : value_of(batch, column);
  if (value == nullptr || binding.schema().columns[column].type != ColumnType::string) return {};
  return strings_.text(static_cast<StringId>(value->value));
}

// A grid and a block that the event tells by other words than the columns'.
void ArgsBinder::add_launch(const TableBinding& binding, EventBatch& batch) {
  const auto put = [&](std::uint32_t column, std::string_view text) {
    if (column == TableBinding::kNoColumn || text.empty() || value_of(batch, column) != nullptr) return;
    batch.values.push_back({column, 0, strings_.intern(text)});
  };
  const auto joined = [&](const std::array<std::uint32_t, 3>& parts) {
    std::string all = "[";
    for (const std::uint32_t part : parts) {
      const BoundValue* value = part == TableBinding::kNoColumn ? nullptr : value_of(batch, part);
      if (value == nullptr) return std::string();
      if (all.size() > 1) all += ", ";
      const ColumnType type = binding.schema().columns[part].type;
      if (type != ColumnType::string && type != ColumnType::int64) return std::string();
      all += type == ColumnType::string ? std::string(string_at(binding, batch, part))
                                        : std::to_string(static_cast<std::int64_t>(value->value));
    }
    return all + "]";
  };
  if (binding.grid_parts.front() != TableBinding::kNoColumn) put(binding.grid, joined(binding.grid_parts));
  if (binding.block_parts.front() != TableBinding::kNoColumn) put(binding.block, joined(binding.block_parts));
  const std::string_view text = string_at(binding, batch, binding.kernel_details);
  if (text.empty() || binding.table() != ChromeTable::kernel) return;
  using Columns = tracks::KernelColumns;  // the table's first columns
  const tracks::KernelDetails details = tracks::read_kernel_details(text);
  put(binding.grid, details.grid);
  put(binding.block, details.block);
  const auto number = [&](std::size_t column, std::optional<std::int64_t> value) {
    const auto place = static_cast<std::uint32_t>(column);
    if (value && value_of(batch, place) == nullptr)
      batch.values.push_back({place, 0, static_cast<std::uint64_t>(*value)});
  };
  number(Columns::registers, details.registers);
  number(Columns::shared_memory, details.shared_memory);
  if (details.occupancy) {
    batch.values.push_back(
        {static_cast<std::uint32_t>(Columns::occupancy), 0, std::bit_cast<std::uint64_t>(*details.occupancy)});
  }
}

void ArgsBinder::add_transfer(const TableBinding& binding, EventBatch& batch) {
  if (rule_of(binding.table()).place != TablePlace::dma_queue) return;
  using Columns = tracks::TransferColumns;
  const tracks::TransferDetails details =
      tracks::read_transfer_details(string_at(binding, batch, binding.transfer_details));
  const auto bytes = static_cast<std::uint32_t>(Columns::bytes);
  if (details.bytes && value_of(batch, bytes) == nullptr)
    batch.values.push_back({bytes, 0, static_cast<std::uint64_t>(*details.bytes)});
  const auto kind = static_cast<std::uint32_t>(Columns::kind);
  if (!details.kind.empty() && value_of(batch, kind) == nullptr)
    batch.values.push_back({kind, 0, strings_.intern(details.kind)});
}

void ArgsBinder::add_pool(const TableBinding& binding, EventBatch& batch) {
  if (value_of(batch, binding.pool) != nullptr) return;
  const auto number = [&](std::uint32_t column) {
    const BoundValue* value = value_of(batch, column);
    return value == nullptr ? 0 : static_cast<std::int64_t>(value->value);
  };
  scratch_ = pool_name(number(binding.device_type), number(binding.device_id));
  batch.values.push_back({binding.pool, 0, strings_.intern(scratch_)});
}

}  // namespace accelscope::capture::sources::chrome
