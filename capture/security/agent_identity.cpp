#include "capture/security/agent_identity.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include <array>
#include <filesystem>
#include <memory>

#include "capture/security/private_files.h"

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
  const Result<std::string> key_pem = read_private_file(files.key_path);
  if (!key_pem) return key_pem.error();
  const Key key = read_key(key_pem.value());
  if (!key) {
    return Error{fmt::format(
        "{}: is not a private key in PEM without a passphrase; move it away to have a new one made", files.key_path)};
  }
  if (!std::filesystem::exists(files.certificate_path)) return certify_key(*key);
  const Result<std::string> certificate_pem = read_private_file(files.certificate_path);
  if (!certificate_pem) return certificate_pem.error();
  const Certificate certificate = read_certificate(certificate_pem.value());
  if (!certificate || X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return Error{fmt::format("{}: is not the certificate of {}; move both away to have new ones made",
                             files.certificate_path, files.key_path)};
  }
  return AgentIdentity{key_pem.value(), certificate_pem.value(), certificate_fingerprint(*certificate)};
}

Result<AgentIdentity> load_or_make(const IdentityFiles& files) {
  const bool has_key = std::filesystem::exists(files.key_path);
  const bool has_certificate = std::filesystem::exists(files.certificate_path);
  if (has_key && has_certificate) return load(files);
  Result<AgentIdentity> identity = has_key ? load(files) : make_identity();
  if (!identity) return identity;
  // The key first: a certificate can be made anew for a key, but not the other way round.
  if (Result<void> written = write_private_file(files.key_path, identity->key_pem); !written) return written.error();
  Result<void> written = write_private_file(files.certificate_path, identity->certificate_pem);
  return written ? identity : written.error();
}

}  // namespace

Result<AgentIdentity> load_or_make_identity(const std::string& folder) {
  if (Result<void> ready = ensure_private_folder(folder); !ready) return ready.error();
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

}  // namespace accelscope::capture::security
