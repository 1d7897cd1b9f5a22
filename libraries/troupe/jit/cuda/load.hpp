// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/jit/recipe.hpp>
#include <troupe/kernel/engine/cuda/image.hpp>
#include <troupe/kernel/engine/program_store.hpp>

namespace troupe::jit {

using gpu_program = kernel::loaded_program<kernel::gpu_image>;

/// The program of a recipe with the image that was made from it, on the GPU. What is not for this GPU to run, a unit or
/// code for another one, has nothing but its image.
result<std::shared_ptr<const gpu_program>> load(const recipe& r, std::shared_ptr<const std::string> image,
                                                const kernel::gpu_limits& limits);

}  // namespace troupe::jit
