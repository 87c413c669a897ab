#include "client/api_client.h"

#include "client/reviews.h"
#include "net/fake/transport.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::client {
namespace {

using api::Json;

class Client : public ::testing::Test {
 protected:
  // Answers in this order, then with 404.
  void answer_with(std::vector<net::Response> answers) {
    transport_.on_call(
        [answers = std::move(answers), i = std::size_t{0}](const net::Request&) mutable -> Result<net::Response> {
          return i < answers.size() ? answers[i++] : net::Response{.status = 404};
        });
  }

  std::string sent(std::size_t i) const {
    const net::Request request = transport_.requests().at(i);
    return request.method + " " + request.target;
  }

  Json sent_body(std::size_t i) const { return *api::parse_json(transport_.requests().at(i).body); }

  std::string sent_type(std::size_t i) const {
    const std::vector<net::Request> requests = transport_.requests();
    const std::string* type = net::find_header(requests.at(i).headers, "Content-Type");
    return type == nullptr ? "" : *type;
  }

  net::fake::Transport transport_{};
  ApiClient client_{transport_};
};

TEST_F(Client, GetsAndMapsRefusals) {
  answer_with({{.status = 200, .body = R"({"a":1})"},
               {.status = 403, .body = R"({"kind":"Status","message":"you may not"})"},
               {.status = 200, .body = "{"}});
  EXPECT_EQ(client_.get("/x").value(), (Json{{"a", 1}}));
  EXPECT_EQ(client_.get("/x").error().message, "you may not");
  EXPECT_EQ(client_.get("/x").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(sent(0), "GET /x");
}

TEST_F(Client, ListsAllPages) {
  answer_with({{.status = 200, .body = R"({"metadata":{"continue":"t"},"items":[1,2]})"},
               {.status = 200, .body = R"({"metadata":{},"items":[3]})"}});
  EXPECT_EQ(client_.list("/x", {{"labelSelector", "a=b"}}).value(), (std::vector<Json>{1, 2, 3}));
  EXPECT_EQ(sent(0), "GET /x?labelSelector=a%3Db&limit=500");
  EXPECT_EQ(sent(1), "GET /x?labelSelector=a%3Db&limit=500&continue=t");
}

TEST_F(Client, ListThatExpiresStartsAgainOnce) {
  answer_with({{.status = 200, .body = R"({"metadata":{"continue":"t"},"items":[1]})"},
               {.status = 410},
               {.status = 200, .body = R"({"items":[2]})"},
               {.status = 410}});
  EXPECT_EQ(client_.list("/x").value(), (std::vector<Json>{2}));
  answer_with({{.status = 410}, {.status = 410}});
  EXPECT_EQ(client_.list("/x").error().code, ErrorCode::kGone);
}

TEST_F(Client, Writes) {
  answer_with(std::vector<net::Response>(6, {.status = 200, .body = "{}"}));
  EXPECT_TRUE(client_.create("/x", {{"a", 1}}).ok());
  EXPECT_TRUE(client_.replace("/x/1", {{"a", 2}}).ok());
  EXPECT_TRUE(client_.patch("/x/1", {{"a", 3}}, PatchType::kMerge).ok());
  EXPECT_TRUE(client_.apply("/x/1", {{"a", 4}}, "me").ok());
  EXPECT_TRUE(client_.remove("/x/1", {.uid = "u", .resource_version = "5"}).ok());
  EXPECT_TRUE(client_.remove("/x/1").ok());
  EXPECT_EQ(sent(0), "POST /x");
  EXPECT_EQ(sent_body(1), (Json{{"a", 2}}));
  EXPECT_EQ(sent_type(2), "application/merge-patch+json");
  EXPECT_EQ(sent(3), "PATCH /x/1?fieldManager=me&force=true");
  EXPECT_EQ(sent_type(3), "application/apply-patch+yaml");
  EXPECT_EQ(sent_body(4)["preconditions"], (Json{{"uid", "u"}, {"resourceVersion", "5"}}));
  EXPECT_FALSE(sent_body(5).contains("preconditions"));
}

TEST_F(Client, StopEndsCalls) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(client_.with_stop(stop.get_token()).get("/x").error().code, ErrorCode::kCancelled);
}

TEST_F(Client, TokenReview) {
  answer_with(
      {{.status = 201, .body = R"({"status":{"authenticated":true,"user":{"username":"prom","uid":"7","groups":["g"],
                            "extra":{"k":["v"]}}}})"},
       {.status = 201, .body = R"({"status":{"error":"expired"}})"},
       {.status = 201, .body = R"({"status":{"authenticated":"true"}})"},
       {.status = 201, .body = "[]"}});
  const auto user = review_token(client_, "secret");
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "prom");
  EXPECT_EQ(user->groups, std::vector<std::string>{"g"});
  EXPECT_EQ(user->extra.at("k"), std::vector<std::string>{"v"});
  EXPECT_EQ(sent_body(0)["spec"]["token"], Json("secret"));
  EXPECT_EQ(review_token(client_, "x").error().message, "expired");
  EXPECT_EQ(review_token(client_, "x").error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(review_token(client_, "x").error().code, ErrorCode::kUnauthenticated);
}

TEST_F(Client, AccessReview) {
  answer_with({{.status = 201, .body = R"({"status":{"allowed":true}})"},
               {.status = 201, .body = R"({"status":{"allowed":false,"reason":"no rule"}})"},
               {.status = 201, .body = R"({"status":{"allowed":true,"denied":true}})"},
               {.status = 201, .body = "{}"}});
  const UserInfo user{.name = "prom", .groups = {"g"}};
  const PathAccess metrics{.path = "/metrics", .verb = "get"};
  EXPECT_TRUE(review_access(client_, user, metrics).ok());
  EXPECT_EQ(sent_body(0)["spec"]["nonResourceAttributes"], (Json{{"path", "/metrics"}, {"verb", "get"}}));
  EXPECT_EQ(sent_body(0)["spec"]["groups"], (Json::array({"g"})));
  EXPECT_EQ(review_access(client_, user, metrics).error().message, "prom may not do this: no rule");
  EXPECT_EQ(review_access(client_, user, metrics).error().code, ErrorCode::kForbidden);
  EXPECT_FALSE(review_access(client_, user, ResourceAccess{.verb = "get"}).ok());
}

}  // namespace
}  // namespace muster::client
