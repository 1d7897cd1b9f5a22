// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/fft/cuda/gpu_callbacks.hpp>
#include <troupe/jit/engine.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::fft {

link_time_code::link_time_code(callback_recipe what, std::shared_ptr<const std::string> image,
                               std::shared_ptr<const std::string> forwarder) noexcept
    : loads_(what.loads),
      stores_(what.stores),
      image_(std::move(image)),
      forwarder_(std::move(forwarder)),
      code_(kernel::without_names(*image_)) {
  if (forwarder_ != nullptr) forwarding_code_ = kernel::without_names(*forwarder_);
}

gpu_callbacks::gpu_callbacks(jit::capability gpu, bool may_compile)
    : programs_([this](const kernel::program_root& root) { return make_program(root); }) {
  if (auto with = jit::nvrtc::find())
    builder_ = std::make_unique<jit::nvrtc_builder>(std::move(*with), gpu, may_compile);
  else
    missing_ = with.error();
}

gpu_callbacks::store::made gpu_callbacks::make_program(const kernel::program_root& root) {
  const auto what = decode_callbacks(kernel::recipe_of(root));
  auto recipe = what ? jit::decode(what->encoded) : std::nullopt;
  if (!recipe) return {damaged("fft", "fft.compile_callbacks: the recipe"), {}, {}};
  if (missing_) return {*missing_, {}, {}};
  recipe->full.relocatable = recipe->full.link_time_optimisation = true;
  const std::string linkable = jit::encode(recipe->full);
  return jit::make_program<store>(builder_->images(), root, linkable,
                                  [&](const jit::recipe& r, const jit::build& b) -> result<ref> {
                                    auto forwarder = TROUPE_TRY(forwarder_for(*what));
                                    return std::make_shared<const kernel::loaded_program<link_time_code>>(
                                        r.name, link_time_code(*what, b.image, std::move(forwarder)), b.image);
                                  });
}

result<std::shared_ptr<const std::string>> gpu_callbacks::forwarder_for(const callback_recipe& what) {
  if (!what.loads || !what.stores) return std::shared_ptr<const std::string>();
  jit::recipe r{.source = forwarder(what.out), .name = "fft_store.cu"};
  r.relocatable = r.link_time_optimisation = true;
  const std::string encoded = jit::encode(r);
  const auto decoded = jit::decode(encoded);
  if (!decoded) return damaged("fft", "fft.compile_callbacks: the recipe of fft_store.cu");
  jit::build b = builder_->images().make(*decoded);
  if (b.failed) return *b.failed;
  return std::move(b.image);
}

}  // namespace troupe::fft
