#include "net/tls_certs.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>
#include <utility>

namespace muster::net {
namespace {

template <auto kFree>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<&BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<&X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<&X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<&GENERAL_NAMES_free>>;

// Drains OpenSSL's error queue of this thread into one Error.
Error openssl_error(ErrorCode code, std::string what) {
  if (const unsigned long number = ERR_peek_last_error(); number != 0) {
    std::array<char, 256> text{};
    ERR_error_string_n(number, text.data(), text.size());
    what.append(": ").append(text.data());
  }
  ERR_clear_error();
  return Error{.code = code, .message = std::move(what)};
}

Error failed(std::string what) {
  return openssl_error(ErrorCode::kInternal, std::move(what));
}

Error unreadable(std::string what) {
  return openssl_error(ErrorCode::kInvalid, std::move(what));
}

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A PEM reader's password callback: encrypted keys are refused instead of asked for on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*context*/) {
  return -1;
}

Result<std::vector<Certificate>> read_certificates(std::string_view pem) {
  const Bio bio = reader(pem);
  std::vector<Certificate> found;
  while (true) {
    Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, &no_password, nullptr));
    if (certificate == nullptr) {
      break;
    }
    found.push_back(std::move(certificate));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return unreadable("a certificate does not parse");
  }
  ERR_clear_error();
  if (found.empty()) {
    return invalid("no PEM certificate in the text");
  }
  return found;
}

Result<Key> read_key(std::string_view pem) {
  const Bio bio = reader(pem);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_password, nullptr));
  if (key == nullptr) {
    return unreadable("the private key does not parse");
  }
  return key;
}

std::string drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<std::string> certificate_to_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), certificate) != 1) {
    return failed("cannot write a certificate");
  }
  return drain(bio.get());
}

Result<std::string> key_to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed("cannot write a private key");
  }
  return drain(bio.get());
}

std::time_t to_time_t(TimePoint time) {
  return static_cast<std::time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

Result<TimePoint> from_asn1(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return unreadable("a certificate's time does not parse");
  }
  return TimePoint(std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts))));
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return false;
  }
  bytes[0] &= 0x7f;  // positive
  bytes[0] |= 0x40;  // and of full length
  const std::unique_ptr<BIGNUM, Deleter<&BN_free>> number(
      BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  return number != nullptr && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  // OpenSSL takes the bytes as unsigned char; text is UTF-8 either way.
  const auto* bytes = reinterpret_cast<const unsigned char*>(value.data());
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// A certificate being made: subject's key and fields are set, extensions and signature are not.
struct Draft {
  Certificate certificate{};
  Key key{};
};

Result<Draft> start(std::string_view common_name, const std::vector<std::string>& organisations,
                    const Validity& validity) {
  if (validity.lifetime <= Duration::zero()) {
    return invalid("a certificate's lifetime must be positive");
  }
  Draft draft{Certificate(X509_new()), Key(EVP_EC_gen("P-256"))};
  X509* const certificate = draft.certificate.get();
  if (certificate == nullptr || draft.key == nullptr) {
    return failed("cannot generate a key");
  }
  X509_NAME* const subject = X509_get_subject_name(certificate);
  bool good = X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
              X509_set_pubkey(certificate, draft.key.get()) == 1;
  for (const std::string& organisation : organisations) {
    good = good && add_name(subject, "O", organisation);
  }
  good = good && (common_name.empty() || add_name(subject, "CN", common_name)) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), to_time_t(validity.not_before)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), to_time_t(validity.not_before + validity.lifetime)) != nullptr;
  if (!good) {
    return failed("cannot make a certificate for '" + std::string(common_name) + "'");
  }
  return draft;
}

Result<PemPair> finish(Draft draft, X509* issuer, EVP_PKEY* issuer_key) {
  X509* const certificate = draft.certificate.get();
  const bool good = X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
                    add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
                    add_extension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
                    X509_sign(certificate, issuer_key, EVP_sha256()) != 0;
  if (!good) {
    return failed("cannot sign a certificate");
  }
  MUSTER_TRY(certificate_pem, certificate_to_pem(certificate));
  MUSTER_TRY(key_pem, key_to_pem(draft.key.get()));
  return PemPair{std::move(certificate_pem), std::move(key_pem)};
}

// What a leaf may be used for: server or client authentication; `names` is a subjectAltName or empty.
struct LeafUse {
  const char* extended_usage = "";
  std::string names{};
};

Result<PemPair> finish_leaf(Draft draft, const PemPair& ca, const LeafUse& use) {
  MUSTER_TRY(issuers, read_certificates(ca.certificate_pem));
  MUSTER_TRY(issuer_key, read_key(ca.key_pem));
  X509* const issuer = issuers.front().get();
  X509* const certificate = draft.certificate.get();
  const bool good = add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(certificate, issuer, NID_ext_key_usage, use.extended_usage) &&
                    (use.names.empty() || add_extension(certificate, issuer, NID_subject_alt_name, use.names));
  if (!good) {
    return unreadable("cannot set a certificate's extensions");
  }
  return finish(std::move(draft), issuer, issuer_key.get());
}

// "DNS:a,IP:1.2.3.4" for OpenSSL's extension parser; a comma in a name would start a new entry there.
Result<std::string> alternative_names(const ServingNames& names) {
  std::string text;
  for (const std::string& name : names.dns_names) {
    if (name.empty() || name.find_first_of(", \t\r\n") != std::string::npos) {
      return invalid("'" + name + "' is not a DNS name");
    }
    text.append(text.empty() ? "DNS:" : ",DNS:").append(name);
  }
  for (const std::string& address : names.ip_addresses) {
    std::array<unsigned char, 16> bytes{};
    if (::inet_pton(AF_INET, address.c_str(), bytes.data()) != 1 &&
        ::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) {
      return invalid("'" + address + "' is not an IP address");
    }
    text.append(text.empty() ? "IP:" : ",IP:").append(address);
  }
  if (text.empty()) {
    return invalid("a serving certificate needs a DNS name or an IP address");
  }
  return text;
}

std::string common_name_of(const X509_NAME* name) {
  const int index = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (index < 0) {
    return {};
  }
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
  if (size < 0) {
    return {};
  }
  std::string result(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  return result;
}

void add_alternative_name(const GENERAL_NAME* name, CertificateInfo& info) {
  if (name->type == GEN_DNS) {
    const ASN1_STRING* value = name->d.dNSName;
    info.dns_names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<std::size_t>(ASN1_STRING_length(value)));
  } else if (name->type == GEN_IPADD) {
    const ASN1_STRING* value = name->d.iPAddress;
    const int family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
    std::array<char, INET6_ADDRSTRLEN> text{};
    if ((family == AF_INET || ASN1_STRING_length(value) == 16) &&
        ::inet_ntop(family, ASN1_STRING_get0_data(value), text.data(), text.size()) != nullptr) {
      info.ip_addresses.emplace_back(text.data());
    }
  }
}

}  // namespace

Result<PemPair> make_ca(std::string_view common_name, const Validity& validity) {
  MUSTER_TRY(draft, start(common_name, {}, validity));
  X509* const certificate = draft.certificate.get();
  EVP_PKEY* const key = draft.key.get();
  if (!add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") ||
      !add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,digitalSignature")) {
    return failed("cannot set a CA's extensions");
  }
  return finish(std::move(draft), certificate, key);
}

Result<PemPair> make_serving_certificate(const PemPair& ca, const ServingNames& names, const Validity& validity) {
  MUSTER_TRY(alternatives, alternative_names(names));
  // A common name holds at most 64 characters; verifiers look at the alternative names only.
  const std::string common_name =
      names.dns_names.empty() || names.dns_names.front().size() > 64 ? std::string() : names.dns_names.front();
  MUSTER_TRY(draft, start(common_name, {}, validity));
  return finish_leaf(std::move(draft), ca, {.extended_usage = "serverAuth", .names = std::move(alternatives)});
}

Result<PemPair> make_client_certificate(const PemPair& ca, const ClientSubject& subject, const Validity& validity) {
  MUSTER_TRY(draft, start(subject.common_name, subject.organisations, validity));
  return finish_leaf(std::move(draft), ca, {.extended_usage = "clientAuth"});
}

Result<CertificateInfo> parse_certificate(std::string_view pem) {
  MUSTER_TRY(certificates, read_certificates(pem));
  X509* const certificate = certificates.front().get();
  MUSTER_TRY(not_before, from_asn1(X509_get0_notBefore(certificate)));
  MUSTER_TRY(not_after, from_asn1(X509_get0_notAfter(certificate)));
  CertificateInfo info{.common_name = common_name_of(X509_get_subject_name(certificate)),
                       .issuer_common_name = common_name_of(X509_get_issuer_name(certificate)),
                       .not_before = not_before,
                       .not_after = not_after};
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    add_alternative_name(sk_GENERAL_NAME_value(names.get(), i), info);
  }
  return info;
}

Result<TimePoint> certificate_expiry(std::string_view pem) {
  MUSTER_TRY(info, parse_certificate(pem));
  return info.not_after;
}

Status check_pair(std::string_view certificate_pem, std::string_view key_pem) {
  auto certificates = read_certificates(certificate_pem);
  if (!certificates.ok()) {
    return certificates.error();
  }
  auto key = read_key(key_pem);
  if (!key.ok()) {
    return key.error();
  }
  if (X509_check_private_key(certificates->front().get(), key->get()) != 1) {
    return unreadable("the private key does not belong to the certificate");
  }
  return {};
}

Result<int> count_certificates(std::string_view pem) {
  MUSTER_TRY(certificates, read_certificates(pem));
  return static_cast<int>(certificates.size());
}

Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view ca_pem) {
  MUSTER_TRY(certificates, read_certificates(certificate_pem));
  MUSTER_TRY(issuers, read_certificates(ca_pem));
  const int verified = X509_verify(certificates.front().get(), X509_get0_pubkey(issuers.front().get()));
  ERR_clear_error();
  return verified == 1;
}

}  // namespace muster::net
