#include "capture/security/token.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "capture/security/private_files.h"
#include "core/base/text.h"

namespace accelscope::capture::security {
namespace {

constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kFewestCharacters = 16;  // a shorter one could be found by trying
constexpr std::size_t kMostCharacters = 1024;

// Overwrites a text that held a secret, however it leaves.
class Wiped {
 public:
  explicit Wiped(std::string& text) : text_(text) {}
  ~Wiped() { OPENSSL_cleanse(text_.data(), text_.size()); }
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;

 private:
  std::string& text_;
};

Result<Token> named(const std::string& place, Result<Token> token) {
  if (token) return token;
  return Error{fmt::format("{}: {}", place, token.message())};
}

}  // namespace

Result<Token> Token::make() {
  std::array<unsigned char, kRandomBytes> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return Error{"the system has no random numbers for a token"};
  }
  std::string text;
  for (const unsigned char byte : random) text += fmt::format("{:02x}", byte);
  OPENSSL_cleanse(random.data(), random.size());
  return Token(std::move(text));
}

Result<Token> Token::parse(std::string_view text) {
  text = trimmed(text);
  if (text.size() < kFewestCharacters) {
    return Error{fmt::format("a token has at least {} characters, this one has {}; make one with: openssl rand -hex 32",
                             kFewestCharacters, text.size())};
  }
  if (text.size() > kMostCharacters) return Error{fmt::format("a token has at most {} characters", kMostCharacters)};
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable)
    return Error{"a token is one word of printable ASCII characters; make one with: openssl rand -hex 32"};
  return Token(std::string(text));
}

Token::~Token() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

bool Token::operator==(const Token& other) const noexcept {
  return secret_.size() == other.secret_.size() &&
         CRYPTO_memcmp(secret_.data(), other.secret_.data(), secret_.size()) == 0;
}

Result<Token> load_token(const std::string& path) {
  Result<std::string> content = read_private_file(path);
  if (!content) return content.error();
  const Wiped wiped(content.value());
  return named(path, Token::parse(content.value()));
}

Result<Token> load_or_make_token(const std::string& folder) {
  if (Result<void> ready = ensure_private_folder(folder); !ready) return ready.error();
  const std::string path = folder + "/token";
  Result<Token> token = Error{""};
  const Result<void> locked = with_folder_locked(folder, [&token, &path]() -> Result<void> {
    std::error_code ignored;  // a file that cannot be looked at cannot be read either, which says why
    const bool exists = std::filesystem::exists(path, ignored);
    token = exists ? load_token(path) : Token::make();
    if (exists || !token) return {};
    std::string line = fmt::format("{}\n", token.value().secret());
    const Wiped wiped(line);
    return write_private_file(path, line);
  });
  return locked ? std::move(token) : locked.error();
}

Result<std::optional<Token>> find_token(const std::string& folder) {
  const std::string path = folder + "/token";
  std::error_code ignored;  // as above
  if (!std::filesystem::exists(path, ignored)) return std::optional<Token>();
  Result<Token> token = load_token(path);
  if (!token) return token.error();
  return std::optional<Token>(std::move(token).value());
}

Result<Token> read_token(int descriptor) {
  std::string line;
  line.reserve(kMostCharacters + 2);  // never moved, so that no copy is left behind
  const Wiped wiped(line);
  // Byte by byte: what follows the line belongs to somebody else.
  for (char next = 0; next != '\n' && line.size() <= kMostCharacters;) {
    const ssize_t count = ::read(descriptor, &next, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{fmt::format("the token cannot be read from standard input: {}", std::strerror(errno))};
    if (count == 0) break;
    line += next;
  }
  return named("the token on standard input", Token::parse(line));
}

}  // namespace accelscope::capture::security
