// What a plugin answers. The codes and their meaning are kube-scheduler's (spec/placement.md §1.1), so that a plugin
// author's knowledge carries over; a rejection also names what may cure it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/wake.h"

namespace muster::framework {

enum class Code : std::uint8_t {
  kSuccess,
  kError,                         // internal failure: the attempt aborts and is retried with back-off
  kUnschedulable,                 // rejected; preemption may help
  kUnschedulableAndUnresolvable,  // rejected; no preemption can help
  kWait,                          // Permit only: hold the workload
  kSkip,                          // nothing for this plugin to do
  kPending,                       // rejected, waiting for something outside; retried without back-off
};

std::string_view to_string(Code code);

// Reason of a verdict `error`: a plugin could not judge. Only time may help.
inline constexpr std::string_view kSchedulerError = "SchedulerError";

// Plain value. The framework, not the plugin, stamps `plugin`.
class [[nodiscard]] Verdict {
 public:
  Verdict() = default;  // success

  static Verdict success() { return {}; }
  static Verdict skip() { return Verdict(Code::kSkip, {}, {}); }
  // `reason` is the machine-readable condition reason (`WaitingForQuota`), `message` the sentence for people.
  static Verdict unschedulable(std::string reason, std::string message) {
    return Verdict(Code::kUnschedulable, std::move(reason), std::move(message));
  }
  static Verdict unresolvable(std::string reason, std::string message) {
    return Verdict(Code::kUnschedulableAndUnresolvable, std::move(reason), std::move(message));
  }
  static Verdict pending(std::string reason, std::string message) {
    return Verdict(Code::kPending, std::move(reason), std::move(message));
  }
  static Verdict wait(std::string reason, std::string message) {
    return Verdict(Code::kWait, std::move(reason), std::move(message));
  }
  static Verdict error(std::string message) { return Verdict(Code::kError, std::string(kSchedulerError), std::move(message)); }

  Verdict&& wakes_on(std::vector<Wake> wakes) && {
    wakes_ = std::move(wakes);
    return std::move(*this);
  }

  Code code() const { return code_; }
  bool ok() const { return code_ == Code::kSuccess || code_ == Code::kSkip; }
  bool rejected() const {
    return code_ == Code::kUnschedulable || code_ == Code::kUnschedulableAndUnresolvable || code_ == Code::kPending;
  }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }
  const std::vector<Wake>& wakes() const { return wakes_; }
  const std::string& plugin() const { return plugin_; }
  void stamp(std::string_view plugin) { plugin_ = plugin; }

  friend bool operator==(const Verdict&, const Verdict&) = default;

 private:
  Verdict(Code code, std::string reason, std::string message)
      : code_(code), reason_(std::move(reason)), message_(std::move(message)) {}

  Code code_ = Code::kSuccess;
  std::string reason_{};
  std::string message_{};
  std::vector<Wake> wakes_{};
  std::string plugin_{};
};

}  // namespace muster::framework
