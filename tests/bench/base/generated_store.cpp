#include "tests/bench/base/generated_store.h"

#include "core/chunk/chunk_builder.h"
#include "core/chunk/session_writer.h"
#include "tests/bench/base/figure.h"

namespace accelscope::bench {
namespace {

constexpr std::uint32_t kLanes = 64;
constexpr std::uint32_t kSourceLines = 60;

// xorshift64*: the generator must cost less than what it feeds.
class Random {
 public:
  std::uint32_t below(std::uint32_t bound) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(((state_ * 0x2545F4914F6CDD1DU) >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

}  // namespace

std::unique_ptr<GeneratedStore> generate_store(std::uint64_t events, std::uint32_t names,
                                               std::string (*text)(std::uint32_t)) {
  auto created = Store::create();
  if (!created) return nullptr;
  auto result = std::make_unique<GeneratedStore>();
  result->store = std::move(created).value();
  result->name_count = names;
  StoreSink sink(*result->store);
  SessionWriter writer(sink);
  Schema schema;
  schema.name = "slice";
  schema.columns = {
      {.name = "line", .type = ColumnType::string, .role = Role::source_location, .required = true},
      {.name = "bytes", .type = ColumnType::uint64, .unit = "B", .role = Role::bytes, .required = true},
      {.name = "wait_ns", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns, .required = true}};
  const SchemaNumber number = writer.add_schema(schema);
  std::vector<StringId> name_ids;
  std::vector<StringId> lines;
  for (std::uint32_t i = 0; i < names; ++i) name_ids.push_back(writer.intern(text(i)));
  for (std::uint32_t i = 0; i < kSourceLines; ++i) lines.push_back(writer.intern("kernel.py:" + std::to_string(i)));

  Random random;
  const std::uint64_t per_lane = events / kLanes;
  result->names.reserve(per_lane * kLanes);
  result->durations.reserve(per_lane * kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const TrackNumber track =
        writer.add_track({.name = "q" + std::to_string(lane), .kind = "dma_queue", .schema = number});
    for (std::uint64_t i = 0, at = 0; i < per_lane; ++i) {
      const std::uint32_t name = random.below(names);
      const std::uint32_t duration = 64 + random.below(512);
      at += random.below(128);
      Row row = writer.begin_event(track, static_cast<std::int64_t>(at), duration, name_ids[name]);
      row.string(0, lines[random.below(kSourceLines)]);
      row.unsigned_integer(1, 65536 * (1 + random.below(4)));
      row.integer(2, random.below(512));
      at += duration;
      result->names.push_back(name);
      result->durations.push_back(duration);
    }
  }
  return writer.finish() ? std::move(result) : nullptr;
}

double plain_scan_seconds(const GeneratedStore& data, WorkerPool& pool) {
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t busy = 0;
  };
  return best_seconds(3, [&] {
    std::vector<std::vector<Sum>> sums(pool.concurrency(), std::vector<Sum>(data.name_count));
    constexpr std::size_t kAtOnce = 1U << 20;
    TaskControl control;
    pool.for_each((data.names.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t part, std::size_t worker) {
      const std::size_t end = std::min(data.names.size(), (part + 1) * kAtOnce);
      for (std::size_t i = part * kAtOnce; i < end; ++i) {
        Sum& sum = sums[worker][data.names[i]];
        ++sum.count;
        sum.busy += data.durations[i];
      }
    });
    for (std::size_t worker = 1; worker < sums.size(); ++worker) {
      for (std::size_t name = 0; name < sums[0].size(); ++name) {
        sums[0][name].count += sums[worker][name].count;
        sums[0][name].busy += sums[worker][name].busy;
      }
    }
  });
}

}  // namespace accelscope::bench
