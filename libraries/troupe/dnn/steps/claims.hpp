// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/links.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// For those who claim nodes.
namespace troupe::dnn {

/// The shape of an image without gaps: its channels are neighbours, or its last index.
tensor_shape packed(tensor_shape s, bool channels_last) noexcept;

/// The first of a claim's nodes that comes after all that make what they read.
std::uint16_t place_of(const claim& c, const links& l) noexcept;

}  // namespace troupe::dnn
