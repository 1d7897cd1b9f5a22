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

/// A sequence of oneDNN's primitives. Several threads may run it at once.
class program {
 public:
  /// An operand of primitives: an argument of the program, or memory in the workspace.
  struct tensor {
    layout format;
    std::optional<std::size_t> argument;  ///< number of the argument; none: in the workspace
    std::uint64_t offset = 0;             ///< in the workspace
  };
  /// A tensor and its argument number in a primitive, such as DNNL_ARG_SRC.
  struct operand {
    int name;
    tensor what;
  };

  explicit program(dnnl_engine_t on) noexcept : on_(on) {}

  static tensor argument(std::size_t number, const layout& format) noexcept { return {format, number, 0}; }
  tensor add_intermediate(const layout& format);
  /// Returns the tensor if it has the format, or a copy that has. Returns nothing if that fails.
  std::optional<tensor> with_layout(const tensor& t, const layout& format);
  bool copy(const tensor& from, const tensor& to);
  /// Adds a primitive whose description has `user_scratchpad_attributes`.
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
  std::uint64_t intermediate_bytes_ = 0, scratch_bytes_ = 0;  // steps share the scratch, which comes after the tensors
};

/// Returns attributes that place the scratch of a primitive in our workspace. Null if there is no memory.
attributes user_scratchpad_attributes();

}  // namespace troupe::dnn::onednn
