// SinkBuffer: the library's view of an Exchange, a write-only stream buffer that passes every block on at once.
// Runs on the library's pool threads.
#pragma once

#include "net/cpprest/exchange.h"

#include <cpprest/astreambuf.h>

#include <memory>
#include <string_view>
#include <utility>

namespace muster::net::cpprest {

class SinkBuffer final : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit SinkBuffer(std::shared_ptr<Exchange> exchange)
      : streambuf_state_manager(std::ios_base::out), exchange_(std::move(exchange)) {}

  bool can_seek() const override { return false; }

  bool has_size() const override { return false; }

  std::size_t buffer_size(std::ios_base::openmode /*direction*/) const override { return 0; }

  void set_buffer_size(std::size_t /*size*/, std::ios_base::openmode /*direction*/) override {}

  std::size_t in_avail() const override { return 0; }

  pos_type getpos(std::ios_base::openmode /*direction*/) const override { return no_position(); }

  pos_type seekpos(pos_type /*pos*/, std::ios_base::openmode /*direction*/) override { return no_position(); }

  pos_type seekoff(off_type /*offset*/, std::ios_base::seekdir /*way*/, std::ios_base::openmode /*mode*/) override {
    return no_position();
  }

  bool acquire(std::uint8_t*& pointer, std::size_t& count) override {
    pointer = nullptr;
    count = 0;
    return false;
  }

  void release(std::uint8_t* /*pointer*/, std::size_t /*count*/) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* pointer, std::size_t count) override {
    pplx::task_completion_event<std::size_t> taken;
    const std::string_view piece(reinterpret_cast<const char*>(pointer), count);
    if (exchange_->bytes(piece, [taken, count] { taken.set(count); })) {
      return pplx::task_from_result(count);
    }
    return pplx::create_task(taken);
  }

  pplx::task<std::size_t> _putn(const std::uint8_t* pointer, std::size_t count, bool /*copy*/) override {
    return _putn(pointer, count);
  }

  pplx::task<int_type> _putc(std::uint8_t c) override {
    return _putn(&c, 1).then([c](std::size_t) { return static_cast<int_type>(c); });
  }

  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }

  std::uint8_t* _alloc(std::size_t /*count*/) override { return nullptr; }

  void _commit(std::size_t /*count*/) override {}

  // Reading: never.
  pplx::task<int_type> _bumpc() override { return end_of_file(); }

  int_type _sbumpc() override { return traits::eof(); }

  pplx::task<int_type> _getc() override { return end_of_file(); }

  int_type _sgetc() override { return traits::eof(); }

  pplx::task<int_type> _nextc() override { return end_of_file(); }

  pplx::task<int_type> _ungetc() override { return end_of_file(); }

  pplx::task<std::size_t> _getn(std::uint8_t* /*pointer*/, std::size_t /*count*/) override {
    return pplx::task_from_result<std::size_t>(0);
  }

  std::size_t _scopy(std::uint8_t* /*pointer*/, std::size_t /*count*/) override { return 0; }

 private:
  static pos_type no_position() { return static_cast<pos_type>(traits::eof()); }

  static pplx::task<int_type> end_of_file() { return pplx::task_from_result<int_type>(traits::eof()); }

  std::shared_ptr<Exchange> exchange_;
};

}  // namespace muster::net::cpprest
