// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>

namespace troupe::kernel {
namespace {

constexpr std::uint32_t fat_magic = 0xba55ed50, lto_magic = 0x7f4e43ed;
struct fat_header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // size of the entry after this header
};

template <class T>
bool read(std::string_view bytes, std::uint64_t at, T& out) noexcept {
  if (at > bytes.size() || sizeof out > bytes.size() - at) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

bool holds(std::string_view bytes, std::uint64_t at, std::uint64_t count) noexcept {
  return at <= bytes.size() && count <= bytes.size() - at;
}

bool is_whole(std::string_view bytes, const Elf64_Ehdr& h) noexcept {
  if (!holds(bytes, h.e_shoff, std::uint64_t{h.e_shnum} * h.e_shentsize) || h.e_shentsize < sizeof(Elf64_Shdr) ||
      !holds(bytes, h.e_phoff, std::uint64_t{h.e_phnum} * h.e_phentsize))
    return false;
  for (unsigned i = 0; i < h.e_shnum; ++i) {
    Elf64_Shdr s{};
    if (!read(bytes, h.e_shoff + std::uint64_t{i} * h.e_shentsize, s)) return false;
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !holds(bytes, s.sh_offset, s.sh_size)) return false;
  }
  return true;
}

}  // namespace

image_format inspect_image(std::string_view bytes) {
  constexpr const char* cut = "is truncated: its end is missing";
  if (Elf64_Ehdr h{}; bytes.starts_with(ELFMAG)) {
    if (!read(bytes, 0, h)) return {container::machine_code, cut};
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_CUDA)
      return {container::machine_code,
              cat("is an ELF file for another machine (", h.e_machine, "); expected a cubin for a GPU")};
    return {container::machine_code, is_whole(bytes, h) ? "" : cut};
  }
  if (fat_header h{}; read(bytes, 0, h.magic) && h.magic == fat_magic)
    return {container::fat, read(bytes, 0, h) && holds(bytes, h.header_bytes, h.bytes) ? "" : cut};
  if (std::uint32_t magic = 0; read(bytes, 0, magic) && magic == lto_magic)
    return {container::lto_ir, "is LTO IR, which no GPU runs; link it: it may be one of jit::recipe::units"};
  const std::string_view head = bytes.substr(0, 4096);
  if (head.find(".version") != head.npos && bytes.substr(0, bytes.find_last_not_of('\0') + 1).find('\0') == bytes.npos)
    return {container::ptx, ""};
  return {container::none, "is neither machine code for a GPU (cubin, fatbin) nor PTX"};
}

bool may_have_code(std::string_view image) {
  const image_format format = inspect_image(image);
  if (!format.wrong.empty()) return true;
  if (format.is == container::ptx) return image.find(".entry") != image.npos || image.find(".func") != image.npos;
  if (format.is != container::machine_code) return true;
  Elf64_Ehdr h{};
  read(image, 0, h);
  Elf64_Shdr s{};
  for (unsigned i = 0; i < h.e_shnum; ++i)
    if (read(image, h.e_shoff + std::uint64_t{i} * h.e_shentsize, s) && (s.sh_flags & SHF_EXECINSTR) != 0) return true;
  return false;
}

}  // namespace troupe::kernel
