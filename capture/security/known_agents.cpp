#include "capture/security/known_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "capture/security/private_files.h"

namespace accelscope::capture::security {
namespace {

constexpr std::string_view kFingerprintPrefix = "SHA256:";
constexpr std::size_t kDigestCharacters = 43;  // 32 bytes in base64 without padding

struct KnownLine {
  std::size_t number = 0;
  std::string address;
  std::string fingerprint;
};

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;  // a file that cannot be looked at cannot be read either, which says why
  if (!std::filesystem::exists(path, ignored)) return std::string();
  return read_private_file(path);
}

Result<std::vector<KnownLine>> read_lines(const std::string& path) {
  const Result<std::string> content = read_file(path);
  if (!content) return content.error();
  std::vector<KnownLine> lines;
  std::istringstream text(content.value());
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    KnownLine known{number, {}, {}};
    std::string more;
    words >> known.address >> known.fingerprint >> more;
    if (known.address.empty() || known.address.starts_with('#')) continue;
    if (!is_fingerprint(known.fingerprint) || !more.empty()) {
      return Error{fmt::format("{}: line {} is not 'HOST:PORT SHA256:...'; mend or remove it", path, number)};
    }
    lines.push_back(std::move(known));
  }
  return lines;
}

std::string changed_message(const std::string& path, const KnownLine& known, const std::string& fingerprint) {
  return fmt::format(
      "the agent's certificate has changed: it was {}, now it is {}. Either the agent was set up anew, or somebody "
      "stands between you and it. If accelscope-agent prints {} on that host at its start, remove line {} of {} ('{} "
      "{}') and connect again",
      known.fingerprint, fingerprint, fingerprint, known.number, path, known.address, known.fingerprint);
}

}  // namespace

bool is_fingerprint(const std::string& text) {
  if (!text.starts_with(kFingerprintPrefix) || text.size() != kFingerprintPrefix.size() + kDigestCharacters)
    return false;
  return std::all_of(text.begin() + kFingerprintPrefix.size(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/'; });
}

Result<AgentCheck> KnownAgents::check(const std::string& address, const std::string& fingerprint) const {
  const Result<std::vector<KnownLine>> lines = read_lines(path_);
  if (!lines) return lines.error();
  const KnownLine* other = nullptr;
  for (const KnownLine& line : lines.value()) {
    if (line.address != address) continue;
    if (line.fingerprint == fingerprint) return AgentCheck{AgentVerdict::known, ""};
    if (other == nullptr) other = &line;
  }
  if (other == nullptr) return AgentCheck{AgentVerdict::first_use, ""};
  return AgentCheck{AgentVerdict::changed, changed_message(path_, *other, fingerprint)};
}

Result<void> KnownAgents::remember(const std::string& address, const std::string& fingerprint) {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (Result<void> ready = ensure_private_folder(folder); !ready) return ready;
  return with_folder_locked(folder, [&]() -> Result<void> {
    const Result<AgentCheck> now = check(address, fingerprint);  // another viewer may have been faster
    if (!now) return now.error();
    if (now.value().verdict == AgentVerdict::known) return {};
    Result<std::string> content = read_file(path_);
    if (!content) return content.error();
    if (!content->empty() && !content->ends_with('\n')) *content += '\n';
    return write_private_file(path_, fmt::format("{}{} {}\n", content.value(), address, fingerprint));
  });
}

Result<std::string> known_agents_path() {
  const Result<std::string> folder = private_folder();
  if (!folder) return folder.error();
  return folder.value() + "/known_agents";
}

}  // namespace accelscope::capture::security
