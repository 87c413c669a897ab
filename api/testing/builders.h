// Builders of API objects for tests; they read like the manifest: a_cluster_queue("cq").cohort("team")
// .quota("cpu", "default", "10"). Not linked into the product. A builder is a value, converts to its object, and sets
// nothing a test does not mention but identity (uid = key, podset `main` of 1, nodes ready with 110 pods, ClusterQueues
// that select every namespace). Bad quantities end the test.
#pragma once

#include "api/batch/job.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"
#include "api/testing/builder_base.h"
#include "base/quantity.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api::testing {

class ResourceFlavorBuilder : public Builder<ResourceFlavorBuilder, ResourceFlavor> {
 public:
  explicit ResourceFlavorBuilder(const std::string& name) : Builder({}, name) {}

  ResourceFlavorBuilder& node_label(const std::string& key, const std::string& value);
  ResourceFlavorBuilder& taint(const std::string& key, const std::string& value, const std::string& effect);
  ResourceFlavorBuilder& toleration(const Toleration& toleration);
  ResourceFlavorBuilder& topology(const std::string& name);
};

// Quota of ClusterQueues and Cohorts. A new resource joins the group of its flavor, a new flavor the group that covers
// its resource; neither known: a new group.
template <class Derived, class Object>
class QuotaBuilder : public Builder<Derived, Object> {
 public:
  Derived& quota(const std::string& resource, const std::string& flavor, const std::string& nominal,
                 const std::string& borrowing = {}, const std::string& lending = {});

  // fairSharing.weight, a quantity.
  Derived& weight(const std::string& quantity) {
    return this->with([&](Object& o) { o.fair_weight_nano = parse_nano(quantity).value(); });
  }

 protected:
  using Builder<Derived, Object>::Builder;
};

class ClusterQueueBuilder : public QuotaBuilder<ClusterQueueBuilder, ClusterQueue> {
 public:
  explicit ClusterQueueBuilder(const std::string& name);
  ClusterQueueBuilder& cohort(const std::string& name);
  ClusterQueueBuilder& strict_fifo();
  ClusterQueueBuilder& stop(StopPolicy policy);
  ClusterQueueBuilder& namespaces(const LabelSelector& selector);
  ClusterQueueBuilder& no_namespaces();
  ClusterQueueBuilder& preemption(const Preemption& preemption);
  ClusterQueueBuilder& fungibility(const FlavorFungibility& fungibility);
  ClusterQueueBuilder& check(const std::string& name, const std::vector<std::string>& on_flavors = {});
  ClusterQueueBuilder& usage_based_fair_sharing();
  ClusterQueueBuilder& condition(const Condition& condition);
};

class CohortBuilder : public QuotaBuilder<CohortBuilder, Cohort> {
 public:
  explicit CohortBuilder(const std::string& name) : QuotaBuilder({}, name) {}

  CohortBuilder& parent(const std::string& name);
};

class LocalQueueBuilder : public Builder<LocalQueueBuilder, LocalQueue> {
 public:
  LocalQueueBuilder(const std::string& ns, const std::string& name) : Builder(ns, name) {}

  LocalQueueBuilder& cluster_queue(const std::string& name);
  LocalQueueBuilder& stop(StopPolicy policy);
  LocalQueueBuilder& weight(const std::string& quantity);
};

class WorkloadBuilder : public PodShapeBuilder<WorkloadBuilder, Workload> {
 public:
  WorkloadBuilder(const std::string& ns, const std::string& name);
  WorkloadBuilder& queue(const std::string& local_queue);
  // The first call names the podset every workload begins with; later ones add podsets. Shape methods (request,
  // count, node_selector …) speak of the last one.
  WorkloadBuilder& pod_set(const std::string& name, std::int32_t count = 1);
  WorkloadBuilder& count(std::int32_t pods);
  WorkloadBuilder& min_count(std::int32_t pods);
  WorkloadBuilder& group(const std::string& name);
  WorkloadBuilder& priority(std::int32_t value);
  WorkloadBuilder& priority_class_ref(const PriorityClassRef& ref);
  WorkloadBuilder& inactive();
  WorkloadBuilder& max_execution_seconds(std::int32_t seconds);
  WorkloadBuilder& condition(const Condition& condition);
  // QuotaReserved, every request of every podset charged to `flavor`.
  WorkloadBuilder& reserved(const std::string& cluster_queue, const std::string& flavor, TimePoint when = at(0));
  // Reserved (if it is not yet) and Admitted.
  WorkloadBuilder& admitted(const std::string& cluster_queue, const std::string& flavor, TimePoint when = at(0));
  WorkloadBuilder& admission(const Admission& admission);
  WorkloadBuilder& evicted(std::string_view reason, TimePoint when = at(0));
  WorkloadBuilder& finished(TimePoint when = at(0));
  WorkloadBuilder& pods_ready(ConditionStatus status, TimePoint when = at(0));
  WorkloadBuilder& requeue_at(std::int32_t count, std::optional<TimePoint> when);
  WorkloadBuilder& reclaimable(const std::string& pod_set, std::int32_t count);
  WorkloadBuilder& check_state(const std::string& name, CheckState state, TimePoint when = at(0));

  PodSpec& spec() { return object_.pod_sets.back().pod_template.spec; }

 private:
  bool named_ = false;
};

class NodeBuilder : public Builder<NodeBuilder, Node> {
 public:
  explicit NodeBuilder(const std::string& name);
  NodeBuilder& allocatable(const std::string& resource, const std::string& quantity);
  NodeBuilder& taint(const std::string& key, const std::string& value, const std::string& effect);
  NodeBuilder& unschedulable();
  NodeBuilder& not_ready();
};

class PodBuilder : public PodShapeBuilder<PodBuilder, Pod> {
 public:
  PodBuilder(const std::string& ns, const std::string& name);
  PodBuilder& node(const std::string& name);
  PodBuilder& phase(const std::string& phase);
  PodBuilder& priority(std::int32_t value);
  PodBuilder& condition(const Condition& condition);

  PodSpec& spec() { return object_.spec; }
};

class JobBuilder : public PodShapeBuilder<JobBuilder, Job> {
 public:
  JobBuilder(const std::string& ns, const std::string& name) : PodShapeBuilder(ns, name) {}

  JobBuilder& queue(const std::string& local_queue);
  JobBuilder& suspended();
  JobBuilder& parallelism(std::int32_t pods);
  JobBuilder& completions(std::int32_t pods);
  JobBuilder& condition(const Condition& condition);

  // Any other field.
  template <class Change>
  JobBuilder& set(Change change) {
    return with(change);
  }

  PodSpec& spec() { return object_.pod_template.spec; }
};

class NamespaceBuilder : public Builder<NamespaceBuilder, Namespace> {
 public:
  explicit NamespaceBuilder(const std::string& name) : Builder({}, name) {}
};

inline ResourceFlavorBuilder a_flavor(const std::string& name) {
  return ResourceFlavorBuilder(name);
}

inline ClusterQueueBuilder a_cluster_queue(const std::string& name) {
  return ClusterQueueBuilder(name);
}

inline CohortBuilder a_cohort(const std::string& name) {
  return CohortBuilder(name);
}

inline LocalQueueBuilder a_local_queue(const std::string& ns, const std::string& name) {
  return {ns, name};
}

inline WorkloadBuilder a_workload(const std::string& ns, const std::string& name) {
  return {ns, name};
}

inline NodeBuilder a_node(const std::string& name) {
  return NodeBuilder(name);
}

inline PodBuilder a_pod(const std::string& ns, const std::string& name) {
  return {ns, name};
}

inline JobBuilder a_job(const std::string& ns, const std::string& name) {
  return {ns, name};
}

inline NamespaceBuilder a_namespace(const std::string& name) {
  return NamespaceBuilder(name);
}

WorkloadPriorityClass a_workload_priority_class(const std::string& name, std::int32_t value);

}  // namespace muster::api::testing
