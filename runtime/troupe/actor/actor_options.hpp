// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/async/executor.hpp>
#include <troupe/base/containers/text.hpp>

namespace troupe {

/// A reference to an executor, or to none. The executor must outlive it.
class executor_ref {
 public:
  executor_ref() noexcept = default;
  executor_ref(executor& where) noexcept : where_(&where) {}
  executor* get() const noexcept { return where_; }

 private:
  executor* where_ = nullptr;
};

/// Options of an actor's spawn.
struct actor_options {
  std::size_t mailbox = 1024;  ///< maximum number of messages, including the one being handled; 64 bytes each
  /// Runs the handlers; must outlive the actor. The default is the executor of the parent or the stage; without either,
  /// handlers run on the sender's thread.
  executor_ref on = {};
  text name = {};  ///< for error texts; the default is the name of the class
};

}  // namespace troupe
