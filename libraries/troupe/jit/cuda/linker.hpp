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

/// nvJitLink, the linker of CUDA's toolkit, which needs no GPU. Loaded when the first program is linked, because
/// programs of one source do not need it. Thread-safe.
class linker {
 public:
  /// `nvrtc_version` is, for example, "13.0". A library of another major version is not used.
  explicit linker(std::string nvrtc_version) : nvrtc_version_(std::move(nvrtc_version)) {}

  /// Returns the library's identity, which is part of every key of a linked program. The `unsupported` error names the
  /// package to install.
  result<std::string> identity();
  /// Returns "nvJitLink 13.0", or why it is not available: for people.
  std::string description();

  /// A part of a program: LTO IR, PTX, a relocatable cubin, a fatbin, or an archive of these.
  struct part {
    std::string name;
    std::string_view bytes;
  };
  struct order {
    std::vector<part> parts;
    std::vector<std::string> options;  ///< "-arch=sm_90a" …
    bool lto = false, ptx = false;     ///< optimize all parts as one; return PTX, which requires `lto`
  };
  /// Returns machine code or PTX. `log` receives the linker's messages. An error's text begins with `name` and contains
  /// the first error that the linker reports.
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
