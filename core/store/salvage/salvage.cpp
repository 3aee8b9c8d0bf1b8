// Rebuilds a session from the rows that PageSalvage finds: definitions first, then the chunks of each lane in the
// order of their ordinals, each through the normal way in.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/chunk/chunk_view.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

// Finds rows in the raw pages of an SQLite file without SQLite, for files that it refuses: leaf cells of tables, their
// overflow chains and the last blob of each row. Format facts: the SQLite file format, sections 1.5 and 2.
struct SalvagedBlob {
  std::int64_t row = 0;    // of its table
  std::uint32_t page = 0;  // of its cell; with `cell` the key to read it again
  std::uint32_t cell = 0;
  bool complete = false;  // false: its chain of pages ends early; bytes holds what is there
  Bytes bytes;
};

class PageSalvage {
 public:
  [[nodiscard]] static Result<PageSalvage> open(const std::string& path);

  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[nodiscard]] std::uint64_t whole_file_bytes() const noexcept { return whole_bytes_; }  // by its header; 0: not known
  // Calls visit for the last blob of every row found whose first bytes pass `wanted`, in the order of the pages.
  void scan(const std::function<bool(ByteView first_bytes)>& wanted, const std::function<void(SalvagedBlob)>& visit);
  [[nodiscard]] SalvagedBlob read(std::uint32_t page, std::uint32_t cell);

 private:
  PageSalvage() = default;
  bool load(std::uint32_t page, Bytes& out);
  // The cell's last blob, or an incomplete one with nothing in it if the cell is no row with a blob.
  SalvagedBlob read_cell(const Bytes& page_bytes, std::uint32_t page, std::uint32_t cell, bool whole);

  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t whole_bytes_ = 0;
  std::uint32_t page_size_ = 0;
  std::uint32_t usable_ = 0;
  std::uint32_t page_count_ = 0;
};

constexpr std::uint8_t kTableLeaf = 0x0d;
constexpr std::uint32_t kDefaultPageSize = 8192;  // what our own files have
constexpr std::size_t kFirstBytes = 64;

std::uint32_t big16(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) << 8 | std::to_integer<std::uint32_t>(p[1]);
}
std::uint32_t big32(const std::byte* p) { return big16(p) << 16 | big16(p + 2); }

// SQLite's variable-length integer: 1 to 9 bytes, high bits first.
std::optional<std::uint64_t> varint(ByteView bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return std::nullopt;
    const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return value;
}

std::uint64_t serial_size(std::uint64_t type) {
  constexpr std::uint64_t kFixed[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? kFixed[type] : (type - 12) / 2;
}

bool is_blob(std::uint64_t type) { return type >= 12 && type % 2 == 0; }

// Where the last column lies in a record, if it is a blob.
struct BlobPlace {
  std::uint64_t offset;
  std::uint64_t size;
};
std::optional<BlobPlace> last_blob(ByteView record_start) {
  std::size_t at = 0;
  const auto header = varint(record_start, at);
  if (!header || *header > record_start.size() || *header < at) return std::nullopt;
  std::uint64_t offset = *header;
  std::uint64_t type = 0;
  std::uint64_t size = 0;
  while (at < *header) {
    const auto next = varint(record_start, at);
    if (!next) return std::nullopt;
    offset += size;
    type = *next;
    size = serial_size(type);
  }
  if (!is_blob(type)) return std::nullopt;
  return BlobPlace{offset, size};
}

Result<PageSalvage> PageSalvage::open(const std::string& path) {
  PageSalvage salvage;
  std::error_code failure;
  salvage.file_bytes_ = std::filesystem::file_size(path, failure);
  salvage.file_.open(path, std::ios::binary);
  if (failure || !salvage.file_)
    return Error{fmt::format("{}: cannot be read; check the path and its permissions", path)};
  std::array<std::byte, 100> head{};
  salvage.file_.read(reinterpret_cast<char*>(head.data()), head.size());
  std::uint32_t size = big16(head.data() + 16);
  if (size == 1) size = 65536;
  const bool believable =
      std::memcmp(head.data(), "SQLite format 3", 16) == 0 && size >= 512 && (size & (size - 1)) == 0;
  salvage.page_size_ = believable ? size : kDefaultPageSize;
  if (believable)
    salvage.whole_bytes_ =
        std::uint64_t{size} * (std::uint64_t{big16(head.data() + 28)} << 16 | big16(head.data() + 30));
  const std::uint32_t reserved = believable ? std::to_integer<std::uint32_t>(head[20]) : 0;
  salvage.usable_ = salvage.page_size_ - std::min(reserved, salvage.page_size_ / 2);
  // A last page that is cut still holds cells.
  salvage.page_count_ = static_cast<std::uint32_t>((salvage.file_bytes_ + salvage.page_size_ - 1) / salvage.page_size_);
  return salvage;
}

bool PageSalvage::load(std::uint32_t page, Bytes& out) {
  if (page == 0 || page > page_count_) return false;
  out.assign(page_size_, std::byte{0});
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(page - 1) * page_size_);
  file_.read(reinterpret_cast<char*>(out.data()), page_size_);
  return file_.gcount() > 0;
}

SalvagedBlob PageSalvage::read_cell(const Bytes& bytes, std::uint32_t page, std::uint32_t cell, bool whole) {
  SalvagedBlob blob;
  blob.page = page;
  blob.cell = cell;
  const std::size_t header = page == 1 ? 100 : 0;
  const std::size_t pointer = header + 8 + std::size_t{cell} * 2;
  if (pointer + 2 > usable_) return blob;
  std::size_t at = big16(bytes.data() + pointer);
  const ByteView view = ByteView(bytes).first(usable_);
  const auto payload = varint(view, at);
  const auto row = payload ? varint(view, at) : std::nullopt;
  if (!row || *payload == 0 || at >= usable_) return blob;
  blob.row = static_cast<std::int64_t>(*row);

  // How much of the payload is in this page: file format, section 1.6.
  const std::uint64_t most = usable_ - 35;
  std::uint64_t local = *payload;
  if (*payload > most) {
    const std::uint64_t least = (usable_ - 12) * 32 / 255 - 23;
    local = least + (*payload - least) % (usable_ - 4);
    if (local > most) local = least;
  }
  if (at + local + (local < *payload ? 4 : 0) > usable_) return blob;
  const ByteView start = view.subspan(at, local);
  const auto place = last_blob(start);
  if (!place || place->offset >= start.size() || place->offset + place->size > *payload) return blob;

  const ByteView in_page =
      start.subspan(place->offset, std::min<std::uint64_t>(place->size, start.size() - place->offset));
  blob.bytes.assign(in_page.begin(), in_page.end());
  if (!whole) return blob;
  std::uint32_t next = local < *payload ? big32(view.data() + at + local) : 0;
  Bytes overflow;
  while (blob.bytes.size() < place->size && load(next, overflow)) {
    const std::size_t take = std::min<std::size_t>(place->size - blob.bytes.size(), usable_ - 4);
    blob.bytes.insert(blob.bytes.end(), overflow.begin() + 4, overflow.begin() + 4 + static_cast<std::ptrdiff_t>(take));
    next = big32(overflow.data());
  }
  blob.complete = blob.bytes.size() == place->size;
  return blob;
}

void PageSalvage::scan(const std::function<bool(ByteView)>& wanted, const std::function<void(SalvagedBlob)>& visit) {
  Bytes bytes;
  for (std::uint32_t page = 1; page <= page_count_; ++page) {
    if (!load(page, bytes)) return;
    const std::size_t header = page == 1 ? 100 : 0;
    if (std::to_integer<std::uint8_t>(bytes[header]) != kTableLeaf) continue;
    const std::uint32_t cells = big16(bytes.data() + header + 3);
    if (cells > usable_ / 4) continue;
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      SalvagedBlob blob = read_cell(bytes, page, cell, false);
      const ByteView first = ByteView(blob.bytes).first(std::min(blob.bytes.size(), kFirstBytes));
      if (!first.empty() && wanted(first)) visit(read_cell(bytes, page, cell, true));
    }
  }
}

SalvagedBlob PageSalvage::read(std::uint32_t page, std::uint32_t cell) {
  Bytes bytes;
  if (!load(page, bytes)) return {};
  return read_cell(bytes, page, cell, true);
}

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
  PageSalvage pages = TRY(PageSalvage::open(path));
  report.file_bytes = pages.file_bytes();

  std::vector<FoundDefinition> definitions;
  std::vector<FoundChunk> chunks;
  pages.scan([](ByteView first) { return magic_of(first) == kDefinitionMagic || magic_of(first) == kChunkMagic; },
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
  std::unique_ptr<Store> store = TRY(Store::create(options));
  Store::Implementation& impl = *store->impl_;

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
      if (Result<void> retained = impl.write_rows(rows); !retained) return retained;
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
      TRY(fill(scope, batch->first_id));
    }
    impl.scope_count = std::max(impl.scope_count, scope + 1);
    std::vector<DefinitionRow> rows;
    if (Result<void> applied = impl.apply(std::move(**definition), scope, 0, &rows); !applied) {
      ++damaged_definitions;
      continue;
    }
    TRY(impl.write_rows(rows));
    ++report.definitions;
  }

  std::sort(chunks.begin(), chunks.end(), [](const FoundChunk& a, const FoundChunk& b) {
    return std::pair(a.lane, a.first_ordinal) < std::pair(b.lane, b.first_ordinal);
  });
  std::map<LaneNumber, std::uint64_t> undescribed;
  for (const FoundChunk& found : chunks) {
    const SalvagedBlob blob = pages.read(found.page, found.cell);
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
        TRY(fill(scope_of(found.lane), static_cast<StringId>(largest) + 1));
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
  if (const std::uint64_t between = store->status().lost; between > 0) {
    report.missing.push_back(fmt::format("{} events are missing between those that are whole", between));
  }
  if (const std::uint64_t whole = pages.whole_file_bytes(); whole > report.file_bytes) {
    report.missing.push_back(
        fmt::format("the file was cut: only {:.0f} % of its {} bytes are left, and how many events "
                    "the rest held is not known",
                    100.0 * static_cast<double>(report.file_bytes) / static_cast<double>(whole), whole));
  }
  if (report.events == 0)
    return Error{fmt::format("{}: nothing can be salvaged: no chunk of a described lane is whole", path)};
  store->add_quality({"salvaged", report.events,
                      fmt::format("this session was salvaged from a damaged file: {} events in {} chunks are whole",
                                  report.events, report.chunks)});
  for (const std::string& sentence : report.missing) store->add_quality({"salvage_lost", 1, sentence});
  return store;
}

}  // namespace accelscope
