// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/async/executor.hpp>
#include <troupe/base/text.hpp>

namespace troupe {

/// An executor, or none. Does not own it.
class executor_ref {
 public:
  executor_ref() noexcept = default;
  executor_ref(executor& where) noexcept : where_(&where) {}
  executor* get() const noexcept { return where_; }

 private:
  executor* where_ = nullptr;
};

/// How to spawn an actor.
struct actor_options {
  std::size_t mailbox = 1024;  ///< messages taken at most, the one being handled included; 64 bytes each
  /// Outlives the actor. Where none is named: the parent's, the stage's, else the sender runs the handler.
  executor_ref on = {};
  text name = {};  ///< for texts; the class's name by default
};

}  // namespace troupe
