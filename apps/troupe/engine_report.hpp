// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/installation.hpp>
#include <apps/troupe/worker_answer.hpp>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <vector>

namespace troupe::apps {

/// Says whether an engine can be used here, and if not, why.
struct engine_report {
  enum class condition {
    serves,
    needs_library,     ///< the vendor library is not installed
    outdated_library,  ///< the vendor library lacks something that it had when the engine was built
    no_device,         ///< its backend finds no usable device
    unsuited,          ///< the engine says that this machine is not suitable
    broken,            ///< anything else: not an engine, an engine of another version, a crash, a hang
    hidden,            ///< a folder that is searched earlier has a file of the same name
  };
  engine_file file;
  condition is = condition::broken;
  std::string why;      ///< what is wrong, as the dynamic linker or the engine reports it
  std::string package;  ///< the package with the vendor library, from the .needs file beside the engine
  std::string version;
  std::vector<std::string> requests, notes;
};
TROUPE_ENUM(engine_report::condition, serves, needs_library, outdated_library, no_device, unsuited, broken, hidden)

/// Parses the output of `troupe-worker --describe`, and how it ended.
void read_description(engine_report& r, const worker_answer& answer);

/// Examines each engine in a child process, all in parallel, so that no engine can harm this process.
std::vector<engine_report> examine(const std::string& worker, const std::vector<engine_file>& files,
                                   time_span time_limit);

/// An operation, and the types that its requests have: "gemm" with "f32", "f64".
struct operation_types {
  std::string operation;
  std::vector<std::string> types;
};
/// Groups names such as "blas.gemm<f32>" by operation, in the engine's order.
std::vector<operation_types> grouped(const std::vector<std::string>& requests);

}  // namespace troupe::apps
