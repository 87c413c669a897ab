#include "framework/registry.h"

namespace muster::framework {

Registry& Registry::add(std::string name, Factory factory) {
  if (!factories_.emplace(name, std::move(factory)).second) {
    duplicates_.push_back(std::move(name));
  }
  return *this;
}

Status Registry::check() const {
  if (duplicates_.empty()) {
    return {};
  }
  return invalid("plugin \"" + duplicates_.front() + "\" is registered twice");
}

const Registry::Factory* Registry::find(const std::string& name) const {
  const auto it = factories_.find(name);
  return it == factories_.end() ? nullptr : &it->second;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, factory] : factories_) {
    names.push_back(name);
  }
  return names;
}

}  // namespace muster::framework
