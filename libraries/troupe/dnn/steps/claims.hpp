// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/links.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// For those who claim nodes.
namespace troupe::dnn {

/// The shape of an image without gaps: its channels are neighbours, or its last index.
tensor_shape packed(tensor_shape s, bool channels_last) noexcept;

/// What a function of two tensors reads beside `one`.
inline std::uint16_t other_of(const seen_node& n, std::uint16_t one) noexcept {
  return n.inputs[0] == one ? n.inputs[1] : n.inputs[0];
}

/// Whether `s` has one number for each channel of `image`.
bool is_of_channels(const tensor_shape& s, const tensor_shape& image) noexcept;

/// The first of a claim's nodes that comes after all that make what they read.
std::uint16_t place_of(const claim& c, const links& l) noexcept;

}  // namespace troupe::dnn
