// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/attributes.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/host/launcher.hpp>
#include <troupe/kernel/host/loader.hpp>
#include <troupe/kernel/program_block.hpp>
#include <unordered_map>

namespace troupe::kernel {

/// A program that is ready to run in this worker. Thread safe.
class loaded_program {
 public:
  loaded_program(std::string name, loaded_image image, std::shared_ptr<const std::string> bytes, bool flush_to_zero);

  const std::string& name() const noexcept { return name_; }
  const loaded_image& image() const noexcept { return image_; }
  const std::string& bytes() const noexcept { return *bytes_; }  ///< of the image
  bool flush_to_zero() const noexcept { return flush_to_zero_; }

  /// Without a search when it has been asked for before. The error says which kernels there are.
  result<const loaded_kernel*> kernel(std::string_view name, std::string_view request) const;
  result<const loaded_global*> global(std::string_view name, std::string_view request) const;

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };

  std::string name_;
  loaded_image image_;
  std::shared_ptr<const std::string> bytes_;
  bool flush_to_zero_;
  mutable std::shared_mutex lock_;
  mutable std::unordered_map<std::string, const loaded_kernel*, hash, std::equal_to<>> asked_for_;
};
using program_ref = std::shared_ptr<const loaded_program>;

/// The programs of a worker, and all that is asked of them. What it does not know it makes from the recipe: so a worker
/// that takes the place of another needs to be told nothing. Thread safe.
class programs {
 public:
  /// A program, or why there is none, and what is to be said of making it.
  struct made {
    result<program_ref> program;
    build_summary summary;
    std::string log;
  };
  using maker = std::function<made(const program_root&)>;

  /// `make` makes a program from its root.
  explicit programs(maker make) : make_(std::move(make)) {}

  /// Refuses one that was unloaded: what comes late, from whichever thread, must not bring it back.
  result<program_ref> find(const program_root& root, std::string_view request);
  /// Makes it and says how that went, as asked for.
  result<void> make(const program_root& root);
  /// How making it went. Said anew where this worker has not said it before.
  result<build_summary> summary(const program_root& root, std::string_view request);
  /// In this worker. The application sees to it that no other one makes it again.
  void unload(const program_root& root);

  struct launch {
    const char* request;
    std::string_view kernel;
    const dimensions& grid;
    const dimensions& block;
    const extent& shared_bytes;
    const arguments& values;
    bool cooperative;
  };
  result<void> run(const program_root& root, const launch& l);
  /// Copies bytes to a global variable, or from it.
  result<void> write(const program_root& root, std::string_view name, extent offset, const std::byte* from,
                     std::uint64_t bytes, std::string_view request);
  result<void> read(const program_root& root, std::string_view name, extent offset, std::byte* to, std::uint64_t bytes,
                    std::string_view request);
  result<attributes_head> attributes(const program_root& root, std::string_view name, std::byte* listing,
                                     std::uint64_t listing_bytes, std::string_view request);

 private:
  struct entry {
    program_ref program;
    build_summary summary;
    std::string log;
    bool told = false;  // the application
  };
  result<program_ref> keep(const program_root& root, made&& m, bool told);
  std::optional<error> why_unloaded(const program_root& root, std::string_view request) const;
  result<std::byte*> place(const program_root& root, std::string_view name, extent offset, std::uint64_t bytes,
                           std::string_view request, program_ref& keep);

  maker make_;
  launcher launcher_;
  std::shared_mutex lock_;
  std::unordered_map<std::uint64_t, entry> known_;
  std::deque<std::uint64_t> unloaded_;  // the last few: the application may not have noted it yet
};

/// Writes how making a program went, and its log as far as it fits, where the application reads them.
void write_state(const program_root& root, build_summary summary, std::string_view log);
/// The recipe's bytes.
std::string_view recipe_of(const program_root& root) noexcept;

}  // namespace troupe::kernel
