// What became of every Job and how much of each resource ran, from the changes on the model API server.
// Owner: the simulator. Single thread.
#pragma once

#include "api/core/pod.h"
#include "sim/api_server.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster::sim {

// From one admission to its end. Of a Job without a queue: from its first running pod.
struct Attempt {
  TimePoint admitted{};
  std::optional<TimePoint> started{};  // first pod running
  std::optional<TimePoint> ended{};    // absent: still holds what it was given
  std::string evicted{};               // reason (`Preempted`); empty: not evicted
  std::set<std::string> nodes{};
};

struct JobRecord {
  ObjectKey key{};
  std::string queue{};  // empty: none
  TimePoint submitted{};
  std::optional<TimePoint> finished{};
  bool failed = false;
  std::vector<Attempt> attempts{};
  std::string workload{};  // name of its Workload
};

class Recorder final : public ChangeListener {
 public:
  explicit Recorder(ApiServer& server) { server.listen(*this); }

  void on_change(const Change& change) override;

  const std::map<ObjectKey, JobRecord>& jobs() const { return jobs_; }

  // When the last Job finished, if all seen so far have (absent also when none was seen).
  std::optional<TimePoint> all_finished_at() const { return open_jobs_ == 0 ? last_finished_ : std::nullopt; }

  // The last change of a Job, Workload or Pod: after it nothing happened to any job.
  TimePoint last_change() const { return last_change_; }

  // Amount × seconds that pods ran until `now`, by resource. For reports, not for decisions.
  std::map<std::string, double> used_until(TimePoint now) const;

 private:
  struct Running {
    TimePoint since{};
    api::ResourceAmounts requests{};
  };

  void on_job(const Change& change);
  void on_workload(const Change& change);
  void on_pod(const Change& change);
  void on_pod_phase(const Change& change, JobRecord* job);
  JobRecord* owner_of(const Change& change);

  std::map<ObjectKey, JobRecord> jobs_{};
  std::size_t open_jobs_ = 0;
  std::optional<TimePoint> last_finished_{};
  TimePoint last_change_{};
  std::map<ObjectKey, Running> running_{};
  std::map<std::string, double> used_{};
};

}  // namespace muster::sim
