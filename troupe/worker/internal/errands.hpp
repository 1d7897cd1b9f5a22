// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

/// A thread that does what it is given, one after the other, for those who must not wait. It begins with the first.
class errands {
 public:
  /// `first`: before all others, on that thread.
  explicit errands(std::function<void()> first = {});
  errands(const errands&) = delete;
  /// When all is done.
  ~errands();

  void add(std::function<void()> what);

 private:
  void work();

  std::mutex lock_;
  std::condition_variable news_;
  std::deque<std::function<void()>> left_;
  bool ending_ = false;
  std::function<void()> first_;
  std::thread thread_;
};

}  // namespace troupe
