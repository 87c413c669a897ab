#include "webhook/server/certificates.h"

#include "client/base64.h"
#include "net/tls_certs.h"
#include "webhook/object.h"
#include "webhook/review.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace muster::webhook {
namespace {

using api::Json;

constexpr char kCaName[] = "muster-ca";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
constexpr Duration kCaLifetime = std::chrono::hours(24 * 3650);
constexpr Duration kLifetime = std::chrono::hours(24 * 365);
constexpr Duration kBackdate = std::chrono::hours(1);       // for clocks that are behind
constexpr Duration kTrustDelay = std::chrono::minutes(10);  // until every API server knows a new CA
constexpr Duration kReplicaDelay = std::chrono::hours(24);  // until no replica serves a former certificate
constexpr int kMaxSteps = 4;

// The certificates of a bundle, one text each.
std::vector<std::string> split(std::string_view bundle) {
  std::vector<std::string> parts;
  for (auto end = bundle.find(kEnd); end != std::string_view::npos; end = bundle.find(kEnd)) {
    parts.emplace_back(bundle.substr(0, end + kEnd.size()));
    bundle.remove_prefix(end + kEnd.size());
  }
  return parts;
}

bool is_valid_at(const net::CertificateInfo& info, TimePoint now) {
  return info.not_before <= now && now < info.not_after;
}

bool is_due(const net::CertificateInfo& info, TimePoint now) {
  return now - info.not_before >= (info.not_after - info.not_before) * 2 / 3;
}

Duration age(const net::CertificateInfo& info, TimePoint now) {
  return now - (info.not_before + kBackdate);
}

bool signs(const std::string& ca, const std::string& certificate) {
  return net::is_signed_by(certificate, ca).value_or(false);
}

bool carries(const net::CertificateInfo& info, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(info.dns_names.begin(), info.dns_names.end(), name) != info.dns_names.end();
  });
}

// What a set is worth at a moment.
class Inspection {
 public:
  Inspection(const CertificateSet& set, const std::vector<std::string>& names, TimePoint now)
      : now_(now), cas_(split(set.ca_bundle)) {
    ca_usable_ = !cas_.empty() && read(cas_.front(), ca_) && net::check_pair(cas_.front(), set.ca_key).ok() &&
                 is_valid_at(ca_, now);
    usable_ = read(set.certificate, serving_) && net::check_pair(set.certificate, set.key).ok() &&
              is_valid_at(serving_, now) && carries(serving_, names) && is_trusted(set.certificate);
    from_first_ca_ = usable_ && signs(cas_.front(), set.certificate);
  }

  CertificateStep step() const {
    if (!ca_usable_) {
      return usable_ ? CertificateStep::kRotateCa : CertificateStep::kMakeAll;
    }
    if (!usable_) {
      return CertificateStep::kIssue;
    }
    if (is_due(ca_, now_)) {
      return CertificateStep::kRotateCa;
    }
    if (!from_first_ca_ || is_due(serving_, now_)) {
      const bool ca_is_known = from_first_ca_ || age(ca_, now_) >= kTrustDelay;
      return ca_is_known ? CertificateStep::kIssue : CertificateStep::kNothing;
    }
    return cas_.size() > 1 && age(serving_, now_) >= kReplicaDelay ? CertificateStep::kDropOldCas
                                                                   : CertificateStep::kNothing;
  }

 private:
  static bool read(const std::string& pem, net::CertificateInfo& info) {
    auto parsed = net::parse_certificate(pem);
    if (parsed.ok()) {
      info = std::move(parsed).value();
      return true;
    }
    return false;
  }

  bool is_trusted(const std::string& certificate) const {
    return std::any_of(cas_.begin(), cas_.end(), [&](const std::string& ca) {
      const auto info = net::parse_certificate(ca);
      return info.ok() && is_valid_at(*info, now_) && signs(ca, certificate);
    });
  }

  TimePoint now_;
  std::vector<std::string> cas_;
  net::CertificateInfo ca_{};
  net::CertificateInfo serving_{};
  bool ca_usable_ = false;      // the signing CA and its key
  bool usable_ = false;         // the serving certificate
  bool from_first_ca_ = false;  // it was signed by the signing CA
};

Result<CertificateSet> issue(CertificateSet set, const std::vector<std::string>& names, TimePoint now) {
  const std::vector<std::string> cas = split(set.ca_bundle);
  const net::PemPair ca{.certificate_pem = cas.empty() ? std::string{} : cas.front(), .key_pem = set.ca_key};
  MUSTER_TRY(made, net::make_serving_certificate(ca, {.dns_names = names, .ip_addresses = {"127.0.0.1"}},
                                                 {.not_before = now - kBackdate, .lifetime = kLifetime}));
  set.certificate = std::move(made.certificate_pem);
  set.key = std::move(made.key_pem);
  return set;
}

// `former`: the bundle that stays trusted.
Result<CertificateSet> with_new_ca(CertificateSet set, const std::string& former, TimePoint now) {
  MUSTER_TRY(ca, net::make_ca(kCaName, {.not_before = now - kBackdate, .lifetime = kCaLifetime}));
  set.ca_bundle = std::move(ca.certificate_pem) + former;
  set.ca_key = std::move(ca.key_pem);
  return set;
}

Result<CertificateSet> take(CertificateStep step, CertificateSet set, const std::vector<std::string>& names,
                            TimePoint now) {
  switch (step) {
    case CertificateStep::kMakeAll: {
      MUSTER_TRY(fresh, with_new_ca({}, {}, now));
      return issue(std::move(fresh), names, now);
    }
    case CertificateStep::kIssue:
      return issue(std::move(set), names, now);
    case CertificateStep::kRotateCa: {
      const std::string former = set.ca_bundle;
      return with_new_ca(std::move(set), former, now);
    }
    case CertificateStep::kDropOldCas:
      set.ca_bundle = split(set.ca_bundle).front() + "\n";
      return set;
    case CertificateStep::kNothing:
      break;
  }
  return set;
}

std::string data_of(const Json& secret, std::string_view key) {
  const Json& value = member(secret, "data", key);
  return value.is_string() ? client::decode_base64(value.get_ref<const std::string&>()).value_or({}) : std::string{};
}

}  // namespace

std::vector<std::string> service_names(const std::string& service, const std::string& ns) {
  // The short one first: it becomes the common name, which holds 64 characters.
  return {service, service + "." + ns, service + "." + ns + ".svc", service + "." + ns + ".svc.cluster.local"};
}

CertificateStep next_step(const CertificateSet& set, const std::vector<std::string>& names, TimePoint now) {
  return Inspection(set, names, now).step();
}

Result<CertificateSet> bring_up_to_date(CertificateSet set, const std::vector<std::string>& names, TimePoint now) {
  for (int i = 0; i < kMaxSteps; ++i) {
    const CertificateStep step = next_step(set, names, now);
    if (step == CertificateStep::kNothing) {
      return set;
    }
    MUSTER_TRY(next, take(step, std::move(set), names, now));
    set = std::move(next);
  }
  return Error{.code = ErrorCode::kInternal, .message = "the certificates made are not usable"};
}

CertificateSet read_secret(const Json& secret) {
  return {.ca_bundle = data_of(secret, "ca.crt"),
          .ca_key = data_of(secret, "ca.key"),
          .certificate = data_of(secret, "tls.crt"),
          .key = data_of(secret, "tls.key")};
}

Json write_secret(Json secret, const CertificateSet& set) {
  Json& data = secret["data"];
  if (!data.is_object()) {
    data = Json::object();
  }
  data["ca.crt"] = encode_base64(set.ca_bundle);
  data["ca.key"] = encode_base64(set.ca_key);
  data["tls.crt"] = encode_base64(set.certificate);
  data["tls.key"] = encode_base64(set.key);
  return secret;
}

}  // namespace muster::webhook
