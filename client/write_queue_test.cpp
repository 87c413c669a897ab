#include "client/write_queue.h"

#include <gtest/gtest.h>

namespace muster::client {
namespace {

using framework::Effect;
using framework::EffectId;
using framework::Kind;
using framework::ObjectRef;

ObjectRef ref(Kind kind, const std::string& name, const std::string& uid = "u") {
  return {.kind = kind, .key = {"ns", name}, .uid = Uid(uid)};
}

Effect status(EffectId id, const std::string& name) {
  return {.id = id, .body = framework::PatchWorkloadStatus{.workload = ref(Kind::kWorkload, name)}};
}

Effect start(EffectId id, const std::string& job) {
  return {.id = id, .body = framework::StartJob{.job = ref(Kind::kJob, job)}};
}

Effect stop(EffectId id, const std::string& job) {
  return {.id = id, .body = framework::StopJob{.job = ref(Kind::kJob, job)}};
}

using Ids = std::vector<EffectId>;

Ids take(WriteQueue& queue) {
  const auto write = queue.take();
  return write ? write->ids : Ids{};
}

TEST(WriteQueue, ServesObjectsInOrderOfArrival) {
  WriteQueue queue;
  queue.add(status(1, "a"));
  queue.add(status(2, "b"));
  EXPECT_EQ(queue.waiting(), 2U);
  EXPECT_EQ(take(queue), Ids{1});
  EXPECT_EQ(take(queue), Ids{2});
  EXPECT_EQ(take(queue), Ids{});
  EXPECT_EQ(queue.busy(), 2U);
}

TEST(WriteQueue, OneWriteOfAnObjectAtATime) {
  WriteQueue queue;
  queue.add(start(1, "j"));
  queue.add(stop(2, "j"));
  EXPECT_EQ(take(queue), Ids{1});
  EXPECT_EQ(take(queue), Ids{});
  queue.finish(ref(Kind::kJob, "j"));
  EXPECT_EQ(take(queue), Ids{2});
  queue.finish(ref(Kind::kJob, "j"));
  EXPECT_TRUE(queue.empty());
}

TEST(WriteQueue, NewerReplacesOlderUnsent) {
  WriteQueue queue;
  queue.add(status(1, "a"));
  queue.add(status(2, "a"));
  queue.add(status(3, "a"));
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.replaced(), 2U);
  const auto write = queue.take();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->ids, (Ids{1, 2, 3}));
  EXPECT_EQ(write->effect.id, 3U);
}

TEST(WriteQueue, WhatIsUnderWayIsNotReplaced) {
  WriteQueue queue;
  queue.add(status(1, "a"));
  EXPECT_EQ(take(queue), Ids{1});
  queue.add(status(2, "a"));
  queue.add(status(3, "a"));
  EXPECT_EQ(take(queue), Ids{});
  queue.finish(ref(Kind::kWorkload, "a"));
  EXPECT_EQ(take(queue), (Ids{2, 3}));
}

// start, stop, start must end started: the last one does not slip into the first one's place.
TEST(WriteQueue, ReplacingMovesToTheEnd) {
  WriteQueue queue;
  queue.add(start(1, "j"));
  queue.add(stop(2, "j"));
  queue.add(start(3, "j"));
  EXPECT_EQ(take(queue), Ids{2});
  queue.finish(ref(Kind::kJob, "j"));
  EXPECT_EQ(take(queue), (Ids{1, 3}));
}

TEST(WriteQueue, RebornObjectHasALaneOfItsOwn) {
  WriteQueue queue;
  queue.add({.id = 1, .body = framework::DeleteObject{.object = ref(Kind::kWorkload, "a", "old")}});
  queue.add({.id = 2, .body = framework::DeleteObject{.object = ref(Kind::kWorkload, "a", "new")}});
  EXPECT_EQ(take(queue), Ids{1});
  EXPECT_EQ(take(queue), Ids{2});
}

}  // namespace
}  // namespace muster::client
