#include "core/analysis/comparison/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "core/analysis/comparison/divergence.h"
#include "core/analysis/statistics/estimates.h"
#include "core/base/text.h"

namespace accelscope::analysis {
namespace {

struct SampleMoments {
  double count = 0, mean = 0, variance = 0;  // n - 1
};

SampleMoments sample_moments(std::span<const double> values) {
  SampleMoments out;
  out.count = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / out.count;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean);
  out.variance = values.size() > 1 ? out.variance / (out.count - 1) : 0;
  return out;
}

// What a difference of means is measured by: its standard error, and the degrees of freedom that it is known with.
struct Noise {
  double error = 0, freedom = 0;
};

std::optional<Noise> noise_between(const SampleMoments& a, const SampleMoments& b, const ChangeOptions& options) {
  if (options.noise) {
    const double share = *options.noise;
    return Noise{share * std::hypot(a.mean / std::sqrt(a.count), b.mean / std::sqrt(b.count)), 1e6};
  }
  if (a.count + b.count < 3) return std::nullopt;
  if (a.count == 1 || b.count == 1) {
    const SampleMoments& known = a.count > 1 ? a : b;
    return Noise{std::sqrt(known.variance * (1 / a.count + 1 / b.count)), known.count - 1};
  }
  const double of_a = a.variance / a.count, of_b = b.variance / b.count;
  if (of_a + of_b == 0) return Noise{0, a.count + b.count - 2};
  const double freedom = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / (a.count - 1) + of_b * of_b / (b.count - 1));
  return Noise{std::sqrt(of_a + of_b), freedom};
}

// SplitMix64 (Steele, Lea and Flood, 2014): the same on every machine, as std's distributions are not.
class CaptureDraws {
 public:
  explicit CaptureDraws(std::uint64_t seed) : state_(seed) {}
  double mean_of(std::span<const double> values) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[below(values.size())];
    return sum / static_cast<double>(values.size());
  }

 private:
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27U) * 0x94d049bb133111eb;
    z ^= z >> 31U;
    return static_cast<std::size_t>((z >> 32U) * count >> 32U);
  }
  std::uint64_t state_;
};

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

std::optional<RatioInterval> resampled(std::span<const double> base, std::span<const double> other) {
  CaptureDraws draws(ChangeOptions::kSeed);
  std::vector<double> ratios;
  ratios.reserve(ChangeOptions::kResamples);
  for (std::size_t i = 0; i < ChangeOptions::kResamples; ++i) {
    const double below = draws.mean_of(base), above = draws.mean_of(other);
    if (below != 0) ratios.push_back(above / below);
  }
  if (ratios.size() < ChangeOptions::kResamples / 2) return std::nullopt;
  std::ranges::sort(ratios);
  const auto count = static_cast<double>(std::min(base.size(), other.size()));
  const double share = normal_below(-std::sqrt(count / (count - 1)) * student_bound(ChangeOptions::kShown, count - 1));
  return RatioInterval{sorted_quantile(ratios, share), sorted_quantile(ratios, 1 - share)};
}

std::optional<RatioInterval> interval_of(std::span<const double> base, std::span<const double> other,
                                         const Change& change, const Noise& noise, const ChangeOptions& options) {
  if (!change.ratio) return std::nullopt;
  const bool enough = std::min(base.size(), other.size()) >= ChangeOptions::kLeastResampled;
  if (options.resamples && enough && !options.noise) return resampled(base, other);
  const double reach = student_bound(ChangeOptions::kShown, noise.freedom) * noise.error / std::abs(change.base);
  return RatioInterval{*change.ratio - reach, *change.ratio + reach};
}

// Of a cell: a side of a problem. Variances in the scale in which the pairs are pooled.
struct PooledCell {
  SampleMoments moments;
  double scale = 1;  // by which a share of the mean becomes that scale
};

// The noise of the mean over the problems of the differences within them.
std::optional<Noise> pooled_noise(const std::vector<PooledCell>& cells, std::size_t pairs,
                                  const ChangeOptions& options) {
  const bool single = std::ranges::any_of(cells, [](const PooledCell& cell) { return cell.moments.count < 2; });
  double freedom = 0, common = 0;  // squared share of the mean
  for (const PooledCell& cell : cells) {
    if (cell.moments.count < 2 || cell.moments.mean == 0) continue;
    freedom += cell.moments.count - 1;
    common += (cell.moments.count - 1) * cell.moments.variance / (cell.moments.mean * cell.moments.mean);
  }
  if (options.noise) {
    freedom = 1e6;
    common = *options.noise * *options.noise;
  } else {
    if (single && freedom == 0) return std::nullopt;
    common = freedom > 0 ? common / freedom : 0;
  }
  double variance = 0, below = 0, count = 0;
  for (const PooledCell& cell : cells) {
    const double mean = cell.moments.mean;
    const double share = single || options.noise ? common : mean != 0 ? cell.moments.variance / (mean * mean) : 0;
    const double part = share * cell.scale * cell.scale / cell.moments.count;
    variance += part;
    if (cell.moments.count > 1) below += part * part / (cell.moments.count - 1);
    count += cell.moments.count - 1;
  }
  if (!single && !options.noise) freedom = below > 0 ? variance * variance / below : count;
  return Noise{std::sqrt(variance) / static_cast<double>(pairs), freedom};
}

}  // namespace

Change change_of(std::span<const double> base, std::span<const double> other, const ChangeOptions& options) {
  const SampleMoments a = sample_moments(base), b = sample_moments(other);
  Change out;
  out.base_count = base.size();
  out.other_count = other.size();
  out.base = a.mean;
  out.other = b.mean;
  out.base_deviation = std::sqrt(a.variance);
  out.other_deviation = std::sqrt(b.variance);
  if (a.mean != 0) out.ratio = b.mean / a.mean;
  const std::optional<Noise> noise = noise_between(a, b, options);
  if (!noise) return out;
  const double difference = std::abs(out.difference()), size = std::abs(a.mean);
  out.interval = interval_of(base, other, out, *noise, options);
  if (difference > 0) out.chance = noise->error > 0 ? student_chance(difference / noise->error, noise->freedom) : 0;
  if (size > 0) {
    out.least_visible = std::max(ChangeOptions::kLeastReported,
                                 student_bound(ChangeOptions::kConfidence, noise->freedom) * noise->error / size);
  }
  const bool counts = size > 0 ? difference >= ChangeOptions::kLeastReported * size : difference > 0;
  out.reported = out.chance <= 1 - ChangeOptions::kConfidence && counts
                     ? (b.mean > a.mean ? Reported::more : Reported::less)
                     : Reported::same;
  return out;
}

Change pooled_change(std::span<const SamplePair> pairs, Pooling pooling, const ChangeOptions& options) {
  if (pairs.size() == 1) return change_of(pairs.front().base, pairs.front().other, options);
  std::vector<PooledCell> cells;
  bool above_zero = true;
  Change out;
  out.pair_count = pairs.size();
  for (const SamplePair& pair : pairs) {
    for (const std::vector<double>* side : {&pair.base, &pair.other}) {
      PooledCell cell{sample_moments(*side), 1};
      above_zero = above_zero && cell.moments.mean > 0;
      (side == &pair.base ? out.base_count : out.other_count) += side->size();
      cells.push_back(cell);
    }
  }
  out.is_geometric = pooling == Pooling::geometric && above_zero;
  const auto count = static_cast<double>(pairs.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double mean = cells[i].moments.mean;
    if (!out.is_geometric) cells[i].scale = mean;
    (i % 2 == 0 ? out.base : out.other) += (out.is_geometric ? std::log(mean) : mean) / count;
  }
  const double difference = out.other - out.base;
  const std::optional<Noise> noise = pooled_noise(cells, pairs.size(), options);
  if (out.is_geometric) {
    out.base = std::exp(out.base);
    out.other = std::exp(out.other);
  }
  if (out.base != 0) out.ratio = out.other / out.base;
  if (!noise) return out;
  const double size = out.is_geometric ? 1 : std::abs(out.base);
  const double shown = student_bound(ChangeOptions::kShown, noise->freedom) * noise->error;
  const double reported = student_bound(ChangeOptions::kConfidence, noise->freedom) * noise->error;
  if (out.ratio) {
    out.interval = out.is_geometric ? RatioInterval{*out.ratio * std::exp(-shown), *out.ratio * std::exp(shown)}
                                    : RatioInterval{*out.ratio - shown / size, *out.ratio + shown / size};
    out.least_visible =
        std::max(ChangeOptions::kLeastReported, out.is_geometric ? std::expm1(reported) : reported / size);
  }
  if (difference != 0) {
    out.chance = noise->error > 0 ? student_chance(std::abs(difference) / noise->error, noise->freedom) : 0;
  }
  const bool counts = !out.ratio || std::abs(*out.ratio - 1) >= ChangeOptions::kLeastReported;
  out.reported = difference != 0 && counts && out.chance <= 1 - ChangeOptions::kConfidence
                     ? (difference > 0 ? Reported::more : Reported::less)
                     : Reported::same;
  return out;
}

namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return (error ? fs::path(path) : whole).lexically_normal().parent_path().filename().string();
}

// "config=resident", "nightly", of a folder its name; nothing where the capture has none of the name.
std::optional<std::string> label_by(const CaptureLabel& capture, const std::string& key) {
  if (key == "folder") return folder_of(capture.path);
  if (key == "file") return fs::path(capture.path).filename().string();
  const std::string_view value = tag_value(capture, key);
  if (value.empty()) return std::nullopt;
  return value == key ? key : fmt::format("{}={}", key, value);
}

std::string all_tags(const CaptureLabel& capture, std::string_view between = ", ") {
  std::vector<std::string> tags = capture.tags;
  std::ranges::sort(tags);
  return fmt::format("{}", fmt::join(tags, between));
}

// What tells captures apart, where their names read alike: a tag may hold a comma.
constexpr std::string_view kApart = "\x1f";

std::string identity_of(const CaptureLabel& capture, const std::vector<std::string>& keys) {
  if (keys.empty()) return all_tags(capture, kApart);
  std::string identity;
  for (const std::string& key : keys) identity += label_by(capture, key).value_or("") + std::string(kApart);
  return identity;
}

// Files of one name are told apart by their folders.
std::vector<CaptureGroup> each_by_itself(std::span<const CaptureLabel> captures) {
  std::map<std::string, std::size_t> times;
  for (const CaptureLabel& each : captures) ++times[fs::path(each.path).filename().string()];
  std::vector<CaptureGroup> groups;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const std::string file = fs::path(captures[i].path).filename().string();
    groups.push_back({times[file] > 1 ? captures[i].path : fs::path(file).stem().string(), {i}});
  }
  return groups;
}

bool have_all(std::span<const CaptureLabel> captures, std::string_view key) {
  return std::ranges::none_of(captures, [&](const CaptureLabel& each) { return tag_value(each, key).empty(); });
}

// Those that were asked for; else kernels, where they tell the captures apart.
Result<std::vector<std::string>> grouping_keys(std::span<const CaptureLabel> captures, const std::string& by) {
  auto keys = names_of_list(by);
  if (!keys || !keys->empty() || !have_all(captures, "kernel")) return keys;
  const auto differs = [&](const CaptureLabel& each) {
    return tag_value(each, "kernel") != tag_value(captures.front(), "kernel");
  };
  if (std::ranges::any_of(captures, differs)) keys->emplace_back("kernel");
  return keys;
}

std::string joined_names(const std::vector<CaptureGroup>& groups) {
  std::string text;
  for (const CaptureGroup& group : groups) text += (text.empty() ? "" : ", ") + group.name;
  return text;
}

// "config=b=1, s=128", or without the key its value alone.
Result<std::string> group_name(const CaptureLabel& capture, const std::vector<std::string>& keys, bool with_key) {
  std::string name;
  for (const std::string& key : keys) {
    auto label = label_by(capture, key);
    if (label && !with_key && !tag_value(capture, key).empty()) label = std::string(tag_value(capture, key));
    if (!label) {
      return Error{
          capture.tags.empty()
              ? fmt::format("{}: it has no tags; give it some: accelscope import FILE -o S.accel --tag {}=NAME",
                            capture.path, key)
              : fmt::format("{}: it has no tag {}; its tags are {}", capture.path, key, all_tags(capture))};
    }
    name += (name.empty() ? "" : ", ") + *label;
  }
  return name;
}

}  // namespace

std::string_view tag_value(const CaptureLabel& capture, std::string_view key) noexcept {
  for (const std::string& tag : capture.tags) {
    if (tag == key) return tag;
    if (tag.size() > key.size() && tag.starts_with(key) && tag[key.size()] == '=')
      return std::string_view(tag).substr(key.size() + 1);
  }
  return "";
}

Result<std::vector<CaptureGroup>> group_captures(std::span<const CaptureLabel> captures, const std::string& by) {
  const auto found = TRY(grouping_keys(captures, by));
  const std::vector<std::string>& keys = found;
  std::vector<CaptureGroup> groups;
  std::vector<std::string> identities;
  std::vector<CaptureGroup> alone = each_by_itself(captures);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    std::string name;
    if (!keys.empty()) {
      auto made = TRY(group_name(captures[i], keys, true));
      name = std::move(made);
    } else if (name = all_tags(captures[i]); name.empty()) {
      groups.push_back(std::move(alone[i]));
      identities.push_back(captures[i].path + std::string(kApart));
      continue;
    }
    const auto known = std::find(identities.begin(), identities.end(), identity_of(captures[i], keys));
    if (known == identities.end()) {
      groups.push_back({name, {i}});
      identities.push_back(identity_of(captures[i], keys));
    } else {
      groups[static_cast<std::size_t>(known - identities.begin())].captures.push_back(i);
    }
  }
  if (keys.empty() && groups.size() == 1 && captures.size() > 1) return each_by_itself(captures);
  return groups;
}

bool CapturePairs::is_shared(std::size_t name) const noexcept {
  return std::ranges::none_of(cells[name], [](const auto& cell) { return cell.empty(); });
}

std::vector<std::size_t> CapturePairs::shared() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_shared(i)) out.push_back(i);
  return out;
}

Result<CapturePairs> pair_captures(std::span<const CaptureLabel> captures, const std::vector<CaptureGroup>& groups,
                                   const std::string& by, const std::string& group_by) {
  auto named = TRY(names_of_list(by == "none" ? "" : by));
  std::vector<std::string>& keys = named;
  const auto taken = TRY(grouping_keys(captures, group_by));
  if (by.empty() && !taken.empty()) {
    for (const char* key : {"kernel", "config"})
      if (std::find(taken.begin(), taken.end(), key) == taken.end() && have_all(captures, key)) keys.emplace_back(key);
  }
  CapturePairs out;
  std::vector<std::string> identities;
  out.by = fmt::format("{}", fmt::join(keys, ", "));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t capture : groups[g].captures) {
      auto name = TRY(group_name(captures[capture], keys, keys.size() > 1));
      std::string identity = keys.empty() ? "" : identity_of(captures[capture], keys);
      const auto known = std::find(identities.begin(), identities.end(), identity);
      const auto number = static_cast<std::size_t>(known - identities.begin());
      if (known == identities.end()) {
        identities.push_back(std::move(identity));
        out.names.push_back(std::move(name));
        out.cells.emplace_back(groups.size());
      }
      out.cells[number][g].push_back(capture);
    }
  }
  if (groups.size() > 1 && out.shared().empty()) {
    return Error{fmt::format("no {} has captures of all of {}; compare those of one {}, or name another --pair-by",
                             out.by, joined_names(groups), out.by)};
  }
  return out;
}

namespace {

Result<CapturedCosts> captured_costs(const QueryContext& query, const std::string& by) {
  CapturedCosts out;
  const CostKind* kind = find_cost_kind(by);
  out.kind = by;
  out.title = kind == nullptr ? by : std::string(kind->title);
  out.measured = kind == nullptr ? "total time" : std::string(kind->measured);
  out.is_line = kind != nullptr && kind->is_place;
  if (kind != nullptr) out.unit = kind->unit;
  auto rows = TRY(kind == nullptr ? costs_by_column(query, by) : kind->read(query));
  out.rows = std::move(rows);
  if (out.rows.empty())
    out.missing = kind == nullptr ? fmt::format("no table has a column {}", by) : std::string(kind->missing);
  return out;
}

// What a maker writes of versions, programs and devices is called differently by each of them, but not very.
CaptureFacts capture_facts(const Snapshot& snapshot) {
  constexpr std::size_t kLongestFact = 80, kMostFacts = 16;
  CaptureFacts out;
  for (const MetaEntry& entry : snapshot.meta) {
    const std::string key = lower_case(entry.key), name = entry.key.substr(entry.key.rfind('.') + 1);
    const bool is_device = key.starts_with("device.") && key.ends_with(".name");
    if (key.find("version") == std::string::npos && key != "neff_header.hash" && key != "source.format" && !is_device)
      continue;
    static constexpr std::string_view kOfFormats[] = {"data_version", "major_version", "minor_version",
                                                      "package_version"};
    if (std::find(std::begin(kOfFormats), std::end(kOfFormats), name) != std::end(kOfFormats)) continue;
    // What containers set says what was installed; what was loaded stands beside it.
    if (name.starts_with("NV_") || name.starts_with("PIP_") || name.starts_with("VERSION")) continue;
    if (entry.value.empty() || entry.value.size() > kLongestFact) continue;
    CaptureFact fact{is_device ? "device" : key == "neff_header.hash" ? "neff hash" : name, entry.value};
    if (key == "source.format") fact.name = "format";
    if (std::find(out.begin(), out.end(), fact) == out.end() && out.size() < kMostFacts) out.push_back(std::move(fact));
  }
  return out;
}

}  // namespace

Result<CaptureFigures> capture_figures(const QueryContext& query, const std::vector<std::string>& by) {
  CaptureFigures out;
  out.event_count = query.snapshot->event_count;
  out.facts = capture_facts(*query.snapshot);
  out.has_checksums = has_checksums(*query.snapshot);
  auto metrics = TRY(compared_metrics(query));
  out.metrics = std::move(metrics);
  for (const std::string& each : by) {
    if (each == "metric") continue;
    auto costs = TRY(captured_costs(query, each));
    out.costs.push_back(std::move(costs));
  }
  return out;
}

namespace {

constexpr std::size_t kMostResampled = 200;  // rows of a table whose interval is drawn; those below have Student's
constexpr char kPart = '\x1f';

using CaptureValues = std::vector<std::optional<double>>;

// Captures without a value left out.
std::vector<double> values_of(const CaptureValues& values, const std::vector<std::size_t>& captures) {
  std::vector<double> out;
  for (const std::size_t capture : captures)
    if (values[capture]) out.push_back(*values[capture]);
  return out;
}

// Of the problems that all groups have, the values of both sides; a problem of which a side has none is left out.
std::vector<SamplePair> sample_pairs(const CaptureValues& values, const CapturePairs& pairs, std::size_t other) {
  std::vector<SamplePair> out;
  for (const std::size_t pair : pairs.shared()) {
    SamplePair sample{values_of(values, pairs.cells[pair].front()), values_of(values, pairs.cells[pair][other])};
    if (!sample.base.empty() && !sample.other.empty()) out.push_back(std::move(sample));
  }
  return out;
}

std::vector<ComparedFigure> compared_figures(std::span<const CaptureFigures> captures,
                                             const std::vector<CaptureGroup>& groups, const CapturePairs& pairs,
                                             const ChangeOptions& options) {
  std::vector<ComparedFigure> figures;
  std::vector<CaptureValues> values;
  std::map<std::string_view, std::size_t> numbers;
  for (const CaptureGroup& group : groups) {
    for (const std::size_t capture : group.captures) {
      for (const ComparedMetric& metric : captures[capture].metrics) {
        const auto [place, is_new] = numbers.try_emplace(metric.name, figures.size());
        if (is_new) {
          figures.emplace_back().metric = metric;
          values.emplace_back(captures.size());
        }
        values[place->second][capture] = metric.value;
      }
    }
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t g = 1; g < groups.size(); ++g) {
      const std::vector<SamplePair> samples = sample_pairs(values[i], pairs, g);
      const bool missing = samples.empty();
      figures[i].is_missing.push_back(missing ? 1 : 0);
      figures[i].changes.push_back(missing ? Change{} : pooled_change(samples, Pooling::geometric, options));
      if (!missing) figures[i].metric.value = figures[i].changes.back().base;
    }
  }
  return figures;
}

// Lines are matched by what stands in them, wherever that is: by file, text and which of equal lines it is, then by the
// text alone without its numbers. Without sources by their places.
std::string form_of_line(std::string_view key) {
  const std::size_t text = key.find(kPart);
  return text == std::string_view::npos ? std::string(key) : name_form(key.substr(text + 1));
}

// Without sources the place: programs lie in other folders on other machines, so that of the path the last two parts
// count, "model/linear.py:15", after the pool where one is named before it.
std::string form_of_place(std::string_view key) {
  if (key.find(" < ") != std::string_view::npos) return std::string(key);  // a stack
  const std::size_t pool = key.find(": ");
  const std::size_t path = pool == std::string_view::npos ? 0 : pool + 2;
  std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || slash <= path) return std::string(key);
  slash = key.rfind('/', slash - 1);
  if (slash == std::string_view::npos || slash < path) return std::string(key);
  return std::string(key.substr(0, path)) + std::string(key.substr(slash + 1));
}

std::vector<std::string> line_keys(const std::vector<CostRow>& rows) {
  std::vector<std::string> keys;
  std::map<std::string, int> times;
  for (const CostRow& row : rows) {
    const std::string_view place = std::string_view(row.key).substr(0, row.key.rfind(':'));
    std::string key{place.substr(place.find_last_of('/') + 1)};
    key += kPart + row.text + kPart;
    key += static_cast<char>('A' + std::min(times[key]++, 60));
    keys.push_back(std::move(key));
  }
  return keys;
}

bool has_texts(const CapturedCosts& costs) {
  return std::ranges::all_of(costs.rows, [](const CostRow& row) { return !row.text.empty(); });
}

class CostsJoin {
 public:
  CostsJoin(std::span<const CaptureFigures> captures, const std::vector<CaptureGroup>& groups,
            const CapturePairs& pairs, std::size_t number)
      : captures_(captures),
        groups_(groups),
        pairs_(pairs),
        number_(number),
        group_of_(captures.size(), groups.size()),
        weights_(captures.size(), 0) {
    const std::vector<std::size_t> shared = pairs.shared();
    for (const std::size_t pair : shared) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const std::size_t capture : pairs.cells[pair][g]) {
          group_of_[capture] = g;
          weights_[capture] = 1.0 / static_cast<double>(pairs.cells[pair][g].size() * shared.size());
        }
      }
    }
  }

  ComparedCosts run(const ChangeOptions& options) {
    const CapturedCosts& first = costs(groups_.front().captures.front());
    ComparedCosts out;
    out.kind = first.kind;
    out.title = first.title;
    out.measured = first.measured;
    out.unit = first.unit;
    out.unmatched.assign(groups_.size(), 0);
    out.unmatched_amount.assign(groups_.size(), 0);
    for (const MatchedName& matched : matched_rows(first.is_line)) out.rows.push_back(made_row(matched, out, first));
    if (out.rows.empty()) out.missing = first.missing;
    for (std::size_t i = 0; i < out.rows.size(); ++i) set_changes(out.rows[i], times_[i], false, options);
    const auto most = [](const ComparedCost& row) {
      double largest = 0;
      for (const Change& each : row.amounts) largest = std::max(largest, std::abs(each.difference()));
      return largest;
    };
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < out.rows.size(); ++i) order.emplace_back(-most(out.rows[i]), i);
    std::ranges::sort(order);
    std::vector<ComparedCost> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      ComparedCost& row = out.rows[order[i].second];
      if (i < kMostResampled) set_changes(row, times_[order[i].second], true, options);
      sorted.push_back(std::move(row));
    }
    out.rows = std::move(sorted);
    return out;
  }

 private:
  [[nodiscard]] const CapturedCosts& costs(std::size_t capture) const { return captures_[capture].costs[number_]; }

  [[nodiscard]] std::vector<MatchedName> matched_rows(bool is_line) const {
    bool by_text = is_line;
    for (std::size_t i = 0; i < captures_.size(); ++i)
      by_text = by_text && (group_of_[i] == groups_.size() || has_texts(costs(i)));
    std::vector<std::vector<std::string>> keys(captures_.size());
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      if (group_of_[i] == groups_.size()) continue;
      if (by_text) {
        keys[i] = line_keys(costs(i).rows);
      } else {
        for (const CostRow& row : costs(i).rows) keys[i].push_back(row.key);
      }
    }
    // A capture that belongs to no group must not count as one that lacks a name.
    std::vector<std::vector<std::string>> chosen;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (group_of_[i] < groups_.size()) chosen.push_back(std::move(keys[i]));
    std::vector<MatchedName> rows = match_names(chosen, !is_line ? name_form : by_text ? form_of_line : form_of_place);
    for (MatchedName& row : rows) {
      std::vector<std::vector<std::size_t>> places(captures_.size());
      for (std::size_t i = 0, at = 0; i < captures_.size(); ++i)
        if (group_of_[i] < groups_.size()) places[i] = std::move(row.places[at++]);
      row.places = std::move(places);
    }
    return rows;
  }

  ComparedCost made_row(const MatchedName& matched, ComparedCosts& table, const CapturedCosts& first) {
    ComparedCost row;
    row.name = matched.name;
    row.match = matched.kind;
    row.counts.assign(groups_.size(), 0);
    row.is_there.assign(groups_.size(), 0);
    row.keys.resize(groups_.size());
    std::vector<double>& times = times_.emplace_back(captures_.size(), 0);
    std::vector<double> group_amount(groups_.size(), 0);
    for (std::size_t capture = 0; capture < captures_.size(); ++capture) {
      const std::size_t group = group_of_[capture];
      if (group == groups_.size()) continue;
      const double share = weights_[capture];
      for (const std::size_t place : matched.places[capture]) {
        const CostRow& cost = costs(capture).rows[place];
        times[capture] += cost.amount;
        row.counts[group] += cost.count * share;
        row.is_there[group] = 1;
        if (std::ranges::find(row.keys[group], cost.key) == row.keys[group].end()) row.keys[group].push_back(cost.key);
        group_amount[group] += cost.amount * share;
        if (first.is_line) name_line(row, cost);
        if (row.text.empty()) row.text = cost.text;
      }
    }
    count_match(row, group_amount, table);
    return row;
  }

  // A line is called after the first place at which it is met.
  static void name_line(ComparedCost& row, const CostRow& cost) {
    if (row.text.empty() && row.name != cost.key && form_of_place(cost.key) != row.name) row.name = cost.key;
    row.moved_to = row.name == cost.key || form_of_place(cost.key) == row.name ? "" : cost.key;
    if (row.text.empty()) row.text = cost.text;
  }

  void count_match(const ComparedCost& row, const std::vector<double>& group_amount, ComparedCosts& table) const {
    const auto there = std::count(row.is_there.begin(), row.is_there.end(), 1);
    if (there > 1) {
      ++(row.match == MatchKind::exact ? table.exact : table.by_form);
      return;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (row.is_there[g] == 0) continue;
      ++table.unmatched[g];
      table.unmatched_amount[g] += group_amount[g];
    }
  }

  void set_changes(ComparedCost& row, const std::vector<double>& times, bool resamples, ChangeOptions options) const {
    options.resamples = resamples && options.resamples;
    const CaptureValues values(times.begin(), times.end());
    row.amounts.clear();
    for (std::size_t g = 1; g < groups_.size(); ++g)
      row.amounts.push_back(pooled_change(sample_pairs(values, pairs_, g), Pooling::arithmetic, options));
  }

  std::span<const CaptureFigures> captures_;
  const std::vector<CaptureGroup>& groups_;
  const CapturePairs& pairs_;
  std::size_t number_;
  std::vector<std::size_t> group_of_;       // by capture; groups_.size(): of none that is compared
  std::vector<double> weights_;             // by capture, of its group's mean over the problems
  std::vector<std::vector<double>> times_;  // by row and capture
};

// By its name, of several devices the first where none is named.
const ComparedMetric* find_figure(const CaptureFigures& capture, std::string_view name) {
  const auto find = [&](auto name_of) {
    return std::ranges::find_if(capture.metrics,
                                [&](const ComparedMetric& metric) { return name_of(metric.name) == name; });
  };
  auto found = find([](std::string_view whole) { return whole; });
  if (found == capture.metrics.end()) found = find(name_without_device);
  return found == capture.metrics.end() ? nullptr : &*found;
}

std::string_view headline_of(std::span<const CaptureFigures> captures) {
  const bool all_state = std::ranges::all_of(
      captures, [](const CaptureFigures& capture) { return find_figure(capture, kStatedTime) != nullptr; });
  return all_state ? kStatedTime : kWorkTime;
}

class PairedTable {
 public:
  PairedTable(std::span<const CaptureFigures> captures, const CapturePairs& pairs, const ComparisonOptions& options)
      : captures_(captures), pairs_(pairs), options_(options) {}

  PairedFigures run(std::string_view headline) {
    add_column(headline);
    for (const std::string& name : options_.columns)
      if (name != headline) add_column(name);
    for (std::size_t pair = 0; pair < pairs_.names.size(); ++pair) add_pair(pair);
    if (pairs_.shared().size() > 1) add_all();
    return std::move(out_);
  }

 private:
  void add_column(std::string_view name) {
    CaptureValues values(captures_.size());
    const ComparedMetric* first = nullptr;
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      const ComparedMetric* figure = find_figure(captures_[i], name);
      if (figure == nullptr) continue;
      values[i] = figure->value;
      if (first == nullptr) first = figure;
    }
    if (first == nullptr) return;
    out_.columns.push_back(*first);
    out_.columns.back().name = name;
    values_.push_back(std::move(values));
  }

  void add_pair(std::size_t pair) {
    std::vector<std::vector<double>> bases(values_.size());
    for (std::size_t g = 0; g < pairs_.cells[pair].size(); ++g) {
      if (pairs_.cells[pair][g].empty()) continue;
      PairedFigures::Row row{pair, g, {}};
      for (std::size_t i = 0; i < values_.size(); ++i) {
        const std::vector<double> values = values_of(values_[i], pairs_.cells[pair][g]);
        PairedFigures::Cell cell;
        if (!values.empty()) {
          const Change spread = change_of(values, values);
          cell = {values.size(), spread.base, std::nullopt, std::nullopt};
          if (values.size() > 1 && spread.base != 0) cell.deviation = spread.base_deviation / std::abs(spread.base);
          if (bases[i].empty()) {
            bases[i] = values;
          } else {
            cell.change = change_of(bases[i], values, options_.change);
          }
        }
        row.cells.push_back(cell);
      }
      out_.rows.push_back(std::move(row));
    }
  }

  void add_all() {
    const std::size_t groups = pairs_.cells.front().size();
    for (std::size_t g = 0; g < groups; ++g) {
      PairedFigures::Row row{pairs_.names.size(), g, {}};
      for (const CaptureValues& values : values_) {
        PairedFigures::Cell cell;
        // Of the base what the next one is set against.
        const std::vector<SamplePair> samples = sample_pairs(values, pairs_, std::max<std::size_t>(g, 1));
        if (!samples.empty()) {
          const Change change = pooled_change(samples, Pooling::geometric, options_.change);
          cell.captures = g == 0 ? change.base_count : change.other_count;
          cell.value = g == 0 ? change.base : change.other;
          if (g > 0) cell.change = change;
        }
        row.cells.push_back(cell);
      }
      out_.rows.push_back(std::move(row));
    }
  }

  std::span<const CaptureFigures> captures_;
  const CapturePairs& pairs_;
  const ComparisonOptions& options_;
  std::vector<CaptureValues> values_;  // by column
  PairedFigures out_;
};

// Without tags that pair them all captures are of one problem.
CapturePairs one_problem(const std::vector<CaptureGroup>& groups) {
  CapturePairs pairs{"", {""}, {{}}};
  for (const CaptureGroup& group : groups) pairs.cells.front().push_back(group.captures);
  return pairs;
}

}  // namespace

const ComparedFigure* Comparison::find_metric(std::string_view name) const noexcept {
  for (const ComparedFigure& each : metrics)
    if (each.metric.name == name) return &each;
  // Of several devices the first, which is the whole that the others are parts of.
  for (const ComparedFigure& each : metrics)
    if (name_without_device(each.metric.name) == name) return &each;
  return nullptr;
}

bool Comparison::has_sample() const noexcept {
  const auto is_judged = [](const Change& change) { return change.reported != Reported::no_sample; };
  return std::ranges::any_of(
      metrics, [&](const ComparedFigure& figure) { return std::ranges::any_of(figure.changes, is_judged); });
}

const PairedFigures::Cell* PairedFigures::find(std::size_t pair, std::size_t configuration,
                                               std::size_t column) const noexcept {
  for (const Row& row : rows)
    if (row.pair == pair && row.configuration == configuration && column < row.cells.size()) return &row.cells[column];
  return nullptr;
}

Comparison compare_captures(std::span<const CaptureFigures> captures, const std::vector<CaptureGroup>& groups,
                            CapturePairs pairs, const ComparisonOptions& options) {
  Comparison out;
  out.configurations = groups;
  out.pairs = pairs.names.empty() ? one_problem(groups) : std::move(pairs);
  for (const CaptureFigures& each : captures) {
    out.paths.push_back(each.label.path);
    out.facts.push_back(each.facts);
  }
  out.metrics = compared_figures(captures, groups, out.pairs, options.change);
  const std::size_t kinds = captures[groups.front().captures.front()].costs.size();
  for (std::size_t i = 0; i < kinds; ++i)
    out.costs.push_back(CostsJoin(captures, groups, out.pairs, i).run(options.change));
  out.headline = headline_of(captures);
  out.paired = PairedTable(captures, out.pairs, options).run(out.headline);
  return out;
}

std::string_view name_without_device(std::string_view name) noexcept { return name.substr(0, name.find(" (")); }

bool is_worse(Better better, const Change& change) noexcept {
  return change.reported == (better == Better::higher ? Reported::less : Reported::more);
}
bool is_better(Better better, const Change& change) noexcept {
  return better != Better::neither && change.reported == (better == Better::higher ? Reported::more : Reported::less);
}

double worsening(Better better, const Change& change) noexcept {
  if (!change.ratio) return change.other > 0 && better != Better::higher ? HUGE_VAL : 0;
  return better == Better::higher ? 1 - *change.ratio : *change.ratio - 1;
}

}  // namespace accelscope::analysis
