// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <troupe/jit/cache/includes.hpp>

namespace troupe::jit {
namespace {

class jit_includes : public testing::Test {
 protected:
  jit_includes() { std::filesystem::create_directories(folder_ + "/a/deep"); }
  ~jit_includes() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  // Returns, for example, "a/x.h file, b/x.h nothing", sorted by path.
  std::string files_read(const std::string& source, named_texts headers = {}) const {
    const read_files f = files_a_compile_may_read(
        {.source = source, .headers = headers, .include_paths = {folder_ + "/b", folder_ + "/a"}});
    if (!f.why_unknown.empty()) return f.why_unknown;
    std::vector<std::string> all;
    for (const plan::stamp& s : f.made_from)
      all.push_back(s.path.substr(folder_.size() + 1) + (s.is == plan::stamp::kind::file ? " file" : " nothing"));
    std::sort(all.begin(), all.end());
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : ", ") + one;
    return out;
  }
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("troupe-includes-" + std::to_string(::getpid()))).string();
};

TEST_F(jit_includes, are_found_recursively_and_in_all_places_searched_before) {
  write("a/x.h", "#pragma once\n#  include \"deep/y.h\"\n");
  write("a/deep/y.h", "#include <x.h>\n#include \"z.h\"\n");
  EXPECT_EQ(files_read("#if 0\n#include <x.h>\n#endif\n"),
            "a/deep/y.h file, a/deep/z.h nothing, a/x.h file, a/z.h nothing, b/deep/y.h nothing, b/x.h nothing, b/z.h "
            "nothing");
  EXPECT_EQ(files_read("", {{"h.h", "#if __has_include(<x.h>)\n#endif\n"}}).substr(0, 15), "a/deep/y.h file");
  EXPECT_EQ(files_read("int includes; // to include \"x.h\"\n"), "");
}

TEST_F(jit_includes, are_found_in_every_spelling) {
  write("a/x.h", "");
  for (const char* spelling :
       {"%:include <x.h>\n", "?\?=include <x.h>\n", "#\f\vinclude\t<x.h>\n", "#in\\\nclude <x.h>\n",
        "# \\\r\ninclude \\\n<x.h>\n", "#if __has_in\\\nclude(<x.h>)\n#endif\n"})
    EXPECT_EQ(files_read(spelling), "a/x.h file, b/x.h nothing") << spelling;
  for (const char* none :
       {"#ifdef __has_include\n", "#if defined(__has_include)\n", "#if defined __has_include \\\n && 1\n",
        "// there is __has_include\n", "const char* path = \"C:\\include\";\n"})
    EXPECT_EQ(files_read(none), "") << none;
}

TEST_F(jit_includes, includes_that_only_the_compiler_can_resolve_are_unknown) {
  for (const char* hidden :
       {"# /* why */ include \"x.h\"\n", "/* a */ # /* b /* c\n*/ include \"x.h\"\n", "%: /**/include \"x.h\"\n"})
    EXPECT_EQ(files_read(hidden), "it is unknown which files an include after a comment reads") << hidden;
  for (const char* hidden :
       {"#define H __has_include\n#if H(\"x.h\")\n", "#if __has_include /**/ (\"x.h\")\n", "#if CALL(__has_include)\n"})
    EXPECT_EQ(files_read(hidden), "it is unknown which files a macro with __has_include reads") << hidden;
  EXPECT_EQ(files_read("#include /**/ \"x.h\"\n"), "it is unknown which files #include /**/ \"x.h\" reads");
  EXPECT_EQ(files_read("#define H <x.h>\n#include H\n"), "it is unknown which files #include H reads");
  write("a/x.h", "const char* built = __DATE__;\n");
  EXPECT_EQ(files_read("#include <x.h>\n"), "it is unknown which files a header that mentions the time reads");
}

}  // namespace
}  // namespace troupe::jit
