// What the events of a chunk are coloured by: their numbers measured, their values turned into codes, summed up and
// listed.
#include <algorithm>
#include <cmath>

#include "core/colour/builder.h"
#include "core/scan/column_values.h"

namespace accelscope {
namespace {

constexpr std::uint8_t kColourNoValue = 15;  // as LaneColours has it

// Neighbouring ids look different.
[[nodiscard]] std::uint8_t id_slot(std::int64_t number) {
  constexpr auto kSlots = static_cast<std::int64_t>(kSlicePalette.size());
  return static_cast<std::uint8_t>((number % kSlots + kSlots) % kSlots);
}

[[nodiscard]] std::int64_t duration_ns(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) {
  const ClockMap& clock = *chunk.lane.clock;
  return clock.to_ns(block.times.ends[i]) - clock.to_ns(block.times.begins[i]);
}

}  // namespace

void EventColours::Sums::forget_values() {
  steps = {};
  strings.clear();
  texts.clear();
  numbers.clear();
  missing = other_texts = {};
}

bool ColourBuilder::has_steps(const Sums& sums) { return is_number(sums.source) && !sums.as_ids; }

std::array<std::uint32_t, 16> ColourBuilder::colours_of_codes(const Sums& sums) {
  std::array<std::uint32_t, 16> colours;
  colours.fill(kNoValueColour);
  if (!has_steps(sums)) {
    std::copy(kSlicePalette.begin(), kSlicePalette.end(), colours.begin());
    return colours;
  }
  const std::size_t steps = sums.cuts.size() + 1;
  for (std::size_t i = 0; i < steps; ++i) colours[i] = step_colour(i, steps);
  return colours;
}

void ColourBuilder::measure_chunk(const ScannedChunk& chunk, const LaneWork& work, MeasuredNumbers& numbers) const {
  const bool ids = sums_[work.table]->may_be_ids;
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (work.source == ColourSource::duration) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        numbers.histogram.add(static_cast<double>(duration_ns(chunk, block, i)));
      }
      return;
    }
    const bool has_column = work.column < chunk.view.column_count();
    const std::uint64_t valid = has_column ? chunk.view.validity(work.column, block.block) : 0;
    if (valid == 0) return;
    std::array<std::uint64_t, kBlockEvents> stored;
    chunk.view.values(work.column, block.block, stored.data());
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if ((valid >> i & 1) == 0) continue;
      if (work.type == ColumnType::float64) {
        const double value = chunk.view.to_float64(work.column, stored[i]);
        if (std::isfinite(value)) numbers.histogram.add(value);
        continue;
      }
      const std::int64_t value = whole_number(chunk.view, work.column, work.type, stored[i]);
      numbers.histogram.add(static_cast<double>(value));
      if (ids) numbers.know(value);
    }
  });
}

void ColourBuilder::read_codes(const ScannedChunk& chunk, const ScannedBlock& block, const LaneWork& work,
                               Block& out) const {
  out.codes.fill(kColourNoValue);
  const bool of_column = work.source != ColourSource::name && work.source != ColourSource::duration;
  std::uint64_t valid = ~std::uint64_t{0};
  if (of_column) {
    const bool has_column = work.source != ColourSource::none && work.column < chunk.view.column_count();
    valid = has_column ? chunk.view.validity(work.column, block.block) : 0;
  }
  if (valid == 0) return;
  if (is_number(work.source)) return read_numbers(chunk, block, work, out);
  if (work.source == ColourSource::name) chunk.view.names(block.block, out.values.data());
  if (work.source == ColourSource::string) chunk.view.values(work.column, block.block, out.values.data());
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    if ((valid >> i & 1) == 0) continue;
    if (work.source == ColourSource::text) {
      const std::string_view text = chunk.view.text(work.column, block.first_row + i);
      if (!text.empty()) out.codes[i] = palette_slot(text);
    } else {
      const StringId id = chunk.session_string(out.values[i]);
      if (id < slots_.size()) out.codes[i] = slots_[id];
    }
  }
}

void ColourBuilder::read_numbers(const ScannedChunk& chunk, const ScannedBlock& block, const LaneWork& work,
                                 Block& out) const {
  const std::vector<double>& cuts = sums_[work.table]->cuts;
  const auto code_of = [&cuts](auto value) {
    std::uint8_t code = 0;
    for (const double cut : cuts) {
      if (value >= static_cast<decltype(value)>(cut)) ++code;
    }
    return code;
  };
  if (work.source == ColourSource::duration) {
    for (std::uint32_t i = block.first; i < block.last; ++i) out.codes[i] = code_of(duration_ns(chunk, block, i));
    return;
  }
  const bool ids = sums_[work.table]->as_ids;
  const std::uint64_t valid = chunk.view.validity(work.column, block.block);
  std::array<std::uint64_t, kBlockEvents> stored;
  chunk.view.values(work.column, block.block, stored.data());
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    if ((valid >> i & 1) == 0) continue;
    if (work.type != ColumnType::float64) {  // cuts of whole numbers are whole
      const std::int64_t value = whole_number(chunk.view, work.column, work.type, stored[i]);
      out.values[i] = static_cast<std::uint64_t>(value);
      out.codes[i] = ids ? id_slot(value) : code_of(value);
      continue;
    }
    const double value = chunk.view.to_float64(work.column, stored[i]);
    if (std::isfinite(value)) out.codes[i] = code_of(value);
  }
}

void ColourBuilder::merge(const ScannedChunk& chunk, const LaneWork& work, ChunkSums& sums) {
  const auto in_ns = [&chunk](const ChunkSums::Ticks& ticks) {
    return ColourSum{ticks.events,
                     static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks.ticks) * chunk.ns_per_tick))};
  };
  const std::scoped_lock lock(mutex_);
  Sums& all = *sums_[work.table];
  for (std::size_t code = 0; code < kMostSteps; ++code) all.steps[code].add(in_ns(sums.codes[code]));
  all.missing.add(in_ns(sums.codes[kColourNoValue]));
  for (const std::uint64_t local : sums.touched) {
    all.strings[chunk.session_string(local)].add(in_ns(sums.strings[local]));
    sums.strings[local] = {};
  }
  for (const auto& [text, ticks] : sums.texts) {
    const auto known = all.texts.find(text);
    if (known != all.texts.end()) {
      known->second.add(in_ns(ticks));
    } else if (all.texts.size() < Sums::kMostTexts) {
      all.texts[text] = in_ns(ticks);
    } else {
      all.other_texts.add(in_ns(ticks));
    }
  }
  for (const auto& [number, ticks] : sums.numbers) all.numbers[number].add(in_ns(ticks));
  sums.codes = {};
  sums.numbers.clear();
  sums.touched.clear();
  sums.texts.clear();
}

ColourTable ColourBuilder::legend(std::size_t table) const {
  const Sums& sums = *sums_[table];
  ColourTable legend = result_->tables_[table];
  legend.unit = sums.unit;
  legend.ordered = has_steps(sums);
  const auto add = [&legend](std::string text, std::uint32_t colour, const ColourSum& sum) {
    legend.events += sum.events;
    legend.ns += sum.ns;
    if (sum.events > 0) legend.values.push_back({std::move(text), colour, sum.events, sum.ns, false, {}, {}});
    return sum.events > 0;
  };
  for (const auto& [id, sum] : sums.strings)
    add(std::string(snapshot_.strings->text(id)), kSlicePalette[palette_slot(snapshot_.strings->text(id))], sum);
  for (const auto& [number, sum] : sums.numbers) {
    add(std::to_string(number), kSlicePalette[id_slot(number)], sum);
  }
  for (const auto& [text, sum] : sums.texts) add(text, kSlicePalette[palette_slot(text)], sum);
  std::sort(legend.values.begin(), legend.values.end(), [](const ColourValue& a, const ColourValue& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.events != b.events ? a.events > b.events : a.text < b.text;
  });
  if (legend.values.size() > ColourTable::kMostListed) {
    legend.unlisted = legend.values.size() - ColourTable::kMostListed;
    legend.values.resize(ColourTable::kMostListed);
  }
  legend.events += sums.other_texts.events;
  legend.ns += sums.other_texts.ns;
  const auto colours = colours_of_codes(sums);
  for (std::size_t step = 0; legend.ordered && step <= sums.cuts.size(); ++step) {
    std::string text = sums.boolean ? (step > 0 || sums.numbers_met.histogram.min() > 0 ? "true" : "false")
                                    : step_text(sums.cuts, step, sums.kind, sums.unit);
    if (!add(std::move(text), colours[step], sums.steps[step])) continue;
    if (step > 0) legend.values.back().from = sums.cuts[step - 1];
    if (step < sums.cuts.size()) legend.values.back().below = sums.cuts[step];
  }
  if (add("no value", kNoValueColour, sums.missing)) legend.values.back().missing = true;
  return legend;
}

}  // namespace accelscope
