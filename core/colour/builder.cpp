#include "core/colour/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "core/base/format.h"

namespace accelscope::colour {
namespace {

constexpr std::size_t kMostCuts = kMostSteps - 1;
constexpr unsigned kBucketShift = 49;  // leaves sign, exponent and three bits of the fraction
constexpr std::size_t kBuckets = std::size_t{1} << (64 - kBucketShift);
constexpr std::size_t kFirstNegative = kBuckets / 2;
constexpr double kLeftOut = 0.01;
constexpr double kPowersFrom = 16;  // numbers that span this factor get cuts by powers

// Numbers of a bucket lie from its edge, away from zero, to the next one's.
[[nodiscard]] double edge(std::size_t bucket) noexcept {
  const double value = std::bit_cast<double>(static_cast<std::uint64_t>(bucket) << kBucketShift);
  return std::isfinite(value) ? value : std::copysign(std::numeric_limits<double>::max(), value);
}

// Buckets in the order of their numbers.
[[nodiscard]] std::size_t bucket_at(std::size_t rank) noexcept {
  return rank < kFirstNegative ? kBuckets - 1 - rank : rank - kFirstNegative;
}

// digits * 10^exponent, as near as a double can be: 3 * 0.1 is not.
[[nodiscard]] double decimal(std::int64_t digits, int exponent) {
  const std::string text = fmt::format("{}e{}", digits, exponent);
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_large = wrong == std::errc::result_out_of_range && exponent > 0;
  return too_large ? std::copysign(std::numeric_limits<double>::infinity(), static_cast<double>(digits)) : value;
}

[[nodiscard]] std::vector<double> powers_of_ten(double low, double high, std::initializer_list<int> digits,
                                                int stride) {
  std::vector<double> cuts;
  const int first = static_cast<int>(std::floor(std::log10(low))) - 1;
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    for (const int digit : digits) {
      const double cut = decimal(digit, exponent);
      if (cut > low && cut <= high) cuts.push_back(cut);
    }
  }
  return cuts;
}

[[nodiscard]] std::vector<double> powers_of_two(double low, double high, int stride) {
  std::vector<double> cuts;
  for (int exponent = 0; exponent < 1024; exponent += stride) {
    const double cut = std::ldexp(1.0, exponent);
    if (cut > high) break;
    if (cut > low) cuts.push_back(cut);
  }
  return cuts;
}

// The finest that are few enough; `low` is above zero.
[[nodiscard]] std::vector<double> cuts_by_powers(double low, double high, NumberKind kind) {
  std::vector<double> cuts;
  const auto few = [&cuts] { return cuts.size() <= kMostCuts; };
  if (kind.binary) {
    for (int stride = 1; stride <= 128; ++stride) {
      cuts = powers_of_two(low, high, stride);
      if (few()) return cuts;
    }
  }
  cuts = powers_of_ten(low, high, {1, 2, 5}, 1);
  if (!few()) cuts = powers_of_ten(low, high, {1, 3}, 1);
  for (int stride = 1; !few(); ++stride) cuts = powers_of_ten(low, high, {1}, stride);
  return cuts;
}

[[nodiscard]] std::vector<double> cuts_of_step(double low, double high, std::int64_t digit, int exponent) {
  const double step = decimal(digit, exponent);
  constexpr double kExact = 1e15;  // beyond, a multiple is no longer told from the next
  if (std::abs(low / step) > kExact || std::abs(high / step) > kExact) return {};
  std::vector<double> cuts;
  const auto first = static_cast<std::int64_t>(std::floor(low / step));
  for (std::int64_t i = first; cuts.size() <= kMostCuts; ++i) {
    const double cut = decimal(i * digit, exponent);
    if (cut > high) break;
    if (cut > low) cuts.push_back(cut);
  }
  return cuts;
}

[[nodiscard]] std::vector<double> cuts_by_distance(double low, double high, NumberKind kind) {
  const double step = (high - low) / kMostSteps;  // 0 where they differ by the least that there is
  if (!(step > 0) || !std::isfinite(step)) return {};
  int exponent = static_cast<int>(std::floor(std::log10(step)));
  if (kind.whole) exponent = std::max(exponent, 0);
  for (;; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      std::vector<double> cuts = cuts_of_step(low, high, digit, exponent);
      if (cuts.size() <= kMostCuts) return cuts;
    }
  }
}

}  // namespace

NumberHistogram::NumberHistogram() : counts_(kBuckets, 0) {}

void NumberHistogram::add(double value) noexcept {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  ++counts_[std::bit_cast<std::uint64_t>(value + 0.0) >> kBucketShift];  // -0 becomes 0
}

void NumberHistogram::merge(const NumberHistogram& other) noexcept {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

NumberHistogram::Span NumberHistogram::span(double left_out, bool positive) const noexcept {
  const std::size_t begin = positive ? kFirstNegative : 0;
  const auto counted = [&](std::size_t rank) {
    const std::size_t bucket = bucket_at(rank);
    return positive && bucket == 0 ? 0 : counts_[bucket];
  };
  std::uint64_t all = 0;
  for (std::size_t rank = begin; rank < kBuckets; ++rank) all += counted(rank);
  if (all == 0) return {};
  const auto below = static_cast<std::uint64_t>(static_cast<double>(all) * left_out);
  std::size_t low = begin;
  for (std::uint64_t seen = counted(low); seen <= below; seen += counted(low)) ++low;
  std::size_t high = kBuckets - 1;
  for (std::uint64_t seen = counted(high); seen <= below; seen += counted(high)) --high;
  const std::size_t first = bucket_at(low);
  const std::size_t last = bucket_at(high);
  // Towards minus infinity a negative bucket ends at its neighbour's edge; towards plus infinity a positive one does.
  const double low_edge = first >= kFirstNegative ? edge(first + 1 < kBuckets ? first + 1 : first) : edge(first);
  const double high_edge = last < kFirstNegative ? edge(last + 1) : edge(last);
  return {std::max(low_edge, min_), std::min(high_edge, max_)};
}

std::vector<double> scale_cuts(const NumberHistogram& histogram, NumberKind kind) {
  if (histogram.count() == 0 || histogram.min() == histogram.max()) return {};
  // Where nearly all are equal the few others need steps all the same.
  for (const double left_out : {kLeftOut, 0.0}) {
    const NumberHistogram::Span all = histogram.span(left_out, false);
    const NumberHistogram::Span positive = histogram.span(left_out, true);
    std::vector<double> cuts;
    if (all.low >= 0 && positive.low > 0 && positive.high >= positive.low * kPowersFrom) {
      cuts = cuts_by_powers(positive.low, positive.high, kind);
    }
    if (cuts.empty()) cuts = cuts_by_distance(all.low, all.high, kind);
    constexpr double kLargestWhole = 9e18;  // cuts of whole numbers are compared as 64-bit numbers
    std::erase_if(cuts, [&](double cut) {
      return cut <= histogram.min() || cut > histogram.max() || (kind.whole && std::abs(cut) > kLargestWhole);
    });
    if (!cuts.empty()) return cuts;
  }
  return {};
}

std::string step_text(const std::vector<double>& cuts, std::size_t step, NumberKind kind, std::string_view unit) {
  if (cuts.empty()) return "all";
  if (step == 0) return "< " + format_value(cuts.front(), unit);
  if (step >= cuts.size()) return "≥ " + format_value(cuts.back(), unit);
  const bool single = kind.whole && cuts[step] == cuts[step - 1] + 1;
  if (single) return format_value(cuts[step - 1], unit);
  return format_value(cuts[step - 1], unit) + " – " + format_value(cuts[step], unit);
}

namespace {

constexpr std::uint8_t kNoValue = 15;  // as LaneColours has it

using Weights = std::array<std::uint64_t, 16>;  // by code

[[nodiscard]] std::uint32_t mean(const std::array<std::uint32_t, 16>& colours, const Weights& weights) {
  double red = 0, green = 0, blue = 0, all = 0;
  for (std::size_t code = 0; code < colours.size(); ++code) {
    const auto weight = static_cast<double>(weights[code]);
    red += weight * (colours[code] >> 16 & 0xff);
    green += weight * (colours[code] >> 8 & 0xff);
    blue += weight * (colours[code] & 0xff);
    all += weight;
  }
  if (all <= 0) return 0;
  const auto channel = [all](double sum) { return static_cast<std::uint32_t>(std::lround(sum / all)); };
  return channel(red) << 16 | channel(green) << 8 | channel(blue);
}

[[nodiscard]] bool any(const Weights& weights) {
  return std::any_of(weights.begin(), weights.end(), [](std::uint64_t weight) { return weight > 0; });
}

// The mean of a block's colours by duration, as the tree of the names has it: waits count where nothing else covers
// time, and where nothing at all does, each event counts once.
[[nodiscard]] std::uint32_t block_colour(const std::array<std::uint32_t, 16>& colours, const ScannedBlock& block,
                                         const std::array<std::uint8_t, kBlockEvents>& codes, std::uint64_t waits) {
  Weights busy{}, waiting{};
  const BlockTimes& times = block.ticks();
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    const auto ticks = static_cast<std::uint64_t>(times.ends[i]) - static_cast<std::uint64_t>(times.begins[i]);
    ((waits >> i & 1) != 0 ? waiting : busy)[codes[i]] += ticks;
  }
  if (!any(busy) && !any(waiting)) {
    for (std::uint32_t i = block.first; i < block.last; ++i) ++((waits >> i & 1) != 0 ? waiting : busy)[codes[i]];
  }
  return mean(colours, any(busy) ? busy : waiting);
}

[[nodiscard]] bool has_slices(EventKind kind) {
  return kind == EventKind::slice || kind == EventKind::instant || kind == EventKind::memory;
}

}  // namespace

ColourBuilder::ColourBuilder(const QueryContext& query, const ColourChoice& choice, const EventColours* previous)
    : query_(query), snapshot_(*query.snapshot), previous_(previous), result_(std::make_shared<EventColours>()) {
  result_->choice_ = choice;
  result_->snapshot_version_ = snapshot_.version;
  result_->lanes_.resize(snapshot_.lanes.size());
}

Result<std::shared_ptr<const EventColours>> ColourBuilder::run() {
  for (const auto& [table, column] : result_->choice_) add_table(table, column);
  add_lanes();
  TRY(measure());
  place_steps();
  TRY(paint());
  for (LaneWork& work : lanes_) {
    if (work.colours) fold(*work.colours, snapshot_.lanes[work.lane]);
    result_->lanes_[work.lane] = work.colours ? work.colours : work.previous;
  }
  for (std::size_t table = 0; table < sums_.size(); ++table) {
    ColourTable legend_of = legend(table);
    result_->tables_[table] = std::move(legend_of);
    result_->sums_.push_back(sums_[table]);
  }
  return std::shared_ptr<const EventColours>(std::move(result_));
}

void ColourBuilder::add_table(const std::string& table, const std::string& column) {
  const bool known = std::any_of(snapshot_.schemas.begin(), snapshot_.schemas.end(),
                                 [&](const auto& schema) { return schema->name == table && has_slices(schema->kind); });
  if (!known) return;
  ColourTable& entry = result_->tables_.emplace_back();
  entry.table = table;
  entry.column = column;
  auto sums = std::make_shared<Sums>();
  bool goes_on = false;
  for (std::size_t i = 0; previous_ != nullptr && i < previous_->tables_.size(); ++i) {
    if (previous_->tables_[i].table != table || previous_->tables_[i].column != column) continue;
    *sums = *previous_->sums_[i];
    goes_on = true;
  }
  sums_.push_back(std::move(sums));
  goes_on_.push_back(goes_on);
}

void ColourBuilder::add_lanes() {
  for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot_.lanes[i];
    if (lane.schema == nullptr || !has_slices(lane.data->kind)) continue;
    for (std::size_t table = 0; table < sums_.size(); ++table) {
      if (result_->tables_[table].table != lane.schema->name) continue;
      LaneWork work;
      work.lane = i;
      work.table = table;
      choose_source(work, *lane.schema);
      work.waits = WaitNames(lane.schema.get(), *snapshot_.strings);
      if (goes_on_[table] && i < previous_->lanes_.size()) work.previous = previous_->lanes_[i];
      lanes_.push_back(std::move(work));
    }
  }
}

// The first schema of a table that has the column says what its values are; another that differs has no value.
void ColourBuilder::choose_source(LaneWork& work, const Schema& schema) const {
  const std::string& wanted = result_->tables_[work.table].column;
  ColourSource source = ColourSource::none;
  Sums& sums = *sums_[work.table];
  std::string unit;
  if (const auto column = schema.find(wanted)) {
    work.place = {.source = ValuePlace::Source::column, .column = *column, .type = schema.columns[*column].type};
    unit = schema.columns[*column].unit;
    source = work.place.type == ColumnType::string ? ColourSource::string
             : work.place.type == ColumnType::text ? ColourSource::text
                                                   : ColourSource::number;
  } else if (wanted == "name") {
    source = ColourSource::name;
    work.place.source = ValuePlace::Source::name;
  } else if (wanted == "duration") {
    source = ColourSource::duration;
    work.place.source = ValuePlace::Source::duration;
    unit = "ns";
  }
  if (sums.source == ColourSource::none && source != ColourSource::none) {
    sums.source = source;
    sums.unit = unit;
    const bool whole = work.place.type == ColumnType::int64 || work.place.type == ColumnType::uint64;
    sums.may_be_ids = source == ColourSource::number && whole && unit.empty();
    sums.boolean = work.place.type == ColumnType::boolean;
    sums.kind = {.whole = work.place.type != ColumnType::float64, .binary = unit == Unit::bytes};
  }
  if (source == sums.source) {
    work.source = source;
  } else {
    work.place = {};
  }
}

std::vector<ChunkRequest> ColourBuilder::new_chunks(const LaneWork& work) const {
  std::vector<ChunkRequest> requests;
  const std::uint32_t first = work.previous ? work.previous->chunk_count_ : 0;
  for (std::uint32_t chunk = first; chunk < snapshot_.lanes[work.lane].chunk_count; ++chunk) {
    requests.push_back({work.lane, chunk, {}});
  }
  return requests;
}

Result<void> ColourBuilder::measure() {
  std::vector<ChunkRequest> requests;
  std::vector<std::size_t> work_of;  // by request
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!is_number(lanes_[i].source)) continue;
    const std::vector<ChunkRequest> chunks = new_chunks(lanes_[i]);
    requests.insert(requests.end(), chunks.begin(), chunks.end());
    work_of.resize(requests.size(), i);
  }
  if (requests.empty()) return {};
  std::vector<std::vector<std::unique_ptr<MeasuredNumbers>>> found(query_.pool.concurrency());
  for (auto& tables : found) tables.resize(sums_.size());
  QueryContext unmasked = query_;
  unmasked.mask = nullptr;
  const Result<void> scanned = scan_chunks(unmasked, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    const LaneWork& work = lanes_[work_of[chunk.request]];
    std::unique_ptr<MeasuredNumbers>& numbers = found[worker][work.table];
    if (!numbers) numbers = std::make_unique<MeasuredNumbers>();
    measure_chunk(chunk, work, *numbers);
  });
  if (!scanned) return scanned.error();
  for (const auto& tables : found) {
    for (std::size_t table = 0; table < tables.size(); ++table) {
      if (tables[table]) sums_[table]->numbers_met.merge(*tables[table]);
    }
  }
  return {};
}

void ColourBuilder::place_steps() {
  for (std::size_t table = 0; table < sums_.size(); ++table) {
    Sums& sums = *sums_[table];
    if (!is_number(sums.source)) continue;
    std::vector<double> cuts = scale_cuts(sums.numbers_met.histogram, sums.kind);
    const bool ids = sums.may_be_ids && sums.numbers_met.few();
    if (ids) cuts.clear();
    if (cuts == sums.cuts && ids == sums.as_ids) continue;
    sums.cuts = std::move(cuts);
    sums.as_ids = ids;
    sums.forget_values();
    for (LaneWork& work : lanes_) {
      if (work.table == table) work.previous.reset();
    }
  }
}

void ColourBuilder::prepare(LaneWork& work) {
  const LaneSnapshot& lane = snapshot_.lanes[work.lane];
  if (work.previous && work.previous->chunk_count_ == lane.chunk_count) return;
  work.colours = work.previous ? std::make_shared<LaneColours>(*work.previous) : std::make_shared<LaneColours>();
  LaneColours& colours = *work.colours;
  const Sums& sums = *sums_[work.table];
  colours.colours_ = colours_of_codes(sums);
  std::size_t leaves = 0;
  if (lane.chunk_count > 0) {
    const ChunkPlace& last = lane.chunk(lane.chunk_count - 1);
    leaves = last.first_leaf + (last.count + kBlockEvents - 1) / kBlockEvents;
  }
  colours.codes_.resize(leaves * LaneColours::kWordsPerLeaf, ~std::uint64_t{0});
  if (colours.nodes_.empty()) colours.nodes_.emplace_back();
  colours.nodes_[0].resize(leaves, kNoValueColour);
  colours.chunk_count_ = lane.chunk_count;
}

Result<void> ColourBuilder::paint() {
  std::vector<ChunkRequest> requests;
  std::vector<std::size_t> work_of;
  bool strings = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::vector<ChunkRequest> chunks = new_chunks(lanes_[i]);
    prepare(lanes_[i]);
    requests.insert(requests.end(), chunks.begin(), chunks.end());
    work_of.resize(requests.size(), i);
    strings = strings || lanes_[i].source == ColourSource::name || lanes_[i].source == ColourSource::string;
  }
  if (requests.empty()) return {};
  if (strings) {
    const StringPool& pool = *snapshot_.strings;
    slots_.resize(pool.size());
    for (StringId id = 0; id < slots_.size(); ++id) slots_[id] = pool.text(id).empty() ? kNoValue : pool.slot(id);
  }
  std::vector<ChunkSums> sums(query_.pool.concurrency());
  QueryContext unmasked = query_;
  unmasked.mask = nullptr;
  return scan_chunks(unmasked, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    LaneWork& work = lanes_[work_of[chunk.request]];
    paint_chunk(chunk, work, sums[worker]);
    merge(chunk, work, sums[worker]);
  });
}

void ColourBuilder::paint_chunk(const ScannedChunk& chunk, LaneWork& work, ChunkSums& sums) {
  LaneColours& colours = *work.colours;
  const bool may_wait = !chunk.lane.schema->wait_names.empty();
  const bool by_string = work.source == ColourSource::name || work.source == ColourSource::string;
  const bool ids = sums_[work.table]->as_ids;
  Codes codes;
  chunk.for_each_block([&](const ScannedBlock& block) {
    read_codes(block.reader, work, codes);
    const BlockValues values = block.reader.values(work.place);
    const BlockTimes& times = block.ticks();
    std::uint64_t waits = 0;
    for (std::uint32_t i = block.first; may_wait && i < block.last; ++i) {
      waits |= std::uint64_t{work.waits.contains(block.name(i))} << i;
    }
    const std::size_t leaf = chunk.place.first_leaf + block.block;
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const std::uint32_t shift = i % LaneColours::kCodesPerWord * LaneColours::kCodeBits;
      std::uint64_t& word = colours.codes_[leaf * LaneColours::kWordsPerLeaf + i / LaneColours::kCodesPerWord];
      word = (word & ~(std::uint64_t{kNoValue} << shift)) | std::uint64_t{codes[i]} << shift;
      const auto ticks = static_cast<std::uint64_t>(times.ends[i]) - static_cast<std::uint64_t>(times.begins[i]);
      ChunkSums::Ticks* sum = &sums.codes[codes[i]];
      if (by_string && codes[i] != kNoValue) {
        if (values.values[i] >= sums.strings.size()) sums.strings.resize(values.values[i] + 1);
        sum = &sums.strings[values.values[i]];
        if (sum->events == 0) sums.touched.push_back(values.values[i]);
      } else if (ids && codes[i] != kNoValue) {
        sum = &sums.numbers[static_cast<std::int64_t>(values.values[i])];
      } else if (work.source == ColourSource::text && codes[i] != kNoValue) {
        sum = &sums.texts[std::string(chunk.view.text(work.place.column, block.row(i)))];
      }
      ++sum->events;
      sum->ticks += ticks;
    }
    colours.nodes_[0][leaf] = block_colour(colours.colours_, block, codes, waits);
  });
}

// As the tree of the names folds its own colours, with these in their place.
void ColourBuilder::fold(LaneColours& colours, const LaneSnapshot& lane) {
  for (std::size_t level = 1; level < kTreeLevels && lane.tree.nodes[level] > 0; ++level) {
    if (colours.nodes_.size() <= level) colours.nodes_.emplace_back();
    std::vector<std::uint32_t>& nodes = colours.nodes_[level];
    for (std::size_t i = nodes.size(); i < lane.tree.nodes[level]; ++i) {
      std::array<SliceNode, kTreeFanout> children;
      for (std::size_t child = 0; child < kTreeFanout; ++child) {
        children[child] = lane.data->slices.node(level - 1, i * kTreeFanout + child);
        children[child].colour = colours.nodes_[level - 1][i * kTreeFanout + child];
      }
      nodes.push_back(accelscope::merge(children.data(), kTreeFanout).colour);
    }
  }
}

}  // namespace accelscope::colour
