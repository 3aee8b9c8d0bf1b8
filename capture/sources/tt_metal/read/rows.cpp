#include "capture/sources/tt_metal/read/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "capture/sources/tt_metal/read/layout.h"

namespace accelscope::capture::sources::tt_metal {

CellCache::CellCache(std::vector<int> cells) : entries_(kPlaces) {
  std::sort(cells.begin(), cells.end());
  for (const int cell : cells) {
    if (!groups_.empty() && groups_.back().last + 1 == cell) {
      groups_.back().last = cell;
    } else {
      groups_.push_back({cell, cell});
    }
  }
  last_.resize(groups_.size());
}

namespace {

// What a cache keeps in place of a number: a problem of the row, or that one of its ids could not be read.
constexpr std::uint32_t kProblemBase = 0xffffff00U;
constexpr std::uint32_t kValueLeftOut = 0x80000000U;
constexpr std::uint64_t kRowLargestTime = std::uint64_t{1} << 61;  // sums of two must not overflow
constexpr std::uint64_t kLargestPlace = 0xffff;                    // of chips and cores
constexpr std::size_t kLongestRiscName = 32;

[[nodiscard]] constexpr std::uint32_t as_number(RowProblem problem) noexcept {
  return kProblemBase | static_cast<std::uint32_t>(problem);
}
[[nodiscard]] constexpr bool is_problem(std::uint32_t number) noexcept { return number >= kProblemBase; }
[[nodiscard]] constexpr RowProblem problem_of(std::uint32_t number) noexcept {
  return static_cast<RowProblem>(number & ~kProblemBase);
}

[[nodiscard]] constexpr RowProblem problem_of(NumberState state) noexcept {
  if (state == NumberState::negative) return RowProblem::negative;
  if (state == NumberState::too_large) return RowProblem::too_large;
  return RowProblem::not_a_number;
}

[[nodiscard]] std::vector<int> cells_at(const DeviceLogLayout& layout, std::initializer_list<LogColumn> columns) {
  std::vector<int> cells;
  for (const LogColumn column : columns) {
    if (layout.has(column)) cells.push_back(layout.place(column));
  }
  return cells;
}

// Rows without a word for their type are told apart by timer id and processor.
[[nodiscard]] std::vector<int> site_cells(const DeviceLogLayout& layout) {
  std::vector<int> cells = cells_at(layout, {LogColumn::timer_id, LogColumn::zone_name, LogColumn::type,
                                             LogColumn::source_line, LogColumn::source_file});
  if (!layout.has(LogColumn::type)) cells.push_back(layout.place(LogColumn::risc));
  return cells;
}

[[nodiscard]] std::vector<int> context_cells(const DeviceLogLayout& layout) {
  std::vector<int> cells =
      cells_at(layout, {LogColumn::run_id, LogColumn::run_host_id, LogColumn::trace_id, LogColumn::trace_id_counter});
  for (const DeviceLogLayout::Extra& extra : layout.extras) cells.push_back(extra.place);
  return cells;
}

struct TypeWord {
  std::string_view word;
  MarkerKind kind;
};
constexpr TypeWord kRowTypeWords[] = {
    {"ZONE_START", MarkerKind::zone_begin}, {"ZONE_END", MarkerKind::zone_end}, {"ZONE_TOTAL", MarkerKind::zone_total},
    {"TS_DATA", MarkerKind::ts_data},       {"TS_EVENT", MarkerKind::ts_event}, {"begin", MarkerKind::zone_begin},
    {"end", MarkerKind::zone_end},
};

// Of logs without names: "BRISC-FW" begins at timer 1 and ends at 4, "BRISC-KERNEL" at 2 and 3.
void name_by_timer(std::string_view risc, LogSite& site) {
  static constexpr MarkerKind kKinds[] = {MarkerKind::zone_begin, MarkerKind::zone_begin, MarkerKind::zone_end,
                                          MarkerKind::zone_end};
  if (site.timer_id < 1 || site.timer_id > 4) {
    site.kind = MarkerKind::ts_event;
    return;
  }
  site.kind = kKinds[site.timer_id - 1];
  const std::string_view processor = risc.starts_with("TRISC") ? "TRISC" : risc;
  site.name = fmt::format("{}-{}", processor, site.timer_id == 1 || site.timer_id == 4 ? "FW" : "KERNEL");
}

}  // namespace

DeviceLogRows::DeviceLogRows(const DeviceLogLayout& layout, DeviceLogDictionary& dictionary)
    : layout_(layout),
      dictionary_(dictionary),
      processors_(cells_at(layout, {LogColumn::chip, LogColumn::core_x, LogColumn::core_y, LogColumn::risc})),
      sites_(site_cells(layout)),
      contexts_(context_cells(layout)),
      meta_data_(cells_at(layout, {LogColumn::meta_data})) {}

std::string_view DeviceLogRows::cell(LogColumn column) const noexcept {
  const int place = layout_.place(column);
  return place == DeviceLogLayout::kAbsent ? std::string_view{} : cell_text(begins_.data(), place, place);
}

bool DeviceLogRows::split(std::string_view line, RowProblem& problem) {
  const auto most = static_cast<std::size_t>(layout_.cell_count);
  if (begins_.size() < line.size() + 2) begins_.resize(line.size() + 2);
  const char** const begins = begins_.data();
  begins[0] = line.data();
  std::size_t count = 1;
  if (std::memchr(line.data(), '"', line.size()) != nullptr) {
    count = split_quoted(line);
    problem = RowProblem::open_quote;
    if (count == 0) return false;
  } else {
    for (const char* at = line.data(); at != line.data() + line.size(); ++at) {
      begins[count] = at + 1;
      count += *at == ',' ? 1 : 0;
    }
  }
  begins[count] = line.data() + line.size() + 1;
  problem = count == 1 ? RowProblem::not_a_row : count < most ? RowProblem::too_few_cells : RowProblem::too_many_cells;
  return count == most;
}

// A cell whose first character is a quote goes on to the quote before a comma; others may hold quotes as they like.
// The number of cells, 0 if a quote stays open.
std::size_t DeviceLogRows::split_quoted(std::string_view line) {
  std::size_t count = 1;
  for (std::size_t at = 0;; ++count) {
    const std::size_t first = line.find_first_not_of(' ', at);
    if (first != std::string_view::npos && line[first] == '"') {
      at = line.find('"', first + 1);
      while (at != std::string_view::npos && at + 1 < line.size() && line[at + 1] == '"') at = line.find('"', at + 2);
      if (at == std::string_view::npos) return 0;
    }
    at = line.find(',', at);
    if (at == std::string_view::npos) return count;
    begins_[count] = line.data() + ++at;
  }
}

void DeviceLogRows::parse(std::string_view text, LogRowBlock& block) {
  block.rows.clear();
  block.problems = {};
  block.lines = 0;
  block.blank_lines = 0;
  for (CellCache* cache : {&processors_, &sites_, &contexts_, &meta_data_}) cache->begin_block();
  while (!text.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
    const std::size_t length = end == nullptr ? text.size() : static_cast<std::size_t>(end - text.data());
    std::string_view line = text.substr(0, length);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    parse_line(line, end != nullptr, block);
    ++block.lines;
    text.remove_prefix(end == nullptr ? length : length + 1);
  }
}

// A last line without an end may lack digits of its time where that is the last cell.
bool DeviceLogRows::is_cut_short(std::string_view line) const noexcept {
  if (layout_.place(LogColumn::time) != layout_.cell_count - 1) return false;
  return plain_cell(line.substr(line.rfind(',') + 1)).size() < last_time_digits_;
}

void DeviceLogRows::parse_line(std::string_view line, bool complete, LogRowBlock& block) {
  const auto skip = [&](RowProblem problem) {
    block.problems.add(complete ? problem : RowProblem::cut_short, block.lines);
  };
  RowProblem problem{};
  if (!split(line, problem)) {
    if (line.find_first_not_of(" \t,") == std::string_view::npos) {
      ++block.blank_lines;
      return;
    }
    return skip(is_prologue_line(line) ? RowProblem::prologue : problem);
  }
  std::uint64_t time = 0;
  const std::string_view time_cell = cell(LogColumn::time);
  if (const NumberState state = read_number(time_cell, time); state != NumberState::ok)
    return skip(is_prologue_line(line) ? RowProblem::prologue : problem_of(state));
  if (time > kRowLargestTime) return skip(RowProblem::too_large);
  if (!complete && is_cut_short(line)) return skip(RowProblem::cut_short);
  last_time_digits_ = plain_cell(time_cell).size();

  LogRow row;
  row.marker.time = static_cast<std::int64_t>(time);
  row.processor = processors_.find(begins_.data(), [&] { return ask_processor(); });
  if (is_problem(row.processor)) return skip(problem_of(row.processor));
  const std::uint32_t site = sites_.find(begins_.data(), [&] { return ask_site(); });
  if (is_problem(site)) return skip(problem_of(site));
  const std::uint32_t context = contexts_.find(begins_.data(), [&] { return ask_context(); });
  row.marker.site = site;
  row.marker.context = context & ~kValueLeftOut;
  bool value_left_out = (context & kValueLeftOut) != 0;
  if (const std::string_view data = cell(LogColumn::data); data != "0") {
    const NumberState state = read_number(data, row.marker.data);
    if (state != NumberState::ok && state != NumberState::empty) {
      value_left_out = true;
      row.marker.data = 0;
    }
  }
  if (const std::string_view meta_data = cell(LogColumn::meta_data); !meta_data.empty())
    read_meta_data(meta_data, row.marker);
  if (value_left_out) block.problems.add(RowProblem::value_left_out, block.lines);
  block.rows.push_back(row);
}

std::uint32_t DeviceLogRows::ask_processor() {
  LogProcessor processor;
  struct Part {
    LogColumn column;
    std::uint32_t* into;
  };
  for (const Part part : {Part{LogColumn::chip, &processor.chip}, Part{LogColumn::core_x, &processor.core_x},
                          Part{LogColumn::core_y, &processor.core_y}}) {
    if (!layout_.has(part.column)) continue;  // a log of one chip may leave it out
    std::uint64_t value = 0;
    if (const NumberState state = read_number(cell(part.column), value); state != NumberState::ok)
      return as_number(problem_of(state));
    if (value > kLargestPlace) return as_number(RowProblem::too_large);
    *part.into = static_cast<std::uint32_t>(value);
  }
  const std::string_view risc = plain_cell(cell(LogColumn::risc));
  const bool is_name =
      !risc.empty() && risc.size() <= kLongestRiscName && std::all_of(risc.begin(), risc.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == ' ';
      });
  if (!is_name) return as_number(RowProblem::bad_processor);
  processor.risc = risc;
  const std::uint32_t number = dictionary_.add_processor(std::move(processor));
  return number == DeviceLogDictionary::kFull ? as_number(RowProblem::too_many_processors) : number;
}

LogSite DeviceLogRows::read_site() const {
  LogSite site;
  site.has_timer_id = read_number(cell(LogColumn::timer_id), site.timer_id) == NumberState::ok;
  site.name = cell_string(cell(LogColumn::zone_name));
  site.file = cell_string(cell(LogColumn::source_file));
  site.line = plain_cell(cell(LogColumn::source_line));
  if (layout_.has(LogColumn::type)) {
    site.type = plain_cell(cell(LogColumn::type));
    for (const TypeWord& known : kRowTypeWords) {
      if (known.word == site.type) site.kind = known.kind;
    }
  } else {
    name_by_timer(plain_cell(cell(LogColumn::risc)), site);
  }
  return site;
}

std::uint32_t DeviceLogRows::ask_site() {
  LogSite site = read_site();
  if (!layout_.has(LogColumn::type) && !site.has_timer_id) return as_number(RowProblem::not_a_number);
  if (site.name.empty()) site.name = site.has_timer_id ? fmt::format("timer {}", site.timer_id) : "(unnamed)";
  site.rank = site.name.ends_with("-FW") ? 0 : site.name.ends_with("-KERNEL") ? 1 : 2;
  const std::uint32_t number = dictionary_.add_site(std::move(site));
  return number == DeviceLogDictionary::kFull ? 0 : number;
}

std::uint32_t DeviceLogRows::ask_context() {
  LogContext context;
  bool left_out = false;
  struct Id {
    LogColumn column;
    LogContext::Id id;
  };
  for (const Id id :
       {Id{LogColumn::run_id, LogContext::run_id}, Id{LogColumn::run_host_id, LogContext::run_host_id},
        Id{LogColumn::trace_id, LogContext::trace_id}, Id{LogColumn::trace_id_counter, LogContext::trace_id_counter}}) {
    const NumberState state = read_number(cell(id.column), context.ids[id.id]);
    if (state == NumberState::ok) {
      context.present = static_cast<std::uint8_t>(context.present | 1U << id.id);
    } else {
      context.ids[id.id] = 0;
      left_out = left_out || state != NumberState::empty;
    }
  }
  for (const DeviceLogLayout::Extra& extra : layout_.extras)
    context.extras.push_back(cell_string(cell_text(begins_.data(), extra.place, extra.place)));
  const std::uint32_t number = dictionary_.add_context(std::move(context));
  return (number == DeviceLogDictionary::kFull ? 0 : number) | (left_out ? kValueLeftOut : 0);
}

// A performance counter comes as data with its name and value in the meta data: every row has another text.
void DeviceLogRows::read_meta_data(std::string_view cell, LogMarker& marker) {
  if (plain_cell(cell).empty()) return;
  if (const std::optional<CounterFields> counter = read_counter_fields(cell_string(cell))) {
    marker.site = counter_site(marker.site, counter->type);
    marker.data = counter->value;
    // Where names are too many it is no counter's marker any more, and a number there would be that of a text.
    marker.extra = marker.site == 0 ? 0 : counter->reference;
    return;
  }
  const std::uint32_t number =
      meta_data_.find(begins_.data(), [&] { return dictionary_.add_meta_data(with_commas(cell_string(cell))); });
  marker.extra = number == DeviceLogDictionary::kFull ? 0 : number;
}

std::uint32_t DeviceLogRows::counter_site(std::uint32_t site, std::string_view type) {
  for (const Counter& known : counters_) {
    if (known.row_site == site && known.type == type) return known.site;
  }
  LogSite counter = read_site();
  counter.kind = MarkerKind::counter;
  counter.name = type;
  const std::uint32_t number = dictionary_.add_site(std::move(counter));
  if (number == DeviceLogDictionary::kFull) return 0;
  constexpr std::size_t kMostCounters = 256;
  if (counters_.size() == kMostCounters) counters_.clear();
  counters_.push_back({site, std::string(type), number});
  return number;
}

}  // namespace accelscope::capture::sources::tt_metal
