// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/recipe_codec.hpp>
#include <troupe/kernel/program_block.hpp>
#include <troupe/plan/disk_cache.hpp>
#include <unordered_map>

namespace troupe::jit {

/// An image and its origin, or the reason why there is none.
struct build {
  std::optional<error> failed;
  std::shared_ptr<const std::string> image;
  std::string log;
  kernel::image_source source = kernel::image_source::unknown;
};

/// Makes images from recipes: takes them from memory, from disk, or from the compiler. If several threads request the
/// same image at the same time, the compiler runs once. Keys are compared in full, not by a hash. Thread-safe.
class builder {
 public:
  using compile_function = std::function<compiled(const recipe&, const compiler&, const compile_deadline&)>;
  struct parts {
    /// Finds the compiler for a recipe, and refuses recipes that the engine does not support.
    std::function<result<compiler>(const recipe&, plan::disk_cache* cache)> find;
    compile_function compile;
    /// Identifies this exact build of the engine and its target.
    std::string engine = {};
    plan::disk_cache* disk = nullptr;                      ///< null: no disk cache
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;  ///< limit for images, logs and keys in memory
    bool may_compile = true;                               ///< false: only images that were made before are found
  };
  explicit builder(parts p) : parts_(std::move(p)) {}

  /// Makes or finds the image of a recipe. Several threads call `cancelled`, to ask whether the program is still
  /// wanted.
  build make(const decoded_recipe& r, std::function<bool()> cancelled = {});
  /// Returns an image that was made before, from memory or disk. Fails with `unsupported` if there is none.
  build find(const decoded_recipe& r);
  bool may_compile() const noexcept { return parts_.may_compile; }

 private:
  struct kept {
    std::string key;
    std::shared_ptr<const std::string> image;
    std::string log;
    plan::manifest made_from;
    std::uint64_t bytes() const noexcept;
  };
  struct flight {
    bool over = false, was_stopped = false;
    build outcome;
  };
  class flight_guard;

  std::optional<build> from_memory(const std::string& key);
  std::optional<build> from_disk(const std::string& key, std::string& note);
  build from_compiler(const decoded_recipe& r, const compiler& with, const std::string& key,
                      const compile_deadline& how_long, const std::string& note, bool& was_stopped);
  void keep(kept k);
  void drop(std::list<kept>::iterator at);

  parts parts_;
  std::mutex lock_;
  std::condition_variable flight_over_;
  std::unordered_map<std::string, std::shared_ptr<flight>> flights_;
  std::list<kept> kept_;  // most recently used first
  std::unordered_map<std::string_view, std::list<kept>::iterator> by_key_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace troupe::jit
