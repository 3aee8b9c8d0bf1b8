// What headings and rows are called, where their names say again what stands above them.
#include <algorithm>
#include <map>

#include "app/rows/composer.h"
#include "core/names/name_forms.h"

namespace accelscope::app {

namespace {
constexpr std::size_t kLongLabel = 14;  // characters: beyond, a label leaves its value no room

// "util" of "NOC0 util", and of "util".
bool ends_with_word(std::string_view label, std::string_view end) {
  if (!label.ends_with(end)) return false;
  return label.size() == end.size() || label[label.size() - end.size() - 1] == ' ';
}
}  // namespace

// "GPU 0" for the streams of the device "GPU 0", "GPU 0 Counters". Older sessions call it "gpu 0".
std::string heading_label(const RowSection& section, const std::string& full) {
  constexpr std::string_view kGpu = "GPU ", kOldGpu = "gpu ";
  const std::size_t known = section.device.rfind(kGpu);
  const std::size_t gpu = known == std::string::npos ? section.device.rfind(kOldGpu) : known;
  if (gpu == std::string::npos || !full.starts_with(section.device)) return full;
  const std::string title = section.device.substr(0, gpu) + "GPU " + section.device.substr(gpu + kGpu.size());
  return is_stream_group(section.group_index) ? title : title + full.substr(section.device.size());
}

// What the row above it does not say already: "BRISC" below "core 1,2", "Operators" below "pt_autograd_0".
std::string label_below(const std::string& above, const std::string& name) {
  if (above.empty() || name.size() <= above.size() || !name.starts_with(above)) return name;
  const std::size_t rest = name.find_first_not_of(" :,-/", above.size());
  if (rest == std::string::npos || rest == above.size()) return name;
  std::string label = name.substr(rest);
  const bool word = label[0] >= 'a' && label[0] <= 'z' && name[above.size()] == ' ';
  if (word) label[0] = static_cast<char>(label[0] - 'a' + 'A');
  return label;
}

// Long labels of a group lose what its heading says and the words that those of one family share: "GPU 0 memory Total
// Reserved" and "GPU 0 memory Total Allocated" of "GPU 0 Counters".
void shorten_labels(const RowSection& section, std::vector<RowBlock>& blocks) {
  std::map<std::string, std::vector<TimelineRow*>> families;  // by their first word
  for (RowBlock& block : blocks) {
    TimelineRow& row = block.front();
    if (row.kind != RowKind::counter) continue;
    row.label = label_below(section.device, row.label);
    families[row.label.substr(0, row.label.find(' '))].push_back(&row);
  }
  for (auto& [word, rows] : families) {
    const bool any_long =
        std::any_of(rows.begin(), rows.end(), [](const TimelineRow* row) { return row->label.size() > kLongLabel; });
    if (!any_long) continue;
    std::vector<std::string> labels;
    for (const TimelineRow* row : rows) labels.push_back(row->label);
    labels = without_shared_words(labels);
    // What tells a family from others is said by no heading: "NOC0 util" beside "NOC1 util" and "util" of both.
    const bool taken = std::any_of(blocks.begin(), blocks.end(), [&](const RowBlock& block) {
      const TimelineRow& other = block.front();
      return std::find(rows.begin(), rows.end(), &other) == rows.end() &&
             std::any_of(labels.begin(), labels.end(),
                         [&](const std::string& label) { return ends_with_word(other.label, label); });
    });
    if (taken) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->label = labels[i];
  }
}

}  // namespace accelscope::app
