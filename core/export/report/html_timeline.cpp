#include "core/export/report/html_timeline.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "core/base/format.h"
#include "core/export/report/report_text.h"

namespace accelscope {
namespace {

void append_lane(std::string& out, const std::vector<ReportBox>& boxes) {
  std::string events, merged;
  std::int64_t last_event = 0, last_merged = 0;
  for (const ReportBox& box : boxes) {
    if (box.count == 1) {
      fmt::format_to(std::back_inserter(events), "{}{},{},{},{}", events.empty() ? "" : ",", box.begin_ns - last_event,
                     box.length_ns, box.name, box.waits ? std::int64_t{-1} : static_cast<std::int64_t>(box.colour));
      last_event = box.begin_ns;
    } else {
      fmt::format_to(std::back_inserter(merged), "{}{},{},{},{},{}", merged.empty() ? "" : ",",
                     box.begin_ns - last_merged, box.length_ns, box.colour, box.count,
                     std::lround(box.busy_share * 100));
      last_merged = box.begin_ns;
    }
  }
  out += fmt::format("{{\"e\":[{}],\"m\":[{}]}}", events, merged);
}

void append_row(std::string& out, const ReportRow& row) {
  out += "{\"label\":" + script_json_text(row.label);
  if (row.indent > 0) out += fmt::format(",\"indent\":{}", row.indent);
  if (row.heading) {
    out += ",\"head\":1";
  } else if (!row.values.empty()) {
    out += ",\"unit\":" + script_json_text(row.unit) + ",\"values\":[";
    std::int64_t last = 0;
    std::string_view between;
    for (const ReportValue& value : row.values) {
      out += fmt::format("{}{},{},{},{}", between, value.begin_ns - last, value.length_ns, json_number(value.least),
                         json_number(value.most));
      last = value.begin_ns;
      between = ",";
    }
    out += "]";
  } else {
    out += ",\"lanes\":[";
    for (std::size_t i = 0; i < row.lanes.size(); ++i) {
      if (i > 0) out += ",";
      append_lane(out, row.lanes[i]);
    }
    out += "]";
  }
  out += "}";
}

}  // namespace

std::string timeline_json(const ReportTimeline& timeline) {
  std::string out = fmt::format("{{\"begin\":{},\"end\":{},\"view\":[{},{}],\"names\":[", timeline.begin_ns,
                                timeline.end_ns, timeline.shown_begin_ns, timeline.shown_end_ns);
  for (std::size_t i = 0; i < timeline.names.size(); ++i) {
    if (i > 0) out += ",";
    out += script_json_text(timeline.names[i]);
  }
  out += "],\n\"rows\":[";
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    if (i > 0) out += ",\n";
    append_row(out, timeline.rows[i]);
  }
  return out + "]}";
}

}  // namespace accelscope
