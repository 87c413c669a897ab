#include "client/watch_state.h"

#include "api/codec/encode.h"
#include "api/testing/builders.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::client {
namespace {

using api::Json;
using api::testing::a_pod;
using api::testing::a_workload;

WatchedKind kind_named(const std::string& name) {
  for (WatchedKind& kind : watched_kinds()) {
    if (kind.name == name) {
      return kind;
    }
  }
  return {};
}

Json workload(const std::string& name, const std::string& version, const std::string& uid = {}) {
  return api::encode(a_workload("ns", name).queue("q").uid(uid.empty() ? name : uid).resource_version(version).obj());
}

Json broken(const std::string& name, const std::string& version) {
  Json object = workload(name, version);
  object["spec"]["podSets"] = "nonsense";
  return object;
}

net::Response page(const std::vector<Json>& items, const std::string& version, const std::string& next = {}) {
  const Json list = {{"metadata", {{"resourceVersion", version}, {"continue", next}}}, {"items", items}};
  return {.status = 200, .body = api::dump_json(list)};
}

std::string event(const std::string& type, const Json& object) {
  return api::dump_json({{"type", type}, {"object", object}});
}

std::string bookmark(const std::string& version) {
  return event("BOOKMARK", {{"kind", "Workload"}, {"metadata", {{"resourceVersion", version}}}});
}

Json status(int code) {
  return {{"kind", "Status"}, {"code", code}, {"message", "status " + std::to_string(code)}};
}

// `+name@version` for an upsert, `-name@version` for a deletion.
std::string describe(const std::vector<ObjectEvent>& events) {
  std::string text;
  for (const ObjectEvent& e : events) {
    const bool gone = same_facts(e, as_deleted(e));
    text +=
        (text.empty() ? "" : " ") + std::string(gone ? "-" : "+") + meta_of(e).name + "@" + meta_of(e).resource_version;
  }
  return text;
}

class Watch : public ::testing::Test {
 protected:
  WatchState state_{kind_named("Workload")};

  std::string list(const std::vector<Json>& items, const std::string& version) {
    return describe(state_.on_page(page(items, version)).events);
  }

  std::string line(const std::string& text) { return describe(state_.on_line(text).events); }

  std::string watch_target() const { return state_.watch_request(0).target; }
};

const net::Response kEnded{.status = 200};

TEST_F(Watch, ListsInPagesThenWatchesFromThere) {
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500");
  WatchOutcome first = state_.on_page(page({workload("a", "1"), workload("b", "2")}, "7", "t/1"));
  EXPECT_EQ(describe(first.events), "+a@1 +b@2");
  EXPECT_FALSE(first.list_complete);
  EXPECT_TRUE(state_.must_list());
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500&continue=t%2F1");
  WatchOutcome last = state_.on_page(page({workload("c", "3")}, "7"));
  EXPECT_EQ(describe(last.events), "+c@3");
  EXPECT_TRUE(last.list_complete);
  EXPECT_FALSE(state_.must_list());
  EXPECT_EQ(watch_target(),
            "/apis/kueue.x-k8s.io/v1beta2/workloads?watch=true&allowWatchBookmarks=true&resourceVersion=7"
            "&timeoutSeconds=300");
}

TEST_F(Watch, EventsAreNewsOnce) {
  list({workload("a", "1")}, "1");
  EXPECT_EQ(line(event("MODIFIED", workload("a", "2"))), "+a@2");
  EXPECT_EQ(line(event("MODIFIED", workload("a", "2"))), "");
  EXPECT_EQ(line(event("ADDED", workload("b", "3"))), "+b@3");
  EXPECT_EQ(line(event("DELETED", workload("a", "4"))), "-a@4");
  EXPECT_EQ(line(event("DELETED", workload("a", "4"))), "");
  EXPECT_EQ(state_.known(), 1U);
}

TEST_F(Watch, ResumesFromEventsAndBookmarks) {
  list({}, "5");
  line(event("ADDED", workload("a", "8")));
  EXPECT_NE(watch_target().find("resourceVersion=8&"), std::string::npos);
  EXPECT_TRUE(state_.on_line(bookmark("20")).healthy);
  const WatchOutcome end = state_.on_watch_end(kEnded);
  EXPECT_FALSE(end.back_off);
  EXPECT_FALSE(state_.must_list());
  EXPECT_NE(watch_target().find("resourceVersion=20&"), std::string::npos);
}

TEST_F(Watch, BrokenStreamIsResumed) {
  list({}, "5");
  line(event("ADDED", workload("a", "8")));
  EXPECT_TRUE(state_.on_watch_end(Error{.code = ErrorCode::kUnavailable, .message = "reset"}).back_off);
  EXPECT_FALSE(state_.must_list());
  EXPECT_NE(watch_target().find("resourceVersion=8&"), std::string::npos);
}

TEST_F(Watch, RelistGivesTheDifference) {
  list({workload("same", "1"), workload("changed", "1"), workload("gone", "1"), workload("reborn", "1", "u1")}, "1");
  const net::Response expired{.status = 410, .body = api::dump_json(status(410))};
  EXPECT_TRUE(state_.on_watch_end(expired).back_off);
  ASSERT_TRUE(state_.must_list());
  EXPECT_EQ(
      list({workload("same", "1"), workload("changed", "6"), workload("new", "7"), workload("reborn", "8", "u2")}, "9"),
      "+changed@6 +new@7 -reborn@1 +reborn@8 -gone@1");
  EXPECT_EQ(state_.known(), 4U);
}

TEST_F(Watch, GoneAsAnErrorEventEndsTheStreamAndRelists) {
  list({workload("a", "1")}, "1");
  line(bookmark("2"));
  const WatchOutcome error = state_.on_line(event("ERROR", status(410)));
  EXPECT_TRUE(error.stop_reading);
  ASSERT_EQ(error.problems.size(), 1U);
  EXPECT_EQ(error.problems[0].message, "Workload: watch: status 410");
  state_.on_watch_end(kEnded);
  EXPECT_TRUE(state_.must_list());
  EXPECT_EQ(list({}, "9"), "-a@1");
}

TEST_F(Watch, OtherErrorEventsResume) {
  list({}, "1");
  line(bookmark("2"));
  EXPECT_TRUE(state_.on_line(event("ERROR", status(500))).stop_reading);
  EXPECT_TRUE(state_.on_watch_end(kEnded).back_off);
  EXPECT_FALSE(state_.must_list());
}

// An etcd restored from a backup: our position is from its future, and the refusal is no 410.
TEST_F(Watch, PositionThatLeadsNowhereIsGivenUp) {
  list({workload("a", "100")}, "100");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(state_.must_list());
    state_.on_watch_end(net::Response{.status = 504, .body = api::dump_json(status(504))});
  }
  EXPECT_TRUE(state_.must_list());
  EXPECT_EQ(list({workload("a", "50")}, "60"), "+a@50");
}

TEST_F(Watch, RetryAfterIsHonoured) {
  const net::Response busy{.status = 429, .headers = {{"Retry-After", "7"}}};
  EXPECT_EQ(state_.on_page(busy).wait_at_least, Duration(7000));
  list({}, "1");
  EXPECT_EQ(state_.on_watch_end(busy).wait_at_least, Duration(7000));
}

TEST_F(Watch, ExpiredTokenStartsTheListAgain) {
  list({workload("a", "1"), workload("b", "1"), workload("c", "1")}, "1");
  state_.on_watch_end(net::Response{.status = 410});
  EXPECT_EQ(describe(state_.on_page(page({workload("a", "1"), workload("b", "5")}, "5", "t")).events), "+b@5");
  EXPECT_TRUE(state_.on_page(net::Response{.status = 410}).back_off);
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500");
  EXPECT_EQ(describe(state_.on_page(page({workload("b", "5")}, "8", "t2")).events), "");
  state_.on_page(net::Response{.status = 410});
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads");  // in one piece now
  EXPECT_EQ(list({workload("b", "9")}, "9"), "+b@9 -a@1 -c@1");
}

TEST_F(Watch, TokenThatIsRefusedIsNotUsedAgain) {
  state_.on_page(page({workload("a", "1")}, "5", "t"));
  EXPECT_TRUE(state_.on_page(net::Response{.status = 400}).back_off);
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500");
}

TEST_F(Watch, PageThatDidNotArriveIsAskedAgain) {
  state_.on_page(page({workload("a", "1")}, "5", "t"));
  EXPECT_TRUE(state_.on_page(Error{.code = ErrorCode::kUnavailable, .message = "reset"}).back_off);
  EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500&continue=t");
}

TEST_F(Watch, TooLargeAPageIsAskedInSmallerOnes) {
  const Error too_large{.code = ErrorCode::kTooLarge, .message = "64 MiB"};
  for (const char* limit : {"125", "31", "7", "1"}) {
    EXPECT_FALSE(state_.on_page(too_large).back_off);
    EXPECT_EQ(state_.list_request().target, "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=" + std::string(limit));
  }
  EXPECT_TRUE(state_.on_page(too_large).back_off);
}

TEST_F(Watch, BadObjectIsReportedAndSkipped) {
  const WatchOutcome listed = state_.on_page(page({broken("bad", "1"), workload("good", "2")}, "2"));
  EXPECT_EQ(describe(listed.events), "+good@2");
  ASSERT_EQ(listed.problems.size(), 1U);
  EXPECT_NE(to_string(listed.problems[0]).find("ns/bad"), std::string::npos) << to_string(listed.problems[0]);
  EXPECT_NE(listed.problems[0].path.find("podSets"), std::string::npos) << listed.problems[0].path;
  const WatchOutcome changed = state_.on_line(event("MODIFIED", broken("good", "3")));
  EXPECT_EQ(describe(changed.events), "");
  EXPECT_EQ(changed.problems.size(), 1U);
  EXPECT_FALSE(changed.stop_reading);
  EXPECT_NE(watch_target().find("resourceVersion=3&"), std::string::npos);
  // A list in which it is still broken does not delete what is known of it; a deletion does.
  state_.on_watch_end(net::Response{.status = 410});
  EXPECT_EQ(list({broken("good", "4")}, "5"), "");
  EXPECT_EQ(line(event("DELETED", broken("good", "6"))), "-good@2");
}

TEST_F(Watch, GarbageEndsTheStream) {
  list({}, "1");
  for (const char* garbage : {"{", "[]", "7", R"({"type":"ADDED"})", "null"}) {
    EXPECT_TRUE(state_.on_line(garbage).stop_reading) << garbage;
    EXPECT_TRUE(state_.on_watch_end(kEnded).back_off);
  }
}

TEST_F(Watch, GarbageForAListIsNoEmptyList) {
  list({workload("a", "1")}, "1");
  state_.on_watch_end(net::Response{.status = 410});
  for (const char* garbage : {"", "{}", R"({"items":7,"metadata":{"resourceVersion":"1"}})", R"({"items":[]})"}) {
    const WatchOutcome outcome = state_.on_page(net::Response{.status = 200, .body = garbage});
    EXPECT_TRUE(outcome.back_off) << garbage;
    EXPECT_EQ(describe(outcome.events), "") << garbage;
    EXPECT_TRUE(state_.must_list());
  }
}

struct PodCase {
  std::string name{};
  api::Pod before{};
  api::Pod after{};
  std::string want{};
};

class PodNews : public ::testing::TestWithParam<PodCase> {};

TEST_P(PodNews, OfAChange) {
  WatchState state(kind_named("Pod"));
  state.on_page(page({api::encode(GetParam().before)}, "1"));
  EXPECT_EQ(describe(state.on_line(event("MODIFIED", api::encode(GetParam().after))).events), GetParam().want);
}

api::Pod pod(const std::string& version, const std::string& phase, const std::string& label = "app") {
  api::Pod p = a_pod("ns", "p").resource_version(version).label(label, "x").request("cpu", "1");
  p.phase = phase;
  return p;
}

api::Pod annotated(api::Pod p) {
  p.meta.annotations["note"] = p.meta.resource_version;
  return p;
}

INSTANTIATE_TEST_SUITE_P(
    Table, PodNews,
    ::testing::Values(PodCase{"version_alone_is_none", pod("1", "Running"), pod("2", "Running"), ""},
                      PodCase{"annotation_of_others_is_none", annotated(pod("1", "Running")),
                              annotated(pod("2", "Running")), ""},
                      PodCase{"annotation_of_ours_is", annotated(pod("1", "Running", "kueue.x-k8s.io/managed")),
                              annotated(pod("2", "Running", "kueue.x-k8s.io/managed")), "+p@2"},
                      PodCase{"phase_is", pod("1", "Pending"), pod("2", "Running"), "+p@2"},
                      PodCase{"finished_of_others_is_gone", pod("1", "Running"), pod("2", "Succeeded"), "-p@1"},
                      PodCase{"finished_of_ours_stays", pod("1", "Running", "kueue.x-k8s.io/managed"),
                              pod("2", "Succeeded", "kueue.x-k8s.io/managed"), "+p@2"},
                      PodCase{"finished_from_the_start", pod("1", "Failed"), pod("2", "Failed"), ""}),
    [](const auto& row) { return row.param.name; });

TEST(WatchedKinds, CoverEveryEventOfTheCoreOnce) {
  std::set<std::string> paths;
  for (const WatchedKind& kind : watched_kinds()) {
    EXPECT_NE(kind.decode, nullptr) << kind.name;
    paths.insert(kind.path);
  }
  // Upserted and Deleted of every kind.
  EXPECT_EQ(paths.size() * 2, std::variant_size_v<ObjectEvent>);
}

}  // namespace
}  // namespace muster::client
