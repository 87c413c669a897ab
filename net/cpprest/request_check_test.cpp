#include "net/cpprest/request_check.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::net::cpprest {
namespace {

struct CredentialsCase {
  std::string name{};
  Credentials credentials{};
  std::string path{};  // of the error; empty: accepted
};

class CheckCredentials : public ::testing::TestWithParam<CredentialsCase> {};

TEST_P(CheckCredentials, FindsWhatCannotWork) {
  const Status status = check_credentials(GetParam().credentials);
  ASSERT_EQ(status.ok(), GetParam().path.empty());
  if (!status.ok()) {
    EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(status.error().path, GetParam().path) << status.error().message;
  }
}

Credentials https(std::string url) {
  return {.base_url = std::move(url), .ca = from_text("pem")};
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckCredentials,
    ::testing::Values(
        CredentialsCase{.name = "https", .credentials = https("https://kubernetes.default.svc")},
        CredentialsCase{.name = "with_port_and_path", .credentials = https("https://10.0.0.1:6443/k8s/c1")},
        CredentialsCase{.name = "plain_without_secret", .credentials = {.base_url = "http://proxy:8001"}},
        CredentialsCase{.name = "plain_token_to_loopback",
                        .credentials = {.base_url = "http://127.0.0.1:8001", .token = from_text("t")}},
        CredentialsCase{.name = "empty", .credentials = {}, .path = "baseUrl"},
        CredentialsCase{.name = "no_scheme", .credentials = https("kubernetes.default.svc"), .path = "baseUrl"},
        CredentialsCase{.name = "no_host", .credentials = https("https://:6443"), .path = "baseUrl"},
        CredentialsCase{.name = "ipv6", .credentials = https("https://[::1]:6443"), .path = "baseUrl"},
        CredentialsCase{.name = "user", .credentials = https("https://u:p@host"), .path = "baseUrl"},
        CredentialsCase{.name = "query", .credentials = https("https://host/?a=b"), .path = "baseUrl"},
        CredentialsCase{.name = "https_without_ca", .credentials = {.base_url = "https://host"}, .path = "ca"},
        CredentialsCase{
            .name = "certificate_without_key",
            .credentials = {.base_url = "https://h", .ca = from_text("c"), .client_certificate = from_text("x")},
            .path = "clientCertificate"},
        CredentialsCase{.name = "plain_token_to_elsewhere",
                        .credentials = {.base_url = "http://host", .token = from_text("t")},
                        .path = "token"},
        CredentialsCase{.name = "plain_token_to_a_name_like_loopback",
                        .credentials = {.base_url = "http://127.0.0.1.evil.example", .token = from_text("t")},
                        .path = "token"}),
    [](const auto& row) { return row.param.name; });

struct RequestCase {
  std::string name{};
  Request request{};
  std::string path{};
};

class CheckRequest : public ::testing::TestWithParam<RequestCase> {};

TEST_P(CheckRequest, FindsWhatWouldChangeTheMessage) {
  const Status status = check_request(GetParam().request);
  ASSERT_EQ(status.ok(), GetParam().path.empty());
  if (!status.ok()) {
    EXPECT_EQ(status.error().path, GetParam().path);
  }
}

Request with_header(std::string name, std::string value) {
  return {.method = "GET", .target = "/", .headers = {{std::move(name), std::move(value)}}};
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckRequest,
    ::testing::Values(
        RequestCase{.name = "get", .request = {.method = "GET", .target = "/a?b=c%20d"}},
        RequestCase{.name = "header", .request = with_header("Accept", "application/json;a=\"b\"")},
        RequestCase{.name = "no_method", .request = {.target = "/"}, .path = "method"},
        RequestCase{.name = "split_method", .request = {.method = "GET /x\r\n", .target = "/"}, .path = "method"},
        RequestCase{.name = "no_target", .request = {.method = "GET"}, .path = "target"},
        RequestCase{.name = "absolute_target", .request = {.method = "GET", .target = "http://x/"}, .path = "target"},
        RequestCase{.name = "split_target", .request = {.method = "GET", .target = "/a\r\nX: y"}, .path = "target"},
        RequestCase{.name = "space", .request = {.method = "GET", .target = "/a b"}, .path = "target"},
        RequestCase{.name = "fragment", .request = {.method = "GET", .target = "/a#b"}, .path = "target"},
        RequestCase{.name = "host", .request = with_header("host", "x"), .path = "headers"},
        RequestCase{.name = "authorization", .request = with_header("AUTHORIZATION", "x"), .path = "headers"},
        RequestCase{.name = "length", .request = with_header("Content-Length", "1"), .path = "headers"},
        RequestCase{.name = "split_value", .request = with_header("X", "a\nb"), .path = "headers"},
        RequestCase{.name = "bad_name", .request = with_header("X Y", "a"), .path = "headers"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::net::cpprest
