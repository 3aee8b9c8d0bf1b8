#include "capture/security/secrets.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "capture/system/descriptor.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::capture::security {
namespace {

constexpr int kOwnerOnly = 0600;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;

}  // namespace

Result<std::string> private_folder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/accelscope";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == 0) {
    return Error{"neither HOME nor XDG_CONFIG_HOME is set, so there is no folder for keys; set XDG_CONFIG_HOME to one"};
  }
  return std::string(home) + "/.config/accelscope";
}

Result<void> ensure_private_folder(const std::string& folder) {
  return make_own_folder(behind_own_link(folder), Sharing::reading);
}

Result<std::string> read_private_file(const std::string& path) {
  return read_own_file(behind_own_link(path), Sharing::none, kMostBytes);
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  return write_own_file(path, content);
}

Result<void> with_folder_locked(const std::string& folder, const std::function<Result<void>()>& function) {
  const std::string path = folder + "/.lock";
  const system::Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (!lock) return system::system_error(path + ": cannot be opened");
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system::system_error(path + ": cannot be locked");
  }
  return function();  // closing the file unlocks it
}

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
  std::string content = TRY(read_private_file(path));
  const Wiped wiped(content);
  return named(path, Token::parse(content));
}

Result<Token> load_or_make_token(const std::string& folder) {
  TRY(ensure_private_folder(folder));
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
  Token token = TRY(load_token(path));
  return std::optional<Token>(std::move(token));
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

Result<std::string> make_nonce() {
  std::string nonce(kNonceBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) != 1) {
    return Error{"the system has no random numbers, without which no token can be proved"};
  }
  return nonce;
}

Result<std::string> make_mac(const Token& token, ProofSide side, const ProofInput& input) {
  if (input.agent_nonce.size() != kNonceBytes || input.viewer_nonce.size() != kNonceBytes) {
    return Error{"a hello without a nonce of 32 bytes"};
  }
  std::string message = side == ProofSide::viewer ? "viewer" : "agent";
  message += input.agent_nonce;
  message += input.viewer_nonce;
  message.append(reinterpret_cast<const char*>(input.channel_binding.data()), input.channel_binding.size());
  std::string mac(kMacBytes, '\0');
  const unsigned char* done = HMAC(EVP_sha256(), token.secret().data(), static_cast<int>(token.secret().size()),
                                   reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                   reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  if (done == nullptr) return Error{"the proof of the token cannot be computed"};
  return mac;
}

Result<bool> check_mac(const Token& token, ProofSide side, const ProofInput& input, std::string_view mac) {
  const std::string expected = TRY(make_mac(token, side, input));
  return mac.size() == kMacBytes && CRYPTO_memcmp(expected.data(), mac.data(), kMacBytes) == 0;
}

Result<ViewerProof> ViewerProof::begin(std::optional<Token> token) {
  std::string nonce = TRY(make_nonce());
  return ViewerProof(std::move(token), std::move(nonce));
}

Result<std::string> ViewerProof::prove(const std::string& agent_nonce, const Bytes& channel_binding) {
  if (!token_) {
    return Error{
        "the agent wants a token; give the file that holds it with --token-file (the agent keeps its own in "
        "~/.config/accelscope/token on its host)"};
  }
  input_.agent_nonce = agent_nonce;
  input_.channel_binding = channel_binding;
  proved_ = true;
  return make_mac(*token_, ProofSide::viewer, input_);
}

Result<void> ViewerProof::check_welcome(std::string_view mac) const {
  if (!proved_) return {};
  const bool right = TRY(check_mac(*token_, ProofSide::agent, input_, mac));
  if (!right) {
    return Error{"it does not know the token itself, so it is not the agent that it says it is; check the address"};
  }
  return {};
}

}  // namespace accelscope::capture::security
