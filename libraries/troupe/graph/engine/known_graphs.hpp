// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/graph/internal/recipe.hpp>
#include <troupe/graph/requests.hpp>
#include <unordered_map>

namespace troupe::graph {

/// The graphs of a worker, made from their recipes on first use, so a worker that replaces another one needs no
/// messages. `Made` is what an engine makes of a version of a graph. Thread-safe.
template <class Made>
class known_graphs {
 public:
  /// One graph. A thread holds `lock` while it makes or uses the graph.
  struct entry {
    std::mutex lock;
    std::uint64_t version = 0, openings = 0;  ///< version of `made`, and of the loaded libraries; 0: none
    Made made;
    bool is(const recipe_view& r, std::uint64_t openings_now) const noexcept {
      return version == r.head().version && openings == openings_now;
    }
  };

  std::shared_ptr<entry> of(std::uint64_t root) {
    const std::uint64_t id = id_at(root);
    const std::scoped_lock guard(lock_);
    std::shared_ptr<entry>& e = all_[id];
    if (!e) e = std::make_shared<entry>();
    return e;
  }
  /// Returns true if the graph's `made` is up to date. Returns false while another thread holds the lock of its entry.
  bool is_made(std::uint64_t root, const recipe_view& r, std::uint64_t openings_now) {
    std::shared_ptr<entry> e;
    {
      const std::scoped_lock guard(lock_);
      const auto at = all_.find(id_at(root));
      if (at == all_.end()) return false;
      e = at->second;
    }
    const std::unique_lock its(e->lock, std::try_to_lock);
    return its.owns_lock() && e->is(r, openings_now);
  }
  void forget(std::uint64_t root) {
    std::shared_ptr<entry> last;  // destroyed after the lock is released
    const std::scoped_lock guard(lock_);
    if (const auto at = all_.find(id_at(root)); at != all_.end()) {
      last = std::move(at->second);
      all_.erase(at);
    }
  }

 private:
  static std::uint64_t id_at(std::uint64_t root) noexcept {
    return reinterpret_cast<const graph_root*>(static_cast<std::uintptr_t>(root))->id;
  }

  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<entry>> all_;
};

}  // namespace troupe::graph
