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

TEST(a_seal, says_what_the_object_needs_of_the_processor_and_where_the_object_ends) {
  for (const std::string processor : {"", "avx2 fma "}) {
    const std::string image = sealed("the object", processor);
    const auto s = read(image);
    ASSERT_TRUE(s) << s.error().to_string();
    ASSERT_TRUE(*s);
    EXPECT_EQ((*s)->object.size(), std::string("the object").size());
    EXPECT_EQ((*s)->processor, processor);
  }
}

TEST(a_seal, is_missed_only_where_its_end_is_gone_and_then_its_beginning_is_known) {
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

TEST(a_seal, is_refused_when_any_bit_has_changed) {
  const std::string object = "the object", image = sealed(object, "avx2");
  for (std::size_t bit = 0; bit < 8 * image.size(); ++bit) {
    std::string bad = image;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    const auto s = read(bad);
    if (s) {  // its last word has changed; then its first has not
      EXPECT_FALSE(*s) << bit;
      EXPECT_TRUE(begins_a_seal(std::as_bytes(std::span(bad)).subspan(object.size()))) << bit;
    } else {
      EXPECT_EQ(s.error().text(), "image 'i' is damaged: its digest is not that of its bytes; make it again");
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

// Every macro that tells of an ability, and that this machine's compiler defines for this processor and not for the
// first of its kind.
TEST(the_abilities_of_a_processor, are_all_that_the_compiler_turns_on_for_it) {
  const auto macros = [](const std::string& machine) {
    return output_of("c++ -march=" + machine + " -dM -E -x c++ /dev/null");
  };
  const std::string before = macros("x86-64"), now = macros("native");
  ASSERT_NE(now, "") << "there is no c++";
  // No abilities; of all processors of the last fifteen years; the system's; or parts of others: crc32 of sse4.2.
  const std::set<std::string> others = {"__SHSTK__",   "__LAHF_SAHF__", "__ABM__",     "__CRC32__",
                                        "__INVPCID__", "__EVEX256__",   "__EVEX512__", "__HLE__"};
  for (std::size_t at = now.find("#define __"); at != std::string::npos; at = now.find("#define __", at + 1)) {
    const std::string define = now.substr(at, now.find('\n', at) - at),
                      macro = define.substr(8, define.find(' ', 8) - 8);
    const bool is_ability = define.ends_with("__ 1") && macro == define.substr(8, define.size() - 10) &&
                            before.find("#define " + macro + " ") == std::string::npos && !others.contains(macro) &&
                            macro.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (is_ability) {
      EXPECT_NE(question_of_abilities().find("#ifdef " + macro + "\n"), std::string::npos) << macro;
    }
  }
}

TEST(the_abilities_of_a_processor, are_taken_out_of_the_text_that_the_preprocessor_has_written) {
  std::string text =
      "before\n# 1 \"../abilities.h\" 1\n\"troupe: the processor has\"\n\n\"avx2\"\n# 40 \"x\"\n"
      "\"avx512vnni\"\n\n\"troupe: no more\"\nafter\n";
  std::string abilities;
  EXPECT_TRUE(take_abilities(text, abilities));
  EXPECT_EQ(abilities, "avx2 avx512vnni ");
  EXPECT_EQ(text, "before\n# 1 \"../abilities.h\" 1\nafter\n");
  EXPECT_FALSE(take_abilities(text, abilities));
}

TEST(the_abilities_of_a_processor, are_there_on_the_machine_that_the_compiler_takes_for_native) {
  const std::string question = question_of_abilities();
  std::string text = output_of("echo '" + question + "' | c++ -march=native -E -x c++ -"), abilities;
  ASSERT_TRUE(take_abilities(text, abilities)) << text;
  EXPECT_NE(abilities.find("sse4.2 "), std::string::npos) << abilities;
  EXPECT_EQ(missing_in_processor(abilities), "");
  EXPECT_EQ(missing_in_processor("avx amx-of-tomorrow avx2"), "amx-of-tomorrow");
}

#endif

}  // namespace
}  // namespace troupe::cuda_on_host
