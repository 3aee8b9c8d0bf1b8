#include "capture/security/identities.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "capture/security/secrets.h"

namespace accelscope::capture::security {
namespace {

constexpr const char* kCurve = "P-256";
constexpr const char* kSubject = "accelscope-agent";
// Viewers know the certificate itself, so its dates say nothing; RFC 5280, 4.1.2.5 gives the last one this meaning.
constexpr const char* kFirstDate = "20000101000000Z";
constexpr const char* kNoLastDate = "99991231235959Z";

struct Release {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* text) const { BIO_free_all(text); }
};
using Key = std::unique_ptr<EVP_PKEY, Release>;
using Certificate = std::unique_ptr<X509, Release>;
using Text = std::unique_ptr<BIO, Release>;

Error library_error(const std::string& what) {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  ERR_clear_error();
  return Error{fmt::format("{}: {}", what, reason.data())};
}

std::string text_of(BIO& text) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(&text, &data);
  return {data, static_cast<std::size_t>(length)};
}

Key read_key(const std::string& pem) {
  const Text text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // With a passphrase given, the library does not ask for one on the terminal.
  std::array<char, 1> no_passphrase{};
  return Key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, no_passphrase.data()));
}

Certificate read_certificate(const std::string& pem) {
  const Text text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
}

// The name of the holder, who is the issuer too; nobody looks at it but a person with a tool.
bool name_and_sign(X509& certificate, EVP_PKEY& key) {
  X509_NAME* name = X509_get_subject_name(&certificate);
  const auto* common_name = reinterpret_cast<const unsigned char*>(kSubject);
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
         X509_set_issuer_name(&certificate, name) == 1 && X509_set_pubkey(&certificate, &key) == 1 &&
         X509_sign(&certificate, &key, EVP_sha256()) != 0;
}

Certificate certify(EVP_PKEY& key) {
  Certificate certificate(X509_new());
  std::uint64_t serial = 0;
  if (!certificate || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return {};
  const bool filled = X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1 | 1) == 1 &&
                      ASN1_TIME_set_string(X509_getm_notBefore(certificate.get()), kFirstDate) == 1 &&
                      ASN1_TIME_set_string(X509_getm_notAfter(certificate.get()), kNoLastDate) == 1;
  return filled && name_and_sign(*certificate, key) ? std::move(certificate) : Certificate();
}

Result<AgentIdentity> identity_of(EVP_PKEY& key, X509& certificate) {
  const Text key_text(BIO_new(BIO_s_mem()));
  const Text certificate_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key_text.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate_text.get(), &certificate) != 1) {
    return library_error("the agent's key cannot be written as text");
  }
  return AgentIdentity{text_of(*key_text), text_of(*certificate_text), certificate_fingerprint(certificate)};
}

Result<AgentIdentity> certify_key(EVP_PKEY& key) {
  const Certificate certificate = certify(key);
  if (!certificate) return library_error("cannot make the agent's certificate");
  return identity_of(key, *certificate);
}

struct IdentityFiles {
  std::string key_path;
  std::string certificate_path;
};

Result<AgentIdentity> load(const IdentityFiles& files) {
  const std::string key_pem = TRY(read_private_file(files.key_path));
  const Key key = read_key(key_pem);
  if (!key) {
    return Error{fmt::format(
        "{}: is not a private key in PEM without a passphrase; move it away to have a new one made", files.key_path)};
  }
  if (!std::filesystem::exists(files.certificate_path)) return certify_key(*key);
  const std::string certificate_pem = TRY(read_private_file(files.certificate_path));
  const Certificate certificate = read_certificate(certificate_pem);
  if (!certificate || X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return Error{fmt::format("{}: is not the certificate of {}; move both away to have new ones made",
                             files.certificate_path, files.key_path)};
  }
  return AgentIdentity{key_pem, certificate_pem, certificate_fingerprint(*certificate)};
}

Result<AgentIdentity> load_or_make(const IdentityFiles& files) {
  const bool has_key = std::filesystem::exists(files.key_path);
  const bool has_certificate = std::filesystem::exists(files.certificate_path);
  if (has_key && has_certificate) return load(files);
  Result<AgentIdentity> identity = has_key ? load(files) : make_identity();
  if (!identity) return identity;
  // The key first: a certificate can be made anew for a key, but not the other way round.
  TRY(write_private_file(files.key_path, identity->key_pem));
  Result<void> written = write_private_file(files.certificate_path, identity->certificate_pem);
  return written ? identity : written.error();
}

}  // namespace

Result<AgentIdentity> load_or_make_identity(const std::string& folder) {
  TRY(ensure_private_folder(folder));
  Result<AgentIdentity> identity = Error{""};
  const Result<void> locked = with_folder_locked(folder, [&identity, &folder]() -> Result<void> {
    identity = load_or_make({folder + "/agent.key", folder + "/agent.crt"});
    return {};
  });
  return locked ? std::move(identity) : locked.error();
}

Result<AgentIdentity> make_identity() {
  const Key key(EVP_EC_gen(kCurve));
  if (!key) return library_error("cannot make the agent's key");
  return certify_key(*key);
}

std::string certificate_fingerprint(const x509_st& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &length) != 1) return {};
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> base64{};
  const int characters = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(length));
  std::string text(reinterpret_cast<const char*>(base64.data()), static_cast<std::size_t>(characters));
  text.erase(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

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
  const std::string content = TRY(read_file(path));
  std::vector<KnownLine> lines;
  std::istringstream text(content);
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
  const std::vector<KnownLine> lines = TRY(read_lines(path_));
  const KnownLine* other = nullptr;
  for (const KnownLine& line : lines) {
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
    const AgentCheck now = TRY(check(address, fingerprint));
    if (now.verdict == AgentVerdict::known) return {};
    Result<std::string> content = read_file(path_);
    if (!content) return content.error();
    if (!content->empty() && !content->ends_with('\n')) *content += '\n';
    return write_private_file(path_, fmt::format("{}{} {}\n", content.value(), address, fingerprint));
  });
}

Result<std::string> known_agents_path() {
  const std::string folder = TRY(private_folder());
  return folder + "/known_agents";
}

}  // namespace accelscope::capture::security
