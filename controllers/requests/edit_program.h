// The program shape behind most effects: read an object, ask what is still to be changed about it, write that as a
// merge patch bound to the uid and version that was read, and go on with the answer until the last write was made.
//
// Replay-safe by construction: the next write follows from the object as it is, never from what was sent before. After
// anything but a success the object is read again, so that a failure is reported only when it is a certain one.
#pragma once

#include "api/codec/json.h"
#include "framework/request.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace muster::controllers {

// One write: the object as it should be.
struct Edit {
  api::Json object;
  std::string subresource{};
  bool tells = true;  // the effect's event is told when this write was made
  bool last = true;   // the object is not looked at again (the API server may have added defaults to it)
};

// What reading found; both may be null. `other` is the second object a program asked for.
struct Found {
  const api::Json* object = nullptr;
  const api::Json* other = nullptr;
};

class EditProgram : public framework::Program {
 public:
  framework::Step start() final;
  framework::Step resume(const Result<framework::ApiReply>& reply) final;

 protected:
  enum class Absent { kIsDone, kIsError };  // the object is gone, or another one has its name

  EditProgram(framework::ObjectRef object, std::optional<framework::EmitEvent> event, Absent absent)
      : object_(std::move(object)), event_(std::move(event)), absent_(absent) {}

  // A second object to be read first; one that is gone, or another of its name, reads as null.
  void read_first(framework::ObjectRef other) { other_ = std::move(other); }

 private:
  static constexpr int kMaxWrites = 8;
  enum class State { kReadingOther, kReading, kWriting };

  // What is still to be changed; nothing when the object is as it should be. Pure.
  virtual Result<std::optional<Edit>> next_edit(const Found& found) const = 0;

  framework::Step read(State state);
  framework::Step on_other(const Result<framework::ApiReply>& reply);
  framework::Step on_object(const Result<framework::ApiReply>& reply);
  framework::Step on_written(const Result<framework::ApiReply>& reply);
  framework::Step advance(api::Json object);
  framework::Step write(const api::Json& before, const Edit& edit);
  framework::Step done(const api::Json& object) const;
  framework::Step gone(const Error& error) const;

  framework::ObjectRef object_;
  std::optional<framework::ObjectRef> other_{};
  std::optional<framework::EmitEvent> event_;
  Absent absent_;
  State state_ = State::kReading;
  std::optional<api::Json> other_found_{};
  bool tells_ = false;    // of the write under way
  bool last_ = false;     // of the write under way
  bool to_tell_ = false;  // a telling write was made
  std::optional<Error> refused_{};  // how the last write ended, when it was no success
  int writes_left_ = kMaxWrites;
};

}  // namespace muster::controllers
