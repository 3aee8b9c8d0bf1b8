// Rebuilds a session from the rows that PageSalvage finds: definitions first, then the chunks of each lane in the
// order of their ordinals, each through the normal way in.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/chunk/chunk_view.h"
#include "core/store/salvage/page_salvage.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

constexpr std::size_t kLostAtOnce = 65'536;
constexpr std::uint64_t kSalvageBudget = 4ULL << 30;  // beyond it the salvaged session goes to a file

struct FoundChunk {
  LaneNumber lane;
  std::uint64_t first_ordinal;
  std::uint32_t page;
  std::uint32_t cell;
};

struct FoundDefinition {
  std::int64_t row;
  Bytes bytes;
};

std::uint32_t magic_of(ByteView bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic;
}

// A name takes some bytes of a file: a chunk that uses a string far beyond those that a file of this size can have held
// is not believed, and does not come in.
StringId most_lost_names(std::uint64_t file_bytes) {
  constexpr std::uint64_t kLeastBytes = 8;  // of a name with its length
  return static_cast<StringId>(std::clamp<std::uint64_t>(file_bytes / kLeastBytes, 4096, 1'000'000));
}

}  // namespace

Result<std::unique_ptr<Store>> salvage_session(const std::string& path, SalvageReport& report) {
  report = {};
  Result<PageSalvage> pages = PageSalvage::open(path);
  if (!pages) return pages.error();
  report.file_bytes = pages->file_bytes();

  std::vector<FoundDefinition> definitions;
  std::vector<FoundChunk> chunks;
  pages->scan([](ByteView first) { return magic_of(first) == kDefinitionMagic || magic_of(first) == kChunkMagic; },
              [&](SalvagedBlob blob) {
                if (magic_of(blob.bytes) == kDefinitionMagic) {
                  definitions.push_back({blob.row, std::move(blob.bytes)});
                  return;
                }
                const Result<ChunkView> view = ChunkView::parse(blob.bytes);
                if (!blob.complete || !view || !view->verify_checksums()) {
                  ++report.damaged_chunks;
                  return;
                }
                chunks.push_back({view->header().lane, view->header().first_ordinal, blob.page, blob.cell});
              });
  if (definitions.empty() || chunks.empty()) {
    return Error{fmt::format("{}: nothing can be salvaged: {} definitions and {} whole chunks are left in it", path,
                             definitions.size(), chunks.size())};
  }

  StoreOptions options;
  options.memory_budget_bytes = kSalvageBudget;
  Result<std::unique_ptr<Store>> store = Store::create(options);
  if (!store) return store.error();
  Store::Implementation& impl = *(*store)->impl_;

  // Strings that were lost get a name that says so, so that the chunks that use them can still be read.
  StringId may_be_lost = most_lost_names(report.file_bytes);
  const auto fill = [&](std::uint32_t scope, StringId up_to) -> Result<void> {
    const StringId first = std::max<StringId>(impl.strings->scope_size(scope), 1);
    if (first >= up_to || up_to - first > may_be_lost) return {};
    may_be_lost -= up_to - first;
    for (StringId next = first; next < up_to;) {
      StringBatch filler{.first_id = next, .strings = {}};
      for (; next < up_to && filler.strings.size() < kLostAtOnce; ++next) {
        filler.strings.push_back(fmt::format("(lost name {})", next));
      }
      std::vector<DefinitionRow> rows;
      if (Result<void> added = impl.apply(std::move(filler), scope, 0, &rows); !added) {
        report.missing.push_back(added.message());
        return {};
      }
      if (Result<void> kept = impl.write_rows(rows); !kept) return kept;
    }
    report.missing.push_back(fmt::format("{} names are lost and shown as \"(lost name N)\"", up_to - first));
    return {};
  };

  std::stable_sort(definitions.begin(), definitions.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  std::uint64_t damaged_definitions = 0;
  for (const FoundDefinition& found : definitions) {
    Result<std::optional<Definition>> definition = decode_definition(found.bytes);
    const std::uint32_t scope = definition ? definition_scope(found.bytes) : 0;
    if (!definition || !*definition || scope > kMaxScope) {
      ++damaged_definitions;
      continue;
    }
    const auto database = impl.lock_database();
    const std::lock_guard lock(impl.index_mutex);
    if (const auto* batch = std::get_if<StringBatch>(&**definition)) {
      if (batch->first_id < std::max<StringId>(impl.strings->scope_size(scope), 1)) continue;  // seen already
      if (Result<void> filled = fill(scope, batch->first_id); !filled) return filled.error();
    }
    impl.scope_count = std::max(impl.scope_count, scope + 1);
    std::vector<DefinitionRow> rows;
    if (Result<void> applied = impl.apply(std::move(**definition), scope, 0, &rows); !applied) {
      ++damaged_definitions;
      continue;
    }
    if (Result<void> kept = impl.write_rows(rows); !kept) return kept.error();
    ++report.definitions;
  }

  std::sort(chunks.begin(), chunks.end(), [](const FoundChunk& a, const FoundChunk& b) {
    return std::pair(a.lane, a.first_ordinal) < std::pair(b.lane, b.first_ordinal);
  });
  std::map<LaneNumber, std::uint64_t> undescribed;
  for (const FoundChunk& found : chunks) {
    const SalvagedBlob blob = pages->read(found.page, found.cell);
    const Result<ChunkView> view = ChunkView::parse(blob.bytes);
    if (!view) continue;  // it was whole a moment ago: the file is changing under us, and the chunk counts as damaged
    if (!impl.lane_by_number.contains(found.lane)) {
      undescribed[found.lane] += view->count();
      ++report.damaged_chunks;
      continue;
    }
    {
      const std::uint64_t largest = view->entry_of_names().max;
      const auto database = impl.lock_database();
      const std::lock_guard lock(impl.index_mutex);
      if (largest < StringPool::kMostLocalStrings) {
        const Result<void> filled = fill(scope_of(found.lane), static_cast<StringId>(largest) + 1);
        if (!filled) return filled.error();
      }
    }
    if (Result<void> taken = impl.ingest(found.lane, blob.bytes, *view); !taken) {
      ++report.damaged_chunks;
      report.missing.push_back(taken.message());
      continue;
    }
    ++report.chunks;
    report.events += view->count();
  }
  if (damaged_definitions > 0) {
    report.missing.push_back(fmt::format("{} definitions of tracks, names or facts are damaged", damaged_definitions));
  }
  for (const auto& [lane, events] : undescribed) {
    report.missing.push_back(fmt::format("{} events of lane {}, whose description is lost", events, lane));
  }
  if (report.damaged_chunks > 0)
    report.missing.push_back(fmt::format("{} chunks are cut or damaged", report.damaged_chunks));
  if (const std::uint64_t between = (*store)->status().lost; between > 0) {
    report.missing.push_back(fmt::format("{} events are missing between those that are whole", between));
  }
  if (const std::uint64_t whole = pages->whole_file_bytes(); whole > report.file_bytes) {
    report.missing.push_back(
        fmt::format("the file was cut: only {:.0f} % of its {} bytes are left, and how many events "
                    "the rest held is not known",
                    100.0 * static_cast<double>(report.file_bytes) / static_cast<double>(whole), whole));
  }
  if (report.events == 0)
    return Error{fmt::format("{}: nothing can be salvaged: no chunk of a described lane is whole", path)};
  (*store)->add_quality({"salvaged", report.events,
                         fmt::format("this session was salvaged from a damaged file: {} events in {} chunks are whole",
                                     report.events, report.chunks)});
  for (const std::string& sentence : report.missing) (*store)->add_quality({"salvage_lost", 1, sentence});
  return store;
}

}  // namespace accelscope
