// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/base/containers/list.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/device/device.hpp>
#include <vector>

// Declared as in dlpack.h. Include that header for the definitions.
extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

/// Exchanges tensors with other libraries in this process through DLPack, without copying. See docs/interop.md.
namespace troupe::dlpack {

/// The shape and strides of a tensor's elements in memory.
struct layout {
  list<std::int64_t> shape = {};
  list<std::int64_t> strides = {};  ///< in elements; empty: row-major, without gaps
};

namespace detail {
struct exported;
}

/// A buffer as a DLPack tensor. This is a handle: the memory lives until the last handle, and the last structure made
/// from one, is released. On a GPU the device must stay open until then.
class tensor {
 public:
  tensor() noexcept = default;
  explicit tensor(std::shared_ptr<const detail::exported> e) noexcept : exported_(std::move(e)) {}

  /// Returns a new structure that the receiver owns; its deleter releases it. May be called any number of times.
  ::DLManagedTensorVersioned* managed() const;
  /// Returns the tensor for receivers that know only DLPack versions before 1.0. Returns null if the memory is
  /// read-only, which those versions cannot express.
  ::DLManagedTensor* managed_unversioned() const;
  explicit operator bool() const noexcept { return exported_ != nullptr; }

 private:
  std::shared_ptr<const detail::exported> exported_;
};

/// Calls the tensor's deleter. For receivers.
void release(::DLManagedTensorVersioned* tensor) noexcept;
void release(::DLManagedTensor* tensor) noexcept;

/// A buffer in the memory of a foreign tensor.
template <class T>
struct borrowed {
  buffer<T> data;         ///< from the tensor's first element to its last
  dlpack::layout layout;  ///< always with strides
};

namespace detail {
pending<tensor> lend(const device& gpu, const memory_range& r, dtype type, layout how);
result<tensor> give(const memory_range& r, std::byte* data, dtype type, layout how);

/// A range of memory, and the layout of the elements in it.
struct range_with_layout {
  memory_range range;
  dlpack::layout layout;
};
result<range_with_layout> borrow(const device& gpu, ::DLManagedTensorVersioned* from, dtype type);
result<range_with_layout> borrow(const device& gpu, ::DLManagedTensor* from, dtype type);

template <class T, class Tensor>
result<borrowed<T>> borrow_as(const device& gpu, Tensor* from) {
  auto got = borrow(gpu, from, dtype_of<T>);
  if (!got) return got.error();
  return borrowed<T>{buffer<T>(std::move(got->range)), std::move(got->layout)};
}
}  // namespace detail

/// Lends a buffer as a DLPack tensor. Answered when the requests on it that were sent before are done. Without a shape,
/// the tensor has one axis with all elements. On the host engine the tensor is in memory of this process (kDLCPU); on a
/// GPU it is kDLCUDA, which requires isolation::thread. After another library has written to it, call `take_back`. A
/// sealed buffer is lent as read-only.
template <element T>
pending<tensor> to_dlpack(const device& gpu, const buffer<T>& b, layout how = {}) {
  return detail::lend(gpu, b.memory(), dtype_of<T>, std::move(how));
}
/// Lends a host_buffer at once, as memory of this process (kDLCPU). As with all uses of host buffers, the application
/// itself must order its accesses.
template <element T>
result<tensor> to_dlpack(const host_buffer<T>& b, layout how = {}) {
  return detail::give(b.memory(), reinterpret_cast<std::byte*>(b.data()), dtype_of<T>, std::move(how));
}

/// Returns a buffer in the memory of a tensor, on a device with isolation::thread. The host engine takes kDLCPU and
/// kDLCUDAHost; a GPU takes kDLCUDA on the same GPU, kDLCUDAHost and kDLCUDAManaged. Work that writes the tensor must
/// have completed. The device owns the tensor from then on and calls its deleter when the last handle and the last
/// request have released the buffer. If the call fails, the tensor remains the caller's.
template <element T>
result<borrowed<T>> from_dlpack(const device& gpu, ::DLManagedTensorVersioned* tensor) {
  return detail::borrow_as<T>(gpu, tensor);
}
template <element T>
result<borrowed<T>> from_dlpack(const device& gpu, ::DLManagedTensor* tensor) {
  return detail::borrow_as<T>(gpu, tensor);
}

}  // namespace troupe::dlpack
