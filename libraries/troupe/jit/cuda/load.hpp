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

/// Loads the image made from a recipe onto the GPU. If this GPU cannot run the program, because it is a unit or was
/// compiled for another GPU, the result has the image's bytes but no kernels.
result<std::shared_ptr<const gpu_program>> load(const recipe& r, std::shared_ptr<const std::string> image,
                                                const kernel::gpu_limits& limits);

}  // namespace troupe::jit
