// The secret that a viewer must know to use an agent. It is shown nowhere: not in logs, not in messages, not among a
// process's arguments; the wire carries only proofs of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope::capture::security {

// Files that only their owner may read: keys, tokens, pins. All lie in one folder, which is the owner's alone too.

// $XDG_CONFIG_HOME/accelscope, else ~/.config/accelscope. Fails if neither variable is set.
[[nodiscard]] Result<std::string> private_folder();

// Made with mode 0700 if it is not there. One that is there is taken as it is, its mode is never changed; if it belongs
// to another user, or others can write in it, it is refused, with what to do.
Result<void> ensure_private_folder(const std::string& folder);

// The whole file, of at most 64 KiB. Fails if it is not the caller's, or if anybody else may read or write it.
[[nodiscard]] Result<std::string> read_private_file(const std::string& path);

// See write_own_file().
Result<void> write_private_file(const std::string& path, std::string_view content);

// Runs the function while no other process does the same for the folder, so that two that start at once make one key.
Result<void> with_folder_locked(const std::string& folder, const std::function<Result<void>()>& function);

class Token {
 public:
  // 32 random bytes, written as 64 hexadecimal digits.
  [[nodiscard]] static Result<Token> make();
  // The text of a token without the white space around it. Fails if it is too short to be a secret, too long, or not
  // of printable ASCII characters; the message does not repeat it.
  [[nodiscard]] static Result<Token> parse(std::string_view text);

  Token(const Token&) = default;
  Token& operator=(const Token&) = default;
  Token(Token&&) noexcept = default;
  Token& operator=(Token&&) noexcept = default;
  ~Token();  // overwrites it

  // For computing proofs, for a private file and for another process's standard input; for nothing that is shown.
  [[nodiscard]] std::string_view secret() const noexcept { return secret_; }
  [[nodiscard]] bool operator==(const Token& other) const noexcept;  // takes as long for every token of this length

 private:
  explicit Token(std::string secret) : secret_(std::move(secret)) {}
  std::string secret_;
};

// The agent's own token: the file `token` in its folder, made at the first start.
[[nodiscard]] Result<Token> load_or_make_token(const std::string& folder);

// The same if it is there: a viewer of the same user on the same machine need not be told the token.
[[nodiscard]] Result<std::optional<Token>> find_token(const std::string& folder);

// From a file that its owner alone may read (--token-file).
[[nodiscard]] Result<Token> load_token(const std::string& path);

// The first line of a descriptor, such as standard input (--token-stdin). Takes not a byte of what follows it.
[[nodiscard]] Result<Token> read_token(int descriptor);

// How both sides of a connection show each other that they know the token without sending it. Each makes a nonce and
// sends it in its hello; then the viewer sends a mac, and the agent answers with its own (agent_gate.h and
// ViewerProof keep the order):
//
//   HMAC-SHA256(token, side || agent's nonce || viewer's nonce || channel binding),   side: "viewer" or "agent"
//
// A mac fits one connection only: the nonces are new each time, and the binding (Link::channel_binding, empty without
// TLS) differs for somebody in between, who has two connections. The side keeps one from being sent back as the other.

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kMacBytes = 32;

// Bytes, as messages carry them. Fails if the system has no random numbers.
[[nodiscard]] Result<std::string> make_nonce();

enum class ProofSide : std::uint8_t { agent, viewer };

struct ProofInput {
  std::string agent_nonce;
  std::string viewer_nonce;
  Bytes channel_binding;
};

// Fails if a nonce has not its length, since then the parts could be cut in more than one way.
[[nodiscard]] Result<std::string> make_mac(const Token& token, ProofSide side, const ProofInput& input);
// Takes as long for a wrong mac as for the right one.
[[nodiscard]] Result<bool> check_mac(const Token& token, ProofSide side, const ProofInput& input, std::string_view mac);

// The viewer's side of the proof that both know the token; agent_gate.h is the other.
//
//   ViewerProof proof = *ViewerProof::begin(token);
//   hello.nonce = proof.nonce();
//   ... the agent's hello came, with the capability "token" ...
//   Result<std::string> mac = proof.prove(agent_hello.nonce, link->channel_binding());   // to send
//   ... the agent's welcome came ...
//   Result<void> genuine = proof.check_welcome(welcome.mac);
class ViewerProof {
 public:
  // Fails if the system has no random numbers.
  [[nodiscard]] static Result<ViewerProof> begin(std::optional<Token> token);

  [[nodiscard]] const std::string& nonce() const noexcept { return input_.viewer_nonce; }
  // Fails if there is no token, with what to try.
  [[nodiscard]] Result<std::string> prove(const std::string& agent_nonce, const Bytes& channel_binding);
  // The agent has been asked to prove itself: check_welcome() tells.
  [[nodiscard]] bool proved() const noexcept { return proved_; }
  // Fails if the agent, which took the proof, does not know the token itself. Anything is right if nothing was proved.
  [[nodiscard]] Result<void> check_welcome(std::string_view mac) const;

 private:
  ViewerProof(std::optional<Token> token, std::string nonce)
      : token_(std::move(token)), input_{"", std::move(nonce), {}} {}

  std::optional<Token> token_;
  ProofInput input_;
  bool proved_ = false;
};

}  // namespace accelscope::capture::security
