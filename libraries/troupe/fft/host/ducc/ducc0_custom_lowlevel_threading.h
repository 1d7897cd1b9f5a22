// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// ducc0 includes a file of this name if it must use other threads than its own: here, the engine's crew of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace DUCC0_NAMESPACE {
namespace detail_threading {

using Mutex = std::mutex;
using UniqueLock = std::unique_lock<std::mutex>;
using LockGuard = std::lock_guard<std::mutex>;
using CondVar = std::condition_variable;
inline thread_local bool in_parallel_region = false;

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE
