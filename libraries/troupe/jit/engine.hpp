// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cache/builder.hpp>
#include <troupe/jit/requests.hpp>
#include <troupe/kernel/engine/program_engine.hpp>

namespace troupe::jit {

/// Makes a program from a recipe's bytes: `with` finds or builds the image, and `load(recipe, build)` loads it.
template <class Programs, class Load>
typename Programs::made make_program(builder& with, const kernel::program_root& root, std::string_view bytes,
                                     Load&& load) {
  return kernel::built<Programs>(
      [&](kernel::build_summary& s, std::string& log) -> result<typename Programs::program_ref> {
        const auto recipe = decode(bytes);
        if (!recipe) return damaged("jit", "jit.compile: the recipe");
        build b = with.make(*recipe, [&root] { return kernel::is_cancelled(root); });
        s.source = b.source;
        log = std::move(b.log);
        if (b.failed) return *b.failed;
        auto program = TROUPE_TRY(load(recipe->full, b));
        s.image_bytes = b.image->size();
        return program;
      });
}

/// The base of the engines of jit. `Programs` runs the kernels.
template <class Programs>
class engine_with : public kernel::program_engine<"jit", Programs> {
  using base = kernel::program_engine<"jit", Programs>;

 public:
  using base::ready, base::run;
  result<std::uint64_t> run(const read_image& r, call& c) {
    const auto program = TROUPE_TRY(this->programs_.find(kernel::root_at(r.root.data()), name_of<read_image>()));
    const std::string_view bytes = program->bytes();
    TROUPE_TRY(Programs::put(r.target.data(), bytes.substr(0, r.target.size()), name_of<read_image>(), c));
    return std::uint64_t{bytes.size()};
  }
  bool ready(const read_image& r) { return this->programs_.is_known(kernel::root_at(r.root.data())); }

 protected:
  using base::base;
};

}  // namespace troupe::jit
