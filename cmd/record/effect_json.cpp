#include "cmd/record/effect_json.h"

#include "api/codec/encode.h"
#include "framework/model/hash.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace muster::cmd {
namespace {

using api::Json;

template <class T, class Encode>
void put(Json& json, const char* key, const std::optional<T>& value, Encode encode) {
  if (value) {
    json[key] = encode(*value);
  }
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  put(json, key, value, [](const T& v) { return Json(v); });
}

Json of(const framework::ObjectRef& ref) {
  return Json::array({std::string(framework::to_string(ref.kind)), ref.key.ns, ref.key.name, ref.uid.str()});
}

Json of(const framework::EmitEvent& event) {
  const auto& [regarding, warning, reason, action, note] = event;
  return {{"regarding", of(regarding)}, {"warning", warning}, {"reason", reason}, {"action", action}, {"note", note}};
}

Json of(const api::PriorityClassRef& ref) {
  return Json::array({ref.group, ref.kind, ref.name});
}

Json of(const framework::PodSetInfo& info) {
  const auto& [name, count, labels, annotations, node_selector, tolerations] = info;
  return {{"name", name},
          {"count", count},
          {"labels", labels},
          {"annotations", annotations},
          {"nodeSelector", node_selector},
          {"tolerations", api::encode(tolerations)}};
}

template <class T>
Json encoded(const T& value) {
  return of(value);
}

// The bindings name every member: a new one does not compile until it is written here.
struct ToJson {
  Json operator()(const framework::CreateWorkload& e) const {
    const auto& [job, name, priority_class, priority, event] = e;
    Json json = {{"job", of(job)}, {"name", name}, {"priority", priority}};
    put(json, "priorityClass", priority_class, encoded<api::PriorityClassRef>);
    return with_event(std::move(json), event);
  }

  Json operator()(const framework::AdoptWorkload& e) const {
    const auto& [workload, job] = e;
    return {{"workload", of(workload)}, {"job", of(job)}};
  }

  Json operator()(const framework::RewriteWorkload& e) const {
    const auto& [workload, job, priority_class, priority, event] = e;
    Json json = {{"workload", of(workload)}, {"job", of(job)}, {"priority", priority}};
    put(json, "priorityClass", priority_class, encoded<api::PriorityClassRef>);
    return with_event(std::move(json), event);
  }

  Json operator()(const framework::PatchWorkloadSpec& e) const {
    const auto& [workload, queue_name, active, priority_class, priority, gates, event] = e;
    Json json = {{"workload", of(workload)}};
    put(json, "queueName", queue_name, [](const LocalQueueName& name) { return Json(name.str()); });
    put(json, "active", active);
    put(json, "priorityClass", priority_class, encoded<api::PriorityClassRef>);
    put(json, "priority", priority);
    put(json, "admissionGatedBy", gates);
    return with_event(std::move(json), event);
  }

  Json operator()(const framework::PatchWorkloadStatus& e) const {
    const auto& [workload, version, status, events] = e;
    return {{"workload", of(workload)},
            {"resourceVersion", version},
            {"status", api::encode(status)},
            {"events", list_of(events)}};
  }

  Json operator()(const framework::PatchClusterQueueStatus& e) const {
    const auto& [queue, status] = e;
    return {{"queue", of(queue)}, {"status", api::encode(status)}};
  }

  Json operator()(const framework::PatchLocalQueueStatus& e) const {
    const auto& [queue, status] = e;
    return {{"queue", of(queue)}, {"status", api::encode(status)}};
  }

  Json operator()(const framework::PatchCohortStatus& e) const {
    const auto& [cohort, status] = e;
    return {{"cohort", of(cohort)}, {"status", api::encode(status)}};
  }

  Json operator()(const framework::ChangeFinalizer& e) const {
    const auto& [object, finalizer, change] = e;
    return {{"object", of(object)}, {"finalizer", finalizer}, {"add", change == framework::FinalizerChange::kAdd}};
  }

  Json operator()(const framework::DeleteObject& e) const {
    const auto& [object, event] = e;
    return with_event({{"object", of(object)}}, event);
  }

  Json operator()(const framework::StartJob& e) const {
    const auto& [job, pod_sets, event] = e;
    return with_event({{"job", of(job)}, {"podSets", list_of(pod_sets)}}, event);
  }

  Json operator()(const framework::StopJob& e) const {
    const auto& [job, workload, reason, message, event] = e;
    Json json = {{"job", of(job)}, {"reason", reason}, {"message", message}};
    put(json, "workload", workload, encoded<framework::ObjectRef>);
    return with_event(std::move(json), event);
  }

  Json operator()(const framework::UngatePod& e) const {
    const auto& [pod, gate, info, event] = e;
    return with_event({{"pod", of(pod)}, {"gate", gate}, {"info", of(info)}}, event);
  }

  Json operator()(const framework::BindPod& e) const {
    const auto& [pod, node, workload] = e;
    return {{"pod", of(pod)}, {"node", node.str()}, {"workload", to_string(workload)}};
  }

  Json operator()(const framework::PatchPodCondition& e) const {
    const auto& [pod, condition] = e;
    return {{"pod", of(pod)}, {"condition", api::encode(condition)}};
  }

  Json operator()(const framework::EmitEvent& e) const { return of(e); }

 private:
  static Json with_event(Json json, const std::optional<framework::EmitEvent>& event) {
    put(json, "event", event, encoded<framework::EmitEvent>);
    return json;
  }

  template <class T>
  static Json list_of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) {
      list.push_back(of(value));
    }
    return list;
  }
};

}  // namespace

Json to_json(const framework::Effect& effect) {
  return {{"id", effect.id}, {"what", framework::describe(effect)}, {"body", std::visit(ToJson{}, effect.body)}};
}

std::uint64_t hash_of(const framework::Effects& effects) {
  framework::Hash hash;
  for (const framework::Effect& effect : effects) {
    hash.add(api::dump_json(to_json(effect)));
  }
  return hash.value();
}

}  // namespace muster::cmd
