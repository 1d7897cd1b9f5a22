// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/troupe/worker_answer.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <troupe/base/enumeration.hpp>
#include <troupe/protocol/descriptions/description.hpp>
#include <vector>

namespace troupe::apps {

/// The facts about NVIDIA's GPUs that Linux reports.
struct gpu_machine {
  std::size_t on_bus = 0;              ///< NVIDIA's display and 3D controllers on the PCI bus
  std::string kernel_driver;           ///< name and version of the driver in the kernel; empty if none is loaded
  std::vector<std::string> models;     ///< models of the GPUs that this driver serves
  std::vector<std::string> nodes;      ///< which of /dev/nvidia0 …, /dev/nvidiactl, /dev/nvidia-uvm, /dev/dxg exist
  std::vector<std::string> forbidden;  ///< the `nodes` that this user may not open
  bool container = false;
  std::optional<std::string> visible;  ///< CUDA_VISIBLE_DEVICES, if it is set

  bool has_node(std::string_view name) const noexcept;
};
/// Reads the facts. `root` is the folder that contains the machine's dev, proc and sys.
gpu_machine look_at_gpus(const std::filesystem::path& root = "/");

/// The report of the driver's library, obtained by `troupe-worker --describe-driver`.
struct driver_answer : protocol::driver_description {
  static constexpr int nobody = 2, one_process = 3;  ///< compute modes of a GPU
  /// how the process that asked the driver ended, if it did not exit normally
  std::string died;
};
driver_answer read_driver(const worker_answer& answer);

/// A finding for the user.
struct finding {
  enum class grade { fact, good, warning, bad };
  grade is;
  std::string what;
  std::string remedy;  ///< what to do; empty if nothing is needed
};
TROUPE_ENUM(finding::grade, fact, good, warning, bad)

struct gpu_report {
  gpu_machine machine;
  driver_answer driver;
  bool built = false;  ///< whether this installation has engines for GPUs
  std::vector<finding> findings;

  bool usable() const noexcept;
};

/// Says whether a GPU can be used here, and if not, why, and what to do.
std::vector<finding> findings_of(const gpu_report& g);

/// Returns "12.8" for 12080.
std::string cuda_version(int version);
/// The oldest driver that has everything that workers need: its CUDA version, and NVIDIA's version number.
inline constexpr int oldest_cuda = 12080;
inline constexpr const char* oldest_driver = "570";

}  // namespace troupe::apps
