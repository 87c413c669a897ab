// Parts that several kinds share, read through a Reader. Internal to api/codec.
#pragma once

#include "api/codec/reader.h"
#include "api/core/meta.h"
#include "api/core/pod.h"
#include "api/kueue/workload.h"

#include <vector>

namespace muster::api {

// `metadata` of `object`; kubectl's last-applied copy of the whole object is left out.
ObjectMeta read_meta(const Reader& object);
Conditions read_conditions(const Reader& status);
std::vector<Taint> read_taints(const Reader& parent, std::string_view key);
std::vector<Toleration> read_tolerations(const Reader& parent);
LabelSelector read_label_selector(const Reader& selector);
PodSpec read_pod_spec(const Reader& spec);
PodTemplate read_pod_template(const Reader& pod_template);
Admission read_admission(const Reader& admission);

// 128-bit digest of a container list, equal for lists that spec/workloads.md §1.2 calls equal: duplicate env collapsed
// (last value, first place), quantities by value, absent = null = empty. Null hashes like an empty list.
std::array<std::uint64_t, 2> hash_containers(const Json* containers);

}  // namespace muster::api
