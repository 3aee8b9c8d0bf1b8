#include "capture/sources/neuron/neff/archive.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::sources::neuron::neff {
namespace {

constexpr std::size_t kHashDigits = 32;

template <typename T>
[[nodiscard]] T number_at(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[nodiscard]] std::string_view text_of(std::string_view field) { return field.substr(0, field.find('\0')); }

[[nodiscard]] std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

std::optional<NeffHeader> read_neff_header(std::string_view bytes) {
  if (bytes.size() < kNeffHeaderBytes) return std::nullopt;
  NeffHeader header;
  header.package_version = number_at<std::uint64_t>(bytes, 0);
  header.header_size = number_at<std::uint64_t>(bytes, 0x08);
  header.data_size = number_at<std::uint64_t>(bytes, 0x10);
  header.major_version = number_at<std::uint64_t>(bytes, 0x18);
  header.minor_version = number_at<std::uint64_t>(bytes, 0x20);
  constexpr std::uint64_t kMostVersion = 1000;  // no format has more of them; other files have anything here
  if (header.package_version < 1 || header.package_version > 2 || header.header_size != kNeffHeaderBytes ||
      header.major_version > kMostVersion || header.minor_version > kMostVersion) {
    return std::nullopt;
  }
  header.build_version = json::repair_utf8(text_of(bytes.substr(0x28, 128)));
  header.hash = hex_of(bytes.substr(0xac, kHashDigits / 2));
  header.uuid = hex_of(bytes.substr(0xcc, 16));
  header.network_name = json::repair_utf8(text_of(bytes.substr(0xdc, 256)));
  header.logical_cores = number_at<std::uint32_t>(bytes, 0x1dc);
  header.features = number_at<std::uint64_t>(bytes, 0x220);
  header.cores_per_logical_core = number_at<std::uint32_t>(bytes, 0x228);
  return header;
}

// The bytes that the header states, with their MD5.
class NeffArchive::Payload final : public json::ByteSource {
 public:
  Payload(std::unique_ptr<ByteSource> rest, std::uint64_t size)
      : rest_(std::move(rest)), left_(size), digest_(EVP_MD_CTX_new()) {
    if (digest_ != nullptr && EVP_DigestInit_ex(digest_.get(), EVP_md5(), nullptr) != 1) digest_.reset();
  }

  Result<std::size_t> read(std::span<char> out) override {
    out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_)));
    if (out.empty()) return std::size_t{0};
    std::size_t count = ahead_.copy(out.data(), out.size(), ahead_taken_);
    ahead_taken_ += count;
    if (count == 0) {
      const std::size_t more = TRY(rest_->read(out));
      count = more;
    }
    left_ -= count;
    if (digest_ != nullptr) EVP_DigestUpdate(digest_.get(), out.data(), count);
    return count;
  }
  // The first bytes, which read() gives all the same.
  Result<std::string_view> peek() {
    std::array<char, 4> first{};
    while (ahead_.size() < first.size()) {
      const std::size_t count = TRY(rest_->read(std::span(first).first(first.size() - ahead_.size())));
      if (count == 0) break;
      ahead_.append(first.data(), count);
    }
    return std::string_view(ahead_);
  }
  [[nodiscard]] std::uint64_t file_bytes() const override { return rest_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return rest_->file_bytes_read(); }

  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] ByteSource& rest() noexcept { return *rest_; }
  // As hexadecimal digits, once; "" where there is no MD5 to be had.
  [[nodiscard]] std::string digest() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    if (digest_ == nullptr || EVP_DigestFinal_ex(digest_.get(), bytes.data(), &size) != 1) return {};
    return hex_of({reinterpret_cast<const char*>(bytes.data()), size});
  }

 private:
  struct FreeDigest {
    void operator()(EVP_MD_CTX* digest) const noexcept { EVP_MD_CTX_free(digest); }
  };
  std::unique_ptr<ByteSource> rest_;
  std::uint64_t left_;
  std::unique_ptr<EVP_MD_CTX, FreeDigest> digest_;
  std::string ahead_;
  std::size_t ahead_taken_ = 0;
};

namespace {

// How many bytes are left.
Result<std::uint64_t> read_to_end(json::ByteSource& source) {
  std::array<char, 16U << 10> part{};
  std::uint64_t bytes = 0;
  for (;;) {
    const std::size_t count = TRY(source.read(part));
    if (count == 0) return bytes;
    bytes += count;
  }
}

}  // namespace

Result<std::unique_ptr<NeffArchive>> NeffArchive::open(std::unique_ptr<json::ByteSource> bytes, std::string name) {
  std::string head(kNeffHeaderBytes, '\0');
  const std::size_t count = TRY(json::read_all(*bytes, head));
  if (count < head.size()) {
    return Error{
        fmt::format("{}: the file ends at byte {}, within the header of a NEFF: copy it completely", name, count)};
  }
  std::optional<NeffHeader> header = read_neff_header(head);
  if (!header) {
    return Error{fmt::format(
        "{}: byte 0 begins no header of a NEFF: package version 1 or 2, then the header's size, 1024; if the compiler "
        "wrote it so, a newer Accelscope may know that version",
        name)};
  }
  auto packed = std::make_unique<Payload>(std::move(bytes), header->data_size);
  Payload& payload = *packed;
  const std::string first(TRY(payload.peek()));
  auto tar = json::ByteSource::inflated(name, first, std::move(packed));
  return std::unique_ptr<NeffArchive>(new NeffArchive(std::move(*header), payload, std::move(tar), std::move(name)));
}

Result<NeffArchive::Check> NeffArchive::check() {
  TRY(read_to_end(payload_));
  Check check;
  check.missing_bytes = payload_.left();
  if (check.missing_bytes > 0) return check;
  const std::uint64_t further = TRY(read_to_end(payload_.rest()));
  check.further_bytes = further;
  if (header_.package_version != 2) return check;
  // Compilers since 2025 store its 32-bit words with their bytes reversed, those before as they are.
  const std::string digest = payload_.digest();
  std::string reversed;
  for (std::size_t word = 0; word + 8 <= digest.size(); word += 8) {
    for (const std::size_t byte : {6U, 4U, 2U, 0U}) reversed += digest.substr(word + byte, 2);
  }
  check.hash_differs = !digest.empty() && header_.hash != digest && header_.hash != reversed;
  return check;
}

std::uint64_t NeffArchive::file_bytes() const { return payload_.file_bytes(); }
std::uint64_t NeffArchive::file_bytes_read() const { return payload_.file_bytes_read(); }

}  // namespace accelscope::capture::sources::neuron::neff
