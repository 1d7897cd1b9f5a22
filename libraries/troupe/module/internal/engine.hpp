// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/text/damaged.hpp>
#include <troupe/kernel/engine/program_engine.hpp>
#include <troupe/module/internal/recipe.hpp>
#include <troupe/module/requests.hpp>

namespace troupe::module {

/// The base of the engines of module. `Programs` runs the kernels.
template <class Programs>
class engine_with : public kernel::program_engine<"module", Programs> {
  using base = kernel::program_engine<"module", Programs>;

 protected:
  using base::base;

  /// Makes a program from its recipe. `load(recipe)` loads the image.
  template <class Load>
  static typename base::made make_program(const kernel::program_root& root, Load&& load) {
    return base::built([&](kernel::build_summary& s, std::string&) -> result<typename Programs::program_ref> {
      s.source = kernel::image_source::given;
      const auto recipe = decode(kernel::recipe_of(root));
      if (!recipe) return damaged("module", "module.load: the recipe");
      auto program = TROUPE_TRY(load(*recipe));
      s.image_bytes = recipe->bytes.size();
      return program;
    });
  }
};

}  // namespace troupe::module
