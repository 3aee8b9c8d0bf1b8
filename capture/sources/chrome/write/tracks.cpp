#include "capture/sources/chrome/write/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "capture/json/json_cursor.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/text.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr std::size_t kMostRankDigits = 8;

[[nodiscard]] bool chrome_tracks_is_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::string_view kNoNumber = "-1";

[[nodiscard]] std::string device_label(ChromeTable table, const std::string& number) {
  if (table == ChromeTable::mtia_event) return "mtia " + number;
  if (table == ChromeTable::hpu_op) return "hpu " + number;
  if (table == ChromeTable::device_event) return "device " + number;
  return tracks::gpu_name(number);
}

[[nodiscard]] std::string_view kind_of(TablePlace place) noexcept {
  switch (place) {
    case TablePlace::host_thread:
      return "host_thread";
    case TablePlace::stream:
      return "stream";
    case TablePlace::dma_queue:
      return "dma_queue";
    case TablePlace::annotation:
      return "layer";
    case TablePlace::barrier:
      return "barrier";
    case TablePlace::collective:
      return "collective";
    case TablePlace::memory:
      return "memory";
  }
  return "";
}

// "rank 3" of "[TP03]", the label itself of ranks in several dimensions, "DP01-TP03".
[[nodiscard]] std::string rank_in_brackets(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
  const std::string_view number = text.substr(digits);
  if (number.empty() || digits == 0) return {};
  if (number.find_first_not_of("0123456789") != std::string_view::npos) return std::string(text);
  return fmt::format("rank {}", std::atoi(std::string(number.substr(0, kMostRankDigits)).c_str()));
}

// "rank 3" of "RANK 3 - GPU"; "" where the name begins otherwise.
[[nodiscard]] std::string rank_in_name(std::string_view name) {
  constexpr std::string_view kRankWord = "rank ";
  if (lower_case(name.substr(0, kRankWord.size())) != kRankWord) return {};
  const std::size_t end = std::min(name.find_first_not_of("0123456789", kRankWord.size()), name.size());
  if (end == kRankWord.size() || end - kRankWord.size() > kMostRankDigits) return {};
  return fmt::format("rank {}", std::atoi(std::string(name.substr(kRankWord.size(), end)).c_str()));
}

// "GPU 0" of "GPU 0 memory" and "GPU 0 memory Total Allocated"; the host's pool belongs to no device.
[[nodiscard]] std::string device_of_pool(const std::string& pool) {
  const std::size_t end = pool.find(" memory");
  return pool.starts_with("CPU") || end == std::string::npos ? std::string{} : pool.substr(0, end);
}

}  // namespace

std::uint32_t ChromeTracks::add(Planned planned, const ChromeSchema& schema) {
  planned.schema = schema.number;
  planned.events_track = events_.add_track(schema.number, *schema.schema);
  const std::uint32_t number = planned.events_track;
  planned_.push_back(std::move(planned));
  return number;
}

std::uint32_t ChromeTracks::of_thread(std::uint32_t thread, ChromeTable table, const ChromeSchema& schema,
                                      bool on_device) {
  const std::size_t place = std::size_t{thread} * kChromeTableCount + static_cast<std::size_t>(table);
  const bool is_known = place < by_thread_.size() && by_thread_[place] != kNone;
  if (!is_known && planned_.size() >= kMostTracks) {
    ++merged_;
    return named(Sort::async, 0, "further threads " + std::string(rule_of(table).schema), schema);
  }
  if (!is_known) {
    if (place >= by_thread_.size()) by_thread_.resize(place + kChromeTableCount, kNone);
    Planned planned;
    planned.thread = thread;
    planned.table = table;
    planned.on_device = on_device;
    by_thread_[place] = add(std::move(planned), schema);
  }
  return by_thread_[place];
}

std::uint32_t ChromeTracks::named(Sort sort, std::uint32_t thread, std::string_view name, const ChromeSchema& schema) {
  // Rows of one name and several tables are several: each has its table's columns.
  const auto key = std::pair{thread, fmt::format("{} {} {}", schema.number, static_cast<int>(sort), name)};
  if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;
  if (planned_.size() >= kMostTracks && thread != 0) {
    ++merged_;
    return named(sort, 0, "further ones", schema);
  }
  Planned planned;
  planned.sort = sort;
  planned.thread = thread;
  planned.name = name;
  return by_name_[key] = add(std::move(planned), schema);
}

std::uint32_t ChromeTracks::beside(Planned planned, std::string name, const ChromeSchema& schema) {
  const auto key = std::pair{planned.thread, std::move(name)};  // of one table
  if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;
  return by_name_[key] = add(std::move(planned), schema);
}

std::uint32_t ChromeTracks::of_collective_kernels(std::uint32_t thread, const ChromeSchema& schema) {
  return beside({.thread = thread, .table = ChromeTable::kernel, .on_device = true, .collective = true},
                "collective kernels", schema);
}

std::uint32_t ChromeTracks::of_stream(std::uint32_t thread, ChromeTable table, std::int64_t stream,
                                      const ChromeSchema& schema) {
  return beside({.thread = thread, .table = table, .on_device = true, .stream = stream},
                fmt::format("{} of stream {}", rule_of(table).schema, stream), schema);
}

std::uint32_t ChromeTracks::of_unknown_thread(std::uint32_t thread, std::size_t slot, const ChromeSchema& schema) {
  return beside({.thread = thread, .table = ChromeTable::python_function, .slot = slot},
                fmt::format("unknown thread {}", slot), schema);
}

std::uint32_t ChromeTracks::of_async(std::uint32_t thread, StringId category, const ChromeSchema& schema) {
  return named(Sort::async, thread, vocabulary_.strings.text(category), schema);
}

std::uint32_t ChromeTracks::of_counter(std::uint32_t thread, std::string_view name, const ChromeSchema& schema) {
  return named(Sort::counter, thread, name, schema);
}

std::uint32_t ChromeTracks::pool_thread(std::uint32_t thread) {
  const std::string pid = thread_name(thread).pid;
  if (pool_threads_.empty()) first_pool_pid_ = pid;
  return pool_threads_.try_emplace(pid, pool_threads_.empty() ? 0 : thread).first->second;
}

void ChromeTracks::describe_pool(const Planned& planned, bool kineto, Track& track) const {
  track.device = device_of_pool(planned.name);
  const std::string pid = planned.thread == 0 ? first_pool_pid_ : thread_name(planned.thread).pid;
  if (const Rank* const rank = rank_of(pid); rank != nullptr) {
    track.device = rank->label + (track.device.empty() ? "" : " ") + track.device;
  } else if (track.device.empty() && pool_threads_.size() > 1) {
    track.host = host_label(pid, kineto);
  }
}

std::uint32_t ChromeTracks::of_pool(std::uint32_t thread, std::string_view pool, const ChromeSchema& schema) {
  return named(Sort::pool, pool_thread(thread), pool, schema);
}

std::uint32_t ChromeTracks::of_pool_counter(std::uint32_t thread, std::string_view pool, std::string_view name,
                                            const ChromeSchema& schema) {
  return named(Sort::pool_counter, pool_thread(thread), fmt::format("{} {}", pool, name), schema);
}

std::uint32_t ChromeTracks::of_flows(const ChromeSchema& schema) { return named(Sort::flow, 0, "flows", schema); }

bool ChromeTracks::add_metadata(std::string_view name, std::uint32_t thread, std::string_view args) {
  const bool of_process = name.starts_with("process_");
  if (!of_process && !name.starts_with("thread_")) return false;
  const std::string_view what = name.substr(of_process ? 8 : 7);
  if (what != "name" && what != "labels" && what != "sort_index" && what != "words") return false;
  const std::string_view key = vocabulary_.threads.text(thread);
  Names& names = of_process ? processes_[split_thread_key(key).pid] : threads_[std::string(key)];
  // The one value of {"name": ...}, {"labels": ...} or {"sort_index": ...}.
  (void)json::each_member(args, [&](const json::JsonField& value) {
    if (what == "name") {
      names.name = value.text;
    } else if (what == "labels") {
      names.labels = value.text;
    } else if (what == "words") {
      names.words = read_track_description(value.text);
      if (!names.words) return false;
      for (const auto& column : names.words->columns) {
        const bool known =
            std::find(allocation_columns_.begin(), allocation_columns_.end(), column) != allocation_columns_.end();
        if (!known) allocation_columns_.push_back(column);
      }
    } else {
      names.order = json::to_int64(value);
    }
    return false;
  });
  return true;
}

ThreadName ChromeTracks::thread_name(std::uint32_t thread) const {
  return split_thread_key(vocabulary_.threads.text(thread));
}

std::string ChromeTracks::process_label(const std::string& pid) const {
  const auto known = processes_.find(pid);
  const Rank* const rank = rank_of(pid);
  const std::string& number = rank == nullptr ? pid : rank->pid;
  if (known == processes_.end() || known->second.name.empty()) {
    return chrome_tracks_is_number(number) ? "process " + number : number;
  }
  return number.empty() || number == known->second.name ? known->second.name
                                                        : fmt::format("{} ({})", known->second.name, number);
}

// The profiler's labels only say what kind of process it is ("CPU").
std::string ChromeTracks::host_label(const std::string& pid, bool kineto) const {
  const auto known = processes_.find(pid);
  const bool labelled = !kineto && known != processes_.end() && !known->second.labels.empty();
  return labelled ? fmt::format("{} {}", process_label(pid), known->second.labels) : process_label(pid);
}

std::string ChromeTracks::thread_label(const ThreadName& thread) const {
  const auto known = threads_.find(thread_key(thread.pid, thread.tid));
  if (known != threads_.end() && !known->second.name.empty()) return known->second.name;
  return chrome_tracks_is_number(thread.tid) ? "thread " + thread.tid : thread.tid;
}

// "pt_autograd_0" of "thread 1262 (pt_autograd_0)". The name of the process again, or the interpreter's, is not a
// thread's own.
std::string ChromeTracks::own_name(const ThreadName& thread) const {
  const std::string label = thread_label(thread);
  const std::string before = "thread " + thread.tid + " (";
  if (!label.starts_with(before) || !label.ends_with(')')) return {};
  std::string name = label.substr(before.size(), label.size() - before.size() - 1);
  const auto process = processes_.find(thread.pid);
  const bool repeats = process != processes_.end() && process->second.name == name;
  return repeats || name.starts_with("python") ? std::string{} : name;
}

void ChromeTracks::for_each_label(
    const std::function<void(const std::string& pid, const std::string& labels)>& visit) const {
  for (const auto& [pid, names] : processes_) {
    if (!names.labels.empty()) visit(pid, names.labels);
  }
}

bool ChromeTracks::is_device_track(const Planned& planned, bool kineto) const {
  if (planned.sort != Sort::thread) return false;
  if (named_device(planned)) return true;
  if (rule_of(planned.table).place == TablePlace::host_thread) return false;
  return kineto || own_ || planned.on_device;
}

std::optional<tracks::DeviceRow> ChromeTracks::named_device(const Planned& planned) const {
  const bool reported = planned.table == ChromeTable::event;
  if (own_ || planned.sort != Sort::thread || planned.slot > 0) return std::nullopt;
  const ThreadName thread = thread_name(planned.thread);
  const auto process = processes_.find(thread.pid);
  const Names none;
  const Names& names = process == processes_.end() ? none : process->second;
  const bool labelled = tracks::device_of_process(names.labels).has_value();  // "python", labelled "GPU 0"
  const std::string& process_name = labelled ? names.labels : names.name.empty() ? thread.pid : names.name;
  const auto row = threads_.find(thread_key(thread.pid, thread.tid));
  const std::string& row_name = row == threads_.end() || row->second.name.empty() ? thread.tid : row->second.name;
  if (reported) return tracks::device_row(process_name, row_name);
  // The table says what it is; the names still say of which device.
  if (rule_of(planned.table).place == TablePlace::host_thread) return std::nullopt;
  const std::optional<std::string> device = tracks::device_of_process(process_name);
  if (!device || labelled) return std::nullopt;
  return tracks::DeviceRow{*device, kind_of(rule_of(planned.table).place), {}};
}

std::string_view ChromeTracks::place_kind(const Planned& planned) const {
  const auto named = named_device(planned);
  return named ? named->kind : kind_of(rule_of(planned.table).place);
}

void ChromeTracks::describe_on_device(const Planned& planned, Track& track) const {
  const ChromeTableRule& rule = rule_of(planned.table);
  const ThreadName thread = thread_name(planned.thread);
  const auto named_row = named_device(planned);
  track.kind = place_kind(planned);
  // ONNX Runtime writes -1 for all devices, Proton no process at all.
  const bool nameless = thread.pid == kNoNumber || thread.pid.empty();
  const Rank* const rank = rank_of(thread.pid);
  const std::string number = rank == nullptr ? thread.pid : rank->device ? std::to_string(*rank->device) : rank->pid;
  track.device = named_row                         ? named_row->device
                 : nameless                        ? "GPU"
                 : chrome_tracks_is_number(number) ? device_label(planned.table, number)
                                                   : number;
  if (rank != nullptr) track.device = rank->label + " " + track.device;
  const auto known = threads_.find(thread_key(thread.pid, thread.tid));
  const bool named = known != threads_.end() && !known->second.name.empty();
  std::string stream = planned.stream ? std::to_string(*planned.stream) : named ? known->second.name : thread.tid;
  if (stream == kNoNumber) stream = "kernels";
  if (chrome_tracks_is_number(stream)) stream = "stream " + stream;
  while (stream.ends_with(' ')) stream.pop_back();
  const bool by_name = named_row && rule.place == TablePlace::host_thread;
  track.name = rule.place == TablePlace::stream || own_ || by_name ? stream : fmt::format("{} {}", rule.label, stream);
  if (named_row && !named_row->row_title.empty()) track.name = fmt::format("{}, {}", named_row->row_title, stream);
  if (planned.collective) {
    track.kind = "collective";
    if (!own_) track.name = "NCCL, " + stream;
  }
}

std::string ChromeTracks::thread_title(const ThreadName& thread, bool kineto) const {
  if (kineto && chrome_tracks_is_number(thread.tid) && thread.tid == thread.pid) return "Main thread";
  const std::string label = thread_label(thread);
  const std::string plain = "thread " + thread.tid;
  if (!label.starts_with(plain)) return label;
  const std::string name = own_name(thread);
  // Threads that share a name have it from the program.
  const auto shares = std::count_if(threads_.begin(), threads_.end(), [&](const auto& each) {
    return split_thread_key(each.first).pid == thread.pid && each.second.name.ends_with(" (" + name + ")");
  });
  return name.empty() || shares > 1 ? plain : name;
}

std::string ChromeTracks::common_name(const Planned& planned, bool kineto) const {
  if (planned.slot > 0) return "Other Python threads";
  if (planned.sort != Sort::thread || is_device_track(planned, kineto)) return {};
  const bool shared = std::any_of(planned_.begin(), planned_.end(), [&](const Planned& other) {
    return other.sort == Sort::thread && other.thread == planned.thread && other.table != planned.table &&
           other.slot == 0 && rule_of(other.table).place == TablePlace::host_thread;
  });
  return shared ? thread_title(thread_name(planned.thread), kineto) : std::string();
}

bool ChromeTracks::launches(std::uint32_t thread) const { return known(thread, ChromeTable::runtime_call) != kNone; }

void ChromeTracks::describe_on_host(const Planned& planned, bool kineto, Track& track) const {
  const ThreadName thread = thread_name(planned.thread);
  track.kind = "host_thread";
  // The profiler's own marks have names for pids ("Spans", "Traces", "").
  const Rank* const rank = rank_of(thread.pid);
  const std::string& number = rank == nullptr ? thread.pid : rank->pid;
  track.host = kineto && !chrome_tracks_is_number(number) ? "profiler" : host_label(thread.pid, kineto);
  if (rank != nullptr) track.device = rank->label;
  if (planned.slot > 0) {
    // Of the process that the other frames are of.
    const auto known_thread = std::find_if(planned_.begin(), planned_.end(), [&](const Planned& other) {
      return other.sort == Sort::thread && other.slot == 0 && other.thread != planned.thread &&
             (other.table == ChromeTable::python_function || other.table == ChromeTable::cpu_op);
    });
    if (known_thread != planned_.end()) track.host = host_label(thread_name(known_thread->thread).pid, kineto);
    track.name = fmt::format("Python thread {}", planned.slot);
    return;
  }
  const std::string_view label = rule_of(planned.table).label;
  const std::string common = common_name(planned, kineto);
  const std::string own = thread_title(thread, kineto);
  track.name = common.empty() ? own : fmt::format("{} {}", common, label);
  if (track.name.empty()) track.name = "whole trace";
}

void ChromeTracks::describe_in_words(const Planned& planned, Track& track) const {
  const auto known = threads_.find(std::string(vocabulary_.threads.text(planned.thread)));
  if (!own_ || known == threads_.end() || !known->second.words) return;
  track.kind = known->second.words->kind;
  track.device = known->second.words->device;
  track.host = known->second.words->host;
}

Track ChromeTracks::describe(const Planned& planned, bool kineto) const {
  Track track;
  track.number = events_.number(planned.events_track);
  track.schema = planned.schema;
  track.name = planned.name;
  switch (planned.sort) {
    case Sort::thread:
      if (is_device_track(planned, kineto)) {
        describe_on_device(planned, track);
      } else {
        describe_on_host(planned, kineto, track);
      }
      describe_in_words(planned, track);
      break;
    case Sort::async:
      track.kind = "host_thread";
      track.host = host_label(thread_name(planned.thread).pid, kineto);
      track.name = planned.name.empty() ? "asynchronous" : "asynchronous: " + planned.name;
      break;
    case Sort::counter:
      track.kind = "counter";
      track.host = host_label(thread_name(planned.thread).pid, kineto);
      break;
    case Sort::pool:
      track.kind = "memory";
      describe_pool(planned, kineto, track);
      break;
    case Sort::pool_counter:
      track.kind = "counter";
      track.unit = "B";
      describe_pool(planned, kineto, track);
      break;
    case Sort::flow:
      track.kind = "flow";
      break;
  }
  return track;
}

namespace {

// As programs call the thread that they begin with: "main", "MainThread" of Python, "CrBrowserMain" of Chrome.
bool names_main(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "main" || lower == "mainthread" || lower == "main thread" || lower == "main_thread" ||
         (name.starts_with("Cr") && name.ends_with("Main"));
}

}  // namespace

std::vector<std::size_t> ChromeTracks::in_order(bool kineto) const {
  struct Place {
    std::int64_t process_order = 0;
    std::string pid;
    int rank = 0;  // the main thread, others that launch, others
    std::int64_t thread_order = 0;
    std::string tid;
    int table_order = 0;
    std::string name;
  };
  const auto order_in = [](const std::unordered_map<std::string, Names>& names, const std::string& key) {
    const auto known = names.find(key);
    return known == names.end() ? 0 : known->second.order.value_or(0);
  };
  std::vector<Place> places;
  for (const Planned& planned : planned_) {
    const ThreadName thread = planned.thread == 0 ? ThreadName{} : thread_name(planned.thread);
    const bool main = thread.pid == thread.tid || (!kineto && planned.thread != 0 && names_main(thread_label(thread)));
    const int rank = main ? 1 : planned.thread != 0 && launches(planned.thread) ? 2 : 3;
    // Threads that the profiler does not know come after those that it does.
    const std::int64_t process =
        planned.slot > 0 ? std::numeric_limits<std::int64_t>::max() : order_in(processes_, thread.pid);
    places.push_back({process, thread.pid, rank, order_in(threads_, thread_key(thread.pid, thread.tid)), thread.tid,
                      rule_of(planned.table).order, planned.name});
  }
  const auto natural = [](const std::string& a, const std::string& b) {
    return natural_less(a, b) ? -1 : natural_less(b, a) ? 1 : 0;
  };
  std::vector<std::size_t> order(planned_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const Place& a = places[left];
    const Place& b = places[right];
    if (a.process_order != b.process_order) return a.process_order < b.process_order;
    if (const int pids = natural(a.pid, b.pid); pids != 0) return pids < 0;
    if (kineto && a.rank != b.rank) return a.rank < b.rank;
    if (a.thread_order != b.thread_order) return a.thread_order < b.thread_order;
    if (a.rank != b.rank) return a.rank < b.rank;  // where the trace itself states no order
    if (const int tids = natural(a.tid, b.tid); tids != 0) return tids < 0;
    if (a.table_order != b.table_order) return a.table_order < b.table_order;
    return natural(a.name, b.name) < 0;
  });
  return order;
}

bool ChromeTracks::wants_facts(std::uint32_t thread) noexcept {
  constexpr std::uint8_t kMostAsked = 16;
  if (thread >= asked_.size()) asked_.resize(std::size_t{thread} + 1, 0);
  return asked_[thread] < kMostAsked;
}

void ChromeTracks::add_facts(std::uint32_t thread, std::optional<std::int64_t> rank,
                             std::optional<std::int64_t> device) {
  ++asked_[thread];
  if (!rank && !device) return;
  EventFacts& facts = reported_[thread_name(thread).pid];
  if (!facts.rank) facts.rank = rank;
  if (!facts.device) facts.device = device;
}

void ChromeTracks::find_ranks(bool has_devices) {
  if (own_ || !has_devices) return;
  std::set<std::int64_t> stated;
  for (const auto& [pid, facts] : reported_) {
    if (facts.rank) stated.insert(*facts.rank);
  }
  std::map<std::string, std::uint32_t> numbers;
  for (const Planned& planned : planned_) {
    if (planned.thread == 0 && planned.sort != Sort::thread) continue;
    const std::string pid = thread_name(planned.thread).pid;
    if (ranks_.contains(pid)) continue;
    Rank rank{.label = {}, .pid = pid};
    const std::size_t close = pid.find("] ");
    if (pid.starts_with('[') && close != std::string::npos) {
      rank.label = rank_in_brackets(std::string_view(pid).substr(1, close - 1));
      if (!rank.label.empty()) rank.pid = pid.substr(close + 2);
    }
    const auto known = processes_.find(pid);
    if (rank.label.empty() && known != processes_.end()) rank.label = rank_in_name(known->second.name);
    const auto facts = reported_.find(pid);
    if (facts != reported_.end()) {
      if (rank.label.empty() && facts->second.rank && *facts->second.rank >= 0 && stated.size() > 1)
        rank.label = fmt::format("rank {}", *facts->second.rank);
      rank.device = facts->second.device;
    }
    if (rank.label.empty()) continue;
    numbers.try_emplace(rank.label, 0);
    ranks_.emplace(pid, std::move(rank));
  }
  std::uint32_t next = 1;
  for (auto& [label, number] : numbers) number = next++;
  for (auto& [pid, rank] : ranks_) rank.number = numbers.at(rank.label);
}

const ChromeTracks::Rank* ChromeTracks::rank_of(const std::string& pid) const {
  const auto found = ranks_.find(pid);
  return found == ranks_.end() ? nullptr : &found->second;
}

std::vector<tracks::TrackEvents::TimeUse> ChromeTracks::time_uses() const {
  std::vector<tracks::TrackEvents::TimeUse> uses(events_.size());
  for (const Planned& planned : planned_) {
    tracks::TrackEvents::TimeUse& use = uses[planned.events_track];
    const WorkKind work = track_kind_of(place_kind(planned)).work;
    use.on_host = planned.sort == Sort::thread && work == WorkKind::host;
    use.in_order = planned.sort == Sort::thread && !planned.collective &&
                   tracks::is_in_order(place_kind(planned), rule_of(planned.table).schema);
  }
  return uses;
}

FlowBinder::Tracks ChromeTracks::bound_tracks() const {
  FlowBinder::Tracks tracks;
  std::unordered_map<std::string, std::uint32_t> processes;
  for (const Planned& planned : planned_) {
    const std::string pid = planned.thread == 0 ? std::string() : thread_name(planned.thread).pid;
    const auto process = processes.try_emplace(pid, static_cast<std::uint32_t>(processes.size())).first->second;
    const Rank* const rank = rank_of(pid);
    const Schema& schema = events_.schema(planned.events_track);
    tracks[events_.number(planned.events_track)] = {planned.thread,
                                                    planned.table,
                                                    &schema,
                                                    schema.kind == EventKind::slice && planned.sort == Sort::thread,
                                                    planned.events_track,
                                                    process,
                                                    rank == nullptr ? 0 : rank->number};
  }
  return tracks;
}

Result<void> ChromeTracks::define_all(EventSink& sink, SessionWriter& writer, ClockNumber clock, bool kineto) const {
  std::int64_t place = 0;
  std::unordered_map<std::uint32_t, TrackNumber> common;  // by thread
  for (const std::size_t index : in_order(kineto)) {
    const Planned& planned = planned_[index];
    Track track = describe(planned, kineto);
    if (std::string name = common_name(planned, kineto); !name.empty()) {
      const auto [above, added] = common.try_emplace(planned.thread, kNone);
      if (added) {
        Track thread;
        thread.number = above->second = writer.add_track({});
        thread.name = std::move(name);
        thread.kind = track.kind;
        thread.host = track.host;
        thread.device = track.device;
        thread.order = place++;
        if (Result<void> done = sink.define(thread); !done) return done;
      }
      track.parent = above->second;
    }
    track.clock = clock;
    track.order = place++;
    if (Result<void> done = sink.define(track); !done) return done;
    if (events_.doubtful(planned.events_track) == kNone) continue;
    const Track aside = tracks::doubtful_track(track, events_.doubtful(planned.events_track), place++);
    if (Result<void> done = sink.define(aside); !done) return done;
  }
  return {};
}

}  // namespace accelscope::capture::sources::chrome
