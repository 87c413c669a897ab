// The webhook's own certificate authority and serving certificate, as they stand in the Secret, and what to do about
// them next. Pure but for the keys, which net/tls_certs.h makes; the clock is an argument. Any thread.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "base/time.h"

#include <string>
#include <vector>

namespace muster::webhook {

// Everything as PEM. Of `ca_bundle`, whom clients trust, the first certificate signs, with `ca_key`; those behind it
// are on their way out.
struct CertificateSet {
  std::string ca_bundle{};
  std::string ca_key{};
  std::string certificate{};
  std::string key{};
  friend bool operator==(const CertificateSet&, const CertificateSet&) = default;
};

enum class CertificateStep {
  kNothing,
  kMakeAll,     // nothing usable there
  kIssue,       // a serving certificate from the signing CA
  kRotateCa,    // a new signing CA before the old; the serving certificate stays until clients have learnt of it
  kDropOldCas,  // no certificate of theirs is in use any more
};

// Names under which the API server reaches the Service.
std::vector<std::string> service_names(const std::string& service, const std::string& ns);

// Each certificate is renewed when two thirds of its life are over.
CertificateStep next_step(const CertificateSet& set, const std::vector<std::string>& names, TimePoint now);
// Takes steps until nothing is left to do.
Result<CertificateSet> bring_up_to_date(CertificateSet set, const std::vector<std::string>& names, TimePoint now);

// The Secret's keys ca.crt, ca.key, tls.crt and tls.key; empty where absent or unreadable.
CertificateSet read_secret(const api::Json& secret);
// `secret` with the set in its data; everything else stays.
api::Json write_secret(api::Json secret, const CertificateSet& set);

}  // namespace muster::webhook
