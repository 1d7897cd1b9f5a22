// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/jit/cache/builder.hpp>
#include <troupe/jit/host/compile.hpp>
#include <troupe/kernel/engine/host/programs.hpp>

namespace troupe::jit {

/// Makes programs with the system's compiler, for an engine of the host: it finds what belongs to that engine beside
/// the file that this code lies in.
class host_builder {
 public:
  host_builder();
  host_builder(const host_builder&) = delete;
  host_builder& operator=(const host_builder&) = delete;

  builder& images() noexcept { return builder_; }
  /// For `troupe doctor`.
  std::string notes() const;

  static result<kernel::host_programs::program_ref> load(const recipe& r, const build& b);

 private:
  installation installation_;
  disk_cache disk_;
  known_compilers compilers_;
  builder builder_;
};

}  // namespace troupe::jit
