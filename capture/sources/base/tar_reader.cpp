#include "capture/sources/base/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources {
namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kLongestName = 64U << 10;  // of an extension of the tar
constexpr std::uint64_t kLargestMember = std::uint64_t{1} << 60U;

[[nodiscard]] std::string_view text_of(std::string_view field) { return field.substr(0, field.find('\0')); }

// Octal digits, or a binary number where the first bit is set. Nothing for one that says no size.
[[nodiscard]] std::optional<std::uint64_t> tar_number(std::string_view field) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field.front()) & 0x80U) != 0) {
    for (std::size_t i = 1; i < field.size(); ++i) {
      if ((value >> 55U) != 0) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(field[i]);
    }
    return value;
  }
  field = text_of(field);
  while (field.starts_with(' ')) field.remove_prefix(1);
  while (field.ends_with(' ')) field.remove_suffix(1);
  for (const char digit : field) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3U | static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

struct TarField {
  std::size_t offset;
  std::size_t size;
  [[nodiscard]] std::string_view of(std::string_view block) const { return block.substr(offset, size); }
};
constexpr TarField kTarName{0, 100}, kTarSize{124, 12}, kTarSum{148, 8}, kTarMagic{257, 5}, kTarPrefix{345, 155};
constexpr std::size_t kTarType = 156;

[[nodiscard]] bool is_tar_header(std::string_view block) {
  const auto stated = tar_number(kTarSum.of(block));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool in_sum = i >= kTarSum.offset && i < kTarSum.offset + kTarSum.size;
    sum += in_sum ? std::uint64_t{' '} : static_cast<unsigned char>(block[i]);
  }
  return stated == sum;
}

// Of an extended header: lines "LENGTH KEY=VALUE\n".
[[nodiscard]] std::string_view extended_value(std::string_view records, std::string_view key) {
  std::string_view value;
  while (!records.empty()) {
    std::size_t length = 0;
    std::size_t at = 0;
    for (; at < records.size() && records[at] >= '0' && records[at] <= '9' && length < kLongestName; ++at)
      length = length * 10 + static_cast<std::size_t>(records[at] - '0');
    if (length <= at + 1 || length > records.size()) break;
    const std::string_view record = records.substr(at + 1, length - at - 2);
    if (record.starts_with(key) && record.substr(key.size()).starts_with('=')) value = record.substr(key.size() + 1);
    records.remove_prefix(length);
  }
  return value;
}

}  // namespace

Error TarReader::damaged(std::string_view what) const {
  return Error{fmt::format("{}: {} at byte {} of the unpacked archive{}; {}", name_, what, at_,
                           member_.empty() ? std::string() : fmt::format(", in or behind {}", member_), advice_)};
}

Result<bool> TarReader::read_block(std::span<char> block) {
  const std::size_t count = TRY(json::read_all(*tar_, block));
  if (count == 0) return false;
  if (count < block.size()) return damaged("the archive ends early");
  at_ += count;
  return true;
}

Result<void> TarReader::skip(std::uint64_t bytes) {
  std::array<char, 16U << 10> part{};
  while (bytes > 0) {
    const std::span<char> some =
        std::span(part).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, part.size())));
    const std::size_t count = TRY(tar_->read(some));
    if (count == 0) return damaged("the archive ends early");
    at_ += count;
    bytes -= count;
  }
  return {};
}

Result<bool> TarReader::next(ArchiveMember& member) {
  TRY(skip(left_ + padding_));
  left_ = padding_ = 0;
  std::string long_name;
  std::string long_size;
  for (;;) {
    std::string block(kTarBlock, '\0');
    const bool more = TRY(read_block(block));
    if (!more || std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; })) return false;
    const auto size = tar_number(kTarSize.of(block));
    if (!is_tar_header(block) || !size) return damaged("what should be a header of the tar is none");
    const auto stated =
        long_size.empty() ? size : json::to_uint64({.key = {}, .text = long_size, .kind = json::JsonKind::number});
    if (!stated || *stated > kLargestMember) return damaged("the size of a file is none");
    left_ = *stated;
    padding_ = (kTarBlock - left_ % kTarBlock) % kTarBlock;
    const char type = block[kTarType];
    if (type == 'x' || type == 'g' || type == 'L') {
      if (left_ > kLongestName) return damaged("an extended header of the tar is too long");
      std::string text(static_cast<std::size_t>(left_), '\0');
      const bool whole = TRY(read_block(text));
      if (!whole && !text.empty()) return damaged("the archive ends early");
      TRY(skip(padding_));
      left_ = padding_ = 0;
      if (type == 'L') long_name = text_of(text);
      if (type == 'x') {
        long_name = extended_value(text, "path");
        long_size = extended_value(text, "size");
      }
      continue;
    }
    std::string path(text_of(kTarName.of(block)));
    if (const auto prefix = text_of(kTarPrefix.of(block)); kTarMagic.of(block) == "ustar" && !prefix.empty())
      path = fmt::format("{}/{}", prefix, path);
    if (!long_name.empty()) path = long_name;
    member_ = json::repair_utf8(path);
    const bool is_file = type == '0' || type == '\0' || type == '7';
    if (!is_file) left_ = padding_ = 0;
    if (type == '5') {
      long_name.clear();
      long_size.clear();
      continue;
    }
    member = {member_, left_, is_file};
    return true;
  }
}

Result<std::size_t> TarReader::read(std::span<char> out) {
  out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_)));
  if (out.empty()) return std::size_t{0};
  const std::size_t count = TRY(tar_->read(out));
  if (count == 0) return damaged("the archive ends early");
  at_ += count;
  left_ -= count;
  return count;
}

Result<std::string> TarReader::content() {
  // Grows with what comes, not with what the header of the tar promises.
  constexpr std::size_t kPart = 1U << 20;
  std::string text;
  while (left_ > 0) {
    const std::size_t begin = text.size();
    text.resize(begin + static_cast<std::size_t>(std::min<std::uint64_t>(left_, kPart)));
    const std::size_t count = TRY(read(std::span(text).subspan(begin)));
    text.resize(begin + count);
  }
  return text;
}

}  // namespace accelscope::capture::sources
