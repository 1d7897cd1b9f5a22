// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/base/dtype.hpp>
#include <troupe/base/list.hpp>
#include <troupe/device/device.hpp>
#include <vector>

// As dlpack.h declares them; include that to look inside.
extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

/// Tensors of other libraries in this process, by DLPack: nothing is copied. See docs/interop.md.
namespace troupe::dlpack {

/// How elements lie in memory.
struct layout {
  list<std::int64_t> shape = {};
  list<std::int64_t> strides = {};  ///< in elements; empty: row-major, nothing between
};

namespace detail {
struct exported;
}

/// A buffer as others see it. A handle; the memory lives as long as it, and as what it gave away. On a GPU the device
/// must stay open for as long.
class tensor {
 public:
  tensor() noexcept = default;
  explicit tensor(std::shared_ptr<const detail::exported> e) noexcept : exported_(std::move(e)) {}

  /// A new one, the receiver's: whose deleter ends its share. As often as wanted.
  ::DLManagedTensorVersioned* managed() const;
  /// The same for who knows only DLPack before 1.0. Null when the memory is read-only, which that cannot say.
  ::DLManagedTensor* managed_unversioned() const;
  explicit operator bool() const noexcept { return exported_ != nullptr; }

 private:
  std::shared_ptr<const detail::exported> exported_;
};

/// For a receiver: calls the deleter.
void release(::DLManagedTensorVersioned* tensor) noexcept;
void release(::DLManagedTensor* tensor) noexcept;

/// A buffer in a tensor's memory.
template <class T>
struct borrowed {
  buffer<T> data;         ///< from the tensor's first element to its last
  dlpack::layout layout;  ///< strides are always there
};

namespace detail {
pending<tensor> lend(const device& gpu, const memory_range& r, dtype type, layout how);
result<tensor> give(const memory_range& r, std::byte* data, dtype type, layout how);

/// Memory, and how its elements lie in it.
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

/// Lends a buffer: answered when what was sent before for it is done. Without a shape it is one row of all elements. On
/// the host engine a tensor in memory of this process (kDLCPU); on a GPU one of kDLCUDA, with isolation::thread only.
/// After others have written, `take_back` it. What is sealed is lent as read-only.
template <element T>
pending<tensor> to_dlpack(const device& gpu, const buffer<T>& b, layout how = {}) {
  return detail::lend(gpu, b.memory(), dtype_of<T>, std::move(how));
}
/// Of a host_buffer at once, for this process (kDLCPU): the application sees to the order, as always.
template <element T>
result<tensor> to_dlpack(const host_buffer<T>& b, layout how = {}) {
  return detail::give(b.memory(), reinterpret_cast<std::byte*>(b.data()), dtype_of<T>, std::move(how));
}

/// A buffer in the memory of a tensor, on a device with isolation::thread: of the host for kDLCPU, of a GPU for kDLCUDA
/// on the same GPU, kDLCUDAHost and kDLCUDAManaged. What wrote it must have ended. The tensor is the device's from
/// now on: its deleter is called when the last handle and the last request let go. When it is refused it stays the
/// caller's.
template <element T>
result<borrowed<T>> from_dlpack(const device& gpu, ::DLManagedTensorVersioned* tensor) {
  return detail::borrow_as<T>(gpu, tensor);
}
template <element T>
result<borrowed<T>> from_dlpack(const device& gpu, ::DLManagedTensor* tensor) {
  return detail::borrow_as<T>(gpu, tensor);
}

}  // namespace troupe::dlpack
