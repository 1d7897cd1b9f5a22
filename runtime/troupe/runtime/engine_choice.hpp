// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/device/options.hpp>
#include <troupe/protocol/descriptions/description.hpp>

namespace troupe {

/// The backend that device_options::engine "auto" selects, and the reason in words.
struct engine_choice {
  std::string engine, reason;
};

/// The facts that decide the choice, besides the options.
struct engine_evidence {
  std::string environment;       ///< the value of TROUPE_ENGINE
  bool has_gpu_engines = false;  ///< true if the engines for GPUs are installed
  /// True if the driver of NVIDIA's GPUs is loaded: /dev/nvidiactl exists, or under WSL /dev/dxg.
  bool driver_is_loaded = false;
  /// Asks the driver's library for the GPUs. Called at most once, because it can take a second.
  std::function<result<protocol::driver_description>()> ask_driver;
};

/// Returns the value of TROUPE_ENGINE; empty if it is not set.
std::string engine_of_environment();

/// Chooses the GPU with this number if it exists and serves programs, otherwise the host engine.
engine_choice choose_engine(std::uint32_t ordinal, const engine_evidence& evidence);

/// Chooses the backends of one runtime's devices. Asks the driver at most once.
class engine_chooser {
 public:
  /// `options.runtime_folder` must be final.
  engine_choice choose(const device_options& options);

 private:
  std::optional<result<protocol::driver_description>> driver_;
};

}  // namespace troupe
