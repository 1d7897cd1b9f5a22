// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::jit {

/// nvJitLink, which needs no GPU. Loaded when the first program is linked: who links none can do without. Thread safe.
class linker {
 public:
  /// `nvrtc_version`: "13.0"; a library of another major version is none.
  explicit linker(std::string nvrtc_version) : nvrtc_version_(std::move(nvrtc_version)) {}

  /// What stands for it, part of every key of what it links. `unsupported` names the package.
  result<std::string> identity();
  /// "nvJitLink 13.0", or why there is none: for people.
  std::string description();

  /// A part of a program: LTO IR, PTX, a relocatable cubin, a fatbin, or an archive of such.
  struct part {
    std::string name;
    std::string_view bytes;
  };
  struct order {
    std::vector<part> parts;
    std::vector<std::string> options;  ///< "-arch=sm_90a" …
    bool lto = false, ptx = false;     ///< optimise all as one; answer PTX, which needs the former
  };
  /// Machine code, or PTX. `log` gets what the linker says; the error, which begins with `name`, its first complaint.
  result<std::string> link(const order& o, const std::string& name, std::string& log);

 private:
  struct calls;
  result<std::shared_ptr<const calls>> load();

  const std::string nvrtc_version_;
  std::mutex lock_;
  std::shared_ptr<const calls> loaded_;
  std::string version_, identity_;
};

}  // namespace troupe::jit
