// What the endpoint answers to HTTP, good and bad; no socket.
#include "webhook/server/webhook_server.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::webhook {
namespace {

constexpr char kReview[] =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",)"
    R"("namespace":"new","object":{"kind":"Job","metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{}}}})";

std::shared_ptr<const View> empty_view() {
  return std::make_shared<PublishedView>();
}

struct Case {
  std::string name{};
  std::string method = "POST";
  std::string path = "/mutate-batch-v1-job";
  std::string content_type = "application/json";
  std::string body = kReview;
  int want = 200;
  std::string text{};
};

class HttpAnswer : public ::testing::TestWithParam<Case> {};

TEST_P(HttpAnswer, HasThisStatus) {
  const Case& c = GetParam();
  net::ServerRequest request{.method = c.method, .path = c.path, .body = c.body};
  if (!c.content_type.empty()) {
    request.headers.emplace_back("content-type", c.content_type);
  }
  const net::Response response = serve(request, {}, empty_view);
  EXPECT_EQ(response.status, c.want);
  if (!c.text.empty()) {
    EXPECT_EQ(response.body, c.text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, HttpAnswer,
    ::testing::Values(
        Case{.name = "review"}, Case{.name = "charset", .content_type = "Application/JSON ; charset=utf-8"},
        Case{.name = "get", .method = "GET", .want = 405, .text = "an AdmissionReview is sent with POST\n"},
        Case{.name = "unknown_path", .path = "/convert", .want = 404, .text = "no webhook at this path\n"},
        Case{.name = "yaml_type",
             .content_type = "application/yaml",
             .body = "kind: AdmissionReview",
             .want = 415,
             .text = "Content-Type must be application/json\n"},
        Case{.name = "no_type", .content_type = "", .want = 415},
        Case{.name = "yaml_body", .body = "kind: AdmissionReview\n", .want = 400},
        Case{.name = "malformed",
             .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":""}})",
             .want = 400,
             .text = "request.uid: must be a string that is not empty\n"},
        Case{.name = "too_deep", .body = std::string(200, '[') + std::string(200, ']'), .want = 413}),
    [](const auto& row) { return row.param.name; });

WebhookServerOptions by_labels(std::chrono::milliseconds patience) {
  WebhookServerOptions options{.patience = patience};
  options.admission.jobs.managed_namespaces = api::LabelSelector{.match_labels = {{"team", "batch"}}};
  return options;
}

net::ServerRequest a_request() {
  return {.method = "POST",
          .path = "/mutate-batch-v1-job",
          .headers = {{"Content-Type", "application/json"}},
          .body = kReview};
}

TEST(Patience, ANewNamespaceIsWaitedFor) {
  int asked = 0;
  const ViewSource views = [&asked]() -> std::shared_ptr<const View> {
    auto view = std::make_shared<PublishedView>();
    if (++asked > 2) {
      view->namespaces["new"] = {{"team", "batch"}};
    }
    return view;
  };
  const net::Response response = serve(a_request(), by_labels(std::chrono::seconds(30)), views);
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(nlohmann::json::parse(response.body)["response"].contains("patch"));
  EXPECT_EQ(asked, 3);
}

TEST(Patience, Ends) {
  const net::Response response = serve(a_request(), by_labels({}), empty_view);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "namespace \"new\" is not known yet\n");
}

TEST(Patience, NothingIsAnsweredBeforeTheFirstView) {
  const net::Response response = serve(a_request(), by_labels({}), [] { return nullptr; });
  EXPECT_EQ(response.status, 503);
}

}  // namespace
}  // namespace muster::webhook
