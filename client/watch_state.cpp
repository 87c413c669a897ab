#include "client/watch_state.h"

#include "api/codec/failure.h"
#include "client/api_error.h"
#include "client/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::client {
namespace {

using api::Json;

constexpr auto kListDeadline = std::chrono::seconds(60);
constexpr api::JsonLimits kPageLimits{.bytes = std::size_t{256} << 20};
constexpr int kPageSize = 500;
// A position from which so many watches in a row deliver nothing is given up, whatever the reason: an etcd that was
// restored from a backup answers every watch from the future with an error that is not 410.
constexpr int kMaxFruitless = 5;
constexpr int kMaxExpiredLists = 2;

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text(const Json* object, const char* key) {
  const Json* value = object == nullptr ? nullptr : member(*object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string version_of(const Json& object) {
  return text(member(object, "metadata"), "resourceVersion");
}

ObjectKey key_of(const Json& object) {
  const Json* metadata = member(object, "metadata");
  return {text(metadata, "namespace"), text(metadata, "name")};
}

void append(std::vector<ObjectEvent>& to, std::vector<ObjectEvent> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

WatchState::WatchState(WatchedKind kind) : kind_(std::move(kind)), known_(kind_.facts_only), page_size_(kPageSize) {}

net::Request WatchState::list_request() const {
  const std::string limit = page_size_ > 0 ? std::to_string(page_size_) : std::string();
  return {.method = "GET",
          .target = with_query(kind_.path, {{"limit", limit}, {"continue", continue_}}),
          .headers = {{"Accept", "application/json"}},
          .deadline = kListDeadline,
          .replay_safe = true};
}

net::Request WatchState::watch_request(double unit) const {
  const int seconds = 300 + static_cast<int>(unit * 300);
  return {.method = "GET",
          .target = with_query(kind_.path, {{"watch", "true"},
                                            {"allowWatchBookmarks", "true"},
                                            {"resourceVersion", position_},
                                            {"timeoutSeconds", std::to_string(seconds)}}),
          .headers = {{"Accept", "application/json"}},
          .replay_safe = true};
}

Error WatchState::describe(Error error, std::string_view what) const {
  error.message = kind_.name + ": " + std::string(what) + ": " + error.message;
  return error;
}

WatchOutcome WatchState::on_page(const Result<net::Response>& page) {
  if (!page.ok()) {
    return on_page_refused(page.error(), Duration::zero());
  }
  if (page->status != 200) {
    return on_page_refused(error_of(*page), retry_after(page->headers).value_or(Duration::zero()));
  }
  return on_page_items(*page);
}

WatchOutcome WatchState::on_page_refused(Error error, Duration wait) {
  WatchOutcome outcome{.back_off = true, .wait_at_least = wait};
  if (error.code == ErrorCode::kTooLarge && page_size_ != 1) {
    page_size_ = page_size_ == 0 ? kPageSize : std::max(1, page_size_ / 4);  // and on from the same token
    outcome.back_off = false;
  } else if (error.code == ErrorCode::kGone || error.code == ErrorCode::kInvalid) {
    // The snapshot of this list is gone: from the beginning, and in one piece if that keeps happening.
    continue_.clear();
    expired_lists_ += 1;
    if (expired_lists_ >= kMaxExpiredLists) {
      page_size_ = 0;
    }
  }
  outcome.problems.push_back(describe(std::move(error), "list"));
  return outcome;
}

WatchOutcome WatchState::on_page_items(const net::Response& page) {
  const Result<Json> list = api::parse_json(page.body, kPageLimits);
  const Json* items = list.ok() ? member(*list, "items") : nullptr;
  const bool null_items = items != nullptr && items->is_null();
  if (items == nullptr || !(items->is_array() || null_items) || version_of(*list).empty()) {
    continue_.clear();
    Error error = list.ok() ? Error{.code = ErrorCode::kInternal, .message = "the answer is not a list"} : list.error();
    return {.problems = {describe(std::move(error), "list")}, .back_off = true};
  }
  WatchOutcome outcome;
  if (continue_.empty()) {
    known_.begin_list();
  }
  if (!null_items) {
    for (const Json& item : *items) {
      add_item(item, outcome);
    }
  }
  continue_ = text(member(*list, "metadata"), "continue");
  if (continue_.empty()) {
    append(outcome.events, known_.end_list());
    position_ = version_of(*list);
    must_list_ = false;
    expired_lists_ = 0;
    fruitless_ = 0;
    if (page_size_ == 0) {
      page_size_ = kPageSize;
    }
    outcome.list_complete = true;
  }
  return outcome;
}

void WatchState::add_item(const Json& item, WatchOutcome& outcome) {
  auto decoded = kind_.decode(item);
  if (!decoded.ok()) {
    known_.keep(key_of(item));
    outcome.problems.push_back(describe(decoded.error(), to_string(key_of(item))));
    return;
  }
  if (!decoded->has_value()) {
    append(outcome.events, known_.forget(key_of(item)));
    return;
  }
  append(outcome.events, known_.observe(**decoded));
}

WatchOutcome WatchState::on_line(std::string_view line) {
  WatchOutcome outcome;
  const Result<Json> event = api::parse_json(line);
  const Json* object = event.ok() ? member(*event, "object") : nullptr;
  if (object == nullptr) {
    Error error = event.ok() ? Error{.code = ErrorCode::kInternal, .message = "not a watch event"} : event.error();
    error_event_ = error;
    outcome.stop_reading = true;
    outcome.problems.push_back(describe(std::move(error), "watch"));
    return outcome;
  }
  const std::string type = text(&*event, "type");
  if (type == "ERROR") {
    error_event_ = api::error_of_status(*object);
    outcome.stop_reading = true;
    outcome.problems.push_back(describe(*error_event_, "watch"));
    return outcome;
  }
  if (type != "BOOKMARK") {
    on_object_event(type, *object, outcome);
  }
  if (std::string version = version_of(*object); !version.empty()) {
    position_ = std::move(version);
  }
  delivered_ = true;
  fruitless_ = 0;
  outcome.healthy = true;
  return outcome;
}

void WatchState::on_object_event(std::string_view type, const Json& object, WatchOutcome& outcome) {
  const bool gone = type == "DELETED";
  if (!gone && type != "ADDED" && type != "MODIFIED") {
    outcome.problems.push_back(describe(invalid("unknown event type " + std::string(type)), "watch"));
    return;
  }
  auto decoded = kind_.decode(object);
  if (!decoded.ok()) {
    outcome.problems.push_back(describe(decoded.error(), to_string(key_of(object))));
  }
  const bool has_state = decoded.ok() && decoded->has_value();
  if (gone || (decoded.ok() && !has_state)) {
    outcome.events = known_.forget(key_of(object), has_state ? &**decoded : nullptr);
  } else if (has_state) {
    outcome.events = known_.observe(**decoded);
  }
}

void WatchState::require_list() {
  must_list_ = true;
  continue_.clear();
}

WatchOutcome WatchState::on_watch_end(const Result<net::Response>& end) {
  WatchOutcome outcome;
  std::optional<Error> error = std::exchange(error_event_, std::nullopt);
  const bool delivered = std::exchange(delivered_, false);
  if (!end.ok()) {
    error = end.error();
    outcome.problems.push_back(describe(*error, "watch"));
  } else if (end->status != 200) {
    error = error_of(*end);
    outcome.wait_at_least = retry_after(end->headers).value_or(Duration::zero());
    outcome.problems.push_back(describe(*error, "watch"));
  }
  if (error && error->code == ErrorCode::kGone) {
    require_list();
  } else if (!delivered && ++fruitless_ >= kMaxFruitless) {
    fruitless_ = 0;
    require_list();
  }
  outcome.back_off = error.has_value() || !delivered;
  return outcome;
}

}  // namespace muster::client
