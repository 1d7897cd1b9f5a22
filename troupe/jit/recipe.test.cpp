// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/internal/recipe_codec.hpp>

namespace troupe::jit {
namespace {

recipe full() {
  return {.source = "source",
          .name = "n.cu",
          .kernels = {"a", "b<int, 2>"},
          .globals = {"g"},
          .headers = {{"h1", "t1"}, {"h2", ""}},
          .include_paths = {"/i"},
          .definitions = {{"D", "1"}},
          .standard = 17,
          .fast_math = true,
          .flush_to_zero = true,
          .fuse_multiply_add = false,
          .optimisation = 1,
          .debug_information = true,
          .max_registers = 64,
          .architecture = "sm_90a",
          .options = {"-Wall"},
          .compiler = "/usr/bin/g++",
          .timeout = time_span::of_seconds(5),
          .cache = cache_use::memory,
          .log_bytes = 1000};
}

TEST(a_recipe, arrives_as_it_was_sent) {
  const recipe r = full();
  const std::string bytes = encode(r);
  const auto d = decode(bytes);
  ASSERT_TRUE(d);
  const recipe& f = d->full;
  EXPECT_EQ(f.source, r.source);
  EXPECT_EQ(f.name, r.name);
  EXPECT_EQ(f.kernels, r.kernels);
  EXPECT_EQ(f.globals, r.globals);
  EXPECT_EQ(f.headers, r.headers);
  EXPECT_EQ(f.include_paths, r.include_paths);
  EXPECT_EQ(f.definitions, r.definitions);
  EXPECT_EQ(f.standard, 17);
  EXPECT_TRUE(f.fast_math);
  EXPECT_TRUE(f.flush_to_zero);
  EXPECT_FALSE(f.fuse_multiply_add);
  EXPECT_EQ(f.optimisation, 1);
  EXPECT_TRUE(f.debug_information);
  EXPECT_EQ(f.max_registers, 64);
  EXPECT_EQ(f.architecture, "sm_90a");
  EXPECT_EQ(f.options, r.options);
  EXPECT_EQ(f.compiler, r.compiler);
  EXPECT_EQ(f.timeout, r.timeout);
  EXPECT_EQ(f.cache, cache_use::memory);
  EXPECT_EQ(f.log_bytes, 1000u);
}

TEST(a_recipe, that_is_cut_is_none) {
  const std::string bytes = encode(full());
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode(bytes.substr(0, n))) << n;
}

TEST(a_recipe, has_bytes_of_its_own_for_every_field_that_changes_what_is_compiled) {
  const auto what = [](const recipe& r) {
    const std::string bytes = encode(r);
    return std::string(decode(bytes)->what);
  };
  recipe r = full();
  const std::string before = what(r);
  r.max_registers = 65;
  EXPECT_NE(what(r), before);
  r = full();
  r.architecture = "";
  EXPECT_NE(what(r), before);
  r = full();
  r.kernels = {"a", "b<int", "2>"};
  EXPECT_NE(what(r), before);
  r = full();
  r.timeout = time_span::of_seconds(6);
  r.cache = cache_use::disk;
  r.log_bytes = 2000;
  EXPECT_EQ(what(r), before);
}

TEST(a_recipe, takes_names_of_files_only_where_they_stay_in_their_folder) {
  for (const char* name : {"a.cu", "sub/a.cu", "a b.cu", ".hidden"})
    EXPECT_TRUE(check({.source = "s", .name = name})) << name;
  for (const char* name : {"", "/a.cu", "../a.cu", "a/../../b", "a/", "./a", "-a.cu", "a\nb", "a\"b", "a\\b"})
    EXPECT_FALSE(check({.source = "s", .name = name})) << name;
  EXPECT_FALSE(check({.source = "s", .name = "a.cu", .headers = {{"a.cu", "t"}}}));
}

TEST(a_recipe, takes_options_only_where_they_leave_input_and_output_to_us) {
  for (const char* option : {"-Wall", "-DX", "-fno-inline", "-ftemplate-depth=2000", "-include/usr/x.h"})
    EXPECT_TRUE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"", "-", "x.o", "-o", "-ofile", "-c", "-S", "-E", "-xc", "-MD", "-save-temps", "@file"})
    EXPECT_FALSE(check({.source = "s", .options = {option}})) << option;
}

}  // namespace
}  // namespace troupe::jit
