#include "core/store/salvage/page_salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

namespace accelscope {
namespace {

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

}  // namespace

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

}  // namespace accelscope
