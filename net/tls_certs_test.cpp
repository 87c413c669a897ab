#include "net/tls_certs.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::net {
namespace {

using std::chrono::hours;

const TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 12 / 1}};

Validity a_year() {
  return {.not_before = kStart, .lifetime = hours(24 * 365)};
}

PemPair a_ca() {
  return make_ca("muster-ca", a_year()).value();
}

TEST(TlsCerts, AServingCertificateSaysWhatWasAsked) {
  const PemPair ca = a_ca();
  const auto made = make_serving_certificate(
      ca, {.dns_names = {"muster.ns.svc", "muster.ns.svc.cluster.local"}, .ip_addresses = {"10.0.0.1", "fd00::1"}},
      {.not_before = kStart, .lifetime = hours(48)});
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  const auto info = parse_certificate(made->certificate_pem);
  ASSERT_TRUE(info.ok()) << to_string(info.error());
  EXPECT_EQ(info->common_name, "muster.ns.svc");
  EXPECT_EQ(info->issuer_common_name, "muster-ca");
  EXPECT_EQ(info->dns_names, (std::vector<std::string>{"muster.ns.svc", "muster.ns.svc.cluster.local"}));
  EXPECT_EQ(info->ip_addresses, (std::vector<std::string>{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(info->not_before, kStart);
  EXPECT_EQ(info->not_after, kStart + hours(48));
  EXPECT_EQ(certificate_expiry(made->certificate_pem).value(), kStart + hours(48));
  EXPECT_TRUE(check_pair(made->certificate_pem, made->key_pem).ok());
}

TEST(TlsCerts, TheSignatureTellsCasApart) {
  const PemPair ca = a_ca();
  const PemPair namesake = a_ca();
  const PemPair leaf = make_serving_certificate(ca, {.dns_names = {"x"}}, a_year()).value();
  EXPECT_TRUE(is_signed_by(leaf.certificate_pem, ca.certificate_pem).value());
  EXPECT_FALSE(is_signed_by(leaf.certificate_pem, namesake.certificate_pem).value());
  EXPECT_TRUE(is_signed_by(ca.certificate_pem, ca.certificate_pem).value());
}

TEST(TlsCerts, ALongDnsNameFitsAlthoughItIsNoCommonName) {
  const std::string name = std::string(60, 'a') + "." + std::string(60, 'b') + ".svc";
  const auto made = make_serving_certificate(a_ca(), {.dns_names = {name}}, a_year());
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  EXPECT_EQ(parse_certificate(made->certificate_pem)->dns_names.front(), name);
}

TEST(TlsCerts, AYearBeyond2049IsWrittenRight) {
  const auto made = make_ca("old", {.not_before = kStart, .lifetime = hours(24 * 365 * 40)});
  EXPECT_EQ(certificate_expiry(made->certificate_pem).value(), kStart + hours(24 * 365 * 40));
}

struct NamesCase {
  std::string name{};
  ServingNames names{};
};

class TlsCertsRefuses : public ::testing::TestWithParam<NamesCase> {};

TEST_P(TlsCertsRefuses, NamesThatAreNone) {
  const auto made = make_serving_certificate(a_ca(), GetParam().names, a_year());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(
    Table, TlsCertsRefuses,
    ::testing::Values(NamesCase{.name = "none"}, NamesCase{.name = "empty_name", .names = {.dns_names = {""}}},
                      NamesCase{.name = "smuggled_entry", .names = {.dns_names = {"a,DNS:evil"}}},
                      NamesCase{.name = "no_address", .names = {.ip_addresses = {"10.0.0"}}},
                      NamesCase{.name = "smuggled_address", .names = {.ip_addresses = {"10.0.0.1,DNS:evil"}}}),
    [](const auto& row) { return row.param.name; });

TEST(TlsCerts, LifetimeMustBePositive) {
  EXPECT_EQ(make_ca("x", {.not_before = kStart}).error().code, ErrorCode::kInvalid);
}

struct PairCase {
  std::string name{};
  std::string certificate{};
  std::string key{};
};

class TlsCertsPair : public ::testing::TestWithParam<PairCase> {};

TEST_P(TlsCertsPair, ThatDoesNotFitIsInvalid) {
  const Status status = check_pair(GetParam().certificate, GetParam().key);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(status.error().message.empty());
}

std::vector<PairCase> broken_pairs() {
  const PemPair one = a_ca();
  const PemPair other = a_ca();
  return {{.name = "other_key", .certificate = one.certificate_pem, .key = other.key_pem},
          {.name = "no_certificate", .certificate = "", .key = one.key_pem},
          {.name = "no_key", .certificate = one.certificate_pem, .key = ""},
          {.name = "garbage", .certificate = "certificate", .key = "key"},
          {.name = "swapped", .certificate = one.key_pem, .key = one.certificate_pem},
          {.name = "cut_off", .certificate = one.certificate_pem.substr(0, 200), .key = one.key_pem},
          {.name = "broken_chain",
           .certificate = one.certificate_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
           .key = one.key_pem}};
}

INSTANTIATE_TEST_SUITE_P(Table, TlsCertsPair, ::testing::ValuesIn(broken_pairs()),
                         [](const auto& row) { return row.param.name; });

TEST(TlsCerts, CountsABundle) {
  const std::string one = a_ca().certificate_pem;
  EXPECT_EQ(count_certificates(one + "# a comment\n" + one).value(), 2);
  EXPECT_FALSE(count_certificates("").ok());
}

}  // namespace
}  // namespace muster::net
