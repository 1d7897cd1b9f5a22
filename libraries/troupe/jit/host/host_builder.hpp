// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/jit/cache/builder.hpp>
#include <troupe/jit/host/compile.hpp>
#include <troupe/kernel/engine/host/programs.hpp>

namespace troupe::jit {

/// Builds programs with the system's compiler, for a host engine. Finds the engine's files beside the shared object
/// that contains this code.
class host_builder {
 public:
  /// Makes a builder. If `may_compile` is false, it finds only programs that were compiled before: see engine_context.
  explicit host_builder(bool may_compile);
  host_builder(const host_builder&) = delete;
  host_builder& operator=(const host_builder&) = delete;

  builder& images() noexcept { return builder_; }
  /// Returns notes for `troupe doctor`.
  std::string notes() const;

  static result<kernel::host_programs::program_ref> load(const recipe& r, const build& b);

 private:
  installation installation_;
  plan::disk_cache disk_;
  known_compilers compilers_;
  builder builder_;
};

}  // namespace troupe::jit
