// The secret that a viewer must know to use an agent. It is shown nowhere: not in logs, not in messages, not among a
// process's arguments; the wire carries only proofs of it (proof.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::security {

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

}  // namespace accelscope::capture::security
