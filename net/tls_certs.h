// Making and reading X.509 certificates (ECDSA P-256, SHA-256), as PEM. Pure but for the key and serial number, which
// come from OpenSSL's random generator; the clock is an argument. Any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

struct PemPair {
  std::string certificate_pem{};
  std::string key_pem{};
};

struct Validity {
  TimePoint not_before{};
  Duration lifetime{};  // kInvalid if not positive
};

struct ServingNames {
  std::vector<std::string> dns_names{};     // the first becomes the common name
  std::vector<std::string> ip_addresses{};  // "127.0.0.1", "::1"
};

struct ClientSubject {
  std::string common_name{};
  std::vector<std::string> organisations{};
};

// A self-signed certificate authority.
Result<PemPair> make_ca(std::string_view common_name, const Validity& validity);
// For a TLS server. kInvalid without a name, or with an address that is none.
Result<PemPair> make_serving_certificate(const PemPair& ca, const ServingNames& names, const Validity& validity);
// For a TLS client.
Result<PemPair> make_client_certificate(const PemPair& ca, const ClientSubject& subject, const Validity& validity);

struct CertificateInfo {
  std::string common_name{};
  std::string issuer_common_name{};
  std::vector<std::string> dns_names{};
  std::vector<std::string> ip_addresses{};
  TimePoint not_before{};
  TimePoint not_after{};
};

// Of the first certificate in the text. kInvalid if there is none.
Result<CertificateInfo> parse_certificate(std::string_view pem);
Result<TimePoint> certificate_expiry(std::string_view pem);
// kInvalid unless `key_pem` is the private key of the first certificate, and every further certificate parses.
Status check_pair(std::string_view certificate_pem, std::string_view key_pem);
// The number of certificates in a bundle; kInvalid if it holds none or one does not parse.
Result<int> count_certificates(std::string_view pem);
// True if the certificate was signed by the CA's key. Validity in time is not looked at.
Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view ca_pem);

}  // namespace muster::net
