#include "client/reflector.h"

#include "api/codec/encode.h"
#include "api/testing/builders.h"
#include "net/fake/transport.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <random>

namespace muster::client {
namespace {

using api::Json;
using net::fake::Feed;
using net::fake::StreamReply;

constexpr auto kLimit = std::chrono::seconds(30);
const ReflectorOptions kNoWait{.backoff = {.first = Duration(0), .max = Duration(0)}};

std::vector<WatchedKind> kinds_named(const std::vector<std::string>& names) {
  std::vector<WatchedKind> chosen;
  for (const WatchedKind& kind : watched_kinds()) {
    if (std::find(names.begin(), names.end(), kind.name) != names.end()) {
      chosen.push_back(kind);
    }
  }
  return chosen;
}

Json queue_object(const std::string& name, std::uint64_t version, const std::string& uid) {
  return api::encode(api::testing::a_local_queue("ns", name).uid(uid).resource_version(std::to_string(version)).obj());
}

std::string line(const std::string& type, const Json& object) {
  return api::dump_json({{"type", type}, {"object", object}}) + "\n";
}

net::Response empty_list(const net::Request& /*request*/) {
  return {.status = 200, .body = R"({"metadata":{"resourceVersion":"1"},"items":[]})"};
}

void ignore(const Error& /*problem*/) {}

// Waits for the event that `wanted` accepts; the events before it are dropped.
template <class Wanted>
bool wait_for(EventQueue& events, Wanted wanted) {
  const MonoTime deadline = mono_now() + kLimit;
  while (mono_now() < deadline) {
    for (const framework::Event& event : events.pop_batch(1, Duration(100))) {
      if (wanted(event)) {
        return true;
      }
    }
  }
  return false;
}

bool is_synced(const framework::Event& event) {
  return std::holds_alternative<framework::Synced>(event);
}

TEST(Reflectors, SyncedComesAfterEveryFirstList) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request& request) -> Result<net::Response> {
    if (request.target.find("localqueues") != std::string::npos) {
      const Json list = {{"metadata", {{"resourceVersion", "5"}}}, {"items", {queue_object("a", 5, "u")}}};
      return net::Response{.status = 200, .body = api::dump_json(list)};
    }
    return empty_list(request);
  });
  transport.on_stream([](const net::Request&) -> Result<StreamReply> {
    return StreamReply{.feed = std::make_shared<Feed>()};  // stays open
  });
  EventQueue events;
  Reflectors reflectors(transport, events, kinds_named({"LocalQueue", "ClusterQueue"}), ignore, kNoWait);
  EXPECT_EQ(reflectors.not_synced().size(), 2U);
  reflectors.start();
  std::size_t before = 0;
  ASSERT_TRUE(wait_for(events, [&](const framework::Event& event) {
    before += is_synced(event) ? 0U : 1U;
    return is_synced(event);
  }));
  EXPECT_EQ(before, 1U);
  EXPECT_TRUE(reflectors.not_synced().empty());
  reflectors.stop();  // ends the open watches
}

TEST(Reflectors, RefusedKindKeepsTheRestFromSyncing) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request& request) -> Result<net::Response> {
    return request.target.find("nodes") != std::string::npos ? net::Response{.status = 403} : empty_list(request);
  });
  transport.on_stream(
      [](const net::Request&) -> Result<StreamReply> { return StreamReply{.feed = std::make_shared<Feed>()}; });
  EventQueue events;
  std::atomic<int> reported = 0;
  const auto report = [&](const Error& error) { reported += error.code == ErrorCode::kForbidden ? 1 : 0; };
  Reflectors reflectors(transport, events, kinds_named({"LocalQueue", "Node"}), report,
                        {.backoff = {.first = Duration(1), .max = Duration(2)}});
  reflectors.start();
  ASSERT_TRUE(transport.wait_for_requests(6));
  reflectors.stop();
  EXPECT_EQ(reflectors.not_synced(), std::vector<std::string>{"Node"});
  EXPECT_GE(reported, 2);
  EXPECT_EQ(events.size(), 0U);
}

TEST(Reflectors, StopEndsAPushIntoAFullQueue) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request&) -> Result<net::Response> {
    const Json list = {{"metadata", {{"resourceVersion", "5"}}},
                       {"items", {queue_object("a", 5, "u"), queue_object("b", 5, "v")}}};
    return net::Response{.status = 200, .body = api::dump_json(list)};
  });
  EventQueue events(1);
  Reflectors reflectors(transport, events, kinds_named({"LocalQueue"}), ignore, kNoWait);
  reflectors.start();
  ASSERT_TRUE(transport.wait_for_requests(1));
  reflectors.stop();
  EXPECT_LE(events.size(), 1U);
}

// An API server of one kind that changes at random and answers badly at random, until `calm` requests are over.
class MoodyServer {
 public:
  MoodyServer(std::uint64_t seed, int moody_requests) : random_(seed), moody_requests_(moody_requests) {}

  Result<net::Response> list(const net::Request& request) {
    mutate();
    switch (mood(12)) {
      case 0:
        return Error{.code = ErrorCode::kUnavailable, .message = "reset"};
      case 1:
        return net::Response{.status = 500, .body = "oops"};
      case 2:
        return net::Response{.status = 410};
      case 3:
        return net::Response{.status = 200, .body = "{\"items\":"};
      default:
        return net::Response{.status = 200, .body = page(continue_of(request))};
    }
  }

  Result<StreamReply> watch(const net::Request& request) {
    mutate();
    const std::uint64_t from = number_after(request.target, "resourceVersion=");
    if (mood(10) == 0) {
      return Error{.code = ErrorCode::kTimeout, .message = "no answer"};
    }
    if (mood(8) == 0) {
      compacted_ = version_;
    }
    if (from < compacted_) {
      return mood(2) == 0
                 ? StreamReply{.status = 410}
                 : StreamReply{.feed = net::fake::ended_feed({line("ERROR", {{"kind", "Status"}, {"code", 410}})})};
    }
    return StreamReply{.feed = feed(from)};
  }

  // Only when no request is under way.
  std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> state;
    for (const auto& [name, object] : objects_) {
      state[name] =
          object["metadata"]["uid"].get<std::string>() + "@" + object["metadata"]["resourceVersion"].get<std::string>();
    }
    return state;
  }

  // Becomes true when a watch has been given everything.
  bool settled() const { return settled_; }

 private:
  static std::uint64_t number_after(const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key);
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + key.size()));
  }

  static std::uint64_t continue_of(const net::Request& request) { return number_after(request.target, "continue="); }

  std::uint64_t draw(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }

  bool is_calm() const { return requests_ > moody_requests_; }

  std::uint64_t mood(std::uint64_t sides) { return is_calm() ? sides - 1 : draw(sides); }

  void mutate() {
    requests_ += 1;
    for (std::uint64_t i = is_calm() ? 0 : draw(6); i > 0; --i) {
      change("q" + std::to_string(draw(20)));
    }
  }

  void change(const std::string& name) {
    version_ += 1;
    const auto found = objects_.find(name);
    if (found == objects_.end()) {
      objects_[name] = queue_object(name, version_, "u" + std::to_string(version_));
      log_.emplace_back(version_, line("ADDED", objects_[name]));
    } else if (draw(3) == 0) {
      Json gone = found->second;
      gone["metadata"]["resourceVersion"] = std::to_string(version_);
      log_.emplace_back(version_, line("DELETED", gone));
      objects_.erase(found);
    } else {
      found->second["metadata"]["resourceVersion"] = std::to_string(version_);
      log_.emplace_back(version_, line("MODIFIED", found->second));
    }
  }

  // Pages of 5 of one snapshot; a continue token is `<snapshot id>`, the offset is kept here.
  std::string page(std::uint64_t token) {
    if (token == 0 || token != snapshot_token_) {
      snapshot_.assign(objects_.begin(), objects_.end());
      snapshot_version_ = version_;
      offset_ = 0;
    }
    Json items = Json::array();
    for (; offset_ < snapshot_.size() && items.size() < 5; ++offset_) {
      items.push_back(snapshot_[offset_].second);
    }
    snapshot_token_ = offset_ < snapshot_.size() ? ++tokens_ : 0;
    const std::string next = snapshot_token_ == 0 ? "" : std::to_string(snapshot_token_);
    return api::dump_json(
        {{"metadata", {{"resourceVersion", std::to_string(snapshot_version_)}, {"continue", next}}}, {"items", items}});
  }

  std::shared_ptr<Feed> feed(std::uint64_t from) {
    std::string bytes;
    for (const auto& [version, text] : log_) {
      bytes += version > from ? text : "";
    }
    auto feed = std::make_shared<Feed>();
    if (is_calm()) {
      feed->push(bytes + line("BOOKMARK", {{"metadata", {{"resourceVersion", std::to_string(version_)}}}}));
      settled_ = true;
      return feed;  // stays open
    }
    const std::size_t cut = draw(bytes.size() + 1);  // perhaps in mid-line
    for (std::size_t at = 0; at < cut;) {
      const std::size_t size = std::min<std::size_t>(1 + draw(300), cut - at);
      feed->push(bytes.substr(at, size));
      at += size;
    }
    draw(2) == 0 ? feed->end() : feed->fail({.code = ErrorCode::kUnavailable, .message = "broke off"});
    return feed;
  }

  std::mt19937_64 random_;
  int moody_requests_;
  int requests_ = 0;
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
  std::map<std::string, Json> objects_{};
  std::vector<std::pair<std::uint64_t, std::string>> log_{};
  std::vector<std::pair<std::string, Json>> snapshot_{};
  std::uint64_t snapshot_version_ = 0;
  std::uint64_t snapshot_token_ = 0;
  std::uint64_t tokens_ = 0;
  std::size_t offset_ = 0;
  std::atomic<bool> settled_ = false;
};

// What a consumer of the events believes. A deletion of something unknown, or a creation over another object, is wrong.
class Believer {
 public:
  void take(const framework::Event& event) {
    const auto* change = std::get_if<framework::ObjectEvent>(&event);
    if (change == nullptr) {
      return;
    }
    const api::ObjectMeta& meta = meta_of(*change);
    const auto known = state_.find(meta.name);
    if (std::holds_alternative<framework::Deleted<api::LocalQueue>>(*change)) {
      EXPECT_NE(known, state_.end()) << meta.name;
      EXPECT_TRUE(known == state_.end() || known->second.starts_with(meta.uid.str() + "@")) << meta.name;
      state_.erase(meta.name);
      return;
    }
    EXPECT_TRUE(known == state_.end() || known->second.starts_with(meta.uid.str() + "@"))
        << meta.name << " was another object";
    state_[meta.name] = meta.uid.str() + "@" + meta.resource_version;
  }

  const std::map<std::string, std::string>& state() const { return state_; }

 private:
  std::map<std::string, std::string> state_{};
};

class RandomFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFaults, FinalStateIsTheServers) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  MoodyServer server(GetParam(), 150);
  net::fake::Transport transport;
  transport.on_call([&](const net::Request& request) { return server.list(request); });
  transport.on_stream([&](const net::Request& request) { return server.watch(request); });
  EventQueue events(64);
  Reflectors reflectors(transport, events, kinds_named({"LocalQueue"}), ignore, kNoWait);
  reflectors.start();
  Believer believer;
  const MonoTime deadline = mono_now() + kLimit;
  bool equal = false;
  while (!equal && mono_now() < deadline) {
    for (const framework::Event& event : events.pop_batch(64, Duration(5))) {
      believer.take(event);
    }
    equal = server.settled() && believer.state() == server.state();
  }
  reflectors.stop();
  EXPECT_TRUE(equal);
  EXPECT_EQ(believer.state(), server.state());
  const ReflectorStats stats = reflectors.stats().front();
  EXPECT_GT(stats.lists, 1U);
  EXPECT_GT(stats.watches, 5U);
  EXPECT_EQ(stats.objects, server.state().size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFaults, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace muster::client
