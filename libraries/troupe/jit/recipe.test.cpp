// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/recipe_codec.hpp>

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
          .units = {{.name = "u.cu", .source = "more"}, {.name = "i", .image = {std::byte{7}, std::byte{0}}}},
          .relocatable = true,
          .link_time_optimisation = true,
          .precompiled_headers = true,
          .options = {"-Wall"},
          .compiler = "/usr/bin/g++",
          .timeout = time_span::of_seconds(5),
          .cache = cache_use::memory,
          .log_bytes = 1000};
}

TEST(jit_recipe, is_decoded_as_it_was_encoded) {
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
  ASSERT_EQ(f.units.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(f.units[i].name, r.units[i].name);
    EXPECT_EQ(f.units[i].source, r.units[i].source);
    EXPECT_EQ(f.units[i].image, r.units[i].image);
  }
  EXPECT_TRUE(f.relocatable);
  EXPECT_TRUE(f.link_time_optimisation);
  EXPECT_TRUE(f.precompiled_headers);
  EXPECT_EQ(f.compiler, r.compiler);
  EXPECT_EQ(f.timeout, r.timeout);
  EXPECT_EQ(f.cache, cache_use::memory);
  EXPECT_EQ(f.log_bytes, 1000u);
}

TEST(jit_recipe, is_rejected_if_truncated) {
  const std::string bytes = encode(full());
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode(std::string_view(bytes).substr(0, n))) << n;
}

TEST(jit_recipe, has_other_key_bytes_if_a_field_that_affects_the_image_differs) {
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
  r.units[1].image[1] = std::byte{1};
  EXPECT_NE(what(r), before);
  r = full();
  r.link_time_optimisation = false;
  EXPECT_NE(what(r), before);
  r = full();
  r.relocatable = false;
  EXPECT_NE(what(r), before);
  r = full();
  r.precompiled_headers = false;
  r.timeout = time_span::of_seconds(6);
  r.cache = cache_use::disk;
  r.log_bytes = 2000;
  EXPECT_EQ(what(r), before);
}

TEST(jit_recipe, does_not_depend_on_the_order_of_headers_and_macros) {
  recipe r = full(), other = full();
  std::swap(other.headers[0], other.headers[1]);
  r.definitions = {{"A", "1"}, {"B", "2"}};
  other.definitions = {{"B", "2"}, {"A", "1"}};
  EXPECT_EQ(encode(r), encode(other));
}

TEST(jit_recipe, is_refused_if_a_header_or_a_macro_appears_twice) {
  EXPECT_EQ(check({.source = "s", .headers = {{"h", "1"}, {"g", ""}, {"h", "2"}}}).error().text(),
            "jit.compile: headers has \"h\" twice; expected each name once");
  EXPECT_EQ(check({.source = "s", .definitions = {{"D", "1"}, {"D", "1"}}}).error().text(),
            "jit.compile: definitions has \"D\" twice; expected each name once");
}

TEST(jit_recipe, accepts_only_file_names_that_stay_in_their_folder) {
  for (const char* name : {"a.cu", "sub/a.cu", "a b.cu", ".hidden"})
    EXPECT_TRUE(check({.source = "s", .name = name})) << name;
  for (const char* name : {"", "/a.cu", "../a.cu", "a/../../b", "a/", "./a", "-a.cu", "a\nb", "a\"b", "a\\b"})
    EXPECT_FALSE(check({.source = "s", .name = name})) << name;
  EXPECT_FALSE(check({.source = "s", .name = "a.cu", .headers = {{"a.cu", "t"}}}));
}

TEST(jit_recipe, needs_units_with_distinct_names_and_either_source_or_image) {
  const auto refused = [](std::vector<unit> units, bool relocatable = false) {
    const auto r = check({.source = "s", .name = "a.cu", .units = std::move(units), .relocatable = relocatable});
    return r ? std::string() : r.error().text();
  };
  const std::vector<std::byte> image{std::byte{1}};
  EXPECT_EQ(refused({{.name = "b.cu", .source = "s"}, {.name = "c", .image = image}}), "");
  EXPECT_EQ(refused({{.name = "../b", .source = "s"}}),
            "jit.compile: units[0].name is \"../b\"; expected a relative file name without ..");
  for (const char* name : {"a.cu", "b.cu"})
    EXPECT_EQ(
        refused({{.name = "b.cu", .source = "s"}, {.name = name, .source = "s"}}),
        "jit.compile: units[1].name is \"" + std::string(name) + "\", which another part has; expected each name once");
  EXPECT_EQ(refused({{.name = "b"}}), "jit.compile: units[0] is empty; expected a source, or an image");
  EXPECT_EQ(refused({{.name = "b", .source = "s", .image = image}}),
            "jit.compile: units[0] has both source and image; expected a source, or an image");
  EXPECT_NE(refused({{.name = "b", .source = std::string("s\0", 2)}}).find("zero byte"), std::string::npos);
  EXPECT_NE(
      refused(std::vector<unit>(257, {.name = "b", .source = "s"})).find("units has 257 entries; expected at most 256"),
      std::string::npos);
  EXPECT_EQ(refused({{.name = "b", .source = "s"}}, true),
            "jit.compile: relocatable is true and there are units; expected units only in the recipe that "
            "links them all");
}

TEST(jit_recipe, refuses_compiler_options_that_are_not_listed) {
  for (const char* option : {"-Wall", "-DX", "-fno-inline", "-ftemplate-depth=2000", "-include/usr/x.h"})
    EXPECT_TRUE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"-Wl,-rpath,/x", "-O2", "-lfoo", "-mavx2", "-g", "-pthread", "--param=max-unroll-times=4"})
    EXPECT_TRUE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"", "-", "x.o", "-o", "-ofile", "-c", "-S", "-E", "-xc", "-MD", "-save-temps", "@file"})
    EXPECT_FALSE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"--output=/x",
                             "--compile",
                             "--save-temps",
                             "--version",
                             "-fsyntax-only",
                             "-dM",
                             "-dumpbase",
                             "-dumpversion",
                             "-fdump-tree-all=/x",
                             "-wrapper",
                             "-B/x",
                             "-emit-llvm",
                             "-r",
                             "-###",
                             "-print-prog-name=as",
                             "-aux-info",
                             "-Wl,-o,/x",
                             "-Wl,-z,now,--output=/x",
                             "-Wl,-Map=/x",
                             "-Wp,-MD,/x",
                             "-Wa,-o,/x",
                             "-something-new"})
    EXPECT_FALSE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"-fplugin=/x.so",
                             "-fplugin-arg-x-y",
                             "-fpass-plugin=/x.so",
                             "-specs=/x",
                             "--specs=/x",
                             "-fuse-ld=/x",
                             "--ld-path=/x",
                             "-mllvm=-load=/x.so",
                             "-Xclang=-load",
                             "-Wl,-plugin,/x.so",
                             "-Wl,--plugin=/x.so",
                             "-Wl,@/x",
                             "-Wl,/x.so",
                             "-Wl,-rpath,@/x",
                             "-Wl,-dynamic-linker=/x",
                             "-B",
                             "--gcc-toolchain=/x",
                             "-gcc-toolchain",
                             "--gcc-install-dir=/x",
                             "--config=/x",
                             "-no-canonical-prefixes",
                             "-fmodule-mapper=|x",
                             "-fopt-info-all=/x",
                             "-fprofile-generate=/x",
                             "-fdiagnostics-format=sarif-file",
                             "-fdiagnostics-add-output=sarif:file=/x",
                             "-fcrash-diagnostics-dir=/x",
                             "-ccc-gcc-name",
                             "-iprefix/x",
                             "-T/x",
                             "-nostdinc"})  // load code, or write files
    EXPECT_FALSE(check({.source = "s", .options = {option}})) << option;
  for (const char* option : {"-I", "-include", "-Xlinker", "-mllvm"})  // would take our next argument as their value
    EXPECT_FALSE(check({.source = "s", .options = {option}})) << option;
}

TEST(jit_recipe, refuses_macro_values_that_would_affect_the_next_line) {
  EXPECT_TRUE(check({.source = "s", .definitions = {{"A", "a \\ b"}}}));
  for (const char* value : {"a\\", "\\", "a\nb"})
    EXPECT_FALSE(check({.source = "s", .definitions = {{"A", value}, {"B", "1"}}})) << value;
}

}  // namespace
}  // namespace troupe::jit
