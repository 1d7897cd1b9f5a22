// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/base/result.hpp>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::kernel {

/// The arguments of one launch in the form that a kernel takes: an array with the address of each value.
class argument_frame {
 public:
  argument_frame() noexcept {}
  argument_frame(const argument_frame&) = delete;
  argument_frame& operator=(const argument_frame&) = delete;

  /// Writes the descriptor of the tensor at `address`. Returns an empty text, or why that failed, worded to follow
  /// "argument 2 ".
  using map_maker = std::string (*)(const tensor_layout& map, std::uint64_t address, void* descriptor);

  /// Compares the arguments with the kernel's parameters in number, kind, type and access, and lays them out. An error
  /// names the argument that does not match and says what to pass. Its text begins with `request`.
  result<void> fill(const arguments& given, const std::string& kernel,
                    const std::vector<parameter_attributes>& parameters, std::string_view request,
                    map_maker make_map = nullptr);
  void** addresses() const noexcept { return addresses_; }

 private:
  static constexpr std::size_t few = 32, small_bytes = 1024, most_alignment = 128;

  void make_room(const std::vector<parameter_attributes>& parameters);

  void* few_[few];
  alignas(most_alignment) std::byte small_[small_bytes];
  void** addresses_ = few_;
  std::byte* values_ = small_;
  std::vector<void*> many_;
  std::vector<std::byte> large_;
};

/// Returns the index of the first tensor map among the arguments of a launch, or nullopt.
std::optional<std::size_t> first_map_in(const arguments& given);

}  // namespace troupe::kernel
