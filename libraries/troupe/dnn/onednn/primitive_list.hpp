// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <troupe/dnn/onednn/functions.hpp>
#include <vector>

namespace troupe::dnn::onednn {

using layout = dnnl_memory_desc_t;

/// A list of oneDNN's primitives, which run one after another. Several threads may run one list at once.
class primitive_list {
 public:
  /// A tensor that primitives use: an argument of run(), or memory in the workspace.
  struct tensor {
    layout format;
    std::optional<std::size_t> argument;  ///< index of the argument; nullopt: the tensor is in the workspace
    std::uint64_t offset = 0;             ///< offset in the workspace, in bytes
  };
  /// A tensor, and its argument name in a primitive, such as DNNL_ARG_SRC.
  struct operand {
    int name;
    tensor what;
  };

  explicit primitive_list(dnnl_engine_t on) noexcept : on_(on) {}

  static tensor argument(std::size_t number, const layout& format) noexcept { return {format, number, 0}; }
  tensor add_intermediate(const layout& format);
  /// Returns the tensor if it has the format, otherwise a copy with the format. Returns nullopt if oneDNN fails.
  std::optional<tensor> with_layout(const tensor& t, const layout& format);
  bool copy(const tensor& from, const tensor& to);
  /// Adds a primitive, whose description must have `user_scratchpad_attributes`. Returns false if oneDNN fails.
  bool add(const description& what, std::vector<operand> operands);

  /// Returns the bytes of the workspace, whose address must be a multiple of 64.
  std::uint64_t workspace() const noexcept { return intermediate_bytes_ + scratch_bytes_; }
  dnnl_status_t run(dnnl_stream_t in, std::span<void* const> arguments, std::byte* workspace) const;

 private:
  struct step {
    primitive what;
    std::vector<operand> operands;
    layout scratch;
  };
  const dnnl_engine_t on_;
  std::vector<step> steps_;
  std::uint64_t intermediate_bytes_ = 0, scratch_bytes_ = 0;  // of tensors, then of the shared scratch
};

/// Returns attributes with which a primitive's scratch memory is in our workspace; null if oneDNN fails.
attributes user_scratchpad_attributes();

}  // namespace troupe::dnn::onednn
