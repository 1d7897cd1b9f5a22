// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/cudnn/backend.hpp>
#include <troupe/dnn/cudnn/status.hpp>

namespace troupe::dnn::cudnn {

descriptor::descriptor(cudnnBackendDescriptorType_t kind) noexcept {
  cudnnBackendDescriptor_t made = nullptr;
  record(calls().create_descriptor(kind, &made), "cudnnBackendCreateDescriptor");
  handle_.reset(made);
}

void descriptor::record(cudnnStatus_t s, std::string_view where) noexcept {
  if (status_ != CUDNN_STATUS_SUCCESS || s == CUDNN_STATUS_SUCCESS) return;
  status_ = s, where_ = where;
}

void descriptor::put(cudnnBackendAttributeName_t name, std::string_view text, cudnnBackendAttributeType_t type,
                     std::int64_t count, const void* values) noexcept {
  if (status_ == CUDNN_STATUS_SUCCESS) record(calls().set_attribute(get(), name, type, count, values), text);
}

descriptor& descriptor::finalize() noexcept {
  if (status_ != CUDNN_STATUS_SUCCESS) return *this;
  // Clears cuDNN's last error text: cuDNN also sets one for descriptors that it accepts, and not for all failures.
  char nothing[1];
  calls().last_text(nothing, sizeof nothing);
  record(calls().finalize(get()), "cudnnBackendFinalize");
  return *this;
}

result<void> descriptor::check() const {
  if (status_ == CUDNN_STATUS_SUCCESS) return {};
  const bool is_attribute = where_.starts_with("CUDNN_ATTR_");
  return refused(is_attribute ? cat("cudnnBackendSetAttribute(", where_, ")") : std::string(where_), status_);
}

}  // namespace troupe::dnn::cudnn
