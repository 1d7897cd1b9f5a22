// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

namespace troupe {

class actor_core;

namespace detail {

/// The children of an actor. They end before it does.
class child_list {
 public:
  child_list() noexcept = default;
  child_list(const child_list&) = delete;
  child_list& operator=(const child_list&) = delete;

  /// Keeps a handle of the child. Called by the parent's handlers. If `stop_all` was called before, because the parent
  /// was killed while its handler ran, kills the child.
  void adopt(actor_core& child);

  /// Stops, or kills, the children one after the other, youngest first. Returns true when all have ended. Until then,
  /// the end of a child wakes `parent`, which must call again. Only the owner of the parent's turn may call this.
  bool stop_all(actor_core& parent, bool kill);

 private:
  std::mutex guard_;  // guards `open_`, and `children_` while `open_` is true
  bool open_ = true;
  std::vector<actor_core*> children_;  // one handle of each child
  actor_core* stopped_ = nullptr;      // the child whose end the parent waits for
  bool killed_ = false;                // true if that child was killed
};

}  // namespace detail
}  // namespace troupe
