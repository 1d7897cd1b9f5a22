// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/engine/cuda/demangle.hpp>

namespace troupe::kernel {
namespace {

// Returns a demangled kernel as text: "saxpy(float value f32, const float* const_pointer f32)".
std::string demangled(const std::string& mangled) {
  const auto k = demangle_kernel(mangled);
  if (!k) return "none";
  const char* const kinds[] = {" value ", " const_pointer ", " pointer ", " unknown "};
  std::string out;
  for (const parameter_attributes& p : k->parameters)
    out += (out.empty() ? "" : ", ") + p.type + kinds[static_cast<int>(p.passing)] + std::string(to_string(p.element));
  return k->name + "(" + out + ")";
}

TEST(mangled_kernel, reveals_its_name_and_parameters) {
  EXPECT_EQ(demangled("_Z5saxpyfPKfPfi"),
            "saxpy(float value f32, const float* const_pointer f32, float* pointer f32, int value i32)");
  EXPECT_EQ(demangled("_ZN2ns6reduceIfLi256EEEvPKT_PS1_m"),
            "ns::reduce<float, 256>(const float* const_pointer f32, float* pointer f32, unsigned long value u64)");
  EXPECT_EQ(demangled("_Z4nonev"), "none()");
}

TEST(mangled_kernel, reveals_structs_and_narrow_types_by_name) {
  EXPECT_EQ(demangled("_Z7attractPK6float4PS_i8settings"),
            "attract(const float4* const_pointer unknown, float4* pointer unknown, int value i32, settings value "
            "unknown)");
  EXPECT_EQ(demangled("_Z1kPK6__halfP13__nv_bfloat16"),
            "k(const __half* const_pointer f16, __nv_bfloat16* pointer bf16)");
  EXPECT_EQ(demangled("_Z1kPvPKvPPf"),
            "k(void* pointer unknown, const void* const_pointer unknown, float** pointer unknown)");
}

TEST(mangled_kernel, may_take_pointers_to_arrays) {
  EXPECT_EQ(demangled("_Z6reducePdPA30_d"), "reduce(double* pointer f64, double (*) [30] pointer unknown)");
  EXPECT_EQ(demangled("_Z1kPA3_A4_KfRA5_i"),
            "k(float const (*) [3][4] const_pointer unknown, int (&) [5] pointer unknown)");
}

TEST(mangled_kernel, is_distinguished_from_names_that_are_not_mangled) {
  EXPECT_EQ(demangled("saxpy"), "none");
  EXPECT_EQ(demangled("_Znonsense"), "none");
  EXPECT_EQ(demangled("_ZN2ns1xE"), "none");
}

TEST(mangled_variable, is_mangled_as_the_compiler_mangles_it) {
  EXPECT_EQ(mangle_variable("ns::inner::x"), "_ZN2ns5inner1xE");
  EXPECT_EQ(mangle_variable("::ns::x"), "_ZN2ns1xE");
  EXPECT_EQ(mangle_variable("x"), "x");
}

}  // namespace
}  // namespace troupe::kernel
