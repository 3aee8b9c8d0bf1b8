#include "render/timeline/lane_strips.h"

#include <algorithm>
#include <atomic>

namespace accelscope::render {
namespace {

constexpr std::size_t kMostMakers = 6;
constexpr std::uint64_t kForgetAfter = 120;  // frames in which a lane is not drawn

constexpr std::size_t kWorthSharing = 12;  // lanes; fewer are built sooner than a thread wakes up
constexpr std::size_t kLanesPerTurn = 4;

}  // namespace

// What a strip depends on: it is the same while none of this changes.
struct LaneStrips::MadeFrom {
  const LaneData* data = nullptr;
  const ClockMap* clock = nullptr;
  std::uint64_t events = 0;
  TimeView view;
  LaneShade shade;
  std::shared_ptr<const void> shade_keeps;  // so that what the shade refers to is not taken for something newer
  bool operator==(const MadeFrom&) const = default;
};

// The strips that one frame asks for. Each thread takes the next lane that nobody has.
struct LaneStrips::Batch {
  struct Work {
    Wanted wanted;
    std::shared_ptr<lod::LaneDetail> detail;
    LaneStrip strip;
    std::atomic<bool> done{false};
  };
  std::shared_ptr<const Snapshot> snapshot;
  TimeView view;
  std::vector<Work> work;
  std::atomic<std::size_t> next{0};
  std::vector<Task<bool>> tasks;  // of the thread that draws

  explicit Batch(std::size_t lanes) : work(lanes) {}
  void build(TaskControl& control) {
    thread_local LaneStripBuilder builder;  // for its scratch memory
    for (std::size_t i = next++; i < work.size() && !control.cancelled(); i = next++) {
      Work& each = work[i];
      builder.build(snapshot->lanes[each.wanted.lane], each.detail.get(), view, each.strip, &each.wanted.shade);
      each.detail.reset();
      each.done.store(true, std::memory_order_release);
    }
  }
};

struct LaneStrips::Lane {
  struct Flight {
    std::shared_ptr<Batch> batch;
    std::size_t place = 0;
    MadeFrom from;
  };
  LaneStrip made;
  MadeFrom made_from;  // no data: there is none
  LaneStrip shown;     // a stand-in, where `made` is of another view
  Flight flight;       // no batch: none is under way
  std::uint64_t seen = 0;

  void land() {
    if (!flight.batch || !flight.batch->work[flight.place].done.load(std::memory_order_acquire)) return;
    made = std::move(flight.batch->work[flight.place].strip);
    made_from = flight.from;
    flight = {};
  }
};

LaneStrips::LaneStrips(WorkerPool& pool) : pool_(pool) {}
LaneStrips::~LaneStrips() = default;

void LaneStrips::begin_frame(lod::LaneWindows& windows, std::shared_ptr<const Snapshot> snapshot,
                             const TimeView& view) {
  windows_ = &windows;
  snapshot_ = std::move(snapshot);
  view_ = view;
  ++frame_;
  settled_ = true;
  missing_.clear();
}

const LaneStrip& LaneStrips::strip(const Wanted& wanted) {
  const LaneSnapshot& snapshot = snapshot_->lanes[wanted.lane];
  std::unique_ptr<Lane>& place = lanes_[snapshot.number()];
  if (!place) place = std::make_unique<Lane>();
  Lane& lane = *place;
  lane.seen = frame_;
  lane.land();
  const MadeFrom from{snapshot.data.get(), snapshot.clock.get(), snapshot.event_count, view_,
                      wanted.shade,        wanted.keeps};
  if (lane.made_from.data != from.data) lane.made_from = {};
  if (lane.made_from == from && lane.made.complete) return lane.made;
  settled_ = false;
  if (!lane.flight.batch) {
    lane.flight.from = from;
    missing_.emplace_back(&lane, wanted);
  }
  return lane.made_from.data != nullptr && lane.made_from.view == view_ ? lane.made : stand_in(lane, wanted);
}

const LaneStrip& LaneStrips::stand_in(Lane& lane, const Wanted& wanted) {
  const TimeView& made = lane.made_from.view;
  const bool any = lane.made_from.data != nullptr;
  const bool reaches_all = any && made.begin_ns <= view_.begin_ns && made.end_ns >= view_.end_ns;
  if (reaches_all) {
    for (std::vector<PixelRun>* runs : {&lane.shown.waits, &lane.shown.found, &lane.shown.lit}) runs->clear();
    lane.shown.slices.clear();
    lane.shown.texels.assign(static_cast<std::size_t>(view_.width), {});
  } else {
    coarse_.build_coarse(snapshot_->lanes[wanted.lane], view_, lane.shown, &wanted.shade);
  }
  if (any) add_moved(lane.made, made, view_, wanted.shade.background, lane.shown);
  return lane.shown;
}

void LaneStrips::end_frame() {
  if (!missing_.empty()) {
    const auto batch = std::make_shared<Batch>(missing_.size());
    batch->snapshot = snapshot_;
    batch->view = view_;
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      auto& [lane, wanted] = missing_[i];
      batch->work[i].detail = windows_->held_lane(snapshot_->lanes[wanted.lane]);
      batch->work[i].wanted = std::move(wanted);
      lane->flight.batch = batch;
      lane->flight.place = i;
    }
    // One core stays with the thread that draws.
    const std::size_t makers = std::clamp<std::size_t>(pool_.concurrency() - 2, 1, kMostMakers);
    const std::size_t threads = std::min(makers, missing_.size());
    for (std::size_t i = 0; i < threads; ++i) {
      batch->tasks.push_back(pool_.start(Priority::drawing, [batch](TaskControl& control) {
        batch->build(control);
        return true;
      }));
    }
  }
  missing_.clear();
  std::erase_if(lanes_, [this](const auto& lane) { return lane.second->seen + kForgetAfter < frame_; });
}

void LaneStrips::wait_until_made() const {
  for (const auto& [number, lane] : lanes_) {
    if (!lane->flight.batch) continue;
    for (const Task<bool>& task : lane->flight.batch->tasks) task.wait();
  }
}

void StripCrew::build(std::span<const StripTask> tasks, const TimeView& view) {
  const auto build_some = [&](std::size_t turn, std::size_t worker) {
    const std::size_t end = std::min(tasks.size(), (turn + 1) * kLanesPerTurn);
    for (std::size_t i = turn * kLanesPerTurn; i < end; ++i) {
      builders_[worker].build(*tasks[i].lane, tasks[i].detail, view, *tasks[i].strip, tasks[i].shade);
    }
  };
  const std::size_t turns = (tasks.size() + kLanesPerTurn - 1) / kLanesPerTurn;
  if (tasks.size() < kWorthSharing) {
    for (std::size_t turn = 0; turn < turns; ++turn) build_some(turn, 0);
    return;
  }
  builders_.resize(pool_.concurrency());
  TaskControl control;
  pool_.for_each(turns, control, build_some, Priority::drawing);
}

}  // namespace accelscope::render
