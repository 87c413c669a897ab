// ScriptedPeer: an HTTP peer on 127.0.0.1 whose every byte is the test's. One thread a connection.
#pragma once

#include "net/conformance/channel.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace muster::net::conformance {

// A door between two threads of a test: one opens it, the other waits (10 s at most).
class Gate {
 public:
  void open();
  bool wait();

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool open_ = false;  // guarded by mutex_
};

class ScriptedPeer {
 public:
  // Runs for each connection, after the TLS handshake; the connection closes when it returns.
  using Script = std::function<void(Channel&)>;
  // Answers one request; the connection stays open for the next.
  using Answer = std::function<std::string(const std::string& request)>;

  explicit ScriptedPeer(Script script, std::optional<ServerTls> tls = {});
  ~ScriptedPeer();
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  static Script answering(Answer answer);

  std::uint16_t port() const { return port_; }

  // "http(s)://127.0.0.1:port"; the certificate may name another host instead.
  std::string url(const std::string& host = "127.0.0.1") const;
  void set_tls(ServerTls tls);

  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(Channel& channel);

  const Script script_;
  const bool has_tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_{};
  ServerTls tls_{};                               // guarded by mutex_
  std::vector<std::unique_ptr<Channel>> open_{};  // guarded by mutex_
  std::vector<std::jthread> threads_{};           // of accept_all() only, until it has ended
  std::jthread acceptor_{};
};

// "HTTP/1.1 200 OK" with a body and its length.
std::string http_response(int status, const std::string& body, const std::string& extra_headers = {});
// The head of a chunked answer, one chunk, and the last one.
std::string chunked_head(int status = 200);
std::string chunk(const std::string& bytes);

inline std::string last_chunk() {
  return "0\r\n\r\n";
}

}  // namespace muster::net::conformance
