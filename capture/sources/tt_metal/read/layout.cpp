#include "capture/sources/tt_metal/read/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/text.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

constexpr std::size_t kMaxExtras = 64;

// Names as they are after normal_name().
struct ColumnName {
  std::string_view name;
  LogColumn column;
};
constexpr ColumnName kColumnNames[] = {
    {"pcie slot", LogColumn::chip},
    {"core_x", LogColumn::core_x},
    {"core_y", LogColumn::core_y},
    {"risc processor type", LogColumn::risc},
    {"timer_id", LogColumn::timer_id},
    {"time[cycles since reset]", LogColumn::time},
    {"stat value", LogColumn::data},
    {"data", LogColumn::data},
    {"run id", LogColumn::run_id},
    {"program id", LogColumn::run_id},
    {"run host id", LogColumn::run_host_id},
    {"trace id", LogColumn::trace_id},
    {"trace id counter", LogColumn::trace_id_counter},
    {"zone name", LogColumn::zone_name},
    {"zone phase", LogColumn::type},
    {"type", LogColumn::type},
    {"source line", LogColumn::source_line},
    {"source file", LogColumn::source_file},
    {"meta data", LogColumn::meta_data},
};
constexpr std::array kHeaderless = {LogColumn::chip, LogColumn::core_x,   LogColumn::core_y,
                                    LogColumn::risc, LogColumn::timer_id, LogColumn::time};

// In lower case, with single blanks.
[[nodiscard]] std::string normal_name(std::string_view cell) {
  std::string name;
  for (const char c : plain_cell(cell)) {
    if ((c == ' ' || c == '\t') && !name.empty() && name.back() == ' ') continue;
    name += c == '\t' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0;;) {
    const std::size_t comma = line.find(',', at);
    cells.push_back(line.substr(at, comma - at));
    if (comma == std::string_view::npos) return cells;
    at = comma + 1;
  }
}

[[nodiscard]] double frequency_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = trimmed(text.substr(at + word.size()));
  double value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value > 0 && value < 1e6 ? value : 0;
}

// "ARCH: grayskull, CHIP_FREQ[MHz]: 1202, Max Compute Cores: 64", or of old "Chip clock is at 1.2 GHz".
[[nodiscard]] bool read_chip_line(std::string_view line, DeviceLogLayout& layout) {
  constexpr std::string_view kArch = "ARCH:";
  constexpr std::string_view kOldClock = "Chip clock is at ";
  line = trimmed(line);
  if (line.starts_with(kOldClock)) {
    layout.arch = "grayskull";  // the only chip of that time
    layout.frequency_mhz = frequency_after(line, kOldClock) * (line.find("MHz") != std::string_view::npos ? 1 : 1000);
    return true;
  }
  if (!line.starts_with(kArch)) return false;
  layout.arch = trimmed(line.substr(kArch.size(), line.find(',') - kArch.size()));
  layout.frequency_mhz = frequency_after(line, "CHIP_FREQ[MHz]:");
  constexpr std::string_view kCores = "Max Compute Cores:";
  std::uint64_t cores = 0;
  if (const std::size_t at = line.find(kCores);
      at != std::string_view::npos && read_number(line.substr(at + kCores.size()), cores) == NumberState::ok)
    layout.max_compute_cores = cores;
  return true;
}

[[nodiscard]] std::optional<LogColumn> column_named(std::string_view name) {
  for (const ColumnName& known : kColumnNames) {
    if (known.name == name) return known.column;
  }
  // "Run ID (or Program ID)", "time [cycles since reset]"
  if (name.starts_with("run id") || name.starts_with("program id")) return LogColumn::run_id;
  if (name.starts_with("time") && name.find("cycles") != std::string_view::npos) return LogColumn::time;
  return std::nullopt;
}

[[nodiscard]] bool looks_like_header(const std::vector<std::string_view>& cells) {
  const auto named = [&](std::string_view name) {
    return std::any_of(cells.begin(), cells.end(), [&](std::string_view cell) { return normal_name(cell) == name; });
  };
  return named("core_x") && named("core_y");
}

void read_header(const std::vector<std::string_view>& cells, DeviceLogLayout& layout) {
  layout.has_header = true;
  layout.cell_count = static_cast<int>(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = normal_name(cells[i]);
    const std::optional<LogColumn> column = column_named(name);
    if (column && !layout.has(*column)) {
      layout.places[static_cast<std::size_t>(*column)] = static_cast<int>(i);
    } else if (!name.empty() && layout.extras.size() < kMaxExtras) {
      layout.extras.push_back({static_cast<int>(i), name});
    }
  }
}

[[nodiscard]] bool looks_like_risc(std::string_view word) {
  return word.ends_with("RISC") || word.find("RISC_") != std::string_view::npos;
}

// The oldest rows: "0, 0, 0, NCRISC, 1, 1882735035004".
[[nodiscard]] bool is_headerless_row(const std::vector<std::string_view>& cells) {
  if (cells.size() != kHeaderless.size()) return false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::uint64_t value = 0;
    const bool good = kHeaderless[i] == LogColumn::risc ? looks_like_risc(plain_cell(cells[i]))
                                                        : read_number(cells[i], value) == NumberState::ok;
    if (!good) return false;
  }
  return true;
}

[[nodiscard]] std::string missing_columns(const DeviceLogLayout& layout) {
  std::string missing;
  const auto need = [&](LogColumn column, std::string_view name) {
    if (layout.has(column)) return;
    missing += missing.empty() ? "" : ", ";
    missing += name;
  };
  need(LogColumn::risc, "RISC processor type");
  need(LogColumn::time, "time[cycles since reset]");
  if (!layout.has(LogColumn::type)) need(LogColumn::timer_id, "timer_id");
  return missing;
}

}  // namespace

std::string_view plain_cell(std::string_view cell) noexcept {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = trimmed(cell.substr(1, cell.size() - 2));
  return cell;
}

std::string cell_string(std::string_view cell) {
  const std::string_view plain = plain_cell(cell);
  if (!trimmed(cell).starts_with('"')) return std::string(plain);
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    text += plain[i];
    if (plain[i] == '"' && i + 1 < plain.size() && plain[i + 1] == '"') ++i;
  }
  return text;
}

NumberState read_number(std::string_view cell, std::uint64_t& value) noexcept {
  cell = plain_cell(cell);
  if (cell.empty()) return NumberState::empty;
  const char* const end = cell.data() + cell.size();
  const auto [last, code] = std::from_chars(cell.data(), end, value);
  if (code == std::errc::result_out_of_range && last == end) return NumberState::too_large;
  if (code == std::errc() && last == end) return NumberState::ok;
  const bool negative =
      cell.size() > 1 && cell.front() == '-' && cell.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return negative ? NumberState::negative : NumberState::not_a_number;
}

bool is_prologue_line(std::string_view line) {
  DeviceLogLayout ignored;
  return read_chip_line(line, ignored) || looks_like_header(cells_of(line));
}

Result<LogPrologue> read_prologue(std::string_view text) {
  LogPrologue prologue;
  DeviceLogLayout& layout = prologue.layout;
  if (text.starts_with(kByteOrderMark)) prologue.bytes = kByteOrderMark.size();
  bool chip_line = false;
  while (prologue.bytes < text.size()) {
    const std::size_t newline = text.find('\n', prologue.bytes);
    const std::string_view line = text.substr(prologue.bytes, newline - prologue.bytes);
    const std::vector<std::string_view> cells = cells_of(line);
    const bool header = looks_like_header(cells);
    if (header) {
      read_header(cells, layout);
    } else if (!chip_line && read_chip_line(line, layout)) {
      chip_line = true;
    } else if (!trimmed(line).empty()) {
      if (!is_headerless_row(cells)) {
        return Error{fmt::format("line {} is neither the header nor a row of a device log", prologue.lines + 1)};
      }
      for (std::size_t i = 0; i < kHeaderless.size(); ++i)
        layout.places[static_cast<std::size_t>(kHeaderless[i])] = static_cast<int>(i);
      layout.cell_count = static_cast<int>(kHeaderless.size());
      return prologue;
    }
    prologue.bytes = newline == std::string_view::npos ? text.size() : newline + 1;
    ++prologue.lines;
    if (!header) continue;
    const std::string missing = missing_columns(layout);
    if (!missing.empty()) return Error{fmt::format("its header has no column {}", missing)};
    return prologue;
  }
  if (chip_line) return Error{"it ends after the chip's line, before the header"};
  return Error{"it holds no line of a device log"};
}

int probe_device_log_text(std::string_view text) {
  constexpr int kCertain = 95;
  constexpr int kLikely = 80;  // only the chip's line is there
  const Result<LogPrologue> prologue = read_prologue(text);
  if (prologue) return prologue.value().layout.has_header ? kCertain : kLikely;
  text = without_byte_order_mark(text);
  const std::string_view first = text.substr(0, text.find('\n'));
  DeviceLogLayout layout;
  const bool chip_line = read_chip_line(first, layout) &&
                         (layout.arch == "grayskull" || first.find("CHIP_FREQ") != std::string_view::npos);
  return chip_line || looks_like_header(cells_of(first)) ? kLikely : 0;
}

namespace {

constexpr std::size_t kLongestCounterName = 128;

}  // namespace

std::string_view meta_data_field(std::string_view text, std::string_view key) noexcept {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = at + key.size();
    const bool quoted = at > 0 && text[at - 1] == '"' && after < text.size() && text[after] == '"';
    if (!quoted) continue;
    std::size_t value = text.find_first_not_of(" \t", after + 1);
    if (value == std::string_view::npos || text[value] != ':') continue;
    value = text.find_first_not_of(" \t", value + 1);
    if (value == std::string_view::npos) return {};
    if (text[value] == '"') {
      const std::size_t end = text.find('"', value + 1);
      return end == std::string_view::npos ? std::string_view{} : text.substr(value + 1, end - value - 1);
    }
    const std::size_t end = text.find_first_of(";,} \t", value);
    return text.substr(value, end - value);
  }
  return {};
}

std::optional<CounterFields> read_counter_fields(std::string_view cell) {
  const std::string_view type = meta_data_field(cell, "counter type");
  if (type.empty() || type.size() > kLongestCounterName) return std::nullopt;
  CounterFields fields;
  if (read_number(meta_data_field(cell, "value"), fields.value) != NumberState::ok) return std::nullopt;
  if (read_number(meta_data_field(cell, "ref cnt"), fields.reference) != NumberState::ok) fields.reference = 0;
  fields.type = type;
  return fields;
}

std::string with_commas(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

}  // namespace accelscope::capture::sources::tt_metal
