// Registry: all open connections of a server, and who may be sacrificed. A connection is *busy* from the moment its
// request is complete until the handler has answered; else it is *waiting* for its client (to send, or to take the
// answer). Above the limit the connection that has waited longest makes room for the new one, so that hoarded
// connections do not keep good clients out. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace muster::net::beast {

// What the registry needs of a connection. Both methods only post to the connection's own strand, which then holds a
// reference: they may be called under a lock.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void close_now() = 0;
  virtual void close_if_idle() = 0;
};

class Registry {
 public:
  // `on_room` is called, without a lock, whenever a connection has ended or begun to wait.
  Registry(std::size_t connections, std::size_t body_bytes, std::function<void()> on_room)
      : connection_limit_(connections), body_limit_(body_bytes), on_room_(std::move(on_room)) {}

  void add(Connection& connection, std::weak_ptr<Connection> handle);
  void remove(Connection& connection);
  void set_busy(Connection& connection);
  void set_waiting(Connection& connection);

  // Above the limit: sheds the longest waiting connection. False: above the limit and nothing to shed; accept no more
  // until on_room.
  bool make_room();
  // Sheds up to `count` waiting connections; for when descriptors run out.
  void shed(std::size_t count);

  void drain();  // from now on idle connections close

  bool draining() const { return draining_; }

  bool wait_empty(std::chrono::milliseconds limit);
  void close_all();

  // The budget for request bodies that are held in memory. False: exhausted, nothing taken.
  bool take_body_bytes(std::size_t bytes);

  void give_body_bytes(std::size_t bytes) { body_bytes_ -= bytes; }

 private:
  enum class State { kWaiting, kBusy, kShed };  // kShed: told to close, not gone yet

  struct Entry {
    std::weak_ptr<Connection> handle{};
    State state = State::kWaiting;
    std::list<Connection*>::iterator waiting{};  // valid in kWaiting
  };

  bool shed_oldest();  // mutex_ held
  std::vector<std::shared_ptr<Connection>> connections();

  const std::size_t connection_limit_;
  const std::size_t body_limit_;
  const std::function<void()> on_room_;
  std::atomic<std::size_t> body_bytes_ = 0;
  std::atomic<bool> draining_ = false;
  std::mutex mutex_{};
  std::condition_variable empty_{};
  std::map<Connection*, Entry> entries_{};  // guarded by mutex_
  std::list<Connection*> waiting_{};        // guarded by mutex_; longest waiting first
  std::size_t shed_ = 0;                    // guarded by mutex_; entries in kShed
};

}  // namespace muster::net::beast
