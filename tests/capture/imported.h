// A profile - a Neuron profile, unless another importer is given - imported into a store in memory, and its events as
// plain values for tests.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/import_input.h"
#include "core/chunk/chunk_view.h"
#include "core/store/store.h"

namespace accelscope::capture {

struct EventValues {
  std::string track;
  std::string kind;  // of the track
  std::string device;
  std::string host;
  std::uint32_t depth = 0;  // of the lane
  std::string name;
  std::int64_t begin = 0;  // ns
  std::int64_t end = 0;
  EventId id = kNoEvent;                                      // with scope 0
  std::map<std::string, std::string, std::less<>> strings;    // string and text columns
  std::map<std::string, std::int64_t, std::less<>> integers;  // unsigned ones too, bit by bit
  std::map<std::string, double, std::less<>> reals;

  [[nodiscard]] std::string string(std::string_view column) const {
    const auto found = strings.find(column);
    return found == strings.end() ? std::string{} : found->second;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view column) const {
    const auto found = integers.find(column);
    return found == integers.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<double> real(std::string_view column) const {
    const auto found = reals.find(column);
    return found == reals.end() ? std::nullopt : std::optional(found->second);
  }
};

class Imported {
 public:
  static Imported file(const std::string& path, const sources::ImportOptions& options = {}) {
    Imported session;
    const Result<void> done = sources::import_file(sources::neuron::import_neuron_json, path, options, *session.sink_);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
    session.snapshot_ = session.store_->snapshot();
    return session;
  }
  static Imported text(std::string_view json, const sources::ImportOptions& options = {}) {
    Imported session;
    const Result<void> done =
        sources::neuron::import_neuron_json(json::ByteSource::from_memory(json), "test.json", options, *session.sink_);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
    session.snapshot_ = session.store_->snapshot();
    return session;
  }
  // Through any importer: import(sink) returns Result<void>.
  template <typename Import>
  static Imported by(Import&& import) {
    Imported session;
    const Result<void> done = import(*session.sink_);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
    session.snapshot_ = session.store_->snapshot();
    return session;
  }
  // A file or folder as commands read it, each part of it through a sink of its own.
  static Imported input(const std::string& path, const sources::InputOptions& options = {}) {
    Imported session;
    const Result<void> done = read_input(path, options, session);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.message()));
    session.snapshot_ = session.store_->snapshot();
    return session;
  }
  static std::string input_failure(const std::string& path, const sources::InputOptions& options = {}) {
    Imported session;
    const Result<void> done = read_input(path, options, session);
    return done.ok() ? std::string{} : done.message();
  }
  // A session file, of any number of sources.
  static Imported session(const std::string& path) {
    Imported session;
    Result<std::unique_ptr<Store>> opened = Store::open(path);
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.message()));
    session.sink_.reset();
    session.store_ = std::move(opened).value();
    session.snapshot_ = session.store_->snapshot();
    return session;
  }
  // The message of an import that fails.
  static std::string failure(std::string_view json) {
    Imported session;
    const Result<void> done =
        sources::neuron::import_neuron_json(json::ByteSource::from_memory(json), "test.json", {}, *session.sink_);
    return done.ok() ? std::string{} : done.message();
  }

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] std::shared_ptr<const Snapshot> shared_snapshot() const { return snapshot_; }
  [[nodiscard]] Store& store() const { return *store_; }
  [[nodiscard]] std::size_t count(std::string_view table) const {
    std::size_t events = 0;
    for (const LaneSnapshot& lane : snapshot_->lanes) {
      if (lane.schema->name == table) events += lane.event_count;
    }
    return events;
  }
  [[nodiscard]] std::vector<EventValues> events(std::string_view table) const;
  [[nodiscard]] const QualityEntry* quality(std::string_view kind) const {
    for (const QualityEntry& entry : snapshot_->quality) {
      if (entry.kind == kind) return &entry;
    }
    return nullptr;
  }
  [[nodiscard]] const Metric* metric(std::string_view name) const {
    for (const Metric& metric : snapshot_->metrics) {
      if (metric.name == name) return &metric;
    }
    return nullptr;
  }

 private:
  static Result<void> read_input(const std::string& path, const sources::InputOptions& options,
                                 const Imported& session) {
    return sources::import_input({sources::recognise(path)}, options,
                                 [&] { return std::make_unique<StoreSink>(*session.store_); });
  }
  Imported() : store_(std::move(Store::create().value())), sink_(std::make_unique<StoreSink>(*store_)) {}
  void read_row(const ChunkView& view, const Schema& schema, std::uint32_t row, std::uint32_t scope,
                EventValues& event) const;

  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreSink> sink_;
  std::shared_ptr<const Snapshot> snapshot_;
};

inline std::uint64_t quality_count(const Imported& session, std::string_view kind) {
  std::uint64_t count = 0;
  for (const QualityEntry& entry : session.snapshot().quality) count += entry.kind == kind ? entry.count : 0;
  return count;
}

// The text as gzip packs it.
inline std::string gzip_of(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace accelscope::capture
