#include "client/lease.h"

#include "client/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::client {
namespace {

using api::Json;

const Resource kLeases{.group = "coordination.k8s.io", .version = "v1", .plural = "leases"};

Json spec_of(const Json& lease) {
  const auto spec = lease.find("spec");
  return spec != lease.end() && spec->is_object() ? *spec : Json::object();
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number(const Json& object, const char* key) {
  const auto found = object.find(key);
  constexpr std::int64_t kMax = 1'000'000'000;
  if (found == object.end() || !found->is_number_integer()) {
    return 0;
  }
  return found->is_number_unsigned() && found->get<std::uint64_t>() > kMax ? kMax : found->get<std::int64_t>();
}

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace

Status check(const LeaseOptions& options) {
  if (options.ns.empty() || options.name.empty() || options.identity.empty()) {
    return invalid("namespace, name and identity are needed", "leaderElection");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return invalid("must be greater than renewDeadline", "leaderElection.leaseDuration");
  }
  const double longest_retry = static_cast<double>(options.retry_period.count()) * kAcquireJitter;
  if (options.retry_period <= Duration::zero() ||
      static_cast<double>(options.renew_deadline.count()) <= longest_retry) {
    return invalid("must be greater than 1.2 times retryPeriod, and that greater than zero",
                   "leaderElection.renewDeadline");
  }
  return {};
}

LeaseState::LeaseState(LeaseOptions options) : options_(std::move(options)) {}

LeaseState::~LeaseState() = default;

// An answer that came after the deadline would be of no use: better to ask again.
net::Request LeaseState::request(std::string method, std::string path, std::string body, MonoTime now) const {
  Duration deadline = options_.renew_deadline / 2;
  if (leadership_ == Leadership::kLeading) {
    deadline = std::clamp(valid_until() - now, Duration(1), deadline);
  }
  net::Request http{.method = std::move(method),
                    .target = std::move(path),
                    .headers = {{"Accept", "application/json"}},
                    .body = std::move(body),
                    .deadline = deadline,
                    .replay_safe = true};
  if (!http.body.empty()) {
    http.headers.emplace_back("Content-Type", "application/json");
  }
  return http;
}

net::Request LeaseState::start(MonoTime now, TimePoint wall) {
  has_read_ = false;
  return leadership(now) == Leadership::kLeading && holder_ == options_.identity ? update(now, wall) : read(now);
}

net::Request LeaseState::read(MonoTime now) {
  awaiting_ = Awaiting::kRead;
  has_read_ = true;
  return request("GET", object_path(kLeases, options_.ns, options_.name), {}, now);
}

net::Request LeaseState::create(MonoTime now, TimePoint wall) {
  const std::string time = format_rfc3339_micro(wall);
  const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}},
                      {"spec",
                       {{"holderIdentity", options_.identity},
                        {"leaseDurationSeconds", whole_seconds(options_.lease_duration)},
                        {"acquireTime", time},
                        {"renewTime", time},
                        {"leaseTransitions", 0}}}};
  awaiting_ = Awaiting::kCreate;
  sent_at_ = now;
  return request("POST", collection_path(kLeases, options_.ns), api::dump_json(lease), now);
}

net::Request LeaseState::update(MonoTime now, TimePoint wall) {
  Json lease = *observed_;
  Json spec = spec_of(lease);
  const std::string time = format_rfc3339_micro(wall);
  if (holder_ != options_.identity) {
    spec["acquireTime"] = time;
    spec["leaseTransitions"] = number(spec, "leaseTransitions") + 1;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = whole_seconds(options_.lease_duration);
  spec["renewTime"] = time;
  lease["spec"] = std::move(spec);
  awaiting_ = Awaiting::kUpdate;
  sent_at_ = now;
  return request("PUT", object_path(kLeases, options_.ns, options_.name), api::dump_json(lease), now);
}

std::optional<net::Request> LeaseState::on_answer(const Result<net::Response>& answer, MonoTime now, TimePoint wall) {
  const Awaiting was = std::exchange(awaiting_, Awaiting::kNothing);
  if (leadership(now) == Leadership::kLost) {
    return std::nullopt;
  }
  if (was == Awaiting::kRead) {
    return answer.ok() ? on_read(*answer, now, wall) : std::nullopt;
  }
  if (answer.ok() && (answer->status == 200 || answer->status == 201)) {
    return on_written(*answer, now);
  }
  // Refused or unanswered. A renewal looks again at once how things stand; who waits tries again later.
  const bool look_again = leadership_ == Leadership::kLeading && !has_read_;
  return look_again ? std::optional(read(now)) : std::nullopt;
}

std::optional<net::Request> LeaseState::on_read(const net::Response& response, MonoTime now, TimePoint wall) {
  if (response.status == 404) {
    observed_.reset();
    holder_.clear();
    return create(now, wall);
  }
  auto lease = api::parse_json(response.body);
  if (response.status != 200 || !lease.ok() || !lease->is_object()) {
    return std::nullopt;
  }
  observe(*std::move(lease), now);
  if (leadership_ == Leadership::kLeading && !holder_.empty() && holder_ != options_.identity) {
    leadership_ = Leadership::kLost;
    return std::nullopt;
  }
  return held_by_other(now) ? std::nullopt : std::optional(update(now, wall));
}

std::optional<net::Request> LeaseState::on_written(const net::Response& response, MonoTime now) {
  auto lease = api::parse_json(response.body);
  if (lease.ok() && lease->is_object()) {
    observe(*std::move(lease), now);
  } else {
    observed_.reset();  // written, but its resourceVersion is not known: the next attempt has to read
    holder_.clear();
  }
  last_renewal_ = sent_at_;
  leadership_ = Leadership::kLeading;
  leadership(now);
  return std::nullopt;
}

void LeaseState::observe(Json lease, MonoTime now) {
  const Json spec = spec_of(lease);
  if (observed_ == nullptr || spec_of(*observed_) != spec) {
    observed_at_ = now;
  }
  holder_ = text(spec, "holderIdentity");
  holder_duration_ = std::chrono::seconds(number(spec, "leaseDurationSeconds"));
  observed_ = std::make_unique<Json>(std::move(lease));
}

bool LeaseState::held_by_other(MonoTime now) const {
  return !holder_.empty() && holder_ != options_.identity && now < observed_at_ + holder_duration_;
}

Duration LeaseState::pause(MonoTime now, double unit) const {
  if (leadership_ == Leadership::kLeading) {
    // Never past the end of our own lease, so that its loss is noticed in time.
    return std::clamp(valid_until() - now, Duration::zero(), options_.retry_period);
  }
  const double stretch = 1 + unit * (kAcquireJitter - 1);
  return Duration(static_cast<Duration::rep>(static_cast<double>(options_.retry_period.count()) * stretch));
}

Leadership LeaseState::leadership(MonoTime now) {
  if (leadership_ == Leadership::kLeading && now >= valid_until()) {
    leadership_ = Leadership::kLost;
  }
  return leadership_;
}

std::optional<net::Request> LeaseState::release(TimePoint wall) {
  if (leadership_ != Leadership::kLeading || observed_ == nullptr || holder_ != options_.identity) {
    return std::nullopt;
  }
  Json lease = *observed_;
  Json& spec = lease["spec"];
  const std::string time = format_rfc3339_micro(wall);
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["acquireTime"] = time;
  spec["renewTime"] = time;
  leadership_ = Leadership::kLost;
  return net::Request{.method = "PUT",
                      .target = object_path(kLeases, options_.ns, options_.name),
                      .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
                      .body = api::dump_json(lease),
                      .deadline = std::chrono::seconds(2),
                      .replay_safe = true};
}

}  // namespace muster::client
