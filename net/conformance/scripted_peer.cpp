#include "net/conformance/scripted_peer.h"

#include "base/check.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace muster::net::conformance {

void Gate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

bool Gate::wait() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [this] { return open_; });
}

ScriptedPeer::ScriptedPeer(Script script, std::optional<ServerTls> tls)
    : script_(std::move(script)), has_tls_(tls.has_value()), tls_(std::move(tls).value_or(ServerTls{})) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  MUSTER_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 128) == 0) << "no local port";
  ::getsockname(listener_, generic, &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

ScriptedPeer::~ScriptedPeer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& channel : open_) {
      channel->shut_down();
    }
  }
  threads_.clear();
  ::close(listener_);
}

ScriptedPeer::Script ScriptedPeer::answering(Answer answer) {
  return [answer = std::move(answer)](Channel& channel) {
    while (true) {
      const std::string request = channel.receive_message();
      if (request.empty() || !channel.send(answer(request))) {
        return;
      }
    }
  };
}

std::string ScriptedPeer::url(const std::string& host) const {
  return (has_tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_);
}

void ScriptedPeer::set_tls(ServerTls tls) {
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls);
}

void ScriptedPeer::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      return;
    }
    ++connections_;
    const std::lock_guard lock(mutex_);
    Channel& channel = *open_.emplace_back(std::make_unique<Channel>(fd));
    threads_.emplace_back([this, &channel] { serve(channel); });
  }
}

void ScriptedPeer::serve(Channel& channel) {
  ServerTls tls;
  {
    const std::lock_guard lock(mutex_);
    tls = tls_;
  }
  if (!has_tls_ || channel.accept_tls(tls)) {
    script_(channel);
  }
  channel.close();
}

std::string http_response(int status, const std::string& body, const std::string& extra_headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         extra_headers + "\r\n" + body;
}

std::string chunked_head(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " Text\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string chunk(const std::string& bytes) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + bytes + "\r\n";
}

}  // namespace muster::net::conformance
