// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of programs with several parts, built by NVRTC and nvJitLink. They need no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/symbols.hpp>
#include <troupe/jit/recipe_codec.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>
#include <troupe/plan/files.hpp>

namespace troupe::jit {
namespace {

using kernel::container;

const nvrtc& installed() {
  static const nvrtc with = nvrtc::find().value();
  return with;
}
compiled made_from(const recipe& r, const compile_deadline& how_long = {}) {
  const auto c = compiler_for(installed(), r, 90);
  if (!c) return {.failed = c.error()};
  return compile(installed(), *c, r, how_long);
}
std::string why(const compiled& c) { return c.failed ? c.failed->text() : ""; }
bool has(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }
std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  return {at, at + text.size()};
}

const std::string caller =
    "extern __device__ float scaled(float);\n"
    "__device__ float offset = 3;\n"
    "template <class T> __global__ void k(T* x) { x[0] = scaled(x[0]) + offset; }\n";
const std::string callee =
    "__device__ float scaled(float v) { return v * 2.5f; }\n"
    "__global__ void other(float* x) { x[0] = scaled(1); }\n";

recipe of_two(bool lto) {
  return {.source = caller,
          .name = "caller.cu",
          .kernels = {"k<float>"},
          .globals = {"offset"},
          .units = {{.name = "callee.cu", .source = callee}},
          .link_time_optimisation = lto};
}

// Compiles `callee` for other parts to link: machine code, PTX or LTO IR.
compiled callee_for(const std::string& architecture, bool lto = false) {
  return made_from({.source = callee,
                    .name = "callee.cu",
                    .architecture = architecture,
                    .relocatable = true,
                    .link_time_optimisation = lto});
}

class program_of_two_sources : public testing::TestWithParam<bool> {};

TEST_P(program_of_two_sources, is_linked_to_machine_code_with_the_kernels_and_names_of_both) {
  const compiled c = made_from(of_two(GetParam()));
  ASSERT_FALSE(c.failed) << why(c) << c.log;
  EXPECT_EQ(kernel::inspect_image(c.image).is, container::machine_code);
  EXPECT_EQ(kernel::inspect_image(c.image).wrong, "");
  const kernel::image_names names = kernel::names_in(c.image);
  ASSERT_EQ(names.kernels.size(), 1u);
  EXPECT_EQ(names.kernels[0], (std::pair<std::string, std::string>("k<float>", "_Z1kIfEvPT_")));
  ASSERT_EQ(names.globals.size(), 1u);
  const auto there = strong_symbols(c.image);
  EXPECT_NE(std::find(there.begin(), there.end(), "offset"), there.end());
  EXPECT_NE(std::find(there.begin(), there.end(), "_Z5otherPf"), there.end());
  EXPECT_TRUE(has(c.image, "_Z1kIfEvPT_"));
  EXPECT_TRUE(c.lasting);
}
INSTANTIATE_TEST_SUITE_P(with_lto, program_of_two_sources, testing::Bool());

TEST(link_time_optimization, inlines_functions_of_other_sources) {
  recipe r = of_two(true);
  r.architecture = "compute_90";
  const compiled c = made_from(r);
  ASSERT_FALSE(c.failed) << why(c) << c.log;
  EXPECT_EQ(kernel::inspect_image(c.image).is, container::ptx);
  EXPECT_FALSE(has(c.image, "call")) << c.image;
  EXPECT_TRUE(has(c.image, "fma.rn.f32")) << "made from code of both sources";
}

TEST(link_time_optimization, works_for_a_single_source) {
  const compiled c = made_from({.source = callee, .link_time_optimisation = true});
  ASSERT_FALSE(c.failed) << why(c) << c.log;
  EXPECT_EQ(kernel::inspect_image(c.image).is, container::machine_code);
}

// The linker generates the code, so the fields must reach it too.
TEST(link_time_optimization, obeys_the_recipes_fields_that_affect_code_generation) {
  recipe base = of_two(true);
  base.source =
      "extern __device__ float scaled(float);\n"
      "__global__ void k(float* x) { x[0] = scaled(x[0]) * x[1] + x[2] / x[3] + sqrtf(x[4]); }";
  base.kernels = {};
  base.globals = {};
  base.architecture = "compute_90";
  const auto ptx = [](const recipe& r) {
    const compiled c = made_from(r);
    EXPECT_FALSE(c.failed) << why(c) << c.log;
    return c.image;
  };
  const std::string plain = ptx(base);
  EXPECT_TRUE(has(plain, "fma.rn.f32") && has(plain, "div.rn.f32") && has(plain, "sqrt.rn.f32")) << plain;
  recipe r = base;
  r.fuse_multiply_add = false;
  EXPECT_FALSE(has(ptx(r), "fma.rn"));
  r = base;
  r.fast_math = true;
  EXPECT_TRUE(has(ptx(r), "div.approx.ftz.f32") && has(ptx(r), "sqrt.approx.ftz.f32"));
  r = base;
  r.flush_to_zero = true;
  EXPECT_TRUE(has(ptx(r), "div.rn.ftz.f32"));
  r = base;
  r.options = {"--prec-div=false", "--prec-sqrt=false"};
  EXPECT_FALSE(has(ptx(r), "div.rn") || has(ptx(r), "sqrt.rn"));
  r = base;
  r.architecture = "sm_90a";
  const std::string optimised = ptx(r);
  for (const int level : {0, 1}) {
    r.optimisation = level;
    EXPECT_NE(ptx(r), optimised) << level;
  }
  r.optimisation = 3;
  r.debug_information = true;
  EXPECT_TRUE(has(ptx(r), ".debug_line"));
  r.debug_information = false;
  r.options = {"--ptxas-options=-v"};
  EXPECT_TRUE(has(made_from(r).log, "Used ")) << "registers of each kernel";
}

TEST(link_time_optimization, refuses_options_that_the_linker_lacks) {
  recipe r = of_two(true);
  for (const char* option : {"--Ofast-compile=max", "--dopt=on", "--extra-device-vectorization"}) {
    r.options = {option};
    r.link_time_optimisation = true;
    EXPECT_EQ(why(made_from(r)), "jit.compile: options[0] is \"" + std::string(option) +
                                     "\", which applies to code generation; with link_time_optimisation the linker "
                                     "generates the code and has no such option: leave one of the two out");
    r.link_time_optimisation = false;
    EXPECT_EQ(why(made_from(r)), "");
  }
}

TEST(jit_unit, may_be_lto_ir_ptx_or_a_relocatable_cubin) {
  const compiled lto = callee_for("", true), ptx = callee_for("compute_80"), code = callee_for("");
  for (const compiled* c : {&lto, &ptx, &code}) ASSERT_FALSE(c->failed) << why(*c);
  EXPECT_EQ(kernel::inspect_image(lto.image).is, container::lto_ir);
  EXPECT_EQ(kernel::inspect_image(ptx.image).is, container::ptx);
  EXPECT_EQ(kernel::inspect_image(code.image).is, container::machine_code);
  recipe r = of_two(true);
  r.units = {{.name = "callee", .image = bytes_of(lto.image)}};
  EXPECT_EQ(why(made_from(r)), "");
  for (const bool with_lto : {false, true})
    for (const compiled* c : {&ptx, &code}) {
      r.units = {{.name = "callee", .image = bytes_of(c->image)}};
      r.link_time_optimisation = with_lto;
      EXPECT_EQ(why(made_from(r)), "") << with_lto;
    }
}

// Builds a fatbin of one uncompressed image, as the toolkit's `fatbinary` does.
std::string fatbin_of(std::string_view cubin) {
  const auto put = [](std::string& to, auto value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::string padded = std::string(cubin) + std::string((8 - cubin.size() % 8) % 8, '\0');
  std::string out;
  put(out, std::uint32_t{0xba55ed50});
  put(out, std::uint16_t{1});
  put(out, std::uint16_t{16});
  put(out, std::uint64_t{64 + padded.size()});
  put(out, std::uint16_t{2});  // ELF
  put(out, std::uint16_t{0x101});
  put(out, std::uint32_t{64});
  put(out, std::uint64_t{padded.size()});
  put(out, std::uint64_t{0});
  put(out, std::uint32_t{0x10008});
  put(out, std::uint32_t{90});
  put(out, std::uint64_t{0});
  put(out, std::uint64_t{0x100011});
  put(out, std::uint64_t{0});
  put(out, std::uint64_t{0});
  return out + padded;
}

TEST(jit_unit, may_be_a_fatbin_whose_names_are_checked_unless_it_is_compressed) {
  const compiled code = callee_for("");
  const std::string fatbin = fatbin_of(kernel::without_names(code.image));
  ASSERT_EQ(kernel::inspect_image(fatbin).is, container::fat);
  EXPECT_EQ(kernel::inspect_image(fatbin).wrong, "");
  recipe r = of_two(false);
  r.units = {{.name = "callee", .image = bytes_of(fatbin)}};
  EXPECT_EQ(why(made_from(r)), "");
  r.units.push_back({.name = "again.cu", .source = callee});
  EXPECT_TRUE(has(why(made_from(r)), "is defined in callee and in again.cu")) << why(made_from(r));
  for (std::size_t n = 0; n < 200; ++n) strong_symbols(fatbin_of(fatbin.substr(0, n)));
}

TEST(jit_unit, is_refused_if_it_was_compiled_for_another_gpu) {
  recipe r = of_two(false);
  r.units = {{.name = "callee", .image = bytes_of(callee_for("sm_80").image)}};
  const std::string text = why(made_from(r));
  EXPECT_TRUE(has(text, "caller.cu does not link: callee: ")) << text;
  EXPECT_TRUE(has(text, "; expected relocatable machine code for the architecture of the whole")) << text;
}

TEST(jit_unit, keeps_the_names_of_its_own_recipe) {
  const compiled c =
      made_from({.source = caller, .kernels = {"k<float>"}, .relocatable = true, .link_time_optimisation = true});
  ASSERT_FALSE(c.failed) << why(c);
  recipe r{.source = callee, .units = {{.name = "caller", .image = bytes_of(c.image)}}, .link_time_optimisation = true};
  const compiled all = made_from(r);
  ASSERT_FALSE(all.failed) << why(all) << all.log;
  ASSERT_EQ(kernel::names_in(all.image).kernels.size(), 1u);
  EXPECT_EQ(kernel::names_in(all.image).kernels[0].first, "k<float>");
}

TEST(jit_unit, is_refused_with_what_was_expected) {
  const auto refused = [](unit u, bool lto = true) {
    recipe r{.source = caller, .name = "caller.cu", .units = {std::move(u)}, .link_time_optimisation = lto};
    const compiled c = made_from(r);
    EXPECT_TRUE(c.failed && c.failed->reaction() == reaction::caller_bug);
    return why(c);
  };
  EXPECT_EQ(
      refused({.name = "x", .image = bytes_of("nonsense")}),
      "jit.compile: x is neither machine code for a GPU (cubin, fatbin) nor PTX; expected LTO IR, PTX, a relocatable "
      "cubin, a fatbin, or an archive");
  EXPECT_EQ(refused({.name = "x", .image = bytes_of(callee_for("", true).image)}, false),
            "jit.compile: x is LTO IR, but link_time_optimisation is false; expected true if a part is LTO IR");
  const std::string cubin = made_from(of_two(false)).image;
  EXPECT_TRUE(has(refused({.name = "x", .image = bytes_of(cubin.substr(0, cubin.size() / 2))}), "x is truncated"));
  EXPECT_TRUE(
      has(refused({.name = "wrong.cu", .source = "nonsense"}), "wrong.cu does not compile: wrong.cu(1): error"));
}

TEST(jit_link, reports_missing_and_duplicate_names) {
  for (const bool lto : {false, true}) {
    recipe r = of_two(lto);
    r.units[0].source = "__device__ int unrelated;";
    const compiled missing = made_from(r);
    ASSERT_TRUE(missing.failed);
    EXPECT_EQ(missing.failed->reaction(), reaction::caller_bug);
    EXPECT_TRUE(has(why(missing), "jit.compile: caller.cu does not link: ")) << why(missing);
    EXPECT_TRUE(has(why(missing), "_Z6scaledf")) << why(missing);
    r = of_two(lto);
    r.units.push_back({.name = "again.cu", .source = "__device__ float scaled(float v) { return v; }"});
    const compiled twice = made_from(r);
    ASSERT_TRUE(twice.failed) << lto;
    EXPECT_EQ(twice.failed->reaction(), reaction::caller_bug);
    EXPECT_TRUE(has(why(twice), "_Z6scaledf")) << why(twice);
    if (lto) continue;
    EXPECT_EQ(why(twice),
              "jit.compile: _Z6scaledf is defined in callee.cu and in again.cu; expected one definition, or static "
              "functions");
  }
}

TEST(jit_link, ptx_needs_link_time_optimisation) {
  recipe r = of_two(false);
  r.architecture = "compute_90";
  const compiled c = made_from(r);
  ASSERT_TRUE(c.failed);
  EXPECT_EQ(c.failed->reaction(), reaction::unsupported);
  EXPECT_TRUE(has(why(c), "set it true")) << why(c);
}

TEST(jit_link, has_a_key_that_depends_on_every_part_and_on_the_linker) {
  const auto key = [](const recipe& r) {
    const std::string bytes = encode(r);
    return compiler_for(installed(), r, 90)->identity + std::string(decode(bytes)->what);
  };
  const recipe r = of_two(true);
  std::vector<std::string> keys{key(r), key(of_two(false)), key({.source = caller})};
  recipe other = r;
  other.units[0].source += " ";
  keys.push_back(key(other));
  other.units[0].name = "x.cu";
  keys.push_back(key(other));
  other.units[0] = {.name = "x.cu", .image = bytes_of(other.units[0].source)};
  keys.push_back(key(other));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  EXPECT_TRUE(has(key(r), "nvJitLink ")) << "another linker links differently";
}

TEST(jit_link, does_not_start_after_the_deadline_or_if_cancelled) {
  std::atomic<int> asked{0};
  const compiled c = made_from(of_two(true), compile_deadline(INT64_MAX, [&] { return ++asked > 0; }));
  ASSERT_TRUE(c.failed);
  EXPECT_EQ(c.failed->reaction(), reaction::retry_later);
  EXPECT_EQ(why(c), "jit.compile: caller.cu: compiling was cancelled");
  EXPECT_TRUE(c.was_stopped);
}

TEST(jit_link, is_unsupported_without_the_library_and_names_the_package) {
  linker none("7.0");
  const auto id = none.identity();
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().reaction(), reaction::unsupported);
  EXPECT_TRUE(has(id.error().text(), "libnvJitLink.so.7")) << id.error().text();
  EXPECT_TRUE(has(id.error().text(), "install libnvJitLink")) << id.error().text();
  EXPECT_TRUE(none.description().starts_with("none: ")) << none.description();
  EXPECT_TRUE(installed().links->description().starts_with("nvJitLink ")) << installed().links->description();
}

TEST(jit_link, accepts_archives_such_as_cudas_device_runtime) {
  const std::filesystem::path archive =
      std::filesystem::path(installed().include_folder).parent_path() / "lib" / "libcudadevrt.a";
  const auto library =
      plan::read_file(std::filesystem::exists(archive) ? archive : "/usr/local/cuda/lib64/libcudadevrt.a");
  ASSERT_TRUE(library) << archive;
  const compiled c = made_from({.source = "__global__ void child(int* x) { *x = 5; }\n"
                                          "__global__ void parent(int* x) { child<<<1, 1>>>(x); }",
                                .units = {{.name = "libcudadevrt.a", .image = bytes_of(*library)}}});
  EXPECT_EQ(why(c), "") << c.log;
}

}  // namespace
}  // namespace troupe::jit
