// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <troupe/base/files/trusted_file.hpp>
#include <vector>

namespace troupe {

/// The worker program, the engines and the platforms that the devices of a runtime use, each opened once. So a worker
/// that is started later, to replace a failed one, is of the same version as this program, even if an upgrade has
/// replaced or removed the files meanwhile. Thread-safe.
class installed_files {
 public:
  struct plug_in {
    std::string path;      ///< made of the name of a folder and of the file
    file_descriptor file;  ///< null if it was not opened
  };
  using plug_ins = std::vector<plug_in>;

  /// Opens a program at the first call; later calls return the same file.
  result<std::shared_ptr<const trusted_file>> program(const std::string& path);
  /// Opens the plug-ins of this backend in these folders at the first call; later calls return the same files. Does not
  /// open files that another user can write: the worker reports those if it needs them. Opens none if this process may
  /// have fewer than 256 descriptors.
  std::shared_ptr<const plug_ins> plug_ins_of(const std::string& backend, const std::vector<std::string>& folders);

 private:
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<const trusted_file>> programs_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::shared_ptr<const plug_ins>> plug_ins_;
};

}  // namespace troupe
