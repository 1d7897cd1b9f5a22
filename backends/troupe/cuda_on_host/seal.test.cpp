// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/cuda_on_host/processor.hpp>
#include <troupe/cuda_on_host/seal.hpp>

#include <cstdio>
#include <memory>
#include <set>

namespace troupe::cuda_on_host {
namespace {

result<std::optional<seal>> read(const std::string& bytes) { return read_seal(std::as_bytes(std::span(bytes)), "i"); }

TEST(a_seal, holds_the_required_features_and_marks_the_end_of_the_object) {
  for (const std::string processor : {"", "avx2 fma "}) {
    const std::string image = sealed("the object", processor);
    const auto s = read(image);
    ASSERT_TRUE(s) << s.error().to_string();
    ASSERT_TRUE(*s);
    EXPECT_EQ((*s)->object.size(), std::string("the object").size());
    EXPECT_EQ((*s)->processor, processor);
  }
}

TEST(a_seal, is_not_found_if_its_end_is_missing_but_its_beginning_is) {
  const std::string object = "the object", image = sealed(object, "avx2");
  for (std::size_t size = 0; size < image.size(); ++size) {
    const auto s = read(image.substr(0, size));
    ASSERT_TRUE(s);
    EXPECT_FALSE(*s) << size;
    const std::string rest = image.substr(0, size).substr(std::min(size, object.size()));
    EXPECT_EQ(begins_a_seal(std::as_bytes(std::span(rest))), size >= object.size() + 8) << size;
  }
  EXPECT_FALSE(*read(""));
  EXPECT_FALSE(*read(std::string(1000, 'x')));
}

TEST(a_seal, is_refused_if_any_bit_has_changed) {
  const std::string object = "the object", image = sealed(object, "avx2");
  for (std::size_t bit = 0; bit < 8 * image.size(); ++bit) {
    std::string bad = image;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    const auto s = read(bad);
    if (s) {  // the change was in the end of the seal, so its beginning is intact
      EXPECT_FALSE(*s) << bit;
      EXPECT_TRUE(begins_a_seal(std::as_bytes(std::span(bad)).subspan(object.size()))) << bit;
    } else {
      EXPECT_EQ(s.error().text(), "image 'i' is damaged: its digest does not match its bytes; compile it again");
    }
  }
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::string out;
  char part[4096];
  for (std::size_t n = 0; pipe && (n = std::fread(part, 1, sizeof part, pipe.get())) > 0;) out.append(part, n);
  return out;
}

#if defined(__x86_64__)

// Compares with the macros of features that this machine's compiler defines for this processor but not for the baseline
// x86-64.
TEST(the_features_of_a_processor, include_all_that_the_compiler_enables_for_it) {
  const auto macros = [](const std::string& machine) {
    return output_of("c++ -march=" + machine + " -dM -E -x c++ /dev/null");
  };
  const std::string before = macros("x86-64"), now = macros("native");
  ASSERT_NE(now, "") << "no c++ was found";
  // Macros that are not listed as features: not features; present in all processors of the last fifteen years;
  // controlled by the operating system; implied by others (crc32 by sse4.2).
  const std::set<std::string> others = {"__SHSTK__",   "__LAHF_SAHF__", "__ABM__",     "__CRC32__",
                                        "__INVPCID__", "__EVEX256__",   "__EVEX512__", "__HLE__"};
  for (std::size_t at = now.find("#define __"); at != std::string::npos; at = now.find("#define __", at + 1)) {
    const std::string define = now.substr(at, now.find('\n', at) - at),
                      macro = define.substr(8, define.find(' ', 8) - 8);
    const bool is_feature = define.ends_with("__ 1") && macro == define.substr(8, define.size() - 10) &&
                            before.find("#define " + macro + " ") == std::string::npos && !others.contains(macro) &&
                            macro.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (is_feature) {
      EXPECT_NE(feature_query().find("#ifdef " + macro + "\n"), std::string::npos) << macro;
    }
  }
}

TEST(the_features_of_a_processor, are_extracted_from_the_preprocessors_output) {
  std::string text =
      "before\n# 1 \"../features.h\" 1\n\"troupe: the processor has\"\n\n\"avx2\"\n# 40 \"x\"\n"
      "\"avx512vnni\"\n\n\"troupe: no more\"\nafter\n";
  std::string features;
  EXPECT_TRUE(extract_features(text, features));
  EXPECT_EQ(features, "avx2 avx512vnni ");
  EXPECT_EQ(text, "before\n# 1 \"../features.h\" 1\nafter\n");
  EXPECT_FALSE(extract_features(text, features));
}

TEST(the_features_of_a_processor, exist_on_the_machine_that_the_compiler_calls_native) {
  const std::string question = feature_query();
  std::string text = output_of("echo '" + question + "' | c++ -march=native -E -x c++ -"), features;
  ASSERT_TRUE(extract_features(text, features)) << text;
  EXPECT_NE(features.find("sse4.2 "), std::string::npos) << features;
  EXPECT_EQ(missing_in_processor(features), "");
  EXPECT_EQ(missing_in_processor("avx amx-of-tomorrow avx2"), "amx-of-tomorrow");
}

#endif

}  // namespace
}  // namespace troupe::cuda_on_host
