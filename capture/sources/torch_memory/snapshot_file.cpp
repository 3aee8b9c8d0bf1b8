#include "capture/sources/torch_memory/snapshot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace accelscope::capture::sources::torch_memory {
namespace {

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 60;  // no memory is larger, and sums of them fit
constexpr std::uint64_t kLargestAddress = ~std::uint64_t{0} - kLargestSize;
constexpr std::int64_t kLatestTimeUs = 9'000'000'000'000'000;  // in ns it fits 64 bits
constexpr std::size_t kMostDevices = 1024;
constexpr std::uint64_t kSmallSegmentBytes = 2U << 20;

struct ActionRow {
  std::string_view name;
  TraceAction action;
};
// The last one is of those that are taken while a program runs.
constexpr std::string_view kParts[] = {"segments", "device_traces", "allocator_settings", "external_annotations",
                                       "accelscope"};
constexpr ActionRow kActions[] = {
    {"alloc", TraceAction::alloc},
    {"free", TraceAction::free_completed},
    {"free_requested", TraceAction::free_requested},
    {"free_completed", TraceAction::free_completed},
    {"segment_alloc", TraceAction::segment_alloc},
    {"segment_free", TraceAction::segment_free},
    {"segment_map", TraceAction::segment_map},
    {"segment_unmap", TraceAction::segment_unmap},
    {"snapshot", TraceAction::snapshot},
    {"oom", TraceAction::oom},
};

// In the order of SnapshotFile::Field.
constexpr std::string_view kEntryFields[] = {"action",        "addr",    "size",        "stream",
                                             "time_us",       "frames",  "device_free", "compile_context",
                                             "user_metadata", "category"};

// What a segment has asked for is the sum of its blocks; old blocks have the rest in their history.
constexpr std::string_view kSegmentFields[] = {"device",        "address", "total_size",   "allocated_size",
                                               "active_size",   "stream",  "segment_type", "segment_pool_id",
                                               "is_expandable", "frames",  "blocks",       "requested_size"};
constexpr std::string_view kBlockFields[] = {"address", "size", "requested_size", "state", "frames", "history"};

struct StateRow {
  std::string_view name;
  BlockState state;
};
constexpr StateRow kStates[] = {
    {"active_allocated", BlockState::allocated},
    {"active_pending_free", BlockState::pending},
    {"active_awaiting_free", BlockState::pending},
    {"inactive", BlockState::inactive},
};

constexpr std::string_view kTooManyFields = "it has more fields than any version writes";

// They are looked for one by one.
[[nodiscard]] bool has_too_many_fields(const PickleData& data, PickleValue dict) {
  constexpr std::size_t kMostFields = 64;
  return data.keys(data.shape(dict)).size() > kMostFields;
}

[[nodiscard]] std::string tuple_text(const PickleData& data, PickleValue value) {
  constexpr std::size_t kMostParts = 4;  // of an id; it has two
  const auto all = data.list(value);
  const auto items = all.first(std::min(all.size(), kMostParts));
  std::string text;
  bool any = false;
  for (const PickleValue item : items) {
    const std::int64_t number = data.to_int64(item).value_or(0);
    any = any || number != 0;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  }
  return any ? "(" + text + ")" : "";
}

}  // namespace

// A row takes two bytes of the file at least.
bool SnapshotFile::take_row() {
  if (rows_left_ == 0) {
    ++rows_beyond_;
    return false;
  }
  --rows_left_;
  return true;
}

Result<SnapshotFile> SnapshotFile::open(const PickleData& data, std::uint64_t most_rows, ImportReport& report) {
  SnapshotFile file(data, most_rows);
  const PickleValue root = data.root();
  const bool is_dict = PickleData::kind(root) == pickle::PickleKind::dict;
  // Versions before 2.0 wrote the segments alone.
  const PickleValue segments = is_dict ? data.find(root, "segments") : root;
  const PickleValue traces = is_dict ? data.find(root, "device_traces") : PickleValue{};
  const auto is_list = [](PickleValue value) { return PickleData::kind(value) == pickle::PickleKind::list; };
  const auto looks_like_segment = [&](PickleValue value) { return file.number(value, "total_size").has_value(); };
  const auto listed = data.list(segments);
  if (is_dict ? !is_list(segments) && !is_list(traces)
              : !is_list(segments) || (!listed.empty() && !looks_like_segment(listed.front()))) {
    return Error{
        "its data are no memory snapshot: neither segments nor traces of devices are in them; write it with "
        "torch.cuda.memory._dump_snapshot"};
  }
  for (const PickleValue segment : listed) {
    if (file.take_row()) file.read_segment(segment, report);
  }
  std::int64_t device = 0;
  for (const PickleValue trace : data.list(traces)) {
    if (file.devices_.size() >= kMostDevices) break;
    // Devices without anything are those that the program did not use.
    if (const auto entries = data.list(trace); !entries.empty()) {
      const std::size_t taken = std::min<std::uint64_t>(entries.size(), file.rows_left_);
      file.devices_[device].entries = entries.first(taken);
      file.rows_left_ -= taken;
      file.rows_beyond_ += entries.size() - taken;
    }
    ++device;
  }
  for (auto& [number, each] : file.devices_) {
    std::stable_sort(each.segments.begin(), each.segments.end(),
                     [](const TorchSegment& a, const TorchSegment& b) { return a.address < b.address; });
  }
  report.note(QualityKind("rows_left_out").as(Severity::warning),
              "segments, blocks or entries were left out: the same lists stand in more places of the file than it has "
              "bytes, as no allocator writes them",
              file.rows_beyond_);
  file.settings_ = is_dict ? data.find(root, "allocator_settings") : PickleValue{};
  for (const PickleValue key : data.keys(data.shape(root))) {
    const std::string_view name = data.text(key);
    if (std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts)) continue;
    report.note("unknown_fields", fmt::format("the snapshot has a part \"{}\" that is not known here", name));
  }
  for (const PickleValue gap : data.list(data.find(data.find(root, "accelscope"), "gaps"))) {
    file.gaps_.insert(data.to_int64(gap).value_or(-1));
  }
  if (is_dict) file.read_annotations(data.find(root, "external_annotations"), report);
  return file;
}

std::optional<std::uint64_t> SnapshotFile::number(PickleValue dict, std::string_view key) const {
  return data_->to_uint64(data_->find(dict, key));
}

void SnapshotFile::read_segment(PickleValue value, ImportReport& report) {
  TorchSegment segment;
  if (has_too_many_fields(*data_, value)) return report.skipped_row("segments", kTooManyFields, 0);
  const auto address = number(value, "address");
  const auto size = number(value, "total_size");
  if (!address || !size || *address > kLargestAddress || *size > kLargestSize) {
    return report.skipped_row("segments", "it has no address or size", 0);
  }
  const std::int64_t device = data_->to_int64(data_->find(value, "device")).value_or(0);
  if (!devices_.contains(device) && devices_.size() >= kMostDevices) {
    return report.skipped_row("segments", "there are more devices than can be", 0);
  }
  note_unknown(value, "segments", kSegmentFields, report);
  segment.address = *address;
  segment.size = *size;
  segment.stream = number(value, "stream").value_or(0);
  segment.stated_allocated = number(value, "allocated_size").value_or(0);
  segment.stated_active = number(value, "active_size").value_or(0);
  const std::string_view type = data_->text(data_->find(value, "segment_type"));
  segment.small = type.empty() ? *size <= kSmallSegmentBytes : type == "small";
  segment.expandable = data_->to_int64(data_->find(value, "is_expandable")).value_or(0) != 0;
  segment.pool = tuple_text(*data_, data_->find(value, "segment_pool_id"));
  segment.frames = data_->find(value, "frames");
  read_blocks(data_->find(value, "blocks"), segment, report);
  devices_[device].segments.push_back(std::move(segment));
}

// Blocks of versions before 2.1 say no address: they lie one behind the other. What was asked for, and by whom, stood
// in their history.
void SnapshotFile::read_blocks(PickleValue value, TorchSegment& segment, ImportReport& report) {
  std::uint64_t next = segment.address;
  for (const PickleValue row : data_->list(value)) {
    if (!take_row()) break;
    TorchBlock block;
    if (has_too_many_fields(*data_, row)) {
      report.skipped_row("blocks", kTooManyFields, 0);
      continue;
    }
    const auto size = number(row, "size");
    if (!size || *size > kLargestSize) {
      report.skipped_row("blocks", "it has no size", 0);
      continue;
    }
    note_unknown(row, "blocks", kBlockFields, report);
    block.size = *size;
    block.address = number(row, "address").value_or(next);
    const std::string_view name = data_->text(data_->find(row, "state"));
    const auto state =
        std::find_if(std::begin(kStates), std::end(kStates), [&](const StateRow& each) { return each.name == name; });
    if (state != std::end(kStates)) {
      block.state = state->state;
    } else {
      report.note("unknown_types", fmt::format("blocks of a state that is not known (\"{}\") count as free", name));
    }
    const auto history = data_->list(data_->find(row, "history"));
    const PickleValue last = history.empty() ? PickleValue{} : history.front();
    block.requested = number(row, "requested_size").value_or(number(last, "real_size").value_or(block.size));
    if (block.state == BlockState::inactive || block.requested > block.size) block.requested = block.size;
    block.frames = data_->find(row, "frames");
    if (data_->list(block.frames).empty()) block.frames = data_->find(last, "frames");
    const std::uint64_t end = segment.address + segment.size;
    if (block.address < segment.address || block.address > end || block.size > end - block.address) {
      report.skipped_row("blocks", "it lies outside of its segment", 0);
      continue;
    }
    next = block.address + block.size;
    segment.blocks.push_back(block);
  }
  std::stable_sort(segment.blocks.begin(), segment.blocks.end(),
                   [](const TorchBlock& a, const TorchBlock& b) { return a.address < b.address; });
}

void SnapshotFile::read_annotations(PickleValue value, ImportReport& report) {
  for (const PickleValue row : data_->list(value)) {
    const std::string_view stage = data_->text(data_->find(row, "stage"));
    const auto time = data_->to_int64(data_->find(row, "time_us"));
    if (!time || *time < 0 || *time > kLatestTimeUs || (stage != "START" && stage != "END")) {
      report.skipped_row("external_annotations", "it has no time, or is neither a start nor an end", 0);
      continue;
    }
    annotations_.push_back({stage == "START", std::string(data_->text(data_->find(row, "name"))),
                            data_->to_int64(data_->find(row, "device")).value_or(0), *time});
  }
  std::stable_sort(annotations_.begin(), annotations_.end(),
                   [](const TorchAnnotation& a, const TorchAnnotation& b) { return a.time_us < b.time_us; });
}

const SnapshotFile::EntryShape& SnapshotFile::shape_of(PickleValue entry) {
  const std::uint32_t number = data_->shape(entry);
  const auto [place, is_new] = shapes_.try_emplace(number);
  EntryShape& shape = place->second;
  if (!is_new) return shape;
  shape.place.fill(-1);
  const auto keys = data_->keys(number);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view name = data_->text(keys[i]);
    const auto known = std::find(std::begin(kEntryFields), std::end(kEntryFields), name);
    if (known != std::end(kEntryFields)) {
      shape.place[static_cast<std::size_t>(known - std::begin(kEntryFields))] = static_cast<std::int32_t>(i);
    } else {
      shape.unknown.emplace_back(name);
    }
  }
  return shape;
}

std::optional<TraceEntry> SnapshotFile::entry(PickleValue value, std::string_view& why) {
  if (PickleData::kind(value) != pickle::PickleKind::dict) {
    why = "it is no dictionary";
    return std::nullopt;
  }
  const EntryShape& shape = shape_of(value);
  const auto values = data_->values(value);
  const auto field = [&](Field which) {
    const std::int32_t place = shape.place[which];
    return place < 0 ? PickleValue{} : values[static_cast<std::size_t>(place)];
  };
  TraceEntry entry;
  entry.name = field(kAction);
  const std::string_view action = data_->text(entry.name);
  const auto known =
      std::find_if(std::begin(kActions), std::end(kActions), [&](const ActionRow& row) { return row.name == action; });
  if (action.empty()) {
    why = "it says no action";
    return std::nullopt;
  }
  if (known != std::end(kActions)) entry.action = known->action;
  const auto address = data_->to_uint64(field(entry.action == TraceAction::oom ? kDeviceFree : kAddr));
  const auto size = data_->to_uint64(field(kSize));
  const bool lies_somewhere =
      entry.action != TraceAction::unknown && entry.action != TraceAction::snapshot && entry.action != TraceAction::oom;
  if (lies_somewhere && (!address || !size)) {
    why = "it has no address or size";
    return std::nullopt;
  }
  entry.address = address.value_or(0);
  entry.size = size.value_or(0);
  if (entry.size > kLargestSize || (lies_somewhere && entry.address > kLargestAddress)) {
    why = "its address or size is larger than any memory";
    return std::nullopt;
  }
  entry.stream = data_->to_uint64(field(kStream)).value_or(0);
  const auto time = data_->to_int64(field(kTime));
  if (time && *time >= 0 && *time <= kLatestTimeUs) entry.time_us = time;
  entry.frames = field(kFrames);
  entry.compile_context = field(kCompileContext);
  entry.user_metadata = field(kUserMetadata);
  entry.category = field(kCategory);
  return entry;
}

void SnapshotFile::note_unknown(PickleValue dict, std::string_view what, std::span<const std::string_view> known,
                                ImportReport& report) {
  const std::uint32_t number = data_->shape(dict);
  const auto [further, is_new] = further_fields_.try_emplace(number);
  for (const PickleValue key : is_new ? data_->keys(number) : std::span<const PickleValue>()) {
    const std::string_view name = data_->text(key);
    if (std::find(known.begin(), known.end(), name) == known.end()) further->second.emplace_back(name);
  }
  for (const std::string& name : further->second) {
    report.note("unknown_fields", fmt::format("{} have a field \"{}\" that is not known here", what, name));
  }
}

void SnapshotFile::count_unknown(PickleValue entry) {
  for (const std::string& name : shape_of(entry).unknown) ++unknown_fields_[name];
}

namespace {

// Where Python's libraries lie: frames in there tell less than the one of the program that called them.
constexpr std::string_view kLibraryFolders[] = {"site-packages/", "dist-packages/", "/lib/python"};
// Frames of C++ that every allocation goes through.
constexpr std::string_view kPlumbing[] = {"torch::unwind",
                                          "torch::CapturedTraceback",
                                          "torch::cuda::",
                                          "c10::",
                                          "at::detail::",
                                          "at::(anonymous namespace)",
                                          "at::TensorBase at::detail",
                                          "at::native::empty",
                                          "at::empty"};
constexpr std::size_t kMostFrames = 4096;
constexpr std::size_t kMostStackBytes = 64U << 10;
constexpr std::string_view kOperators = "at::_ops::";

[[nodiscard]] bool is_python(std::string_view file) noexcept {
  return file.ends_with(".py") || (file.starts_with('<') && file.ends_with('>'));
}

[[nodiscard]] bool is_library(std::string_view file) noexcept {
  return std::any_of(std::begin(kLibraryFolders), std::end(kLibraryFolders),
                     [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; });
}

[[nodiscard]] bool is_plumbing(std::string_view function) noexcept {
  return std::any_of(std::begin(kPlumbing), std::end(kPlumbing),
                     [&](std::string_view begin) { return function.starts_with(begin); });
}

// "_to_copy" of "at::_ops::_to_copy::call(at::Tensor const&, ...)"; else the function without its arguments.
[[nodiscard]] std::string_view short_function(std::string_view function) noexcept {
  if (function.starts_with(kOperators)) {
    function.remove_prefix(kOperators.size());
    return function.substr(0, function.find("::"));
  }
  const std::size_t arguments = function.find('(', function.starts_with('(') ? 1 : 0);
  return arguments == 0 ? function : function.substr(0, arguments);
}

[[nodiscard]] std::string_view file_name_of(std::string_view path) noexcept {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

const StackName& StackNames::of(pickle::PickleValue frames) {
  const auto [place, is_new] = known_.try_emplace(frames.word);
  if (is_new) place->second = make(frames);
  return place->second;
}

StackNames::Frame StackNames::frame_of(pickle::PickleValue value) const {
  constexpr std::size_t kMostFields = 64;  // they are looked for one by one
  if (data_.keys(data_.shape(value)).size() > kMostFields) return {};
  return {data_.text(data_.find(value, "name")), data_.text(data_.find(value, "filename")),
          data_.to_int64(data_.find(value, "line")).value_or(0)};
}

StackName StackNames::make(pickle::PickleValue frames) {
  const auto list = data_.list(frames);
  if (list.empty()) return {};
  std::string text;
  std::size_t frames_left = kMostFrames;
  std::optional<Frame> of_program, of_library, operation, inner;
  for (const pickle::PickleValue value : list) {
    const Frame frame = frame_of(value);
    const std::size_t bytes = text.size() + frame.function.size() + frame.file.size();
    if (frames_left-- == 0 || bytes > std::min(kMostStackBytes, text_left_)) {
      ++cut_;
      break;  // what lies further out is cut
    }
    if (!text.empty()) text += '\n';
    text += frame.function;
    if (frame.line > 0) text += fmt::format(" ({}:{})", frame.file, frame.line);
    if (is_python(frame.file)) {
      std::optional<Frame>& innermost = is_library(frame.file) ? of_library : of_program;
      if (!innermost) innermost = frame;
    } else if (frame.function.starts_with(kOperators)) {
      operation = frame;  // the outermost: what was called for
    } else if (!inner && !frame.function.empty() && !is_plumbing(frame.function)) {
      inner = frame;
    }
  }
  text_left_ -= std::min(text_left_, text.size());
  StackName name;
  name.stack = writer_.intern(text);
  const std::optional<Frame> python = of_program ? of_program : of_library;
  const std::optional<Frame> reported = python ? python : operation ? operation : inner;
  if (!reported) {
    name.name = writer_.intern(short_function(frame_of(list.front()).function.substr(0, kMostStackBytes)));
    return name;
  }
  if (python) {
    name.name =
        writer_.intern(fmt::format("{} ({}:{})", reported->function, file_name_of(reported->file), reported->line));
    name.source = writer_.intern(fmt::format("{}:{}", reported->file, reported->line));
  } else {
    name.name = writer_.intern(short_function(reported->function));
  }
  return name;
}

}  // namespace accelscope::capture::sources::torch_memory
