#include "app/export/filtered_export.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "app/export/output_file.h"
#include "app/export/query_output.h"
#include "core/base/format.h"
#include "core/export/neuron/neuron_json.h"
#include "core/search/filter_mask.h"

namespace accelscope::app {
namespace {

constexpr const char* kEvents =
    "SELECT slice.id, track.name AS track, track.device, lane, ts_ns, dur_ns, slice.name, category, slice.schema "
    "FROM slice JOIN track ON track.id = slice.track_id";

struct Written {
  std::uint64_t rows = 0;
  std::vector<std::string> losses;
};

Result<Written> write_json(const QueryContext& query, const TimeRange& range, OutputFile& output) {
  JsonExport request{query, {}, range, {}};
  if (neuron::is_neuron_session(*query.snapshot)) request.forms = neuron::json_forms(*query.snapshot);
  const auto report = export_json(request, [&](std::string_view text) { return output.write(text); });
  if (!report) return report.error();
  return Written{report->rows, report->losses()};
}

// Passes rows on and counts them.
class CountedRows final : public SqlRowVisitor {
 public:
  explicit CountedRows(QueryOutput& output) : output_(output) {}
  bool columns(const std::vector<std::string>& names) override { return output_.columns(names); }
  bool row(const std::vector<SqlValue>& values) override {
    ++rows_;
    return output_.row(values);
  }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  QueryOutput& output_;
  std::uint64_t rows_ = 0;
};

Result<Written> write_csv(const QueryContext& query, OutputFile& output) {
  SqlSession session(query.store, query.snapshot, query.pool, query.mask);
  const auto csv = make_query_output("csv", output.stream());
  CountedRows rows(*csv);
  if (const Result<void> done = session.visit(kEvents, rows, query.control); !done) return done.error();
  csv->finish();
  return Written{rows.rows(), {}};
}

}  // namespace

Result<std::string> write_filtered(const QueryContext& query, const EventFilter& filter, const std::string& path) {
  QueryContext filtered = query;
  auto mask = filter_mask(query, filter);
  if (!mask) return Error{"The filter: " + mask.message()};
  filtered.mask = std::move(*mask);
  std::ostringstream unused;
  const auto output = OutputFile::open(path, unused);
  if (!output) return output.error();
  const auto written = path.ends_with(".json") ? write_json(filtered, filter.range.value_or(TimeRange{}), **output)
                                               : write_csv(filtered, **output);
  if (!written) return written.error();
  if (const Result<void> finished = (*output)->finish(); !finished) return finished.error();
  std::string text = fmt::format("Wrote {} rows to {}", format_count(written->rows), path);
  for (const std::string& loss : written->losses) text += ". " + loss;
  return text;
}

}  // namespace accelscope::app
