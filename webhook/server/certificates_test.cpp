#include "webhook/server/certificates.h"

#include "net/tls_certs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::webhook {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Duration kDay = hours(24);
const TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 12 / 1}};
const std::vector<std::string> kNames = service_names("muster-webhook-service", "muster-system");

CertificateSet made_at(TimePoint now) {
  const auto set = bring_up_to_date({}, kNames, now);
  EXPECT_TRUE(set.ok()) << to_string(set.error());
  return *set;
}

// A set whose CA is `ca_age` old and lives ten years; the serving certificate is fresh.
CertificateSet with_ca_of(Duration ca_age) {
  CertificateSet set = made_at(kStart - ca_age);
  const net::PemPair ca{.certificate_pem = set.ca_bundle, .key_pem = set.ca_key};
  const auto pair = net::make_serving_certificate(ca, {.dns_names = kNames},
                                                  {.not_before = kStart - hours(1), .lifetime = hours(24 * 365)});
  EXPECT_TRUE(pair.ok());
  set.certificate = pair->certificate_pem;
  set.key = pair->key_pem;
  return set;
}

// The bundle after a rotation at kStart.
CertificateSet rotated() {
  const auto set = bring_up_to_date(with_ca_of(kDay * 365 * 7), kNames, kStart);
  EXPECT_TRUE(set.ok());
  return *set;
}

TEST(Names, TheShortOneIsTheCommonName) {
  EXPECT_EQ(kNames, (std::vector<std::string>{"muster-webhook-service", "muster-webhook-service.muster-system",
                                              "muster-webhook-service.muster-system.svc",
                                              "muster-webhook-service.muster-system.svc.cluster.local"}));
}

TEST(FreshSet, IsTrustedAndNeedsNothing) {
  const CertificateSet set = made_at(kStart);
  EXPECT_EQ(next_step(set, kNames, kStart), CertificateStep::kNothing);
  EXPECT_TRUE(net::check_pair(set.certificate, set.key).ok());
  EXPECT_TRUE(net::is_signed_by(set.certificate, set.ca_bundle).value_or(false));
  const auto info = net::parse_certificate(set.certificate);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->dns_names, kNames);
  EXPECT_LT(info->not_before, kStart) << "clocks that are behind must accept it";
}

struct Case {
  std::string name{};
  CertificateSet (*set)() = nullptr;
  Duration later{};
  CertificateStep want = CertificateStep::kNothing;
};

class NextStep : public ::testing::TestWithParam<Case> {};

TEST_P(NextStep, FollowsFromTheSecret) {
  const Case& c = GetParam();
  EXPECT_EQ(next_step(c.set(), kNames, kStart + c.later), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NextStep,
    ::testing::Values(
        Case{.name = "empty", .set = [] { return CertificateSet{}; }, .want = CertificateStep::kMakeAll},
        Case{.name = "rubbish",
             .set =
                 [] {
                   return CertificateSet{"a", "b", "c", "d"};
                 },
             .want = CertificateStep::kMakeAll},
        Case{.name = "no_serving_certificate",
             .set =
                 [] {
                   CertificateSet set = made_at(kStart);
                   set.certificate.clear();
                   return set;
                 },
             .want = CertificateStep::kIssue},
        Case{.name = "key_of_another",
             .set =
                 [] {
                   CertificateSet set = made_at(kStart);
                   set.key = made_at(kStart).key;
                   return set;
                 },
             .want = CertificateStep::kIssue},
        Case{.name = "certificate_of_another_ca",
             .set =
                 [] {
                   CertificateSet set = made_at(kStart);
                   const CertificateSet other = made_at(kStart);
                   set.certificate = other.certificate;
                   set.key = other.key;
                   return set;
                 },
             .want = CertificateStep::kIssue},
        Case{.name = "ca_key_lost",
             .set =
                 [] {
                   CertificateSet set = made_at(kStart);
                   set.ca_key.clear();
                   return set;
                 },
             .want = CertificateStep::kRotateCa},
        Case{.name = "ca_lost_with_its_key",
             .set =
                 [] {
                   CertificateSet set = made_at(kStart);
                   set.ca_bundle.clear();
                   set.ca_key.clear();
                   return set;
                 },
             .want = CertificateStep::kMakeAll},
        Case{.name = "before_two_thirds", .set = [] { return made_at(kStart); }, .later = kDay * 243},
        Case{.name = "after_two_thirds",
             .set = [] { return made_at(kStart); },
             .later = kDay * 244,
             .want = CertificateStep::kIssue},
        Case{.name = "expired",
             .set = [] { return made_at(kStart); },
             .later = kDay * 366,
             .want = CertificateStep::kIssue},
        Case{.name = "clock_went_back",
             .set = [] { return made_at(kStart); },
             .later = -kDay,
             .want = CertificateStep::kMakeAll},
        Case{.name = "ca_is_due", .set = [] { return with_ca_of(kDay * 2434); }, .want = CertificateStep::kRotateCa},
        Case{.name = "ca_is_not_due", .set = [] { return with_ca_of(kDay * 2433); }},
        Case{.name = "new_ca_is_not_known_yet", .set = rotated, .later = minutes(9)},
        Case{.name = "new_ca_is_known", .set = rotated, .later = minutes(10), .want = CertificateStep::kIssue}),
    [](const auto& row) { return row.param.name; });

TEST(OtherNames, NeedAnotherCertificate) {
  EXPECT_EQ(next_step(made_at(kStart), service_names("other", "muster-system"), kStart), CertificateStep::kIssue);
}

TEST(Rotation, NeverServesACertificateThatIsNotTrusted) {
  const CertificateSet before = with_ca_of(kDay * 2434);
  const CertificateSet first = *bring_up_to_date(before, kNames, kStart);
  EXPECT_EQ(first.certificate, before.certificate) << "the old one serves until the new CA is known";
  EXPECT_EQ(*net::count_certificates(first.ca_bundle), 2);
  EXPECT_NE(first.ca_bundle.find(before.ca_bundle), std::string::npos);

  const CertificateSet second = *bring_up_to_date(first, kNames, kStart + minutes(10));
  EXPECT_NE(second.certificate, first.certificate);
  EXPECT_TRUE(*net::is_signed_by(second.certificate, second.ca_bundle));
  EXPECT_EQ(second.ca_bundle, first.ca_bundle) << "other replicas may still serve the old one";

  const CertificateSet third = *bring_up_to_date(second, kNames, kStart + minutes(10) + kDay);
  EXPECT_EQ(third.certificate, second.certificate);
  EXPECT_EQ(*net::count_certificates(third.ca_bundle), 1);
  EXPECT_EQ(next_step(third, kNames, kStart + kDay * 2), CertificateStep::kNothing);
}

TEST(Secret, KeepsASetAndEverythingElse) {
  const CertificateSet set = made_at(kStart);
  const api::Json empty = {{"metadata", {{"name", "s"}, {"resourceVersion", "1"}}}, {"type", "Opaque"}};
  const api::Json secret = write_secret(empty, set);
  EXPECT_EQ(read_secret(secret), set);
  EXPECT_EQ(secret["metadata"], empty["metadata"]);
  EXPECT_EQ(read_secret(empty), CertificateSet{});
  EXPECT_EQ(read_secret({{"data", {{"ca.crt", "%%%"}, {"tls.crt", 3}}}}), CertificateSet{});
}

}  // namespace
}  // namespace muster::webhook
