#include "core/names/short_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/base/text.h"
#include "core/names/name_forms.h"

namespace accelscope {

// The words of what was cut from a name, by number.
using Words = std::vector<std::uint32_t>;

struct ShortNames::Entry {
  NameForms made;
  Words words;         // as made.parts has them
  Words sorted_words;  // the k-th of several equal ones has a number of its own
  std::vector<std::string> shown;
  std::size_t stamp = 0;  // how many names its forms were shared with when `shown` was chosen
};

namespace {

constexpr std::size_t kMostTagged = 256;  // names that share a form: beyond, a few words do not tell them apart
constexpr std::size_t kMostTagWords = 4;

[[nodiscard]] bool has(const Words& sorted, std::uint32_t word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

// "MulFunctor" says more than "float" or "4".
[[nodiscard]] bool tells_much(const std::string& word) {
  const bool letters = std::count_if(word.begin(), word.end(), [](char c) { return c < '0' || c > '9'; }) > 2;
  return letters && !names_a_type(word);
}

}  // namespace

std::size_t character_count(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

ShortNames::ShortNames() = default;
ShortNames::~ShortNames() = default;
ShortNames::ShortNames(ShortNames&&) noexcept = default;
ShortNames& ShortNames::operator=(ShortNames&&) noexcept = default;

void ShortNames::add(std::string_view name) { (void)entry(name); }

ShortNames::Entry& ShortNames::entry(std::string_view name) {
  std::unique_ptr<Entry>& place = entries_[std::string(name)];
  if (place) return *place;
  place = std::make_unique<Entry>();
  place->made = name_forms(name);
  number_words(*place);
  for (const std::string& form : place->made.texts) {
    Group& group = groups_[form];
    if (group.size() > kMostTagged) continue;  // a further one changes nothing
    const bool known = std::any_of(group.begin(), group.end(),
                                   [&](const Entry* each) { return each->made.identity == place->made.identity; });
    if (!known) group.push_back(place.get());
  }
  return *place;
}

void ShortNames::number_words(Entry& entry) {
  std::unordered_map<std::string_view, std::size_t> met;
  for (const std::string& part : entry.made.parts) {
    std::string word = part;
    if (const std::size_t before = met[part]++; before > 0) word += '\n' + std::to_string(before);
    const auto number = static_cast<std::uint32_t>(word_numbers_.size());
    entry.words.push_back(word_numbers_.emplace(std::move(word), number).first->second);
  }
  entry.sorted_words = entry.words;
  std::sort(entry.sorted_words.begin(), entry.sorted_words.end());
}

std::size_t ShortNames::stamp(const Entry& entry) const {
  std::size_t sum = 0;
  for (const std::string& form : entry.made.texts) sum += groups_.at(form).size();
  return sum;
}

// As few words as tell the name from all the others that share the form; "" if that takes too many. A word that another
// name has not cannot be among the words that are added to that one, so the results differ too.
std::string ShortNames::telling_words(const Entry& entry, const Group& group) {
  std::vector<const Entry*> others;
  for (const Entry* each : group) {
    if (each->made.identity != entry.made.identity) others.push_back(each);
  }
  std::vector<bool> taken(entry.words.size());
  for (std::size_t count = 0; !others.empty(); ++count) {
    std::size_t best = entry.words.size();
    std::pair<std::size_t, bool> best_score{0, false};
    for (std::size_t i = 0; i < entry.words.size() && count < kMostTagWords; ++i) {
      const auto apart = static_cast<std::size_t>(std::count_if(
          others.begin(), others.end(), [&](const Entry* each) { return !has(each->sorted_words, entry.words[i]); }));
      const bool much = tells_much(entry.made.parts[i]);
      const std::pair score{much ? 2 * apart : apart, much};
      if (apart > 0 && score > best_score) best = i, best_score = score;
    }
    if (best == entry.words.size()) return {};
    taken[best] = true;
    std::erase_if(others, [&](const Entry* each) { return !has(each->sorted_words, entry.words[best]); });
  }
  std::string text;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) text += (text.empty() ? "" : " ") + entry.made.parts[i];
  }
  return text;
}

void ShortNames::choose(Entry& entry) const {
  const NameForms& made = entry.made;
  entry.shown.clear();
  const auto allowed = [&](std::size_t i) -> std::string {
    const std::string& form = made.texts[i];
    const Group& group = groups_.at(form);
    if (i == 0 || group.size() < 2) return form;
    if (group.size() > kMostTagged || made.parts.empty()) return {};
    const std::string words = telling_words(entry, group);
    std::string tagged = words.empty() ? std::string() : form + " " + words;
    return tagged.size() < made.texts[i - 1].size() ? tagged : std::string();
  };
  // The usual form, or the next longer one that is no other name's too.
  std::size_t first = made.usual;
  std::string longest = allowed(first);
  while (longest.empty() && first > 0) longest = allowed(--first);
  entry.shown.push_back(std::move(longest));
  for (std::size_t i = first + 1; i < made.texts.size(); ++i) {
    std::string form = allowed(i);
    if (!form.empty() && form.size() < entry.shown.back().size()) entry.shown.push_back(std::move(form));
  }
}

const std::vector<std::string>& ShortNames::forms(std::string_view name) {
  Entry& found = entry(name);
  const std::size_t now = stamp(found);
  if (found.shown.empty() || found.stamp != now) {
    choose(found);
    found.stamp = now;
  }
  return found.shown;
}

std::string_view ShortNames::fitting(std::string_view name, std::size_t characters) {
  for (const std::string& form : forms(name)) {
    if (character_count(form) <= characters) return form;
  }
  return {};
}

namespace {

struct Title {
  std::string_view table;
  std::string_view title;
};
constexpr std::array<Title, 65> kTitles = {{{"instruction", "Instruction"},
                                            {"dma", "DMA packet"},
                                            {"dma_transfer", "DMA transfer"},
                                            {"semaphore_update", "Semaphore"},
                                            {"cc_op", "Collective operation"},
                                            {"cc_instruction", "Collective step"},
                                            {"cc_stream", "Collective stream"},
                                            {"pending_dma", "Pending DMA"},
                                            {"dma_throughput", "DMA throughput"},
                                            {"hbm_throughput", "HBM throughput"},
                                            {"sbuf_usage", "SBUF usage"},
                                            {"psum_usage", "PSUM usage"},
                                            {"pe_utilization", "PE utilisation"},
                                            {"throttle", "Throttling"},
                                            {"active_time", "Active time"},
                                            {"layer_summary", "Layer"},
                                            {"neff_node", "Tensor of the program"},
                                            {"neff_subgraph", "Subgraph of the program"},
                                            {"neff_stream", "Instruction stream"},
                                            {"neff_opcode", "Opcode of the program"},
                                            {"neff_instruction", "Instruction of the program"},
                                            {"neff_dma_queue", "DMA queue of the program"},
                                            {"neff_file", "File of the program"},
                                            {"dma_queues_info", "DMA queue"},
                                            {"nc_mem_usage", "Device memory"},
                                            {"neff_header", "Program"},
                                            {"model_info", "Model"},
                                            {"memory_event", "Memory block"},
                                            {"core_barrier", "Barrier between cores"},
                                            {"trace_event", "Runtime event"},
                                            {"framework_event", "Framework call"},
                                            {"host_transfer", "Host transfers"},
                                            {"hbm_usage", "Use of HBM"},
                                            {"host_memory", "Host memory"},
                                            {"cpu_util", "CPU utilisation"},
                                            {"kernel", "GPU kernel"},
                                            {"memcpy", "Copy"},
                                            {"memset", "Memory fill"},
                                            {"runtime_call", "Driver call"},
                                            {"cpu_op", "Operator"},
                                            {"user_annotation", "Annotation"},
                                            {"gpu_user_annotation", "Annotation on the GPU"},
                                            {"python_function", "Python function"},
                                            {"overhead", "Profiler overhead"},
                                            {"cuda_sync", "Synchronisation"},
                                            {"cuda_graph", "CUDA graph"},
                                            {"cuda_event", "CUDA event"},
                                            {"nvtx", "Range of the program"},
                                            {"osrt_call", "System call"},
                                            {"thread_state", "Thread state"},
                                            {"cpu_sample", "CPU sample"},
                                            {"page_fault", "Page fault"},
                                            {"memory_pool", "Memory pool"},
                                            {"diagnostic", "Profiler message"},
                                            {"memory", "Allocation"},
                                            {"collective_comm", "Collective operation"},
                                            {"mtia_ccp_events", "MTIA event"},
                                            {"hpu_op", "HPU operator"},
                                            {"cuda_profiler_range", "Profiler range"},
                                            {"zone", "Zone"},
                                            {"zone_total", "Zone total"},
                                            {"ts_data", "Data marker"},
                                            {"ts_event", "Event marker"},
                                            {"perf_counter", "Performance counter"},
                                            {"run", "Run"}}};

}  // namespace

std::string table_title(std::string_view table) {
  const auto known =
      std::find_if(kTitles.begin(), kTitles.end(), [table](const Title& each) { return each.table == table; });
  if (known != kTitles.end()) return std::string(known->title);
  return capitalised(with_blanks(std::string(table)));
}

}  // namespace accelscope
