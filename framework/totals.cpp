#include "framework/totals.h"

#include <algorithm>

#include "api/kueue/workload.h"
#include "framework/model/hash.h"

namespace muster::framework {

namespace {

using api::Container;
using api::ResourceAmounts;

// Adds what `defaults` has and `amounts` lacks.
void fill(ResourceAmounts& amounts, const ResourceAmounts& defaults) { amounts.insert(defaults.begin(), defaults.end()); }

struct Defaults {
  ResourceAmounts limits{};
  ResourceAmounts requests{};
};

Defaults defaults_of(const std::string& ns, std::string_view type, const Objects& objects) {
  Defaults defaults;
  const auto& all = objects.all<api::LimitRange>().all();
  for (auto it = all.lower_bound(ObjectKey{ns, ""}); it != all.end() && it->first.ns == ns; ++it) {
    for (const api::LimitRangeItem& item : it->second->limits) {
      if (item.type == type) {
        fill(defaults.limits, item.defaults);
        fill(defaults.requests, item.default_request);
      }
    }
  }
  return defaults;
}

std::int32_t reclaimed(const api::Workload& workload, const std::string& pod_set) {
  for (const api::ReclaimablePod& item : workload.status.reclaimable_pods) {
    if (item.name == pod_set) {
      return item.count;
    }
  }
  return 0;
}

bool excluded(const std::string& resource, const TotalsRules& rules) {
  return std::any_of(rules.exclude_prefixes.begin(), rules.exclude_prefixes.end(),
                     [&](const std::string& prefix) { return resource.starts_with(prefix); });
}

PodSetTotals totals_of(const api::Workload& workload, const api::PodSet& pod_set, const Objects& objects,
                       const TotalsRules& rules) {
  const api::PodSpec spec = adjusted(pod_set.pod_template.spec, workload.meta.ns, objects);
  PodSetTotals totals{.name = pod_set.name,
                      .count = std::max(0, pod_set.count - reclaimed(workload, pod_set.name)),
                      .group = pod_set.group,
                      .per_pod = {.requests = api::pod_requests(spec), .host_ports = spec.host_ports},
                      .pod_template = &pod_set.pod_template};
  const bool may_shrink = rules.partial_admission && pod_set.min_count;
  totals.min_count = may_shrink ? std::clamp(*pod_set.min_count, 0, totals.count) : totals.count;
  ResourceAmounts counted;
  for (const auto& [resource, amount] : totals.per_pod.requests) {
    if (!excluded(resource, rules)) {
      counted.emplace(resource, amount);
    }
  }
  for (const auto& [resource, amount] : transform(counted, rules.transformations)) {
    totals.requests.emplace(resource, sat_mul(std::max<Amount>(0, amount), totals.count));
  }
  return totals;
}

// ---- equivalence class: everything the scheduler may look at ----

void add_requirements(Hash& hash, const std::vector<api::NodeSelectorRequirement>& requirements) {
  hash.add(static_cast<Amount>(requirements.size()));
  for (const api::NodeSelectorRequirement& r : requirements) {
    hash.add(r.key).add(r.op).add(static_cast<Amount>(r.values.size()));
    for (const std::string& value : r.values) {
      hash.add(value);
    }
  }
}

void add_term(Hash& hash, const api::NodeSelectorTerm& term) {
  add_requirements(hash, term.match_expressions);
  add_requirements(hash, term.match_fields);
}

void add_placement(Hash& hash, const api::PodSpec& spec) {
  hash.add(spec.scheduler_name).add(spec.node_name).add(static_cast<Amount>(spec.node_selector.size()));
  for (const auto& [key, value] : spec.node_selector) {
    hash.add(key).add(value);
  }
  hash.add(spec.node_affinity.required ? static_cast<Amount>(spec.node_affinity.required->size()) : -1);
  for (const api::NodeSelectorTerm& term : spec.node_affinity.required.value_or(std::vector<api::NodeSelectorTerm>{})) {
    add_term(hash, term);
  }
  for (const api::PreferredSchedulingTerm& term : spec.node_affinity.preferred) {
    hash.add(Amount{term.weight});
    add_term(hash, term.preference);
  }
  hash.add(static_cast<Amount>(spec.tolerations.size()));
  for (const api::Toleration& t : spec.tolerations) {
    hash.add(t.key).add(t.op).add(t.value).add(t.effect);
  }
  for (const std::string& field : spec.unsupported_placement_fields) {
    hash.add(field);
  }
}

ClassId class_of(const WorkloadInfo& info) {
  Hash hash;
  hash.add(info.cluster_queue.str()).add(info.priority).add(static_cast<Amount>(info.pod_sets.size()));
  for (const PodSetTotals& totals : info.pod_sets) {
    hash.add(totals.name).add(totals.group).add(Amount{totals.count}).add(Amount{totals.min_count});
    for (const auto* amounts : {&totals.requests, &totals.per_pod.requests}) {
      hash.add(static_cast<Amount>(amounts->size()));
      for (const auto& [resource, amount] : *amounts) {
        hash.add(resource).add(amount);
      }
    }
    for (const api::HostPort& port : totals.per_pod.host_ports) {
      hash.add(port.ip).add(port.protocol).add(Amount{port.port});
    }
    add_placement(hash, totals.pod_template->spec);
  }
  return hash.value();
}

}  // namespace

// spec/admission.md §2.2, steps 1 to 3.
api::PodSpec adjusted(const api::PodSpec& spec, const std::string& ns, const Objects& objects) {
  api::PodSpec out = spec;
  if (!out.runtime_class_name.empty() && out.overhead.empty()) {
    if (const auto* runtime = objects.find<api::RuntimeClass>({{}, out.runtime_class_name})) {
      out.overhead = runtime->overhead;
    }
  }
  const Defaults container_defaults = defaults_of(ns, "Container", objects);
  for (auto* list : {&out.init_containers, &out.containers}) {
    for (Container& container : *list) {
      fill(container.limits, container_defaults.limits);
      fill(container.requests, container_defaults.requests);
      fill(container.requests, container.limits);
    }
  }
  if (out.pod_requests || out.pod_limits) {
    const Defaults pod_defaults = defaults_of(ns, "Pod", objects);
    ResourceAmounts requests = out.pod_requests.value_or(ResourceAmounts{});
    fill(requests, pod_defaults.requests);
    fill(requests, out.pod_limits.value_or(ResourceAmounts{}));
    out.pod_requests = std::move(requests);
  }
  return out;
}

WorkloadInfo build_info(std::shared_ptr<const api::Workload> workload, ClusterQueueName cluster_queue,
                        const Objects& objects, const TotalsRules& rules) {
  WorkloadInfo info{.key = workload->meta.key(),
                    .object = workload,
                    .cluster_queue = std::move(cluster_queue),
                    .priority = api::effective_priority(*workload),
                    .queue_time = api::queue_order_time(*workload)};
  for (const api::PodSet& pod_set : info.object->pod_sets) {
    info.pod_sets.push_back(totals_of(*workload, pod_set, objects, rules));
  }
  info.class_id = class_of(info);
  return info;
}

WorkloadInfo with_counts(const WorkloadInfo& workload, const std::vector<std::int32_t>& counts) {
  WorkloadInfo scaled = workload;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    PodSetTotals& totals = scaled.pod_sets[i];
    for (auto& [resource, amount] : totals.requests) {
      amount = totals.count == 0 ? amount : sat_mul(amount / totals.count, counts[i]);
    }
    totals.count = counts[i];
  }
  return scaled;
}

}  // namespace muster::framework
