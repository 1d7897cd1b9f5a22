// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// A driver without a GPU. A test links `troupe_cuda_fake_driver` instead of CUDA::cuda_driver: the fake driver records
/// each call, and fails the calls that the test names.
///
///     cuda::testing::fake_driver& driver = cuda::testing::driver();
///     driver.fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);     // until driver.succeed("cuMemAlloc")
///     driver.fail("cuEventCreate", CUDA_ERROR_UNKNOWN, 1);     // only the next call
///     EXPECT_FALSE(lane::make());
///     EXPECT_EQ(driver.calls(), (std::vector<std::string>{"cuMemHostAlloc(4096)", "cuMemAlloc(1048576)"}));
///     EXPECT_EQ(driver.device_pieces(), 0u);                   // no memory has leaked
///
/// If the engine under test is a plug-in, the fake driver is linked into the plug-in, and the test obtains it with
/// `driver_of(path)`. The fake of a vendor's library needs one line for each function:
///
///     cufftResult cufftExecC2C(cufftHandle plan, cufftComplex*, cufftComplex*, int direction) {
///       return static_cast<cufftResult>(driver().called("cufftExecC2C", plan, direction));
///     }
///
/// `driver.fail("cufftExecC2C", CUFFT_ALLOC_FAILED)` and `calls()` then work for it as well. If an engine calls a
/// driver function that this fake lacks, add a line to fake_driver.cpp.
namespace troupe::cuda::testing {

struct fake_graph;
struct fake_node {
  std::string what;  ///< the recorded call; "if" or "while" for a node that contains graphs
  std::vector<fake_node*> before;
  std::vector<fake_graph*> bodies;
  std::function<void()> work = nullptr;  ///< what the node does when the graph runs; set for kernels only
};
struct fake_graph {
  std::deque<fake_node> nodes;
  fake_node* add(std::string what, std::vector<fake_node*> before) {
    return &nodes.emplace_back(fake_node{std::move(what), std::move(before), {}});
  }
};
struct fake_executable {
  std::vector<std::pair<const fake_node*, std::function<void()>>> steps;
};
/// State of the stream that is being captured; at most one is at a time.
struct fake_capture {
  fake_graph* into = nullptr;
  std::vector<fake_node*> last;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

struct extents {
  unsigned x = 1, y = 1, z = 1;
  friend std::ostream& operator<<(std::ostream& o, const extents& e) { return o << e.x << 'x' << e.y << 'x' << e.z; }
};
/// A kernel that the fake driver can run. Its only parameter is a struct.
struct fake_kernel {
  std::string name;
  std::size_t argument_bytes = 0;
  std::function<void(extents blocks, extents threads, const void* arguments)> run = nullptr;
};

class fake_driver {
 public:
  // -- what a test sets

  /// Makes the next `times` calls of `call` fail, or all of them until `succeed(call)`. A call that fails has no other
  /// effect.
  void fail(const std::string& call, int with, int times = INT32_MAX) {
    const std::scoped_lock guard(mutex_);
    failures_[call] = {with, times};
  }
  void succeed(const std::string& call) { fail(call, 0, 0); }
  /// Delays enqueued work, so that no event is reached, until `go_on` or until a thread waits for the work.
  void hold_back() { held_back_ = true; }
  void go_on() {
    held_back_ = false;
    pass(enqueued_);
  }
  /// Forgets calls, failures and recordings. Memory stays with its owners.
  void reset() {
    go_on();
    const std::scoped_lock guard(mutex_);
    calls_.clear(), failures_.clear();
    capture = {};
    computes = false, notes_calls = true;
    free_memory = std::size_t{1} << 30;
  }
  std::deque<fake_kernel> kernels;  ///< the kernels of every image; looking up an unknown name adds a kernel
  fake_capture capture;
  /// True: copies, fills and kernels run on the processor; false: they are only recorded.
  bool computes = false;
  /// whether calls are recorded; false for programs that make millions of them
  bool notes_calls = true;
  std::size_t free_memory = std::size_t{1} << 30;  ///< returned by cuMemGetInfo
  std::string name = "a fake GPU";                 ///< returned by cuDeviceGetName
  std::size_t memory = std::size_t{1} << 30;       ///< returned by cuDeviceTotalMem and cuMemGetInfo
  /// returned by cuEventElapsedTime, one by one; when they are used up, 1
  std::deque<float> elapsed_ms;
  std::map<std::string, std::vector<std::byte>> globals;  ///< the global variables of every image, by name
  /// returned by cuDeviceGetAttribute; 0 for attributes that are not listed
  std::map<CUdevice_attribute, int> attributes;
  bool primary_is_active = false;  ///< returned by cuDevicePrimaryCtxGetState
  /// returned by cuFuncGetAttribute; 0 for attributes that are not listed
  std::map<CUfunction_attribute, int> function_attributes;

  // -- what a test reads

  /// Returns all calls so far, including those that failed: "cuMemcpyAsync(to 2000, from 1000, 24)". Arguments that are
  /// arbitrary, such as handles, are left out.
  std::vector<std::string> calls() const {
    const std::scoped_lock guard(mutex_);
    return calls_;
  }
  std::size_t count(std::string_view call) const {
    const std::scoped_lock guard(mutex_);
    return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [&](const std::string& one) {
      return one.size() > call.size() && one.starts_with(call) && one[call.size()] == '(';
    }));
  }
  /// Returns the number of live device allocations.
  std::size_t device_pieces() const { return pieces_of(device_); }
  std::size_t pinned_pieces() const { return pieces_of(pinned_); }
  bool is_pinned(const void* address) const {
    const std::scoped_lock guard(mutex_);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto next = pinned_.upper_bound(at);
    return next != pinned_.begin() && at < std::prev(next)->first + std::prev(next)->second;
  }

  // -- what the fake functions call

  /// Records a call and returns the status with which it must fail, or 0.
  template <class... A>
  int called(const char* call, const A&... arguments) {
    const std::scoped_lock guard(mutex_);
    if (notes_calls) calls_.push_back(text(call, arguments...));
    const auto found = failures_.find(call);
    return found == failures_.end() || found->second.times-- <= 0 ? 0 : found->second.with;
  }
  /// Records a call that enqueues `work`: runs the work now, delays it, or adds a node to the graph that is being
  /// recorded. Returns the result of `called`.
  template <class... A>
  CUresult enqueue(std::function<void()> work, const char* call, const A&... arguments) {
    if (const int r = called(call, arguments...); r != 0) return static_cast<CUresult>(r);
    if (capture.into != nullptr) {
      capture.last = {capture.into->add(text(call, arguments...), capture.last)};
    } else if (held_back_) {
      waiting_.push_back(std::move(work)), ++enqueued_;
    } else if (work) {
      work();
    }
    return CUDA_SUCCESS;
  }
  /// Returns how much work has been enqueued; an event stores this number.
  std::uint64_t enqueued() const { return enqueued_; }
  bool has_passed(std::uint64_t number) const { return passed_ >= number; }
  void pass(std::uint64_t number) {
    for (; passed_ < number; ++passed_) {
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      if (work) work();
    }
  }
  CUresult allocate(bool pinned, void** out, std::size_t bytes) {
    *out = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*out == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(*out, 0xff, bytes);  // so that tests do not rely on zeros
    const std::scoped_lock guard(mutex_);
    (pinned ? pinned_ : device_)[reinterpret_cast<std::uintptr_t>(*out)] = bytes;
    return CUDA_SUCCESS;
  }
  CUresult free(bool pinned, void* memory) {
    const std::scoped_lock guard(mutex_);
    if ((pinned ? pinned_ : device_).erase(reinterpret_cast<std::uintptr_t>(memory)) == 0)
      return CUDA_ERROR_INVALID_VALUE;
    std::free(memory);
    return CUDA_SUCCESS;
  }

 private:
  struct failure {
    int with, times;
  };
  template <class... A>
  static std::string text(const char* call, const A&... arguments) {
    std::ostringstream o;
    [[maybe_unused]] const char* between = "";
    o << call << '(';
    ((o << between << arguments, between = ", "), ...);
    o << ')';
    return std::move(o).str();
  }
  std::size_t pieces_of(const std::map<std::uintptr_t, std::size_t>& pieces) const {
    const std::scoped_lock guard(mutex_);
    return pieces.size();
  }

  mutable std::mutex mutex_;  // guards calls_, failures_, device_ and pinned_; one thread uses the rest
  std::vector<std::string> calls_;
  std::map<std::string, failure, std::less<>> failures_;
  std::map<std::uintptr_t, std::size_t> device_, pinned_;  // sizes, by address
  bool held_back_ = false;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t enqueued_ = 0, passed_ = 0;
};

/// Returns the fake driver that is linked into the calling program or plug-in.
fake_driver& driver();

/// Returns the fake driver of a loaded plug-in.
inline fake_driver& driver_of(const char* path) {
  void* const plug_in = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (plug_in == nullptr)
    throw std::runtime_error(std::string(path) + " is not loaded: load the plug-in before calling driver_of");
  const auto get = reinterpret_cast<fake_driver* (*)()>(::dlsym(plug_in, "troupe_fake_driver"));
  ::dlclose(plug_in);
  if (get == nullptr)
    throw std::runtime_error(std::string(path) + " has no fake driver: link troupe_cuda_fake_driver into it");
  return *get();
}

}  // namespace troupe::cuda::testing
