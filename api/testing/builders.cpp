#include "api/testing/builders.h"

#include "api/constants.h"
#include "base/check.h"
#include "base/quantity.h"

#include <algorithm>

namespace muster::api::testing {
namespace {

// The group that knows the resource or the flavor, or a new one.
ResourceGroup& group_for(std::vector<ResourceGroup>& groups, const std::string& resource, const FlavorName& flavor) {
  for (ResourceGroup& group : groups) {
    const bool covers = std::find(group.covered_resources.begin(), group.covered_resources.end(), resource) !=
                        group.covered_resources.end();
    const bool holds = std::any_of(group.flavors.begin(), group.flavors.end(),
                                   [&flavor](const FlavorQuotas& quotas) { return quotas.name == flavor; });
    if (covers || holds) {
      return group;
    }
  }
  return groups.emplace_back();
}

FlavorQuotas& flavor_in(ResourceGroup& group, const FlavorName& flavor) {
  for (FlavorQuotas& quotas : group.flavors) {
    if (quotas.name == flavor) {
      return quotas;
    }
  }
  return group.flavors.emplace_back(FlavorQuotas{.name = flavor});
}

std::optional<Amount> limit_of(const std::string& resource, const std::string& quantity) {
  return quantity.empty() ? std::nullopt : std::optional(parse_quota(resource, quantity).value());
}

}  // namespace

TimePoint at(std::int64_t seconds) {
  return TimePoint{std::chrono::sys_days{std::chrono::January / 1 / 2026}} + std::chrono::seconds{seconds};
}

Amount amount_of(const std::string& resource, const std::string& quantity) {
  return parse_amount(resource, quantity).value();
}

Condition a_condition(std::string_view type, ConditionStatus status, std::string_view reason, TimePoint when,
                      std::string_view message) {
  return {.type = std::string(type),
          .status = status,
          .reason = std::string(reason),
          .message = std::string(message),
          .last_transition_time = when};
}

Toleration a_toleration(std::string_view key, std::string_view op, std::string_view value, std::string_view effect) {
  return {.key = std::string(key), .op = std::string(op), .value = std::string(value), .effect = std::string(effect)};
}

ResourceFlavorBuilder& ResourceFlavorBuilder::node_label(const std::string& key, const std::string& value) {
  return with([&](ResourceFlavor& flavor) { flavor.node_labels[key] = value; });
}

ResourceFlavorBuilder& ResourceFlavorBuilder::taint(const std::string& key, const std::string& value,
                                                    const std::string& effect) {
  return with(
      [&](ResourceFlavor& flavor) { flavor.node_taints.push_back({.key = key, .value = value, .effect = effect}); });
}

ResourceFlavorBuilder& ResourceFlavorBuilder::toleration(const Toleration& toleration) {
  return with([&](ResourceFlavor& flavor) { flavor.tolerations.push_back(toleration); });
}

ResourceFlavorBuilder& ResourceFlavorBuilder::topology(const std::string& name) {
  return with([&](ResourceFlavor& flavor) { flavor.topology_name = name; });
}

template <class Derived, class Object>
Derived& QuotaBuilder<Derived, Object>::quota(const std::string& resource, const std::string& flavor,
                                              const std::string& nominal, const std::string& borrowing,
                                              const std::string& lending) {
  ResourceGroup& group = group_for(this->object_.resource_groups, resource, FlavorName(flavor));
  if (std::find(group.covered_resources.begin(), group.covered_resources.end(), resource) ==
      group.covered_resources.end()) {
    group.covered_resources.push_back(resource);
  }
  flavor_in(group, FlavorName(flavor))
      .resources.push_back({.resource = resource,
                            .nominal = parse_quota(resource, nominal).value(),
                            .borrowing_limit = limit_of(resource, borrowing),
                            .lending_limit = limit_of(resource, lending)});
  return static_cast<Derived&>(*this);
}

template class QuotaBuilder<ClusterQueueBuilder, ClusterQueue>;
template class QuotaBuilder<CohortBuilder, Cohort>;

ClusterQueueBuilder::ClusterQueueBuilder(const std::string& name) : QuotaBuilder({}, name) {
  object_.namespace_selector.emplace();
}

ClusterQueueBuilder& ClusterQueueBuilder::cohort(const std::string& name) {
  return with([&](ClusterQueue& queue) { queue.cohort = CohortName(name); });
}

ClusterQueueBuilder& ClusterQueueBuilder::strict_fifo() {
  return with([](ClusterQueue& queue) { queue.queueing_strategy = QueueingStrategy::kStrictFifo; });
}

ClusterQueueBuilder& ClusterQueueBuilder::stop(StopPolicy policy) {
  return with([policy](ClusterQueue& queue) { queue.stop_policy = policy; });
}

ClusterQueueBuilder& ClusterQueueBuilder::namespaces(const LabelSelector& selector) {
  return with([&](ClusterQueue& queue) { queue.namespace_selector = selector; });
}

ClusterQueueBuilder& ClusterQueueBuilder::no_namespaces() {
  return with([](ClusterQueue& queue) { queue.namespace_selector.reset(); });
}

ClusterQueueBuilder& ClusterQueueBuilder::preemption(const Preemption& preemption) {
  return with([&](ClusterQueue& queue) { queue.preemption = preemption; });
}

ClusterQueueBuilder& ClusterQueueBuilder::fungibility(const FlavorFungibility& fungibility) {
  return with([&](ClusterQueue& queue) { queue.flavor_fungibility = fungibility; });
}

ClusterQueueBuilder& ClusterQueueBuilder::check(const std::string& name, const std::vector<std::string>& on_flavors) {
  AdmissionCheckRule rule{.name = name};
  for (const std::string& flavor : on_flavors) {
    rule.on_flavors.emplace_back(flavor);
  }
  return with([&](ClusterQueue& queue) { queue.admission_checks.push_back(rule); });
}

ClusterQueueBuilder& ClusterQueueBuilder::usage_based_fair_sharing() {
  return with([](ClusterQueue& queue) { queue.usage_based_fair_sharing = true; });
}

ClusterQueueBuilder& ClusterQueueBuilder::condition(const Condition& condition) {
  return with([&](ClusterQueue& queue) { set_condition(queue.status.conditions, condition); });
}

CohortBuilder& CohortBuilder::parent(const std::string& name) {
  return with([&](Cohort& cohort) { cohort.parent = CohortName(name); });
}

LocalQueueBuilder& LocalQueueBuilder::cluster_queue(const std::string& name) {
  return with([&](LocalQueue& queue) { queue.cluster_queue = ClusterQueueName(name); });
}

LocalQueueBuilder& LocalQueueBuilder::stop(StopPolicy policy) {
  return with([policy](LocalQueue& queue) { queue.stop_policy = policy; });
}

LocalQueueBuilder& LocalQueueBuilder::weight(const std::string& quantity) {
  return with([&](LocalQueue& queue) { queue.fair_weight_nano = parse_nano(quantity).value(); });
}

NodeBuilder::NodeBuilder(const std::string& name) : Builder({}, name) {
  object_.ready = true;
  object_.allocatable["pods"] = 110;
}

NodeBuilder& NodeBuilder::allocatable(const std::string& resource, const std::string& quantity) {
  return with([&](Node& node) { node.allocatable[resource] = amount_of(resource, quantity); });
}

NodeBuilder& NodeBuilder::taint(const std::string& key, const std::string& value, const std::string& effect) {
  return with([&](Node& node) { node.taints.push_back({.key = key, .value = value, .effect = effect}); });
}

NodeBuilder& NodeBuilder::unschedulable() {
  return with([](Node& node) { node.unschedulable = true; });
}

NodeBuilder& NodeBuilder::not_ready() {
  return with([](Node& node) { node.ready = false; });
}

PodBuilder::PodBuilder(const std::string& ns, const std::string& name) : PodShapeBuilder(ns, name) {
  object_.phase = "Pending";
}

PodBuilder& PodBuilder::node(const std::string& name) {
  return with([&](Pod& pod) { pod.spec.node_name = name; });
}

PodBuilder& PodBuilder::phase(const std::string& phase) {
  return with([&](Pod& pod) { pod.phase = phase; });
}

PodBuilder& PodBuilder::priority(std::int32_t value) {
  return with([value](Pod& pod) { pod.spec.priority = value; });
}

PodBuilder& PodBuilder::condition(const Condition& condition) {
  return with([&](Pod& pod) { set_condition(pod.conditions, condition); });
}

JobBuilder& JobBuilder::queue(const std::string& local_queue) {
  return label(kQueueNameLabel, local_queue);
}

JobBuilder& JobBuilder::suspended() {
  return with([](Job& job) { job.suspend = true; });
}

JobBuilder& JobBuilder::parallelism(std::int32_t pods) {
  return with([pods](Job& job) { job.parallelism = pods; });
}

JobBuilder& JobBuilder::completions(std::int32_t pods) {
  return with([pods](Job& job) { job.completions = pods; });
}

JobBuilder& JobBuilder::condition(const Condition& condition) {
  return with([&](Job& job) { set_condition(job.conditions, condition); });
}

WorkloadPriorityClass a_workload_priority_class(const std::string& name, std::int32_t value) {
  return {.meta = {.name = name, .uid = Uid(name)}, .value = value};
}

}  // namespace muster::api::testing
