#include "cmd/explain/live.h"

#include "api/constants.h"
#include "client/clock.h"
#include "client/kinds.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::cmd {
namespace {

constexpr int kMostSettles = 16;

bool is_namespaced(const std::string& kind) {
  static const std::set<std::string> kNamespaced = {"LocalQueue", "Workload", "Job", "Pod", "LimitRange"};
  return kNamespaced.contains(kind);
}

// `/api/v1/pods` -> `/api/v1/namespaces/team/pods`
std::string in_namespace(const std::string& path, const std::string& ns) {
  const std::size_t last = path.rfind('/');
  return path.substr(0, last) + "/namespaces/" + client::percent_encode(ns) + path.substr(last);
}

// Nothing outside the Workload's namespace matters.
bool own_namespace_suffices(const std::string& kind) {
  static const std::set<std::string> kLocal = {"LocalQueue", "Job", "LimitRange", "Namespace"};
  return kLocal.contains(kind);
}

class Reading {
 public:
  Reading(const client::ApiClient& api, const std::string& ns, LiveCore& out) : api_(api), ns_(ns), out_(out) {}

  Status read(const client::WatchedKind& kind) {
    auto items = api_.list(kind.path);
    if (!items.ok() && items.error().code == ErrorCode::kForbidden) {
      const Error refused = items.error();
      items = nearby(kind);
      note_refusal(kind.name, items.ok(), refused);
      if (!items.ok() && items.error().code == ErrorCode::kForbidden) {
        return {};
      }
    }
    if (!items.ok() && items.error().code == ErrorCode::kNotFound) {
      out_.notes.push_back("this API server does not serve " + kind.path);
      return {};
    }
    if (!items.ok()) {
      return items.error();
    }
    for (const api::Json& item : *items) {
      apply(kind, item);
    }
    return {};
  }

 private:
  // What somebody with rights in one namespace may read.
  Result<std::vector<api::Json>> nearby(const client::WatchedKind& kind) const {
    if (kind.name == "Namespace") {
      MUSTER_TRY(own, api_.get(kind.path + "/" + client::percent_encode(ns_)));
      return std::vector<api::Json>{std::move(own)};
    }
    if (is_namespaced(kind.name)) {
      return api_.list(in_namespace(kind.path, ns_));
    }
    return Error{.code = ErrorCode::kForbidden};
  }

  void note_refusal(const std::string& kind, bool some, const Error& refused) {
    if (some && own_namespace_suffices(kind)) {
      return;
    }
    out_.unseen.insert(kind);
    out_.notes.push_back((some ? kind + "s of namespace " + ns_ + " alone are seen: " : kind + "s are not seen: ") +
                         refused.message);
  }

  void apply(const client::WatchedKind& kind, const api::Json& item) {
    auto event = kind.decode(item);
    if (!event.ok()) {
      out_.notes.push_back("a " + kind.name + " is left out: " + to_string(event.error()));
    } else if (*event) {
      out_.core->apply(out_.now, framework::Event(**std::move(event)));
    }
  }

  const client::ApiClient& api_;
  const std::string& ns_;
  LiveCore& out_;
};

bool binds_pods(const api::Workload& workload) {
  return std::any_of(workload.pod_sets.begin(), workload.pod_sets.end(), [](const api::PodSet& pod_set) {
    return pod_set.pod_template.spec.scheduler_name == api::kSchedulerName;
  });
}

bool sees_all(const LiveCore& live, std::initializer_list<const char*> kinds) {
  return std::none_of(kinds.begin(), kinds.end(), [&](const char* kind) { return live.unseen.contains(kind); });
}

// What the manager wrote into the Workload, and nothing else.
framework::Explanation as_written(const api::Workload& workload) {
  using framework::Standing;
  framework::Explanation out{.workload = workload.meta.key(), .local_queue = workload.queue_name};
  std::string_view type = api::kQuotaReserved;
  if (api::is_finished(workload)) {
    out.standing = Standing::kFinished;
    type = api::kFinished;
  } else if (api::is_admitted(workload)) {
    out.standing = Standing::kAdmitted;
    type = api::kAdmitted;
  } else if (api::has_quota_reservation(workload)) {
    out.standing = Standing::kReserved;
  } else {
    out.standing = workload.active ? Standing::kParked : Standing::kDeactivated;
  }
  if (const api::Condition* condition = api::find_condition(workload.status.conditions, type)) {
    out.reason = condition->reason;
    out.message = condition->message;
  }
  return out;
}

}  // namespace

Result<LiveCore> read_cluster(const client::ApiClient& api, CoreParts parts, const std::string& ns) {
  LiveCore live{.core = make_core(std::move(parts)), .now = client::wall_now()};
  Reading reading(api, ns, live);
  for (const client::WatchedKind& kind : client::watched_kinds()) {
    MUSTER_RETURN_IF_ERROR(reading.read(kind));
  }
  live.core->apply(live.now, framework::Synced{});
  bool more = true;
  for (int i = 0; more && i < kMostSettles; ++i) {
    more = live.core->settle(live.now).more;
  }
  return live;
}

void restrict_to_seen(const LiveCore& live, framework::Explanation& explanation) {
  const framework::WorkloadState* state = live.core->model().workload(explanation.workload);
  if (state == nullptr) {
    return;
  }
  const bool sees_quota =
      sees_all(live, {"Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "Namespace"});
  const bool sees_nodes = !binds_pods(*state->observed) || sees_all(live, {"Node", "Pod"});
  if (sees_quota && sees_nodes) {
    return;
  }
  framework::Explanation said = as_written(*state->observed);
  said.cluster_queue = explanation.cluster_queue;
  said.priority = explanation.priority;
  if (sees_quota) {
    said.flavors = std::move(explanation.flavors);
    said.in_cluster_queue = explanation.in_cluster_queue;
    said.in_local_queue = explanation.in_local_queue;
  }
  explanation = std::move(said);
}

}  // namespace muster::cmd
