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

/// Options of an actor's spawn.
struct actor_options {
  std::size_t mailbox = 1024;  ///< the most messages it holds, including the one being handled; 64 bytes each
  /// Must outlive the actor. By default the parent's or the stage's; without either, the sender runs the handler.
  executor_ref on = {};
  text name = {};  ///< for error texts; by default the class's name
};

}  // namespace troupe
