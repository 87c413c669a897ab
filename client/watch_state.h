// One kind's list-and-watch as a state machine without I/O: which request to make next, and what its answer means.
// A paged list, then a watch from its position; the watch is resumed from the last position seen (bookmarks included)
// and listed anew only when that position is too old or watching gets nowhere. A new list becomes the difference.
//
// Owner: the kind's watch thread (client/reflector.h). Not thread-safe. One bad object is reported and skipped.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "client/kinds.h"
#include "client/known_objects.h"
#include "net/transport.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// What an answer brought.
struct WatchOutcome {
  std::vector<ObjectEvent> events{};
  std::vector<Error> problems{};  // bad objects, refusals: for the log and for counters
  bool list_complete = false;
  bool stop_reading = false;  // a watch line: drop the rest of this stream
  bool back_off = false;      // wait before the next request,
  Duration wait_at_least{};   // at least this long
  bool healthy = false;       // the server is delivering: backoff starts from the beginning again
};

class WatchState {
 public:
  explicit WatchState(WatchedKind kind);

  bool must_list() const { return must_list_; }

  net::Request list_request() const;
  // The server is asked to end the watch after 5 to 10 minutes; `unit` is a random number of [0, 1).
  net::Request watch_request(double unit) const;

  WatchOutcome on_page(const Result<net::Response>& page);
  WatchOutcome on_line(std::string_view line);
  // 200: the watch ended as it should. Another status: it was refused. Error: it broke off.
  WatchOutcome on_watch_end(const Result<net::Response>& end);

  const WatchedKind& kind() const { return kind_; }

  std::size_t known() const { return known_.size(); }

 private:
  WatchOutcome on_page_refused(Error error, Duration wait);
  WatchOutcome on_page_items(const net::Response& page);
  void add_item(const api::Json& item, WatchOutcome& outcome);
  void on_object_event(std::string_view type, const api::Json& object, WatchOutcome& outcome);
  void require_list();
  Error describe(Error error, std::string_view what) const;

  WatchedKind kind_;
  KnownObjects known_;
  bool must_list_ = true;
  std::string position_{};              // resourceVersion to watch from
  std::string continue_{};              // token of the next page; empty: the first
  int page_size_ = 0;                   // 0: no paging
  int expired_lists_ = 0;               // lists in a row whose token expired under way
  int fruitless_ = 0;                   // watches in a row that delivered nothing
  bool delivered_ = false;              // the current watch has delivered something
  std::optional<Error> error_event_{};  // the current watch's last word
};

}  // namespace muster::client
