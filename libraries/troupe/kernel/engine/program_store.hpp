// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <troupe/base/try.hpp>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/engine/texts.hpp>
#include <troupe/kernel/program.hpp>
#include <unordered_map>

namespace troupe::kernel {

/// A program that is ready to run in this worker. Thread-safe.
///
/// `Image` is what the engine loads. It has `kernels()` and `globals()`, lists whose elements have a `name`, and
/// `find_kernel(name)` and `find_global(name)`, which return null if there is no such element. A global has an
/// `address` and `bytes`.
template <class Image>
class loaded_program {
 public:
  using kernel_type = std::remove_pointer_t<decltype(std::declval<const Image&>().find_kernel({}))>;
  using global_type = std::remove_pointer_t<decltype(std::declval<const Image&>().find_global({}))>;

  loaded_program(std::string name, Image image, std::shared_ptr<const std::string> bytes)
      : name_(std::move(name)), image_(std::move(image)), bytes_(std::move(bytes)) {}

  const std::string& name() const noexcept { return name_; }
  const Image& image() const noexcept { return image_; }
  const std::string& bytes() const noexcept { return *bytes_; }  ///< the image's bytes

  /// Returns a kernel. Searches for it only if its name was not looked up before. The error lists the kernels that
  /// exist.
  result<kernel_type*> kernel(std::string_view name, std::string_view request) const {
    {
      const std::shared_lock guard(lock_);
      if (const auto known = asked_for_.find(name); known != asked_for_.end()) return known->second;
    }
    kernel_type* const found = image_.find_kernel(name);
    if (found == nullptr) return no_kernel(request, name_, name, names_of(image_.kernels()));
    const std::scoped_lock guard(lock_);
    asked_for_.emplace(name, found);
    return found;
  }
  result<global_type*> global(std::string_view name, std::string_view request) const {
    if (global_type* const found = image_.find_global(name)) return found;
    return no_global(request, name_, name, names_of(image_.globals()));
  }

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };

  std::string name_;
  Image image_;
  std::shared_ptr<const std::string> bytes_;
  mutable std::shared_mutex lock_;
  mutable std::unordered_map<std::string, kernel_type*, hash, std::equal_to<>> asked_for_;
};

/// A kernel and its launch parameters.
struct launch_order {
  const char* request;
  std::string_view kernel;
  const dimensions& grid;
  const dimensions& block;
  const extent& shared_bytes;
  const arguments& values;
  bool cooperative;
  dimensions cluster = 1;
  bool dependent = false;
  int shared_carveout = -1;
};

/// A question how many blocks of a kernel run at the same time.
struct occupancy_question {
  const char* request;
  std::string_view kernel;
  const dimensions& block;
  const extent& shared_bytes;
  const dimensions& cluster;
};

/// The programs of a worker. A program that this worker does not know is built from its recipe, so a replacement worker
/// needs no preparation. Thread-safe.
template <class Image>
class program_store {
 public:
  using program_ref = std::shared_ptr<const loaded_program<Image>>;
  /// A program, or the reason why it could not be built, and a report about the build.
  struct made {
    result<program_ref> program;
    build_summary summary;
    std::string log;
  };
  using maker = std::function<made(const program_root&)>;

  struct placed_global {
    program_ref of;  ///< keeps the program alive
    std::byte* at;
  };
  struct found_kernel {
    const Image* image;
    typename loaded_program<Image>::kernel_type* kernel;
  };

  /// Makes a store. `make` builds a program from its root.
  explicit program_store(maker make) : make_(std::move(make)) {}

  /// Finds or builds a program. Refuses a program that was unloaded, because a late request, on whatever thread, must
  /// not build it again.
  result<program_ref> find(const program_root& root, std::string_view request) {
    {
      const std::shared_lock guard(lock_);
      if (const auto known = known_.find(root.id); known != known_.end()) [[likely]]
        return known->second.program;
      if (was_unloaded(root)) return unloaded_before(request);
    }
    return keep(root, make_(root), false);
  }
  /// Returns the kernel of a launch and its image. Both outlive the launch, because unloading waits for launches.
  result<found_kernel> find_kernel(const program_root& root, std::string_view name, std::string_view request) {
    recent& last = last_launch();
    if (last.is_of(root, stamp_) && last.name() == name) [[likely]]
      return last.found;
    const std::uint64_t stamp = stamp_.load(std::memory_order_acquire);
    auto program = TROUPE_TRY(find(root, request));
    auto kernel = TROUPE_TRY(program->kernel(name, request));
    const found_kernel found{&program->image(), kernel};
    last.note(root, name, found, stamp);
    return found;
  }
  /// Returns true if `find` returns without building the program, which may take as long as a compile.
  bool is_known(const program_root& root) {
    if (last_launch().is_of(root, stamp_)) [[likely]]
      return true;
    const std::shared_lock guard(lock_);
    return known_.contains(root.id) || was_unloaded(root);
  }
  /// Builds a program and writes the report, which the application has requested.
  result<void> make(const program_root& root) {
    made m = make_(root);
    write_state(root, m.summary, m.log);
    const auto kept = keep(root, std::move(m), true);
    return kept ? result<void>() : kept.error();
  }
  /// Returns the report about the build. Writes it, with the log, unless this worker has written it before.
  result<build_summary> summary(const program_root& root, std::string_view request) {
    TROUPE_TRY(find(root, request));
    const std::scoped_lock guard(lock_);
    const auto known = known_.find(root.id);
    if (known == known_.end()) return unloaded_before(request);
    entry& e = known->second;
    if (!std::exchange(e.is_reported, true)) write_state(root, e.summary, e.log);
    build_summary s = e.summary;
    s.log_bytes = std::min<std::uint64_t>(e.log.size(), root.log_bytes);
    s.written = 1;
    return s;
  }
  /// Unloads a program from this worker. The application makes sure that no other worker builds it again.
  void unload(const program_root& root) {
    constexpr std::size_t most_remembered = 1024;
    typename decltype(known_)::node_type last;  // destroyed after the lock is released
    const std::scoped_lock guard(lock_);
    stamp_.store(new_stamp(), std::memory_order_release);
    unloaded_.push_back(root.id);
    if (unloaded_.size() > most_remembered) unloaded_.pop_front();
    last = known_.extract(root.id);
  }

  /// Returns the address of `bytes` bytes of a global variable, from `offset` on.
  result<placed_global> place(const global& variable, extent offset, std::uint64_t bytes, std::string_view request) {
    auto program = TROUPE_TRY(find(variable.of().root(), request));
    const auto found = TROUPE_TRY(program->global(variable.name(), request));
    const auto first = static_cast<std::uint64_t>(offset.value());
    if (const std::uint64_t all = found->bytes; first > all || bytes > all - first)
      return not_in_global(request, found->name, all, first, bytes);
    return placed_global{std::move(program), static_cast<std::byte*>(found->address) + first};
  }
  /// Calls the engine's `attributes_of(kernel)`.
  result<described> attributes(const program_root& root, std::string_view name, std::string_view request) {
    const auto program = TROUPE_TRY(find(root, request));
    const auto found = TROUPE_TRY(program->kernel(name, request));
    return describe(attributes_of(*found));
  }

 private:
  // The last launch of this thread, in any store. Most launches repeat the previous one and find their kernel here
  // without a lock. The class must have no destructor, which would run after the engine is gone.
  class recent {
   public:
    bool is_of(const program_root& root, const std::atomic<std::uint64_t>& stamp) const noexcept {
      return stamp_ == stamp.load(std::memory_order_acquire) && id_ == root.id;
    }
    std::string_view name() const noexcept { return {name_, name_bytes_}; }
    void note(const program_root& root, std::string_view name, const found_kernel& what, std::uint64_t stamp) noexcept {
      if (name.size() > sizeof name_) return;
      std::memcpy(name_, name.data(), name_bytes_ = name.size());
      id_ = root.id;
      found = what;
      stamp_ = stamp;
    }
    found_kernel found{};

   private:
    std::uint64_t stamp_ = 0, id_ = 0;
    std::size_t name_bytes_ = 0;
    char name_[128];
  };
  static recent& last_launch() noexcept {
    static thread_local recent last;
    return last;
  }
  // Returns a number that is unique among all stores that this process has had.
  static std::uint64_t new_stamp() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  struct entry {
    result<program_ref> program;
    build_summary summary;
    std::string log;
    bool is_reported = false;  // whether the build was reported to the application
  };
  // Keeps a failure, too; otherwise each waiting launch would run the compiler again, and fail again.
  result<program_ref> keep(const program_root& root, made&& m, bool is_reported) {
    if (!m.program && m.program.error().reaction() == reaction::retry_later) return m.program;
    const std::scoped_lock guard(lock_);
    if (const auto at = known_.find(root.id); at != known_.end() && at->second.program) {
      if (!m.program) return m.program;
      // If several threads have built the program at the same time, keeps one result.
      at->second.is_reported |= is_reported;
      return at->second.program;
    }
    return known_.insert_or_assign(root.id, entry{std::move(m.program), m.summary, std::move(m.log), is_reported})
        .first->second.program;
  }
  // Precondition: lock_ is held.
  bool was_unloaded(const program_root& root) const {
    return std::atomic_ref(const_cast<std::uint64_t&>(root.unloaded)).load(std::memory_order_acquire) != 0 ||
           std::find(unloaded_.begin(), unloaded_.end(), root.id) != unloaded_.end();
  }

  maker make_;
  std::atomic<std::uint64_t> stamp_{new_stamp()};  // changes whenever a program is unloaded
  std::shared_mutex lock_;
  std::unordered_map<std::uint64_t, entry> known_;
  // the most recently unloaded programs, which the application may not have marked yet
  std::deque<std::uint64_t> unloaded_;
};

/// Returns the recipe's bytes.
inline std::string_view recipe_of(const program_root& root) noexcept {
  return {reinterpret_cast<const char*>(&root) + root.recipe_at, root.recipe_bytes};
}

inline bool is_cancelled(const program_root& root) noexcept {
  return std::atomic_ref(const_cast<std::uint64_t&>(root.cancelled)).load(std::memory_order_acquire) != 0;
}

inline const program_root& root_at(const std::byte* operand) noexcept {
  return *reinterpret_cast<const program_root*>(operand);
}
inline const program_root& root_at(std::uint64_t address) noexcept {
  return *reinterpret_cast<const program_root*>(static_cast<std::uintptr_t>(address));
}

}  // namespace troupe::kernel
