// A model of kube-controller-manager's Job controller: pods for Jobs that are not suspended, none for those that are,
// and the status that says so (active, ready, succeeded, terminating, Suspended, Complete, startTime). Pods that fail
// are replaced without limit. Owner: the simulator. Single thread, virtual time.
#pragma once

#include "sim/api_server.h"
#include "sim/faults.h"
#include "sim/timeline.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace muster::sim {

class JobController final : public ChangeListener {
 public:
  JobController(Timeline& timeline, ApiServer& server, Faults& faults);

  void on_change(const Change& change) override;

 private:
  struct Tally {
    std::vector<ObjectKey> active{};
    std::int64_t ready = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t terminating = 0;
    std::set<std::string> indexes{};  // taken or done, of an indexed Job
  };

  void look_at(const ObjectKey& job);
  void sync(const ObjectKey& key);
  Tally tally(const api::Json& job) const;
  void adjust_pods(const api::Json& job, Tally& tally);
  void create_pod(const api::Json& job, Tally& tally);
  void write_status(const ObjectKey& key, const api::Json& job, const Tally& tally);

  Timeline& timeline_;
  ApiServer& server_;
  Faults& faults_;
  std::set<ObjectKey> planned_{};  // Jobs that will be looked at
  std::uint64_t pods_created_ = 0;
};

}  // namespace muster::sim
