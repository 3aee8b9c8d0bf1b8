// Builds a lane's index entries from a chunk: decodes every block once, checks what parse() cannot (order, known
// names), makes the tree leaves and the name totals. The same code serves live ingest and a file whose index
// does not cover all its chunks.
#pragma once

#include <vector>

#include "core/chunk/chunk_view.h"
#include "core/store/snapshot.h"

namespace accelscope {

// What ingest knows of a scope's names, extended as strings come in. One per ingesting thread.
class NameTable {
 public:
  NameTable(const StringPool& pool, std::uint32_t scope) : pool_(&pool), scope_(scope) {}

  struct Name {
    StringId session_id = 0;
    std::uint8_t slot = 0;
  };
  // Takes in strings added since the last call.
  void refresh();
  [[nodiscard]] const std::vector<Name>& names() const noexcept { return names_; }
  [[nodiscard]] StringId largest_session_id() const noexcept { return largest_session_id_; }
  // Per local id: the palette slot, + 16 where the schema counts the name as waiting.
  [[nodiscard]] const std::vector<std::uint8_t>& slots(const Schema& schema);

 private:
  const StringPool* pool_;
  std::uint32_t scope_;
  std::vector<Name> names_;
  StringId largest_session_id_ = 0;
  struct SchemaSlots {
    SchemaNumber schema;
    std::vector<std::uint8_t> slots;
  };
  std::vector<SchemaSlots> schema_slots_;
};

class LaneIndexer {
 public:
  // Adds the chunk's leaves and totals and its place to `lane`. On an error nothing has been added.
  Result<void> add(LaneData& lane, const Schema& schema, const ChunkView& chunk, std::int64_t row, NameTable& names);

 private:
  Result<void> index_slices(const ChunkView& chunk, NameTable& names, const std::vector<std::uint8_t>& slots);
  Result<void> index_counters(const LaneTree<CounterNode>& tree, const ChunkView& chunk, const Schema& schema);
  void collect_totals();

  struct Total {
    std::uint64_t busy = 0;
    std::uint32_t count = 0;
  };
  std::vector<SliceNode> slice_leaves_;
  std::vector<CounterNode> counter_leaves_;
  std::vector<Total> sums_;        // by session string id; zero between chunks
  std::vector<StringId> touched_;  // names of the chunk at hand
  std::vector<NameTotal> totals_;
};

}  // namespace accelscope
