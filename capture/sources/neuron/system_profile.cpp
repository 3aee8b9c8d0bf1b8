#include "capture/sources/neuron/system_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <tuple>

#include "capture/sources/neuron/read/table_rules.h"
#include "capture/sources/parquet/table_reader.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/time_range.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::string_view kAttributes = "extra_attributes_json";
constexpr std::string_view kDeviceList = "DeviceProfileList";

// Columns of every event that newer exports keep among the attributes.
constexpr std::string_view kMovedColumns[] = {"size", "tensor_id", "tensor_name", "parent_id"};

[[nodiscard]] bool is_column(std::string_view attribute) noexcept {
  return std::ranges::any_of(tables::kCallAttributes, [&](const ColumnSpec& each) { return each.name == attribute; }) ||
         std::ranges::find(kMovedColumns, attribute) != std::end(kMovedColumns);
}

[[nodiscard]] const json::JsonField* find_field(std::span<const json::JsonField> row, std::string_view key) noexcept {
  const auto found = std::ranges::find(row, key, &json::JsonField::key);
  return found == row.end() || found->kind == json::JsonKind::null ? nullptr : &*found;
}

[[nodiscard]] std::string_view text_of(std::span<const json::JsonField> row, std::string_view key) noexcept {
  const json::JsonField* field = find_field(row, key);
  return field == nullptr ? std::string_view{} : field->text;
}

[[nodiscard]] std::optional<std::int64_t> integer_of(std::span<const json::JsonField> row,
                                                     std::string_view key) noexcept {
  const json::JsonField* field = find_field(row, key);
  return field == nullptr ? std::nullopt : json::to_int64(*field);
}

}  // namespace

SystemSource system_source(std::span<const json::JsonField> row) noexcept {
  constexpr std::int64_t kFrameworkType = 99'999;
  std::string_view stated = text_of(row, "trace_event_source");
  if (stated.empty()) stated = text_of(row, "group");
  if (stated == "neuron_hw" || stated == "hardware") return SystemSource::hardware;
  if (stated == "neuron_rt") return SystemSource::runtime;
  if (stated == "framework" || integer_of(row, "type") == kFrameworkType) return SystemSource::framework;
  const std::string_view name = text_of(row, "name");
  const bool is_hardware = name == kExecutionEvent || name == "cc_running" || name == "cc_exec_barrier";
  return is_hardware ? SystemSource::hardware : SystemSource::runtime;
}

HardwareRow hardware_row(std::string_view event) noexcept {
  if (event == kExecutionEvent) return {"stream", "Executions"};
  if (event.find("barrier") != std::string_view::npos) return {"barrier", "Collective barriers"};
  if (event.starts_with("cc_")) return {"collective", "Collectives"};
  return {"layer", "Notifications"};
}

std::span<const json::JsonField> CallAttributes::spread(std::span<const json::JsonField> row) {
  const auto text = std::ranges::find(row, kAttributes, &json::JsonField::key);
  if (text == row.end() || text->kind == json::JsonKind::null) return row;
  cursor_.emplace(text->text);
  if (!cursor_->enter('{')) return row;
  fields_.assign(row.begin(), text);
  fields_.insert(fields_.end(), text + 1, row.end());
  rest_.clear();
  while (cursor_->next_element('{')) {
    const std::string_view key = cursor_->key();
    if (!cursor_->ok()) return row;
    json::JsonField field = cursor_->value();
    if (!cursor_->ok()) return row;
    field.key = key;
    const bool is_plain = field.kind != json::JsonKind::array && field.kind != json::JsonKind::object;
    if (is_plain && is_column(key) && find_field(fields_, key) == nullptr) {
      fields_.push_back(field);
    } else {
      rest_ += rest_.empty() ? '{' : ',';
      json::append_json(rest_, field);
    }
  }
  if (!cursor_->ok()) return row;
  if (!rest_.empty()) fields_.push_back({kAttributes, rest_ += '}', json::JsonKind::string});
  return fields_;
}

std::optional<std::int64_t> unix_ns_of_date(std::string_view text) {
  // Year, month, day, hour, minute, second, each behind one other character.
  std::array<int, 6> parts{};
  for (int& part : parts) {
    if (!text.empty() && !is_digit(text.front())) text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || !read_number(text.substr(0, digits), part)) return std::nullopt;
    text.remove_prefix(digits);
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  constexpr int kFirstYear = 2001, kLastYear = 2200;
  if (!day.ok() || parts[0] < kFirstYear || parts[0] > kLastYear || parts[3] > 23 || parts[4] > 59 || parts[5] > 60)
    return std::nullopt;
  std::int64_t ns = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    for (std::size_t i = 0; i < 9; ++i) ns = ns * 10 + (i < digits ? text[i] - '0' : 0);
    text.remove_prefix(digits);
  }
  std::int64_t minutes = 0;  // ahead of UTC: " +0530"
  if (text.starts_with(' ')) text.remove_prefix(1);
  int zone = 0;
  if (text.size() >= 5 && (text[0] == '+' || text[0] == '-') && read_number(text.substr(1, 4), zone))
    minutes = (zone / 100 * 60 + zone % 100) * (text[0] == '-' ? -1 : 1);
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  return ((days * 24 + parts[3]) * 60 + parts[4] - minutes) * 60'000'000'000 + parts[5] * 1'000'000'000LL + ns;
}

std::uint32_t SystemCores::find(const SystemCore& core) {
  const bool by_number = core.number >= 0;
  const auto [known, is_new] =
      known_.try_emplace({core.instance, by_number ? fmt::format("{} {}", core.process, core.number) : std::string(),
                          by_number ? std::string() : std::to_string(core.worker)},
                         static_cast<std::uint32_t>(cores_.size()));
  if (is_new) cores_.push_back(core);
  SystemCore& found = cores_[known->second];
  if (found.worker < 0) found.worker = core.worker;
  return known->second;
}

std::string SystemCores::device(std::uint32_t index) const {
  const SystemCore& core = cores_[index];
  if (!core.is_known()) return {};
  if (core.number < 0) return fmt::format("worker {}", core.worker);
  const std::string name = fmt::format("nc{}", core.number);
  const bool is_alone = std::ranges::none_of(cores_, [&](const SystemCore& other) {
    return other.instance == core.instance && other.number == core.number && other.process != core.process;
  });
  if (is_alone) return name;
  return core.worker >= 0 ? fmt::format("{} worker {}", name, core.worker)
                          : fmt::format("{} process {}", name, core.process);
}

std::string_view name_of(TransferDirection direction) noexcept {
  return direction == TransferDirection::to_device ? "Host to device" : "Device to host";
}

std::optional<TransferDirection> HostTransfers::direction_of(std::string_view call) noexcept {
  if (call.starts_with("nrt_tensor_write") || call.starts_with("dmem_buf_copyin")) return TransferDirection::to_device;
  if (call.starts_with("nrt_tensor_read") || call.starts_with("dmem_buf_copyout")) return TransferDirection::to_host;
  return std::nullopt;
}

std::map<HostTransfers::Place, std::vector<HostTransfers::Call>> HostTransfers::pieces(const SystemCores& cores) {
  std::ranges::sort(calls_, {}, [](const Call& call) {
    return std::tuple(call.thread, call.direction, call.start, -call.end, -call.bytes);
  });
  std::map<Place, std::vector<Call>> pieces;
  struct Open {
    Call call;
    std::int64_t inside = 0;  // bytes that the calls within it moved
  };
  std::vector<Open> open;
  const auto knows_core = [&](const Call& call) { return cores.core(call.core).is_known(); };
  const auto close = [&] {
    Open done = open.back();
    open.pop_back();
    const std::int64_t moved = std::max(done.call.bytes, done.inside);
    const std::int64_t own = moved - done.inside;
    if (!open.empty()) {
      open.back().inside = capped_sum(open.back().inside, moved);
      if (!knows_core(open.back().call)) open.back().call.core = done.call.core;
    }
    done.call.bytes = own;
    if (own > 0) pieces[{done.call.core, done.call.direction}].push_back(done.call);
  };
  for (Call call : calls_) {
    const auto holds = [&](const Call& outer) {
      return outer.thread == call.thread && outer.direction == call.direction && outer.end >= call.end;
    };
    while (!open.empty() && !holds(open.back().call)) close();
    if (!open.empty() && !knows_core(call)) call.core = open.back().call.core;
    open.push_back({call});
  }
  while (!open.empty()) close();
  return pieces;
}

std::vector<HostTransfers::Step> HostTransfers::steps(std::span<const Call> pieces) {
  constexpr double kNsPerS = 1e9;
  struct Change {
    std::int64_t time = 0;
    double rate = 0;
    int running = 0;
  };
  std::vector<Change> changes;
  for (const Call& piece : pieces) {
    const std::int64_t end = std::max(piece.end, piece.start + 1);
    const double rate = static_cast<double>(piece.bytes) / static_cast<double>(end - piece.start) * kNsPerS;
    changes.push_back({piece.start, rate, 1});
    changes.push_back({end, -rate, -1});
  }
  std::ranges::sort(changes, {}, &Change::time);
  std::vector<Step> steps;
  double rate = 0;
  int running = 0;
  for (const Change& change : changes) {
    running += change.running;
    rate = running == 0 ? 0 : rate + change.rate;  // roundings do not outlive the last transfer
    if (!steps.empty() && steps.back().time == change.time) {
      steps.back().rate = rate;
    } else {
      steps.push_back({change.time, rate});
    }
  }
  return steps;
}

void EventFlows::links(const std::function<void(std::uint64_t from, std::uint64_t to, std::int64_t start)>& link) {
  std::ranges::sort(ends_);
  for (std::size_t i = 1; i < ends_.size(); ++i) {
    const End& before = ends_[i - 1];
    const End& after = ends_[i];
    if (before.process == after.process && before.flow == after.flow && before.id != after.id)
      link(before.id, after.id, after.start);
  }
}

bool HbmSamples::add(std::span<const json::JsonField> row) {
  constexpr std::string_view kBytes = "_bytes";
  const auto time = integer_of(row, "timestamp");
  if (!time || !is_near_enough(*time)) return false;
  Categories& memory = memories_[{std::string(text_of(row, "instance_id")), integer_of(row, "device_idx").value_or(0),
                                  integer_of(row, "hbm_idx").value_or(0)}];
  for (const json::JsonField& field : row) {
    if (!field.key.ends_with(kBytes)) continue;
    const auto bytes = json::to_int64(field);
    if (!bytes || *bytes < 0) continue;
    const std::string_view name = field.key.substr(0, field.key.size() - kBytes.size());
    auto category = memory.find(name);
    if (category == memory.end()) category = memory.emplace(std::string(name), std::vector<Sample>{}).first;
    category->second.push_back({*time, *bytes});
  }
  return true;
}

void HbmSamples::settle() {
  for (auto& [memory, categories] : memories_) {
    std::erase_if(categories, [](const auto& category) {
      return std::ranges::none_of(category.second, [](const Sample& sample) { return sample.bytes > 0; });
    });
    for (auto& [name, samples] : categories) std::ranges::sort(samples);
  }
}

void SystemProfile::look_at(std::string_view table, std::span<const json::JsonField> row) {
  if (table == "SystemProfileMetadata") hbm_capacity = integer_of(row, "hbm_capacity_bytes").value_or(0);
  if (table != kDeviceList) return;
  listed.push_back({std::string(text_of(row, "device_profile_name")), std::string(text_of(row, "instance_id")),
                    integer_of(row, "process_id").value_or(-1), integer_of(row, "nc_id").value_or(-1),
                    integer_of(row, "model_id").value_or(-1)});
}

std::vector<std::string> listed_profiles(const std::string& folder) {
  std::vector<std::string> names;
  auto bytes =
      parquet::RandomBytes::open((std::filesystem::path(folder) / (std::string(kDeviceList) + ".parquet")).string());
  if (!bytes) return names;
  auto reader = parquet::TableReader::open(std::move(*bytes));
  if (!reader) return names;
  constexpr std::size_t kMostProfiles = 10'000;
  while ((*reader)->next() && names.size() < kMostProfiles)
    names.emplace_back(text_of((*reader)->fields(), "device_profile_name"));
  return names;
}

}  // namespace accelscope::capture::sources::neuron
