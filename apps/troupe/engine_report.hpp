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

/// Says if an engine's file is usable here.
struct engine_report {
  enum class condition {
    serves,
    needs_library,     ///< the vendor library is not installed
    outdated_library,  ///< the vendor library lacks something that the engine was built with
    no_device,         ///< its backend has no usable device here
    unsuited,          ///< the engine says that it does not suit this machine
    broken,            ///< anything else: no engine, another version's, a crash, a hang
    hidden,            ///< a folder that is searched earlier has a file of the same name
  };
  engine_file file;
  condition is = condition::broken;
  std::string why;      ///< what is wrong, in the words of the loader or the engine
  std::string package;  ///< the package with the vendor library, from the file beside the engine (.needs)
  std::string version;
  std::vector<std::string> requests, notes;
};
TROUPE_ENUM(engine_report::condition, serves, needs_library, outdated_library, no_device, unsuited, broken, hidden)

/// Parses what `troupe-worker --describe` wrote and how it ended.
void read_description(engine_report& r, const worker_answer& answer);

/// Lets a child process examine each engine, all in parallel, so that no engine can harm this process.
std::vector<engine_report> examine(const std::string& worker, const std::vector<engine_file>& files,
                                   time_span time_limit);

/// The requests of one operation: "gemm" with "f32", "f64".
struct operation_types {
  std::string operation;
  std::vector<std::string> types;
};
/// Groups names such as "blas.gemm<f32>", in the order of the engine.
std::vector<operation_types> grouped(const std::vector<std::string>& requests);

}  // namespace troupe::apps
