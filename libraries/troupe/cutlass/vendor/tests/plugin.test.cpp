// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <troupe/cutlass/vendor/refusals.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass::vendor {
namespace {

const kernel_variants& plugin() {
  static const kernel_variants loaded = kernel_variants::load(TROUPE_VENDOR_PLUGIN).value();
  return loaded;
}

// Returns a launch that the kernel accepts. Nothing reads its addresses.
launch accepted_launch(const kernel_variant& c) {
  launch l{};
  const void* const at = reinterpret_cast<const void*>(std::uintptr_t{1} << 20);
  l.m = 384, l.n = 512, l.k = 768, l.batch = 1;
  l.a = l.b = l.c = at, l.d = const_cast<void*>(at);
  l.a_line = std::string_view(c.a_layout) == "row" ? l.k : l.m;
  l.b_line = std::string_view(c.b_layout) == "row" ? l.n : l.k;
  l.c_line = l.d_line = l.n;
  l.alpha = 1, l.beta = 1;
  if (c.bias != 0) l.bias = at;
  if (c.scale != nullptr) l.a_scales = l.b_scales = at;
  l.multiprocessors = 132;
  if (c.kind == grouped_product) {
    l.groups = 3, l.shapes = static_cast<const int*>(at);
    l.group_a = l.group_b = l.group_c = static_cast<const void* const*>(at),
    l.group_d = static_cast<void* const*>(const_cast<void*>(at));
    l.group_a_line = l.group_b_line = l.group_c_line = l.group_d_line = static_cast<const long long*>(at);
  }
  l.images = 2, l.height = 14, l.width = 14, l.channels = 64, l.filters = 128, l.filter_height = l.filter_width = 3;
  l.pad_height = l.pad_width = l.stride_height = l.stride_width = l.dilation_height = l.dilation_width = 1;
  return l;
}

TEST(cutlass_vendor_plugin, has_kernels_for_six_architectures_and_of_all_kinds) {
  std::set<int> capabilities, kinds;
  for (const kernel_variant* c : plugin().all()) capabilities.insert(c->capability), kinds.insert(c->kind);
  EXPECT_EQ(capabilities, (std::set<int>{80, 86, 89, 90, 100, 120}));
  EXPECT_EQ(kinds, (std::set<int>{product, scaled_product, grouped_product, conv_forward, conv_data_gradient,
                                  conv_weight_gradient}));
}

TEST(cutlass_vendor_plugin, the_description_of_each_kernel_is_complete_and_consistent) {
  std::set<std::string> names;
  for (const kernel_variant* c : plugin().all()) {
    SCOPED_TRACE(c->name);
    EXPECT_TRUE(names.insert(c->name).second) << "another kernel has this name";
    EXPECT_NE(std::string(c->name).find("sm" + std::to_string(c->capability) + "_"), std::string::npos);
    EXPECT_TRUE(runs_on(*c, c->capability)) << c->machine_code;
    for (const char* type : {c->a, c->b, c->c, c->d, c->accumulator}) EXPECT_GT(bits_of(type), 0) << type;
    // Kernels load and store 16 bytes at a time.
    EXPECT_EQ(c->a_alignment * bits_of(c->a), 128);
    EXPECT_EQ(c->d_alignment * bits_of(c->d), 128);
    EXPECT_GE(c->stages, 2);
    EXPECT_LE(c->shared_bytes, c->capability == 86 || c->capability == 89 || c->capability == 120 ? 99 * 1024
                               : c->capability == 80                                              ? 163 * 1024
                                                                                                  : 227 * 1024);
    EXPECT_EQ(c->scale != nullptr, c->kind == scaled_product);
    EXPECT_EQ(c->source != nullptr, c->capability < 90) << "kernels of the 2.x style can be compiled at run time";
    EXPECT_GE(c->parameter_bytes, 300u);
    EXPECT_LE(c->parameter_bytes, 4096u);
  }
}

TEST(cutlass_vendor_plugin, valid_launches_are_accepted_and_have_a_workspace_size) {
  for (const kernel_variant* c : plugin().all()) {
    SCOPED_TRACE(c->name);
    const launch l = accepted_launch(*c);
    const auto r = check(*c, l);
    EXPECT_TRUE(r) << r.error().text();
    EXPECT_GE(c->workspace_bytes(&l), 0);
  }
  const kernel_variant* const divided = plugin().find("sm90_bf16_stream_k");
  ASSERT_NE(divided, nullptr);
  launch l = accepted_launch(*divided);
  l.m = 128, l.n = 256, l.k = l.a_line = l.b_line = 16384;
  EXPECT_GT(divided->workspace_bytes(&l), 0) << "multiprocessors share a tile and add their parts";
}

TEST(cutlass_vendor_plugin, kernels_reject_misaligned_extents) {
  for (const kernel_variant* c : plugin().all()) {
    SCOPED_TRACE(c->name);
    launch l = accepted_launch(*c);
    if (c->kind == product || c->kind == scaled_product) {
      l.k += 1;
      EXPECT_EQ(c->can_compute(&l), c->capability < 90 ? misaligned : rejected);
    } else if (c->kind != grouped_product) {
      l.channels += 1;
      EXPECT_NE(c->can_compute(&l), accepted);
    }
  }
}

TEST(cutlass_vendor_plugin, each_scale_has_its_own_offset_in_nvidias_order) {
  int scaled = 0;
  for (const kernel_variant* c : plugin().all()) {
    if (c->scale == nullptr) continue;
    ++scaled;
    SCOPED_TRACE(c->name);
    launch l = accepted_launch(*c);
    l.m = 130, l.k = c->scale_block * 6;  // no multiples of an atom's extents
    std::set<long long> offsets;
    for (int line = 0; line < l.m; ++line)
      for (int block = 0; block < 6; ++block) offsets.insert(c->a_scale_offset(&l, line, block));
    EXPECT_EQ(offsets.size(), 130u * 6u);
    EXPECT_EQ(*offsets.begin(), 0);
    EXPECT_LT(*offsets.rbegin(), 256 * 8) << "lines are padded to multiples of 128, blocks to multiples of 4";
    // The order in NVIDIA's documents: 32 lines are 16 bytes apart; the next 32 lines begin 4 bytes further; blocks are
    // consecutive.
    EXPECT_EQ(c->a_scale_offset(&l, 1, 0), 16);
    EXPECT_EQ(c->a_scale_offset(&l, 32, 0), 4);
    EXPECT_EQ(c->a_scale_offset(&l, 0, 1), 1);
    EXPECT_EQ(c->a_scale_offset(&l, 0, 4), 512);
  }
  EXPECT_EQ(scaled, 4);
}

TEST(cutlass_vendor_plugin, notes_distinguish_tested_kernels_from_those_only_compiled) {
  const auto notes = plugin().notes();
  ASSERT_EQ(notes.size(), 3u);
  for (const kernel_variant* c : plugin().all())
    for (const bool ran : {true, false}) {
      const std::string& note = notes[ran ? 1 : 2];
      EXPECT_EQ(note.find(c->name) != std::string::npos, ran == (c->capability < 100)) << c->name << " in " << note;
    }
}

}  // namespace
}  // namespace troupe::cutlass::vendor
