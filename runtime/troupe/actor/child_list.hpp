// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

namespace troupe {

class actor_core;

namespace detail {

/// The children of an actor, which end before it does.
class child_list {
 public:
  child_list() noexcept = default;
  child_list(const child_list&) = delete;
  child_list& operator=(const child_list&) = delete;

  /// Keeps a handle of the child. For the parent's handlers. Kills the child if `stop_all` was called before, because
  /// the parent was killed while its handler ran.
  void adopt(actor_core& child);

  /// Stops, or kills, the children one after the other, the youngest first. Returns true once all have ended. Until
  /// then the end of the next one wakes `parent`, which calls again. For the owner of the parent's turn.
  bool stop_all(actor_core& parent, bool kill);

 private:
  std::mutex guard_;  // for `open_`, and for `children_` while that is true
  bool open_ = true;
  std::vector<actor_core*> children_;  // a handle each
  actor_core* stopped_ = nullptr;      // the child whose end is waited for
  bool killed_ = false;                // whether that one was killed
};

}  // namespace detail
}  // namespace troupe
