#include "capture/sources/xplane/read/space_index.h"

#include <algorithm>

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::size_t kMostLines = 200'000;       // of all planes
constexpr std::size_t kMostMetadata = 8'000'000;  // of all planes
constexpr std::size_t kMostPlaneStats = 10'000;   // of a plane
constexpr std::size_t kMostBroken = 1'000;
constexpr std::size_t kMostMessages = 1'000;  // errors and warnings
constexpr std::size_t kLongestStat = 1U << 16;

class SpaceIndexer {
 public:
  SpaceIndexer(const SpaceBytes& bytes, const std::function<bool(std::uint64_t)>& progress)
      : bytes_(bytes), window_(bytes), small_(bytes, 4096), progress_(progress) {}

  [[nodiscard]] SpaceIndex run() {
    MessageWalk walk(window_, 0, bytes_.size());
    for (WireField field; walk.next(field);) {
      if (field.is_bytes(space_fields::kPlanes)) {
        add_plane(field);
      } else if (field.is_bytes(space_fields::kErrors)) {
        add_message(made_.errors, field);
      } else if (field.is_bytes(space_fields::kWarnings)) {
        add_message(made_.warnings, field);
      } else if (field.is_bytes(space_fields::kHostnames)) {
        add_message(made_.hostnames, field);
      } else {
        ++made_.unknown_fields;
      }
      if (!progress_(field.begin + field.size)) break;
    }
    add_broken("file", walk);
    return std::move(made_);
  }

 private:
  void add_broken(const std::string& what, const MessageWalk& walk) {
    using Problem = MessageWalk::Problem;
    if (walk.problem() == Problem::none || made_.broken.size() >= kMostBroken) return;
    // What lies in a message that is cut is cut too: the innermost is told of.
    const bool is_reported = !made_.broken.empty() && made_.broken.back().at > walk.problem_at();
    if (walk.problem() == Problem::cut && is_reported) return;
    made_.broken.push_back({what, walk.problem_at(), walk.problem()});
  }

  void add_message(std::vector<std::string>& messages, const WireField& field) {
    if (messages.size() < kMostMessages) messages.push_back(text_at(small_, {field.begin, field.size}, 4096));
  }

  void add_plane(const WireField& at) {
    PlaneIndex plane;
    plane.begin = at.begin;
    MessageWalk walk(window_, at.begin, at.begin + at.size);
    for (WireField field; walk.next(field);) add_field(field, plane);
    add_broken("plane " + plane.name, walk);
    made_.planes.push_back(std::move(plane));
  }

  void add_field(const WireField& field, PlaneIndex& plane) {
    using namespace plane_fields;
    if (field.is_number(kId)) {
      plane.id = static_cast<std::int64_t>(field.value);
    } else if (field.is_bytes(kName)) {
      plane.name = text_at(small_, {field.begin, field.size}, 4096);
    } else if (field.is_bytes(kLines)) {
      add_line(field, plane);
    } else if (field.is_bytes(kEventMetadata)) {
      add_metadata(field, plane.event_metadata);
    } else if (field.is_bytes(kStatMetadata)) {
      add_metadata(field, plane.stat_metadata);
    } else if (field.is_bytes(kStats)) {
      add_stat(field, plane);
    } else {
      ++made_.unknown_fields;
    }
  }

  void add_line(const WireField& at, PlaneIndex& plane) {
    using namespace line_fields;
    LineIndex line;
    line.bytes = {at.begin, at.size};
    MessageWalk walk(window_, at.begin, at.begin + at.size);
    std::uint64_t steps = 0;
    for (WireField field; walk.next(field);) {
      if (field.is_bytes(kEvents)) {
        ++line.events;
        constexpr std::uint64_t kOften = 1U << 16;
        if (++steps % kOften == 0 && !progress_(field.begin)) return;
      } else if (field.is_number(kId)) {
        line.id = static_cast<std::int64_t>(field.value);
      } else if (field.is_number(kTimestampNs)) {
        line.timestamp_ns = static_cast<std::int64_t>(field.value);
      } else if (field.is_bytes(kName) && line.name.empty()) {
        line.name = text_at(small_, {field.begin, field.size}, 4096);
      } else if (field.is_bytes(kDisplayName) && field.size > 0) {
        line.name = text_at(small_, {field.begin, field.size}, 4096);
      } else if (!field.is_number(kDurationPs) && !field.is_number(kDisplayId) && !field.is_bytes(kName)) {
        ++made_.unknown_fields;
      }
    }
    add_broken("line " + line.name + " of plane " + plane.name, walk);
    if (line.events == 0) return;
    if (++lines_ > kMostLines) {
      ++made_.lines_left_out;
      return;
    }
    plane.lines.push_back(std::move(line));
  }

  // An entry of a map: 1 the key, 2 the value.
  void add_metadata(const WireField& at, std::unordered_map<std::int64_t, BytesPlace>& places) {
    if (++metadata_ > kMostMetadata) {
      ++made_.metadata_left_out;
      return;
    }
    std::int64_t key = 0;
    BytesPlace value;
    MessageWalk walk(window_, at.begin, at.begin + at.size);
    for (WireField field; walk.next(field);) {
      if (field.is_number(1)) key = static_cast<std::int64_t>(field.value);
      if (field.is_bytes(2)) value = {field.begin, field.size};
    }
    add_broken("metadata", walk);
    places[key] = value;
  }

  void add_stat(const WireField& at, PlaneIndex& plane) {
    if (plane.stats.size() >= kMostPlaneStats || at.size > kLongestStat) return;
    PlaneStat stat;
    // A stat that breaks off has no value worth keeping; the plane's own walk says that it is cut.
    if (!read_stat(small_.at(at.begin, static_cast<std::size_t>(at.size)), stat.value)) return;
    stat.id = stat.value.id;
    if (stat.value.kind == StatValue::Kind::text) stat.text = stat.value.text;
    stat.value.text = {};
    plane.stats.push_back(std::move(stat));
  }

  const SpaceBytes& bytes_;
  SpaceWindow window_;
  SpaceWindow small_;
  const std::function<bool(std::uint64_t)>& progress_;
  SpaceIndex made_;
  std::size_t lines_ = 0;
  std::size_t metadata_ = 0;
};

}  // namespace

std::uint64_t SpaceIndex::event_count() const noexcept {
  std::uint64_t count = 0;
  for (const PlaneIndex& plane : planes) {
    for (const LineIndex& line : plane.lines) count += line.events;
  }
  return count;
}

std::string text_at(SpaceWindow& window, BytesPlace place, std::size_t most) {
  return std::string(window.at(place.begin, static_cast<std::size_t>(std::min<std::uint64_t>(place.size, most))));
}

SpaceIndex index_space(const SpaceBytes& bytes, const std::function<bool(std::uint64_t)>& progress) {
  return SpaceIndexer(bytes, progress).run();
}

}  // namespace accelscope::capture::sources::xplane
