#include "app/content/memory/plot_data.h"

#include <algorithm>
#include <limits>

#include "core/model/palette.h"

namespace accelscope::app::content {
namespace {

using Bytes = std::vector<std::uint64_t>;

std::vector<UsageRun> line_runs(const Bytes& values) {
  std::vector<UsageRun> runs;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (!runs.empty() && runs.back().top == values[i]) {
      runs.back().end = i + 1;
    } else {
      runs.push_back({i, i + 1, 0, values[i]});
    }
  }
  return runs;
}

std::vector<UsageRun> area_runs(const Bytes& values, const Bytes& below) {
  std::vector<UsageRun> runs;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const std::uint64_t top = below[i] + values[i];
    if (!runs.empty() && runs.back().end == i && runs.back().bottom == below[i] && runs.back().top == top) {
      runs.back().end = i + 1;
    } else {
      runs.push_back({i, i + 1, below[i], top});
    }
  }
  return runs;
}

// What all pixels from one to another have in common is at least so tall: the longest such stretch.
std::optional<UsageRun> label_run(const Bytes& values, const Bytes& below, std::uint64_t tall) {
  std::optional<UsageRun> best;
  tall = std::max<std::uint64_t>(tall, 1);
  for (std::uint32_t begin = 0; begin < values.size();) {
    UsageRun run{begin, begin, 0, std::numeric_limits<std::uint64_t>::max()};
    for (; run.end < values.size(); ++run.end) {
      const std::uint64_t bottom = std::max(run.bottom, below[run.end]);
      const std::uint64_t top = std::min(run.top, below[run.end] + values[run.end]);
      if (top < bottom || top - bottom < tall) break;
      run.bottom = bottom;
      run.top = top;
    }
    if (run.end > begin && (!best || run.end - run.begin > best->end - best->begin)) best = run;
    begin = std::max(run.end, begin + 1);
  }
  return best;
}

void add_series(MemoryPlotData& data) {
  Bytes below(data.stack.total.size(), 0);
  for (std::size_t i = 0; i < data.stack.names.size(); ++i) {
    const Bytes& values = data.stack.values[i];
    UsageSeries series;
    series.name = data.stack.names[i];
    series.slot = palette_slot(series.name);
    series.is_other = i + 1 == data.stack.names.size() && series.name == "other";
    series.most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    series.areas = area_runs(values, below);
    series.line = line_runs(values);
    series.label = label_run(values, below, data.key.label_bytes);
    for (std::size_t pixel = 0; pixel < below.size(); ++pixel) below[pixel] += values[pixel];
    data.series.push_back(std::move(series));
  }
  data.total = line_runs(data.stack.total);
  data.reserved = line_runs(data.usage->reserved_most(data.key.pool, data.key.range, data.key.pixels));
}

}  // namespace

std::shared_ptr<const MemoryPlotData> make_memory_plot(std::shared_ptr<const analysis::MemoryUsage> usage,
                                                       const MemoryPlotKey& key, std::int64_t session_end_ns) {
  auto data = std::make_shared<MemoryPlotData>();
  data->key = key;
  data->usage = std::move(usage);
  data->stack = data->usage->stacked(key.pool, key.range, key.pixels, key.most_series, key.min_bytes, key.grouping);
  add_series(*data);
  if (key.rows > 0) {
    data->scale = AddressScale(data->usage->pool(key.pool));
    data->map = address_map(
        *data->usage, data->scale,
        {key.pool, key.range, key.pixels, key.rows, key.min_bytes, key.grouping, session_end_ns, key.passing});
  }
  return data;
}

std::optional<std::size_t> series_at(const analysis::StackedUsage& stack, std::size_t pixel, std::uint64_t bytes) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < stack.values.size(); ++i) {
    if (pixel >= stack.values[i].size()) return std::nullopt;
    below += stack.values[i][pixel];
    if (bytes < below) return i;
  }
  return std::nullopt;
}

std::shared_ptr<const MemoryPlotData> UsageStacks::get(session::SessionAnalysis& analysis,
                                                       const std::shared_ptr<const analysis::MemoryUsage>& usage,
                                                       std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                                       std::size_t most_series) {
  Entry& entry = entries_[pool];
  if (entry.task.ready()) entry.data = entry.task.take();
  const MemoryPlotKey wanted{
      .version = usage->snapshot_version, .pool = pool, .range = range, .pixels = pixels, .most_series = most_series};
  if ((entry.data && entry.data->key == wanted) || entry.task.valid()) return entry.data;
  entry.task = analysis.start([usage, wanted](const QueryContext&) { return make_memory_plot(usage, wanted, 0); },
                              Priority::drawing);
  return entry.data;
}

}  // namespace accelscope::app::content
