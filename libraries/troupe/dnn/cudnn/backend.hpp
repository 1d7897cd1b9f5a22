// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/dnn/cudnn/functions.hpp>

namespace troupe::dnn::cudnn {
namespace detail {

/// Returns cuDNN's name of an attribute, for error texts.
template <cudnnBackendAttributeName_t Name>
constexpr std::string_view attribute_name() noexcept {
  constexpr std::string_view function = __PRETTY_FUNCTION__;
  constexpr std::size_t begin = function.find("CUDNN_ATTR_");
  static_assert(begin != function.npos);
  return function.substr(begin, function.find_first_of("];", begin) - begin);
}

template <class T>
struct attribute_type;
template <cudnnBackendAttributeType_t Type>
struct attribute_is {
  static constexpr cudnnBackendAttributeType_t value = Type;
};
// clang-format off
template <> struct attribute_type<cudnnHandle_t> : attribute_is<CUDNN_TYPE_HANDLE> {};
template <> struct attribute_type<cudnnDataType_t> : attribute_is<CUDNN_TYPE_DATA_TYPE> {};
template <> struct attribute_type<bool> : attribute_is<CUDNN_TYPE_BOOLEAN> {};
template <> struct attribute_type<std::int64_t> : attribute_is<CUDNN_TYPE_INT64> {};
template <> struct attribute_type<float> : attribute_is<CUDNN_TYPE_FLOAT> {};
template <> struct attribute_type<double> : attribute_is<CUDNN_TYPE_DOUBLE> {};
template <> struct attribute_type<char> : attribute_is<CUDNN_TYPE_CHAR> {};
template <> struct attribute_type<void*> : attribute_is<CUDNN_TYPE_VOID_PTR> {};
template <> struct attribute_type<cudnnConvolutionMode_t> : attribute_is<CUDNN_TYPE_CONVOLUTION_MODE> {};
template <> struct attribute_type<cudnnBackendHeurMode_t> : attribute_is<CUDNN_TYPE_HEUR_MODE> {};
template <> struct attribute_type<cudnnBackendNumericalNote_t> : attribute_is<CUDNN_TYPE_NUMERICAL_NOTE> {};
template <> struct attribute_type<cudnnNanPropagation_t> : attribute_is<CUDNN_TYPE_NAN_PROPOGATION> {};
template <> struct attribute_type<cudnnReduceTensorOp_t> : attribute_is<CUDNN_TYPE_REDUCTION_OPERATOR_TYPE> {};
template <> struct attribute_type<cudnnPointwiseMode_t> : attribute_is<CUDNN_TYPE_POINTWISE_MODE> {};
// clang-format on

}  // namespace detail

/// A descriptor of cuDNN's graph API. Set all attributes, then call `finalize` and `check`. The descriptor stores the
/// first failure, and the name of the attribute or call that failed.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(cudnnBackendDescriptorType_t kind) noexcept;

  cudnnBackendDescriptor_t get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  template <cudnnBackendAttributeName_t Name, class T>
  descriptor& set(const T& value) noexcept {
    put(Name, detail::attribute_name<Name>(), detail::attribute_type<T>::value, 1, &value);
    return *this;
  }
  template <cudnnBackendAttributeName_t Name, class T>
  descriptor& set_all(std::span<T> values) noexcept {
    put(Name, detail::attribute_name<Name>(), detail::attribute_type<std::remove_const_t<T>>::value,
        static_cast<std::int64_t>(values.size()), values.data());
    return *this;
  }
  /// Sets an attribute to another descriptor, which must outlive this descriptor.
  template <cudnnBackendAttributeName_t Name>
  descriptor& set(const descriptor& other) noexcept {
    return refer<Name>(other.get());
  }
  template <cudnnBackendAttributeName_t Name>
  descriptor& refer(cudnnBackendDescriptor_t other) noexcept {
    put(Name, detail::attribute_name<Name>(), CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
    return *this;
  }
  template <cudnnBackendAttributeName_t Name>
  descriptor& refer_all(std::span<const cudnnBackendDescriptor_t> others) noexcept {
    put(Name, detail::attribute_name<Name>(), CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(others.size()),
        others.data());
    return *this;
  }
  descriptor& finalize() noexcept;

  cudnnStatus_t status() const noexcept { return status_; }
  /// Fails if a call on this descriptor failed, with the error of the first failed call.
  result<void> check() const;

  /// Reads up to `values.size()` elements of an attribute. Returns how many elements the attribute has; 0 if it cannot
  /// be read.
  template <cudnnBackendAttributeName_t Name, class T>
  std::int64_t read(std::span<T> values) const noexcept {
    std::int64_t count = 0;
    const cudnnStatus_t s = calls().get_attribute(get(), Name, detail::attribute_type<T>::value,
                                                  static_cast<std::int64_t>(values.size()), &count, values.data());
    return s == CUDNN_STATUS_SUCCESS ? count : 0;
  }
  template <cudnnBackendAttributeName_t Name>
  std::int64_t read_number() const noexcept {
    std::int64_t value = 0;
    (void)read<Name>(std::span(&value, 1));
    return value;
  }

 private:
  void put(cudnnBackendAttributeName_t name, std::string_view text, cudnnBackendAttributeType_t type,
           std::int64_t count, const void* values) noexcept;
  void record(cudnnStatus_t s, std::string_view where) noexcept;

  static void destroy(cudnnBackendDescriptor_t d) noexcept { (void)calls().destroy_descriptor(d); }

  unique_handle<cuda::handle_traits<cudnnBackendDescriptor_t, destroy>> handle_;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
  std::string_view where_;  // the call or attribute that failed, in static storage
};

}  // namespace troupe::dnn::cudnn
