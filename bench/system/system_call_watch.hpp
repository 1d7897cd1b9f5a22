// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::bench {

/// Detects system calls of the calling thread while armed, without overhead as long as there are none (Linux's syscall
/// user dispatch). Only one object can be armed at a time, on one thread.
class system_call_watch {
 public:
  [[nodiscard]] system_call_watch() noexcept;
  ~system_call_watch();
  system_call_watch(const system_call_watch&) = delete;
  system_call_watch& operator=(const system_call_watch&) = delete;

  /// Returns true if this kernel and processor support it.
  bool works() const noexcept { return works_; }
  void arm() const noexcept;
  /// Returns the number of the first system call since `arm`, or -1 if there was none. The call was performed.
  long disarm() const noexcept;

 private:
  bool works_;
};

}  // namespace troupe::bench
