#include "capture/system/shown_command.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace accelscope::capture::system {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kQuotes = "\"'`";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string_view::npos;
}

bool is_letter_or_digit(char c) noexcept { return is_digit(c) || (lower_case(c) >= 'a' && lower_case(c) <= 'z'); }

bool is_of_name(char c) noexcept { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "hf", "token" of --hf-token; "db", "password" of DB_PASSWORD; "api", "key" of apiKey.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool hump = i > 0 && c >= 'A' && c <= 'Z' && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (!is_letter_or_digit(c) || hump) words.emplace_back();
    if (is_letter_or_digit(c)) words.back() += lower_case(c);
  }
  std::erase(words, "");
  return words;
}

}  // namespace

// --token-count=7 is a number of them, --pass=2 one of several runs.
bool names_a_secret(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 19> kAnywhere = {
      "password", "passwd",     "pwd",  "passphrase",  "secret",        "secrets", "token",
      "apikey",   "credential", "auth", "credentials", "authorization", "cookie",  "cookies",
      "bearer",   "accesskey",  "jwt",  "privatekey",  "secretkey"};
  constexpr std::array<std::string_view, 7> kAtTheEnd = {"pass", "sig",   "signature", "pat",
                                                         "cred", "creds", "passcode"};
  constexpr std::array<std::string_view, 7> kOfKeys = {"api",        "access",  "secret", "private",
                                                       "encryption", "signing", "master"};
  const std::vector<std::string> words = words_of(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool counted = words[i] == "token" && i + 1 < words.size() && is_number(value);
    if (!counted && is_one_of(kAnywhere, words[i])) return true;
    if (words[i] == "key" && i > 0 && is_one_of(kOfKeys, words[i - 1])) return true;
  }
  const bool alone = words.size() == 1 && is_number(value);
  return !words.empty() && !alone && is_one_of(kAtTheEnd, words.back());
}

namespace {

// Whose value is all that follows on the line: words and semicolons belong to it.
bool is_header(std::string_view name) {
  constexpr std::array<std::string_view, 4> kHeaders = {"authorization", "proxy-authorization", "cookie", "set-cookie"};
  return is_one_of(kHeaders, lower_case(name));
}

std::size_t end_of(std::string_view text, std::size_t at, std::string_view ends) {
  return std::min(text.find_first_of(ends, at), text.size());
}

// The end of what is quoted from `at` on, which is at its closing quote or the text's end.
std::size_t end_of_quoted(std::string_view text, std::size_t at, char quote) {
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
  return std::min(at, text.size());
}

// Replaces secrets from left to right. What was looked at is not looked at again.
class SecretScanner {
 public:
  explicit SecretScanner(std::string_view text) : text_(text) {}

  std::string scan() {
    while (at_ < text_.size()) {
      if (hide_url_password() || hide_known_form() || hide_named_value()) continue;
      // A whole name at once, or else its end would count as a name of its own.
      const std::size_t begin = at_;
      do ++at_;
      while (at_ < text_.size() && is_of_name(text_[begin]) && is_of_name(text_[at_]));
      shown_ += text_.substr(begin, at_ - begin);
    }
    return std::move(shown_);
  }

 private:
  void show_until(std::size_t end) {
    shown_ += text_.substr(at_, end - at_);
    at_ = end;
  }
  void hide_until(std::size_t end) {
    if (end > at_) shown_ += kHidden;
    at_ = end;
  }

  // scheme://user:password@host
  bool hide_url_password() {
    if (!text_.substr(at_).starts_with("://")) return false;
    const std::size_t begin = at_ + 3;
    const std::string_view host = text_.substr(begin, end_of(text_, begin, "/?# \t\n\"'`<>") - begin);
    const std::size_t sign = host.rfind('@');
    const std::size_t colon = host.find(':');
    if (sign == std::string_view::npos || colon >= sign) return false;
    show_until(begin + colon + 1);
    hide_until(begin + sign);
    return true;
  }

  // Keys that say by their first letters what they are.
  bool hide_known_form() {
    constexpr std::array<std::string_view, 14> kBegins = {"ghp_",   "gho_", "ghs_", "ghu_",  "github_pat_",
                                                          "glpat-", "hf_",  "sk-",  "xoxb-", "xoxp-",
                                                          "AKIA",   "ASIA", "AIza", "eyJ"};
    constexpr std::size_t kLeast = 20;  // letters of a key
    if (at_ > 0 && is_of_name(text_[at_ - 1])) return false;
    const std::string_view rest = text_.substr(at_);
    const auto* const begin =
        std::find_if(kBegins.begin(), kBegins.end(), [&](std::string_view form) { return rest.starts_with(form); });
    if (begin == kBegins.end()) return false;
    std::size_t end = at_;
    while (end < text_.size() && is_of_name(text_[end])) ++end;
    const std::string_view key = text_.substr(at_, end - at_);
    const bool mixed = std::any_of(key.begin(), key.end(), is_digit) &&  // hf_hub_download is none
                       std::any_of(key.begin(), key.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (key.size() < kLeast || !mixed) return false;
    hide_until(end);
    return true;
  }

  // NAME=VALUE, "name": "value", Name: value, --name value, Bearer value
  bool hide_named_value() {
    if (!is_of_name(text_[at_]) || (at_ > 0 && is_of_name(text_[at_ - 1]))) return false;
    std::size_t end = at_;
    while (end < text_.size() && is_of_name(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    std::size_t value = end;
    if (value < text_.size() && kQuotes.find(text_[value]) != std::string_view::npos) ++value;  // "name": ...
    const bool quoted_name = value != end;
    while (value < text_.size() && (text_[value] == ' ' || text_[value] == '\t')) ++value;
    const char sign = value < text_.size() ? text_[value] : '\0';
    const bool named = sign == ':' || (sign == '=' && (value == end || quoted_name));
    if (named) {
      ++value;
      while (value < text_.size() && (text_[value] == ' ' || text_[value] == '\t')) ++value;
    } else if (quoted_name || value == end || (!name.starts_with('-') && !is_scheme(name))) {
      return false;
    }
    if (text_.substr(value).starts_with("//")) return false;  // the scheme of a URL
    return hide_value(name, value, sign == ':');
  }

  static bool is_scheme(std::string_view name) { return lower_case(name) == "bearer" || lower_case(name) == "basic"; }

  bool hide_value(std::string_view name, std::size_t value, bool colon) {
    if (value >= text_.size()) return false;
    const char first = text_[value];
    const bool quoted = kQuotes.find(first) != std::string_view::npos;
    std::size_t end = quoted                     ? end_of_quoted(text_, value + 1, first)
                      : colon && is_header(name) ? end_of(text_, value, "\r\n\"'`")
                                                 : end_of(text_, value, " \t\r\n&;,|<>(){}[]\"'`");
    const std::size_t begin = value + (quoted ? 1 : 0);
    const std::string_view hidden = text_.substr(begin, end - begin);
    const bool secret = is_scheme(name) ? hidden.size() >= kLeastOfScheme : names_a_secret(name, hidden);
    if (!secret || hidden.empty()) return false;
    if (!colon && hidden.starts_with('-') && name.starts_with('-')) return false;  // the next option
    show_until(begin);
    hide_until(end);
    return true;
  }

  static constexpr std::size_t kLeastOfScheme = 8;  // letters, or it is a word of a sentence
  std::string_view text_;
  std::size_t at_ = 0;
  std::string shown_;
};

// curl -u USER:PASSWORD; the user stays.
std::string without_login(const std::string& value) {
  const std::size_t colon = value.find(':');
  return colon == std::string::npos || is_number(std::string_view(value).substr(colon + 1))
             ? value
             : value.substr(0, colon + 1) + std::string(kHidden);
}

bool takes_login(std::string_view option) {
  return option == "-u" || option == "-U" || option == "--user" || option == "--proxy-user";
}

// -pPASSWORD
bool takes_glued_password(std::string_view program) {
  constexpr std::array<std::string_view, 5> kPrograms = {"mysql", "mysqldump", "mysqladmin", "mariadb", "sshpass"};
  return is_one_of(kPrograms, file_name(program));
}

}  // namespace

std::string without_secrets(std::string_view text) { return SecretScanner(text).scan(); }

std::string shell_quote(std::string_view argument) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shown_command(const std::vector<std::string>& argv) {
  std::vector<std::string> shown;
  std::string_view before;  // an option whose value may follow
  bool glued = false;
  for (const std::string& argument : argv) {
    const bool option = argument.starts_with('-');
    const std::string_view name = std::exchange(before, {});
    if (!name.empty() && !option && names_a_secret(name, argument)) {
      shown.emplace_back(kHidden);
    } else if (!name.empty() && takes_login(name)) {
      shown.push_back(without_login(argument));
    } else if (glued && argument.starts_with("-p") && argument.size() > 2) {
      shown.push_back("-p" + std::string(kHidden));
    } else {
      if (option && argument.find('=') == std::string::npos) before = argument;
      shown.push_back(without_secrets(argument));
    }
    glued = glued || takes_glued_password(argument);
  }
  return shell_command(shown);
}

std::string shell_command(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& argument : argv) command += (command.empty() ? "" : " ") + shell_quote(argument);
  return command;
}

}  // namespace accelscope::capture::system
