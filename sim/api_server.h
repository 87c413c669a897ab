// An in-memory API server over JSON objects: what the manager's requests and the models of the other controllers
// meet in a simulation. It keeps the rules that decide whether a writer is right: uids, resource versions and their
// preconditions, generations, finalizers, graceful deletion of pods, owner references, the subresources status and
// binding, merge, JSON, strategic (conditions) and apply patches, and what may change in a Job.
//
// Owner: the simulator. Single thread, no clock: `set_time` says what time it is. Deterministic: uids are numbered.
#pragma once

#include "api/codec/json.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "framework/request.h"
#include "sim/resource_kind.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster::sim {

using Stored = std::shared_ptr<const api::Json>;

struct Change {
  TimePoint at{};
  const ResourceKind* kind = nullptr;
  ObjectKey key{};
  Stored before{};  // null: created
  Stored after{};   // null: deleted, `before` is the last state
};

// Told of every change, in order, while it happens. Must not call the server: remember and act later.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  virtual void on_change(const Change& change) = 0;
};

enum class Part : std::uint8_t { kSpec, kStatus };    // what a write may touch; the rest of the new object is ignored
enum class Grace : std::uint8_t { kPolite, kForce };  // kForce: a pod vanishes without its node's consent

class ApiServer {
 public:
  explicit ApiServer(TimePoint now) : now_(now) {}

  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  void set_time(TimePoint now) { now_ = now; }

  // `listener` must outlive the server's use.
  void listen(ChangeListener& listener) { listeners_.push_back(&listener); }

  // The HTTP face: errors are Status objects.
  framework::ApiReply handle(const framework::ApiRequest& request);

  // The same for models within the simulation.
  Stored find(const ResourceKind& kind, const ObjectKey& key) const;
  const std::map<ObjectKey, Stored>& all(const ResourceKind& kind) const;
  // Objects of the kind whose owner references name this uid.
  std::vector<ObjectKey> owned_by(const std::string& uid, const ResourceKind& kind) const;
  Result<Stored> create(const ResourceKind& kind, api::Json object);
  Result<Stored> update(const ResourceKind& kind, const ObjectKey& key, api::Json object, Part part);
  Status remove(const ResourceKind& kind, const ObjectKey& key, Grace grace = Grace::kPolite);
  // `binding`: metadata.uid (optional precondition) and target.name.
  Result<Stored> bind(const ObjectKey& pod, const api::Json& binding);

  std::uint64_t version() const { return version_; }

 private:
  using Ref = std::pair<const ResourceKind*, ObjectKey>;

  Result<Stored> serve(const framework::ApiRequest& request, int& success);
  Result<Stored> serve_list(const ResourcePath& path) const;
  Result<Stored> serve_post(const ResourcePath& path, const std::string& body);
  Result<Stored> serve_patch(const ResourcePath& path, const framework::ApiRequest& request);
  Result<Stored> serve_delete(const ResourcePath& path, const std::string& body);

  void put(const ResourceKind& kind, const ObjectKey& key, api::Json object);
  void erase(const ResourceKind& kind, const ObjectKey& key);
  void index_owners(const Ref& ref, const Stored& object, bool add);
  void tell(const Change& change);

  TimePoint now_;
  std::uint64_t version_ = 0;
  std::uint64_t uids_ = 0;
  std::map<const ResourceKind*, std::map<ObjectKey, Stored>> objects_{};
  std::map<std::string, std::set<Ref>> owned_{};  // by uid of the owner
  std::vector<ChangeListener*> listeners_{};
};

}  // namespace muster::sim
