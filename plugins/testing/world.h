// A small cluster for tests of plugins: a Model filled through `observe`, as the core fills it, and Workloads as the
// queue holds them. Not linked into the product.
#pragma once

#include "api/testing/builders.h"
#include "framework/model/model.h"
#include "framework/workload_info.h"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace muster::plugins::testing {

class World {
 public:
  // Any builder of an object that the model observes.
  template <class Builder>
  World& add(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    model_.observe(framework::ObjectEvent(framework::Upserted<Object>{std::make_shared<const Object>(builder.obj())}));
    return *this;
  }

  template <class Builder>
  World& add_all(const std::vector<Builder>& builders) {
    for (const Builder& builder : builders) {
      add(builder);
    }
    return *this;
  }

  // ResourceFlavors that say nothing but their name.
  World& flavors(const std::vector<std::string>& names);

  // Waits in this ClusterQueue. Also observed, so that the model knows it.
  framework::WorkloadInfo pending(const api::testing::WorkloadBuilder& workload, const std::string& cluster_queue);

  framework::Model& model() { return model_; }

 private:
  framework::Model model_{};
};

// One (flavor, resource); `flavor/resource`.
framework::FlavorResource fr(const std::string& flavor_slash_resource);

}  // namespace muster::plugins::testing
