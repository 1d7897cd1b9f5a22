// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// prebuild SPECIFICATION FILE: compiles the kernels that the cost model chooses for ordinary products, and writes them
// to a bundle. The specification is that of TROUPE_PREBUILT: "gemm:bf16,f16:sm_90a;gemm:f32:sm_80".
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/cutlass/prebuilt/bundle.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/recipe.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/jit/recipe_codec.hpp>

namespace troupe::cutlass::prebuilt {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::stringstream all(text);
  for (std::string one; std::getline(all, one, at);) out.push_back(one);
  return out;
}

// Returns the properties of a typical GPU of an architecture.
std::optional<cuda::gpu_properties> properties_of(const std::string& architecture) {
  const std::map<std::string, cuda::gpu_properties> known{{"sm_80",
                                                           {.capability = 80,
                                                            .multiprocessors = 108,
                                                            .shared_bytes = 166912,
                                                            .l2_bytes = 40 << 20,
                                                            .gigahertz = 1.41,
                                                            .memory_bytes_per_ns = 1555,
                                                            .name = "A100"}},
                                                          {"sm_86",
                                                           {.capability = 86,
                                                            .multiprocessors = 84,
                                                            .shared_bytes = 101376,
                                                            .l2_bytes = 6 << 20,
                                                            .gigahertz = 1.7,
                                                            .memory_bytes_per_ns = 768,
                                                            .name = "A40"}},
                                                          {"sm_89",
                                                           {.capability = 89,
                                                            .multiprocessors = 142,
                                                            .shared_bytes = 101376,
                                                            .l2_bytes = 96 << 20,
                                                            .gigahertz = 2.5,
                                                            .memory_bytes_per_ns = 864,
                                                            .name = "L40S"}},
                                                          {"sm_90a",
                                                           {.capability = 90,
                                                            .multiprocessors = 132,
                                                            .shared_bytes = 232448,
                                                            .l2_bytes = 50 << 20,
                                                            .gigahertz = 1.98,
                                                            .memory_bytes_per_ns = 3352,
                                                            .name = "H100"}}};
  const auto found = known.find(architecture);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::optional<dtype> type_of(const std::string& name) {
  for (const dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i8, dtype::f8e4m3, dtype::f8e5m2})
    if (to_string(t) == name) return t;
  return std::nullopt;
}

// Returns D = alpha * A * B, with rows contiguous, or columns of B; aligned as device memory is.
problem plain_problem(dtype t, const extents& e, bool b_by_columns, const epilogue::tree& tree) {
  problem p;
  const std::uint64_t address = 1 << 20;
  p.m = e.m, p.n = e.n, p.k = e.k;
  p.a = {address, t, e.k, 1, 0};
  p.b = b_by_columns ? factor{address, t, e.k, 1, 0} : factor{address, t, 1, e.n, 0};
  const dtype d = t == dtype::i8 ? dtype::i32 : bytes_of(t) == 1 ? dtype::bf16 : t;
  p.d = {address, d, e.n, 1, 0};
  p.sums = sums_of(t, t);
  p.tree = tree;
  return p;
}

// Compiles the kernels of a bundle.
class bundle_writer {
 public:
  result<void> add(const std::string& specification) {
    const auto parts = split(specification, ':');
    if (parts.size() != 3 || parts[0] != "gemm") return wrong(specification, "expected gemm:TYPE,TYPE...:ARCHITECTURE");
    const auto gpu = properties_of(parts[2]);
    if (!gpu) return wrong(specification, "expected sm_80, sm_86, sm_89 or sm_90a");
    auto with = jit::nvrtc::find();
    if (!with) return with.error();
    jit::nvrtc_builder builder(std::move(*with), gpu->capability);
    for (const std::string& name : split(parts[1], ',')) {
      const auto t = type_of(name);
      if (!t) return wrong(specification, "type is " + name + "; expected f16, bf16, f32, f64, i8, f8e4m3 or f8e5m2");
      for (const bool by_columns : {true, false})
        for (const std::int64_t m : {1, 16, 64, 256, 1024, 4096, 16384})
          for (const std::int64_t n : {512, 2048, 8192})
            if (auto done = add(*t, {m, n, 4096, 1}, by_columns, *gpu, parts[2], builder); !done) return done;
    }
    return {};
  }
  std::string encoded() const {
    std::vector<kernel> all;
    for (const auto& [key, k] : kernels_) all.push_back({k.name, k.architecture, k.source, k.image});
    return encode(all);
  }
  std::size_t size() const { return kernels_.size(); }

 private:
  struct owned {
    std::string name, architecture, source, image;
  };
  static error wrong(const std::string& what, const std::string& why) {
    return error(reaction::caller_bug, "cutlass", cat("TROUPE_PREBUILT has \"", what, "\"; ", why));
  }
  result<void> add(dtype t, const extents& e, bool by_columns, const cuda::gpu_properties& gpu,
                   const std::string& architecture, jit::nvrtc_builder& builder) {
    const epilogue::expression plain = epilogue::product_part{epilogue::op::accumulator};
    std::vector<std::byte> encoded(plain.encoded_bytes());
    plain.encode(encoded.data());
    const epilogue::tree tree(encoded.data(), encoded.size());
    const problem p = plain_problem(t, e, by_columns, tree);
    const kernel_signature f = signature_of(p);
    const auto all = candidates_for(f, e, gpu, {});
    if (!all) return all.error();
    const variant_source text = source_of_variant(f, all->front().plan);
    if (!kernels_.try_emplace(architecture + text.source).second) return {};
    jit::recipe r = recipe_of(text.source, text.name);
    r.cache = jit::cache_use::none;
    const std::string recipe = jit::encode(r);
    const auto decoded = jit::decode(recipe);
    if (!decoded) return damaged("cutlass", cat("the recipe of kernel ", text.name));
    const jit::build made = builder.images().make(*decoded);
    if (made.failed) return *made.failed;
    kernels_[architecture + text.source] = {text.name + " of " + std::string(to_string(t)), architecture, text.source,
                                            *made.image};
    return {};
  }
  std::map<std::string, owned> kernels_;
};

}  // namespace
}  // namespace troupe::cutlass::prebuilt

int main(int count, char** arguments) {
  using namespace troupe::cutlass::prebuilt;
  if (count != 3) return std::fprintf(stderr, "prebuild SPECIFICATION FILE\n"), 2;
  bundle_writer all;
  for (const std::string& one : split(arguments[1], ';'))
    if (const auto done = all.add(one); !done) return std::fprintf(stderr, "%s\n", done.error().text().c_str()), 1;
  std::ofstream to(arguments[2], std::ios::binary);
  to << all.encoded();
  to.close();
  std::printf("%zu kernels\n", all.size());
  return to ? 0 : 1;
}
