// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <troupe/kernel/engine/cuda/container.hpp>

namespace troupe::kernel {
namespace {

// Returns a cubin of a header, one section header, and a section of four bytes.
std::string cubin(Elf64_Half machine = EM_CUDA, Elf64_Xword flags = SHF_ALLOC | SHF_EXECINSTR) {
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_machine = machine;
  h.e_shoff = sizeof h;
  h.e_shnum = 1;
  h.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr s{};
  s.sh_type = SHT_PROGBITS;
  s.sh_flags = flags;
  s.sh_offset = sizeof h + sizeof s;
  s.sh_size = 4;
  return std::string(reinterpret_cast<const char*>(&h), sizeof h) +
         std::string(reinterpret_cast<const char*>(&s), sizeof s) + "code";
}

TEST(gpu_image_format, is_recognized_by_its_first_bytes) {
  EXPECT_EQ(inspect_image(cubin()).is, container::machine_code);
  EXPECT_EQ(inspect_image(cubin()).wrong, "");
  EXPECT_EQ(inspect_image(cubin() + "\n// behind it\n").wrong, "");
  EXPECT_EQ(inspect_image("//\n.version 8.0\n.target sm_80\n").is, container::ptx);
  EXPECT_EQ(inspect_image(std::string("\x50\xed\x55\xba\1\0\x10\0\4\0\0\0\0\0\0\0code", 20)).is, container::fat);
  EXPECT_EQ(inspect_image(std::string("\x50\xed\x55\xba\1\0\x10\0\4\0\0\0\0\0\0\0code", 20)).wrong, "");
}

TEST(gpu_image_format, is_refused_wherever_it_is_truncated) {
  const std::string whole = cubin(), fat("\x50\xed\x55\xba\1\0\x10\0\4\0\0\0\0\0\0\0code", 20);
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(inspect_image(whole.substr(0, n)).wrong, "") << n;
  for (std::size_t n = 0; n < fat.size(); ++n) EXPECT_NE(inspect_image(fat.substr(0, n)).wrong, "") << n;
}

TEST(gpu_image_format, is_refused_if_it_has_an_unknown_format_or_machine) {
  EXPECT_NE(inspect_image("").wrong, "");
  EXPECT_NE(inspect_image(std::string(1000, 'x')).wrong, "");
  EXPECT_NE(inspect_image(std::string(".version\0more", 13)).wrong, "");
  EXPECT_NE(inspect_image(cubin(EM_X86_64)).wrong.find("another machine (62)"), std::string::npos);
}

TEST(gpu_image_format, counts_as_having_code_unless_inspection_shows_none) {
  EXPECT_TRUE(may_have_code(cubin()));
  EXPECT_FALSE(may_have_code(cubin(EM_CUDA, SHF_ALLOC)));
  EXPECT_TRUE(may_have_code(".version 8.0\n.visible .entry k() {}\n"));
  EXPECT_FALSE(may_have_code(".version 8.0\n.global .u32 x;\n"));
  EXPECT_TRUE(may_have_code(std::string("\x50\xed\x55\xba\1\0\x10\0\4\0\0\0\0\0\0\0code", 20)));
  EXPECT_TRUE(may_have_code("no image"));
}

}  // namespace
}  // namespace troupe::kernel
