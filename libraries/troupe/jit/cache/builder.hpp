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
#include <troupe/jit/cache/disk_cache.hpp>
#include <troupe/jit/recipe_codec.hpp>
#include <troupe/kernel/program_block.hpp>
#include <unordered_map>

namespace troupe::jit {

/// An image, and how it came to be.
struct build {
  std::optional<error> failed;
  std::shared_ptr<const std::string> image;
  std::string log;
  kernel::image_source source = kernel::image_source::unknown;
};

/// Makes images from recipes: from memory, from disk, or with the compiler, which runs once however many ask for the
/// same at the same time. Keys are compared in full. Thread safe.
class builder {
 public:
  using compile_function = std::function<compiled(const recipe&, const compiler&, const compile_deadline&)>;
  struct parts {
    /// Refuses, too, what the engine has no use for.
    std::function<result<compiler>(const recipe&, disk_cache* cache)> find;
    compile_function compile;
    std::string engine = {};     ///< stands for this very build of it, and for what it makes code for
    disk_cache* disk = nullptr;  ///< null: none
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;  ///< of what is kept in memory: images, logs and keys
  };
  explicit builder(parts p) : parts_(std::move(p)) {}

  /// `cancelled` is asked, from several threads, whether the program is still wanted.
  build make(const decoded_recipe& r, std::function<bool()> cancelled = {});

 private:
  struct kept {
    std::string key;
    std::shared_ptr<const std::string> image;
    std::string log;
    manifest made_from;
    std::uint64_t bytes() const noexcept;
  };
  struct flight {
    bool over = false, gave_up = false;
    build outcome;
  };
  class landing;

  std::optional<build> from_memory(const std::string& key);
  std::optional<build> from_disk(const std::string& key, std::string& note);
  build from_compiler(const decoded_recipe& r, const compiler& with, const std::string& key,
                      const compile_deadline& how_long, const std::string& note, bool& gave_up);
  void keep(kept k);
  void drop(std::list<kept>::iterator at);

  parts parts_;
  std::mutex lock_;
  std::condition_variable landed_;
  std::unordered_map<std::string, std::shared_ptr<flight>> flights_;
  std::list<kept> kept_;  // last used first
  std::unordered_map<std::string_view, std::list<kept>::iterator> by_key_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace troupe::jit
