#include "core/base/capped.h"
#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "core/base/format.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/names/name_forms.h"

namespace accelscope::exporting {
namespace {

using FrameId = std::uint32_t;

// Frames by number, as a line may hold them: without what separates them.
class FrameNames {
 public:
  explicit FrameNames(const StringPool& strings) : strings_(strings) {}

  [[nodiscard]] FrameId of(std::string_view text) {
    std::string frame(text.empty() ? "(no name)" : text);
    for (char& c : frame) {
      if (c == ';') c = ':';
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    }
    const auto [place, added] = numbers_.try_emplace(std::move(frame), static_cast<FrameId>(names_.size()));
    if (added) names_.push_back(&place->first);
    return place->second;
  }
  [[nodiscard]] FrameId of(StringId id) {
    const auto [place, added] = known_.try_emplace(id, 0);
    if (added) place->second = of(strings_.text(id));
    return place->second;
  }
  // The parts of a path, the topmost first.
  [[nodiscard]] std::vector<FrameId> of_path(std::string_view path) { return split(path, '/'); }
  // The lines of a recorded stack, whose innermost comes first.
  [[nodiscard]] std::vector<FrameId> of_stack(std::string_view stack) {
    std::vector<FrameId> frames = split(stack, '\n');
    std::reverse(frames.begin(), frames.end());
    return frames;
  }
  [[nodiscard]] const std::string& text(FrameId id) const { return *names_[id]; }

 private:
  std::vector<FrameId> split(std::string_view text, char between) {
    std::vector<FrameId> frames;
    while (!text.empty() && frames.size() < NameLimits::kFrames) {
      const std::size_t end = std::min(text.find(between), text.size());
      if (end > 0) frames.push_back(of(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!text.empty()) frames.push_back(of(std::string_view("(further frames)")));
    return frames;
  }

  const StringPool& strings_;
  std::unordered_map<std::string, FrameId> numbers_;
  std::vector<const std::string*> names_;
  std::unordered_map<StringId, FrameId> known_;
};

// Stacks as a tree, and the time of each node.
class StackTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    FrameId frame = 0;
    std::int64_t self_ns = 0;
  };
  StackTree() : nodes_(1) {}
  [[nodiscard]] std::uint32_t below(std::uint32_t parent, FrameId frame) {
    const auto [place, added] =
        children_.try_emplace(std::uint64_t{parent} << 32 | frame, static_cast<std::uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({parent, frame, 0});
    return place->second;
  }
  void add(std::uint32_t node, std::int64_t ns) { nodes_[node].self_ns = capped_sum(nodes_[node].self_ns, ns); }
  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<Node> nodes_;  // the first is above all
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

// The stacks that one thread has met.
class StackCollector {
 public:
  StackCollector(const ExportRequest& request, const ExportPlan& plan, const TrackGroups& groups)
      : plan_(plan),
        groups_(groups),
        range_(request.range),
        strings_(*request.query.snapshot->strings),
        frames_(strings_),
        reader_(request.query, request.range) {}

  Result<void> collect(const EventPiece& piece) {
    const ExportTrack& track = plan_.tracks[piece.track];
    if (Result<void> opened = reader_.open(track, piece); !opened) return opened;
    const Track& of = *track.snapshot->track;
    root_ = tree_.below(tree_.below(0, frames_.of(groups_.all()[groups_.of(of)].title)), frames_.of(of.name));
    track.nested ? collect_nested(piece) : collect_flat();
    events_ += reader_.events().size();
    return {};
  }

  void merge_into(std::map<std::string, std::int64_t>& lines) const {
    const std::vector<StackTree::Node>& nodes = tree_.nodes();
    std::vector<std::string> paths(nodes.size());  // parents come before their children
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      paths[i] = paths[nodes[i].parent];
      if (!paths[i].empty()) paths[i] += ';';
      paths[i] += frames_.text(nodes[i].frame);
      if (nodes[i].self_ns <= 0) continue;
      std::int64_t& line_ns = lines[paths[i]];
      line_ns = capped_sum(line_ns, nodes[i].self_ns);
    }
  }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  void add(std::uint32_t node, std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, range_.begin_ns);
    end = std::min(end, range_.end_ns);
    if (end > begin) tree_.add(node, end - begin);
  }

  // Time goes to whatever is innermost; a piece counts from its window's begin to its end.
  void collect_nested(const EventPiece& piece) {
    std::vector<std::uint32_t> stack{root_};
    std::int64_t since = 0;
    for (const PieceEvent& event : reader_.open_before()) {
      stack.push_back(tree_.below(stack.back(), frames_.of(reader_.name(event))));
      since = reader_.ns(piece.window.begin);
    }
    const auto pass = [&](std::int64_t now) {
      if (stack.size() > 1) add(stack.back(), since, now);
      since = now;
    };
    reader_.walk(
        [&](const PieceEvent& event) {
          pass(reader_.ns(event.begin));
          stack.push_back(tree_.below(stack.back(), frames_.of(reader_.name(event))));
        },
        [&](const PieceEvent& event) {
          pass(reader_.ns(event.end));
          stack.pop_back();
        });
    if (stack.size() > 1) add(stack.back(), since, reader_.ns(piece.window.end));
  }

  void collect_flat() {
    const Schema& schema = reader_.schema();
    const std::optional<std::size_t> layer = schema.find(Role::layer);
    const std::optional<std::size_t> recorded = schema.find(Role::stack);
    for (const PieceEvent& event : reader_.events()) {
      std::uint32_t node = root_;
      if (layer) node = above(event, schema, *layer, true, node);
      if (recorded && node == root_) node = above(event, schema, *recorded, false, node);
      node = tree_.below(node, frames_.of(reader_.name(event)));
      add(node, reader_.ns(event.begin), reader_.ns(event.end));
    }
  }

  // The node of the frames that a column states.
  std::uint32_t above(const PieceEvent& event, const Schema& schema, std::size_t column, bool path,
                      std::uint32_t node) {
    const ColumnType type = schema.columns[column].type;
    const BlockValues values = reader_.at(event).column(column, type);
    const std::uint32_t at = event.row % kBlockEvents;
    if (!values.has(at) || (type != ColumnType::string && type != ColumnType::text)) return node;
    const std::string_view text = type == ColumnType::text ? reader_.text(event, column)
                                                           : strings_.text(static_cast<StringId>(values.values[at]));
    for (const FrameId frame : path ? frames_.of_path(text) : frames_.of_stack(text)) node = tree_.below(node, frame);
    return node;
  }

  const ExportPlan& plan_;
  const TrackGroups& groups_;
  const TimeRange range_;
  const StringPool& strings_;
  FrameNames frames_;
  StackTree tree_;
  PieceReader reader_;
  std::uint32_t root_ = 0;
  std::uint64_t events_ = 0;
};

[[nodiscard]] bool has_length(const TrackSnapshot& track) { return track.schema->kind == EventKind::slice; }

}  // namespace

Result<ExportReport> write_collapsed(const ExportRequest& request, ExportOutput& output) {
  const ExportPlan plan = TRY(plan_export(request, has_length));
  std::vector<const TrackSnapshot*> tracks;
  for (const ExportTrack& track : plan.tracks) tracks.push_back(track.snapshot);
  const TrackGroups groups(tracks);
  std::vector<std::unique_ptr<StackCollector>> collectors(request.query.pool.concurrency());
  const auto count = [&] {
    std::uint64_t events = 0;
    for (const auto& collector : collectors) events += collector ? collector->events() : 0;
    return events;
  };
  const Result<void> collected = write_pieces(
      request.query, plan.pieces.size(),
      [&](std::size_t piece, std::size_t worker, std::string&) -> Result<void> {
        if (!collectors[worker]) collectors[worker] = std::make_unique<StackCollector>(request, plan, groups);
        return collectors[worker]->collect(plan.pieces[piece]);
      },
      [&](std::size_t, std::string_view) -> Result<void> {
        if (request.progress) request.progress(count(), plan.events);
        return {};
      });
  if (!collected) return collected.error();
  std::map<std::string, std::int64_t> lines;
  for (const auto& collector : collectors) {
    if (collector) collector->merge_into(lines);
  }
  ExportReport report;
  report.rows = count();
  std::string text;
  constexpr std::size_t kBytesAtOnce = 1U << 20;
  const auto flush = [&]() -> Result<void> {
    report.bytes += text.size();
    Result<void> done = output.write(text);
    text.clear();
    return done;
  };
  for (const auto& [stack, ns] : lines) {
    text += fmt::format("{} {}\n", stack, ns);
    if (text.size() < kBytesAtOnce) continue;
    TRY(flush());
  }
  TRY(flush());
  report.losses = losses_by_kind(request, {.samples = true, .moments = true, .flows = true});
  if (report.rows > 0) {
    report.losses.insert(report.losses.begin(),
                         fmt::format("times and arguments of {} events are left out: stacks hold sums of time",
                                     format_count(report.rows)));
  }
  return report;
}

}  // namespace accelscope::exporting
