// The undo log: every change to quota or node usage is written here first, so that speculation can be rolled back
// exactly, in reverse, without a copy of the world. Owner: Model. Decision thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arith.h"

namespace muster::framework {

enum class UndoKind : std::uint8_t { kQuotaUsage, kNodeUsed, kNodePods, kNodePort, kWorkloadCharged };

// One overwritten value. `owner` is the quota tree node, the node or the workload; `slot` the column within it.
struct UndoEntry {
  UndoKind kind{};
  std::uint32_t owner = 0;
  std::uint32_t slot = 0;
  Amount old_value = 0;
};

class UndoLog {
 public:
  // Entries are kept only while a transaction is open; facts change the model outside of one.
  bool recording() const { return depth_ > 0; }
  void record(const UndoEntry& entry) {
    if (recording()) {
      entries_.push_back(entry);
    }
  }
  void begin() { ++depth_; }
  void end() {
    if (--depth_ == 0) {
      entries_.clear();
    }
  }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  UndoEntry pop() {
    const UndoEntry last = entries_.back();
    entries_.pop_back();
    return last;
  }

 private:
  std::vector<UndoEntry> entries_{};
  int depth_ = 0;
};

}  // namespace muster::framework
