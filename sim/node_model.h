// A model of what happens to pods: a simple kube-scheduler for those that do not name Muster (filters as Kubernetes
// has them, the node with the most free cpu), and kubelets that run every pod on a node for its declared time. Without
// any node, pods of other schedulers run nowhere: then quota alone is simulated.
// Owner: the simulator. Single thread, virtual time.
#pragma once

#include "api/core/node.h"
#include "api/core/pod.h"
#include "sim/api_server.h"
#include "sim/faults.h"
#include "sim/timeline.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace muster::sim {

struct NodeModelOptions {
  Duration default_run_time = std::chrono::seconds(60);
  Duration start_delay{0};  // from binding to running
  Duration stop_delay{0};   // from deletion to gone
};

class NodeModel final : public ChangeListener {
 public:
  NodeModel(Timeline& timeline, ApiServer& server, Faults& faults, const NodeModelOptions& options);

  void on_change(const Change& change) override;

 private:
  struct Occupant {
    std::string node{};
    api::ResourceAmounts requests{};
  };

  void on_node(const Change& change);
  void on_pod(const Change& change);
  void account(const ObjectKey& key, const api::Json* pod);
  void plan_scheduling();
  void schedule_all();
  std::optional<std::string> choose_node(const api::Pod& pod) const;
  bool fits(const api::Node& node, const api::ResourceAmounts& requests) const;
  void start_pod(const ObjectKey& key, const std::string& uid);
  void finish_pod(const ObjectKey& key, const std::string& uid);
  void set_phase(const ObjectKey& key, const api::Json& pod, const std::string& phase);
  Duration run_time(const ObjectKey& key, const api::Json& pod) const;

  Timeline& timeline_;
  ApiServer& server_;
  Faults& faults_;
  NodeModelOptions options_;
  std::map<std::string, api::Node> nodes_{};
  std::map<std::string, api::ResourceAmounts> used_{};  // by node
  std::map<ObjectKey, Occupant> occupants_{};
  std::set<std::pair<std::string, ObjectKey>> unbound_{};  // creation time and key: of other schedulers
  std::set<std::pair<ObjectKey, std::string>> started_{};  // pod and uid: will start or has
  bool scheduling_planned_ = false;
};

}  // namespace muster::sim
