// Tests of programs: an API server that answers from a script and notes what it was asked. Header of tests only.
#pragma once

#include "controllers/requests/program_factory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace muster::controllers::testing {

using Json = nlohmann::json;

// One expected request and what it is answered with.
struct Exchange {
  std::string request{};  // `GET /path`
  Result<framework::ApiReply> reply = framework::ApiReply{};
};

inline framework::ApiReply ok(const Json& body, int status = 200) {
  return {.status = status, .body = body.dump()};
}

inline framework::ApiReply refused(int status, const std::string& message = "no", const std::string& reason = "") {
  return {.status = status,
          .body = Json{{"kind", "Status"}, {"message", message}, {"reason", reason}, {"code", status}}.dump()};
}

inline Error lost() {
  return {.code = ErrorCode::kUnavailable, .message = "connection lost", .maybe_executed = true};
}

// What a program did: every request's body (null without one) and how it ended.
struct Played {
  std::vector<Json> bodies{};
  std::vector<framework::ApiRequest> requests{};
  framework::Step end{};

  bool done() const { return std::holds_alternative<framework::ProgramDone>(end); }

  ErrorCode error() const { return std::get<framework::ProgramFailed>(end).error.code; }

  std::vector<std::string> events() const {
    std::vector<std::string> reasons;
    for (const framework::EmitEvent& event : std::get<framework::ProgramDone>(end).events) {
      reasons.push_back(event.reason);
    }
    return reasons;
  }
};

inline Played run(framework::EffectBody body, const std::vector<Exchange>& script) {
  const TimePoint now{std::chrono::seconds(1'700'000'000)};
  const auto program = make_program_factory({.label_keys_to_copy = {"team"}, .instance = "muster-test"})(
      {.id = 1, .body = std::move(body)}, now);
  Played result;
  framework::Step step = program->start();
  for (const Exchange& exchange : script) {
    const auto* request = std::get_if<framework::ApiRequest>(&step);
    if (request == nullptr) {
      ADD_FAILURE() << "the program ended before " << exchange.request;
      break;
    }
    EXPECT_EQ(request->method + " " + request->path, exchange.request);
    EXPECT_TRUE(request->replay_safe);
    result.bodies.push_back(request->body.empty() ? Json() : Json::parse(request->body));
    result.requests.push_back(*request);
    step = program->resume(exchange.reply);
  }
  EXPECT_FALSE(std::holds_alternative<framework::ApiRequest>(step)) << "the program goes on after its script";
  result.end = std::move(step);
  return result;
}

}  // namespace muster::controllers::testing
