#include "app/content/collective_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/format.h"

namespace accelscope::app::content {
namespace {

constexpr double kRampEnd = 0.995;
constexpr double kTellingRatio = 1.02;

[[nodiscard]] std::string place_of(const analysis::CollectiveRank& rank) {
  return rank.host.empty() || rank.host == rank.name ? rank.name : fmt::format("{} ({})", rank.name, rank.host);
}

[[nodiscard]] std::string with_capital(std::string text) {
  if (text.starts_with("rank ")) text[0] = 'R';
  return text;
}

}  // namespace

std::size_t CollectiveGrid::column_of(std::size_t instance) const noexcept {
  std::size_t column =
      columns == 0 ? 0 : std::min(columns - 1, instance * columns / std::max<std::size_t>(1, of->instances.size()));
  while (column + 1 < columns && instances(column).second <= instance) ++column;
  while (column > 0 && instances(column).first > instance) --column;
  return column;
}

std::int64_t measured_ns(const analysis::CollectiveInstance& instance, const analysis::CollectiveCell& cell,
                         CollectiveMeasure measure) noexcept {
  switch (measure) {
    case CollectiveMeasure::duration:
      return std::max<std::int64_t>(0, cell.end_ns - std::max(instance.transfer_begin_ns, cell.arrival_ns));
    case CollectiveMeasure::wait:
      return analysis::Collectives::wait_ns(instance, cell);
    default:
      return cell.arrival_ns - instance.first_arrival_ns;
  }
}

std::shared_ptr<const CollectiveGrid> make_collective_grid(std::shared_ptr<const analysis::CollectivesReport> report,
                                                           CollectiveMeasure measure, std::size_t most) {
  const analysis::Collectives& all = *report->of;
  const std::size_t ranks = all.ranks.size();
  CollectiveGrid grid;
  grid.columns = std::min(report->instances.size(), most);
  grid.measure = measure;
  grid.of = report;
  grid.values.assign(grid.columns * ranks, CollectiveGrid::kNone);
  grid.dimmed.assign(grid.columns * ranks, true);
  grid.skews.assign(grid.columns, 0);
  grid.chosen.assign(grid.columns, 0);
  for (std::size_t column = 0; column < grid.columns; ++column) {
    const auto [first, last] = grid.instances(column);
    grid.chosen[column] = static_cast<std::uint32_t>(first);
    for (std::size_t i = first; i < last; ++i) {
      const analysis::CollectiveInstance& instance = all.instances[report->instances[i]];
      const auto skew = static_cast<float>(instance.skew_ns());
      if (skew > grid.skews[column]) {
        grid.skews[column] = skew;
        grid.chosen[column] = static_cast<std::uint32_t>(i);
      }
      for (const analysis::CollectiveCell& cell : all.cells_of(instance)) {
        const std::size_t at = column * ranks + cell.rank;
        float& value = grid.values[at];
        if (cell.hidden && !grid.dimmed[at]) continue;  // what is shown counts alone
        if (!cell.hidden && grid.dimmed[at]) {
          grid.dimmed[at] = false;
          value = CollectiveGrid::kNone;
        }
        value = std::max(value, static_cast<float>(measured_ns(instance, cell, measure)));
      }
    }
    grid.most_skew_ns = std::max(grid.most_skew_ns, grid.skews[column]);
  }
  std::vector<float> known;
  known.reserve(grid.values.size());
  for (const float value : grid.values) {
    if (value >= 0) known.push_back(value);
  }
  if (!known.empty()) {
    const auto place =
        known.begin() + static_cast<std::ptrdiff_t>(std::ceil(kRampEnd * static_cast<double>(known.size())) - 1);
    std::nth_element(known.begin(), place, known.end());
    grid.most_ns = *place;
  }
  return std::make_shared<const CollectiveGrid>(std::move(grid));
}

std::shared_ptr<const session::ShownOperation> shown_operation(const analysis::CollectivesReport& report,
                                                               std::size_t number) {
  const analysis::Collectives& all = *report.of;
  const std::uint32_t index = report.instances[number];
  const analysis::CollectiveInstance& instance = all.instances[index];
  session::ShownOperation shown;
  const auto noise = instance.count < 2 ? std::nullopt : all.noise_ns(instance.last_rank, instance.second_rank);
  const std::int64_t alone = instance.last_arrival_ns - instance.second_last_ns;
  const bool is_reported = noise && static_cast<double>(alone) > *noise;
  shown.title = fmt::format("#{} first in", index);
  if (is_reported) shown.skew = "skew " + format_duration(instance.skew_ns());
  shown.first_arrival_ns = instance.first_arrival_ns;
  shown.last_arrival_ns = instance.last_arrival_ns;
  for (const analysis::CollectiveCell& cell : all.cells_of(instance)) {
    if (cell.set_by_ns != 0) shown.one_clock = false;
    shown.parts.push_back({cell.event, cell.arrival_ns + cell.set_by_ns,
                           std::clamp(instance.transfer_begin_ns, cell.arrival_ns, cell.end_ns) + cell.set_by_ns,
                           cell.end_ns + cell.set_by_ns, is_reported && cell.rank == instance.last_rank});
  }
  if (instance.count < 2) shown.one_clock = false;
  return std::make_shared<const session::ShownOperation>(std::move(shown));
}

std::vector<std::vector<DurationTick>> duration_ticks(const analysis::CollectivesReport& report) {
  const analysis::Collectives& all = *report.of;
  std::vector<const analysis::CollectiveFigures*> figures(all.kinds.size(), nullptr);
  for (const analysis::CollectiveFigures& each : report.kinds) figures[each.kind] = &each;
  std::vector<std::map<int, bool>> steps(all.kinds.size());  // of each kind, whether an outlier is there
  const auto add = [&](const analysis::CollectiveInstance& instance) {
    const analysis::CollectiveFigures* of = figures[instance.kind];
    if (of == nullptr || of->max_ns <= 0) return;
    const double share = static_cast<double>(instance.duration_ns()) / static_cast<double>(of->max_ns);
    steps[instance.kind][static_cast<int>(std::lround(share * DurationTick::kSteps))] |=
        instance.duration_ns() > of->fence_ns;
  };
  for (const std::uint32_t i : report.instances) add(all.instances[i]);
  std::vector<std::vector<DurationTick>> ticks(all.kinds.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (const auto& [step, outlier] : steps[k])
      ticks[k].push_back({static_cast<float>(step) / DurationTick::kSteps, outlier});
  }
  return ticks;
}

std::optional<std::size_t> number_of(const analysis::CollectivesReport& report, std::uint32_t instance) {
  const auto found = std::lower_bound(report.instances.begin(), report.instances.end(), instance);
  if (found == report.instances.end() || *found != instance) return std::nullopt;
  return static_cast<std::size_t>(found - report.instances.begin());
}

std::optional<std::size_t> instance_with(const analysis::CollectivesReport& report, EventId event) {
  const analysis::Collectives& all = *report.of;
  for (std::size_t i = 0; i < report.instances.size(); ++i) {
    for (const analysis::CollectiveCell& cell : all.cells_of(all.instances[report.instances[i]])) {
      if (cell.event == event) return i;
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> ranks_to_compare(const analysis::CollectivesReport& report, std::size_t most) {
  const auto& ranks = report.of->ranks;
  std::vector<std::uint32_t> present;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    if (!ranks[r].missing) present.push_back(r);
  }
  std::set<std::uint32_t> chosen;
  if (report.straggler) chosen.insert(*report.straggler);
  for (std::size_t i = 0; i < most && chosen.size() < std::min(most, present.size()); ++i) {
    chosen.insert(present[i * present.size() / most]);
  }
  return {chosen.begin(), chosen.end()};
}

StragglerText straggler_text(const analysis::CollectivesReport& report, const Snapshot& snapshot) {
  const analysis::Collectives& all = *report.of;
  if (all.present() < 2) {
    return {"One rank is in the session: who came late cannot be told.",
            "Open the profiles of all ranks at once, or their folder, to see who waited for whom."};
  }
  if (report.compared == 0) return {"No collective here has parts of two ranks.", ""};
  const TimeRange range{std::max(report.range.begin_ns, snapshot.begin_ns),
                        std::min(report.range.end_ns, snapshot.end_ns)};
  if (!report.straggler) {
    std::int64_t waited = 0;
    for (const analysis::RankLateness& each : report.ranks) waited += each.others_waited_ns;
    const std::string reported =
        report.below_noise == report.compared
            ? std::string("Every difference is below the residual of the clocks.")
            : fmt::format("Waits for the last to come cost {} together.", format_duration(waited));
    return {"No rank is a straggler.", reported};
  }
  const analysis::CollectiveRank& rank = all.ranks[*report.straggler];
  const analysis::RankLateness& late = report.ranks[*report.straggler];
  const auto waited = static_cast<double>(late.others_waited_ns);
  const auto length = static_cast<double>(range.length_ns());
  return {
      fmt::format("{} is the straggler: last in {} of {} collectives.", with_capital(place_of(rank)),
                  format_count(late.last_in), format_count(late.instances)),
      fmt::format("{} {} for it, {} of {}.", all.present() == 2 ? "The other waits" : "All others wait",
                  format_duration(waited), format_share(length > 0 ? waited / length : 0), format_duration(length))};
}

std::string cause_text(const analysis::LateCause& cause, const Snapshot& snapshot) {
  std::string text;
  if (cause.name != 0 && (cause.ratio == 0 || cause.ratio > kTellingRatio)) {
    const std::string more = format_duration(cause.excess_ns);
    const std::string_view name = snapshot.strings->text(cause.name);
    text = cause.ratio > 0
               ? fmt::format("{} takes {:.2f} times as long as on the others, {} more", name, cause.ratio, more)
               : fmt::format("{} takes {}, and the others have none", name, more);
  }
  if (cause.throttled_ns > cause.others_throttled_ns) {
    text += fmt::format("{}throttled for {} more", text.empty() ? "" : "; ",
                        format_duration(cause.throttled_ns - cause.others_throttled_ns));
  }
  return text;
}

}  // namespace accelscope::app::content
