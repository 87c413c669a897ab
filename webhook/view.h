// What the admission functions may know besides the object: a read-only view of the cluster and the options of the
// configuration. Borrowed for a call; whoever publishes a view replaces it whole, so any thread may read one.
#pragma once

#include "api/core/meta.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace muster::webhook {

class View {
 public:
  virtual ~View() = default;
  // Null: the namespace is not known (yet).
  virtual const api::StringMap* namespace_labels(const std::string& ns) const = 0;
  // Has the namespace a LocalQueue named `default`?
  virtual bool has_default_queue(const std::string& ns) const = 0;
  // Is there a WorkloadPriorityClass named `default`?
  virtual bool has_default_priority_class() const = 0;
};

// A View as plain data: what the decision thread publishes, and what tests build.
struct PublishedView final : View {
  std::map<std::string, api::StringMap> namespaces{};  // name -> labels
  std::set<std::string> default_queues{};              // namespaces with a LocalQueue `default`
  bool default_priority_class = false;

  const api::StringMap* namespace_labels(const std::string& ns) const override {
    const auto found = namespaces.find(ns);
    return found == namespaces.end() ? nullptr : &found->second;
  }

  bool has_default_queue(const std::string& ns) const override { return default_queues.contains(ns); }

  bool has_default_priority_class() const override { return default_priority_class; }
};

// What the job and pod webhooks need of the Configuration.
struct JobOptions {
  bool manage_jobs_without_queue_name = false;
  std::optional<api::LabelSelector> managed_namespaces{};  // absent: every namespace
  bool default_local_queue = false;    // muster.defaultLocalQueue: unlabelled jobs go to the LocalQueue `default`
  bool default_priority_class = true;  // gate WorkloadPriorityClassDefaulting
  bool admission_gated_by = true;      // gate AdmissionGatedBy
  bool pod_groups = false;             // pods of a group are refused while no controller starts them
};

}  // namespace muster::webhook
