// What the events of a chunk are coloured by: their numbers measured, their values turned into codes, summed up and
// listed.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/capped.h"
#include "core/colour/builder.h"

namespace accelscope::colour {
namespace {

constexpr std::uint8_t kColourNoValue = 15;  // as LaneColours has it

// Neighbouring ids look different.
[[nodiscard]] std::uint8_t id_slot(std::int64_t number) {
  constexpr auto kSlots = static_cast<std::int64_t>(kSlicePalette.size());
  return static_cast<std::uint8_t>((number % kSlots + kSlots) % kSlots);
}

[[nodiscard]] bool is_real(const ValuePlace& place) {
  return place.source == ValuePlace::Source::column && place.type == ColumnType::float64;
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
  for (std::uint32_t block = 0; block < chunk.view.block_count(); ++block) {
    chunk.reader.seek(block);
    const BlockValues read = chunk.reader.values(work.place);
    for (std::uint64_t left = read.valid; left != 0; left &= left - 1) {
      const std::uint64_t bits = read.values[std::countr_zero(left)];
      if (is_real(work.place)) {
        const auto value = std::bit_cast<double>(bits);
        if (std::isfinite(value)) numbers.histogram.add(value);
        continue;
      }
      const auto value = static_cast<std::int64_t>(bits);
      numbers.histogram.add(static_cast<double>(value));
      if (ids && work.source == ColourSource::number) numbers.know(value);
    }
  }
}

void ColourBuilder::read_codes(BlockReader& reader, const LaneWork& work, Codes& out) const {
  out.fill(kColourNoValue);
  const BlockValues read = reader.values(work.place);
  if (is_number(work.source)) return read_numbers(read, work, out);
  for (std::uint64_t left = read.valid; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    if (work.source == ColourSource::text) {
      const std::string_view text = reader.view().text(work.place.column, reader.first_row() + i);
      if (!text.empty()) out[i] = palette_slot(text);
    } else if (read.values[i] < slots_.size()) {
      out[i] = slots_[read.values[i]];
    }
  }
}

void ColourBuilder::read_numbers(const BlockValues& read, const LaneWork& work, Codes& out) const {
  const std::vector<double>& cuts = sums_[work.table]->cuts;
  // Cuts of whole numbers are whole; those of another table of this name may be any.
  std::array<std::int64_t, kMostSteps> whole_cuts{};
  std::ranges::transform(cuts, whole_cuts.begin(), capped_integer);
  const auto code_of = [&cuts](auto value, const auto& steps) {
    std::uint8_t code = 0;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (value >= steps[i]) ++code;
    }
    return code;
  };
  const bool ids = sums_[work.table]->as_ids;
  for (std::uint64_t left = read.valid; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    if (is_real(work.place)) {
      const auto value = std::bit_cast<double>(read.values[i]);
      if (std::isfinite(value)) out[i] = code_of(value, cuts);
    } else {
      const auto value = static_cast<std::int64_t>(read.values[i]);
      out[i] = ids ? id_slot(value) : code_of(value, whole_cuts);
    }
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
  for (const std::uint64_t id : sums.touched) {
    all.strings[static_cast<StringId>(id)].add(in_ns(sums.strings[id]));
    sums.strings[id] = {};
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

}  // namespace accelscope::colour
