#include "core/analysis/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace accelscope {
namespace {

constexpr std::size_t kMostResampled = 200;  // rows of a table whose interval is drawn; those below have Student's
constexpr char kPart = '\x1f';

using CaptureValues = std::vector<std::optional<double>>;

// The values of a group, captures without one left out.
std::vector<double> values_of_group(const CaptureValues& values, const CaptureGroup& group) {
  std::vector<double> out;
  for (const std::size_t capture : group.captures)
    if (values[capture]) out.push_back(*values[capture]);
  return out;
}

std::vector<ComparedFigure> compared_figures(std::span<const CaptureFigures> captures,
                                             const std::vector<CaptureGroup>& groups, const ChangeOptions& options) {
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
    const std::vector<double> base = values_of_group(values[i], groups.front());
    for (std::size_t g = 1; g < groups.size(); ++g) {
      const std::vector<double> other = values_of_group(values[i], groups[g]);
      const bool missing = base.empty() || other.empty();
      figures[i].is_missing.push_back(missing ? 1 : 0);
      figures[i].changes.push_back(missing ? Change{} : change_of(base, other, options));
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
  return std::all_of(costs.rows.begin(), costs.rows.end(), [](const CostRow& row) { return !row.text.empty(); });
}

class CostsJoin {
 public:
  CostsJoin(std::span<const CaptureFigures> captures, const std::vector<CaptureGroup>& groups, std::size_t number)
      : captures_(captures), groups_(groups), number_(number), group_of_(captures.size(), groups.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::size_t capture : groups[g].captures) group_of_[capture] = g;
  }

  ComparedCosts run(const ChangeOptions& options) {
    const CapturedCosts& first = costs(groups_.front().captures.front());
    ComparedCosts out;
    out.kind = first.kind;
    out.title = first.title;
    out.measured = first.measured;
    out.unmatched.assign(groups_.size(), 0);
    out.unmatched_ns.assign(groups_.size(), 0);
    for (const MatchedName& matched : matched_rows(first.is_line)) out.rows.push_back(made_row(matched, out, first));
    if (out.rows.empty()) out.missing = first.missing;
    for (std::size_t i = 0; i < out.rows.size(); ++i) set_changes(out.rows[i], times_[i], false, options);
    const auto most = [](const ComparedCost& row) {
      double largest = 0;
      for (const Change& each : row.time_ns) largest = std::max(largest, std::abs(each.difference()));
      return largest;
    };
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < out.rows.size(); ++i) order.emplace_back(-most(out.rows[i]), i);
    std::sort(order.begin(), order.end());
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
    std::vector<MatchedName> rows = match_names(
        chosen, !is_line  ? name_form
                : by_text ? form_of_line
                          : +[](std::string_view name) { return std::string(name); });
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
    std::vector<double>& times = times_.emplace_back(captures_.size(), 0);
    std::vector<double> group_ns(groups_.size(), 0);
    for (std::size_t capture = 0; capture < captures_.size(); ++capture) {
      const std::size_t group = group_of_[capture];
      if (group == groups_.size()) continue;
      const auto share = 1.0 / static_cast<double>(groups_[group].captures.size());
      for (const std::size_t place : matched.places[capture]) {
        const CostRow& cost = costs(capture).rows[place];
        times[capture] += cost.time_ns;
        row.counts[group] += cost.count * share;
        row.is_there[group] = 1;
        group_ns[group] += cost.time_ns * share;
        if (first.is_line) name_line(row, cost);
        if (row.text.empty()) row.text = cost.text;
      }
    }
    count_match(row, group_ns, table);
    return row;
  }

  // A line is called after the first place at which it is met.
  static void name_line(ComparedCost& row, const CostRow& cost) {
    if (row.text.empty() && row.name != cost.key) row.name = cost.key;
    row.moved_to = row.name == cost.key ? "" : cost.key;
    if (row.text.empty()) row.text = cost.text;
  }

  void count_match(const ComparedCost& row, const std::vector<double>& group_ns, ComparedCosts& table) const {
    const auto there = std::count(row.is_there.begin(), row.is_there.end(), 1);
    if (there > 1) {
      ++(row.match == MatchKind::exact ? table.exact : table.by_form);
      return;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (row.is_there[g] == 0) continue;
      ++table.unmatched[g];
      table.unmatched_ns[g] += group_ns[g];
    }
  }

  void set_changes(ComparedCost& row, const std::vector<double>& times, bool resamples, ChangeOptions options) const {
    options.resamples = resamples && options.resamples;
    const auto of = [&](const CaptureGroup& group) {
      std::vector<double> out;
      for (const std::size_t capture : group.captures) out.push_back(times[capture]);
      return out;
    };
    const std::vector<double> base = of(groups_.front());
    row.time_ns.clear();
    for (std::size_t g = 1; g < groups_.size(); ++g) row.time_ns.push_back(change_of(base, of(groups_[g]), options));
  }

  std::span<const CaptureFigures> captures_;
  const std::vector<CaptureGroup>& groups_;
  std::size_t number_;
  std::vector<std::size_t> group_of_;       // by capture; groups_.size(): of none
  std::vector<std::vector<double>> times_;  // by row and capture
};

const ComparedMetric* find_figure(const CaptureFigures& capture, std::string_view name) {
  const auto found = std::find_if(capture.metrics.begin(), capture.metrics.end(),
                                  [&](const ComparedMetric& metric) { return metric.name == name; });
  return found == capture.metrics.end() ? nullptr : &*found;
}

std::string_view headline_of(std::span<const CaptureFigures> captures) {
  const bool all_state = std::all_of(captures.begin(), captures.end(), [](const CaptureFigures& capture) {
    return find_figure(capture, kStatedTime) != nullptr;
  });
  return all_state ? kStatedTime : kWorkTime;
}

std::size_t number_of_label(std::vector<std::string>& names, std::string_view name) {
  const auto known = std::find(names.begin(), names.end(), name);
  if (known != names.end()) return static_cast<std::size_t>(known - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

KernelTable kernel_table(std::span<const CaptureFigures> captures, std::string_view headline,
                         const ChangeOptions& options) {
  KernelTable table;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> values;
  for (const CaptureFigures& capture : captures) {
    const std::string_view kernel = tag_value(capture.label, "kernel"), config = tag_value(capture.label, "config");
    const ComparedMetric* time = find_figure(capture, headline);
    if (kernel.empty() || config.empty() || time == nullptr) continue;
    values[{number_of_label(table.kernels, kernel), number_of_label(table.configurations, config)}].push_back(
        time->value * 1e9);
  }
  for (std::size_t kernel = 0; kernel < table.kernels.size(); ++kernel) {
    const std::vector<double>* base = nullptr;
    for (std::size_t config = 0; config < table.configurations.size(); ++config) {
      KernelTable::Cell cell{values[{kernel, config}], std::nullopt};
      if (base != nullptr && !cell.work_ns.empty()) cell.change = change_of(*base, cell.work_ns, options);
      if (base == nullptr && !cell.work_ns.empty()) base = &values[{kernel, config}];
      table.cells.push_back(std::move(cell));
    }
  }
  return table;
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

Comparison compare_captures(std::span<const CaptureFigures> captures, const std::vector<CaptureGroup>& groups,
                            const ChangeOptions& options) {
  Comparison out;
  out.configurations = groups;
  for (const CaptureFigures& each : captures) out.paths.push_back(each.label.path);
  out.metrics = compared_figures(captures, groups, options);
  const std::size_t kinds = captures[groups.front().captures.front()].costs.size();
  for (std::size_t i = 0; i < kinds; ++i) out.costs.push_back(CostsJoin(captures, groups, i).run(options));
  out.headline = headline_of(captures);
  out.kernels = kernel_table(captures, out.headline, options);
  return out;
}

std::string_view name_without_device(std::string_view name) noexcept { return name.substr(0, name.find(" (")); }

bool is_worse(Better better, const Change& change) noexcept {
  return change.told == (better == Better::higher ? Told::less : Told::more);
}
bool is_better(Better better, const Change& change) noexcept {
  return better != Better::neither && change.told == (better == Better::higher ? Told::more : Told::less);
}

double worsening(Better better, const Change& change) noexcept {
  if (!change.ratio) return change.other > 0 && better != Better::higher ? HUGE_VAL : 0;
  return better == Better::higher ? 1 - *change.ratio : *change.ratio - 1;
}

}  // namespace accelscope
