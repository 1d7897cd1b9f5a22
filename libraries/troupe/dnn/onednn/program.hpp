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

/// Some of oneDNN's primitives, computed after each other. Can be run by several threads at once.
class program {
 public:
  /// What primitives read and write: memory with a number, which is given when the program runs, or workspace.
  struct tensor {
    layout lies;
    std::optional<std::size_t> argument;
    std::uint64_t offset = 0;  ///< in the workspace
  };
  /// A tensor by the name that a primitive has for it: DNNL_ARG_SRC.
  struct operand {
    int name;
    tensor what;
  };

  explicit program(dnnl_engine_t on) noexcept : on_(on) {}

  static tensor argument(std::size_t number, const layout& lies) noexcept { return {lies, number, 0}; }
  tensor within(const layout& lies);
  /// Returns the tensor if it lies as wanted, or a copy that does.
  std::optional<tensor> laid(const tensor& t, const layout& wanted);
  bool copy(const tensor& from, const tensor& to);
  /// Adds a primitive that was described with `attributes_of_ours`.
  bool add(const description& what, std::vector<operand> operands);

  /// Bytes that it needs, at an address that is a multiple of 64.
  std::uint64_t workspace() const noexcept { return within_ + scratch_; }
  dnnl_status_t run(dnnl_stream_t in, std::span<void* const> arguments, std::byte* workspace) const;

 private:
  struct step {
    primitive what;
    std::vector<operand> operands;
    layout scratch;
  };
  const dnnl_engine_t on_;
  std::vector<step> steps_;
  std::uint64_t within_ = 0, scratch_ = 0;  // steps use the same scratch, which lies behind the tensors
};

/// Those with which primitives have their scratch in our workspace. Null if there is no memory.
attributes attributes_of_ours();

}  // namespace troupe::dnn::onednn
