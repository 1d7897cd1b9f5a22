// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <troupe/jit/cuda/symbols.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>

namespace troupe::jit {
namespace {

template <class T>
bool read(std::string_view bytes, std::uint64_t at, T& out) noexcept {
  if (at > bytes.size() || sizeof out > bytes.size() - at) return false;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return true;
}

// Returns the section's bytes. Precondition: inspect_image has checked that they exist.
std::string_view section(std::string_view bytes, const Elf64_Shdr& s) noexcept {
  return s.sh_offset > bytes.size() ? std::string_view() : bytes.substr(s.sh_offset, s.sh_size);
}

std::vector<std::string> symbols_of_elf(std::string_view bytes) {
  std::vector<std::string> out;
  Elf64_Ehdr h{};
  if (!read(bytes, 0, h)) return out;
  const auto header = [&](std::uint32_t i, Elf64_Shdr& s) {
    return i < h.e_shnum && read(bytes, h.e_shoff + std::uint64_t{i} * h.e_shentsize, s);
  };
  Elf64_Shdr table{}, names{};
  for (std::uint32_t i = 0; i < h.e_shnum; ++i) {
    if (!header(i, table) || table.sh_type != SHT_SYMTAB || !header(table.sh_link, names)) continue;
    const std::string_view symbols = section(bytes, table), texts = section(bytes, names);
    Elf64_Sym s{};
    for (std::uint64_t at = 0; read(symbols, at, s); at += sizeof s) {
      if (ELF64_ST_BIND(s.st_info) != STB_GLOBAL || s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE) continue;
      if (s.st_name >= texts.size()) continue;
      const std::string_view rest = texts.substr(s.st_name);
      if (const std::string_view name = rest.substr(0, rest.find('\0')); !name.empty()) out.emplace_back(name);
    }
  }
  return out;
}

constexpr std::string_view blanks = " \t\r\n";

bool in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

// Returns the name that is declared after ".visible". Directives, an alignment and a bracketed return parameter may
// precede it.
std::string_view declared_name(std::string_view text) {
  while (true) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    text.remove_prefix(first);
    if (text.front() == '(') {
      text.remove_prefix(std::min(text.find(')'), text.size() - 1) + 1);
      continue;
    }
    const bool directive = text.front() == '.', number = text.front() >= '0' && text.front() <= '9';
    if (directive) text.remove_prefix(1);
    std::size_t n = 0;
    while (n < text.size() && in_name(text[n])) ++n;
    if (n == 0) return {};
    if (!directive && !number) return text.substr(0, n);
    text.remove_prefix(n);
  }
}

std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min({text.find("//"), text.find("/*"), text.size()});
    out.append(text.substr(0, at)).append(" ");
    text.remove_prefix(at);
    if (text.empty()) break;
    const bool line = text[1] == '/';
    const std::size_t end = text.find(line ? "\n" : "*/", 2);
    text.remove_prefix(end == text.npos ? text.size() : end + (line ? 1 : 2));
  }
  return out;
}

std::vector<std::string> symbols_of_ptx(std::string_view all) {
  constexpr std::string_view visible = ".visible";
  const std::string text = without_comments(all);
  std::vector<std::string> out;
  for (std::size_t at = text.find(visible); at != text.npos; at = text.find(visible, at)) {
    at += visible.size();
    if (const std::string_view name = declared_name(std::string_view(text).substr(at)); !name.empty())
      out.emplace_back(name);
  }
  return out;
}

// A fatbin is a header followed by entries, one for each image. An entry begins with these fields.
struct fat_entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // size of the image
};
constexpr std::uint64_t fat_header_bytes = 16;

std::vector<std::string_view> images_in_fatbin(std::string_view bytes) {
  std::vector<std::string_view> out;
  fat_entry e{};
  for (std::uint64_t at = fat_header_bytes; read(bytes, at, e) && e.header_bytes >= sizeof e;) {
    const std::string_view rest = bytes.substr(std::min<std::uint64_t>(at + e.header_bytes, bytes.size()));
    if (e.bytes > rest.size()) break;
    out.push_back(rest.substr(0, e.bytes));
    at += e.header_bytes + e.bytes;
  }
  return out;
}

std::vector<std::string> symbols_of(std::string_view image, const kernel::image_format& format) {
  if (!format.wrong.empty()) return {};
  if (format.is == kernel::container::machine_code) return symbols_of_elf(image);
  return format.is == kernel::container::ptx ? symbols_of_ptx(image) : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> strong_symbols(std::string_view image) {
  const kernel::image_format format = kernel::inspect_image(image);
  if (format.is != kernel::container::fat || !format.wrong.empty()) return symbols_of(image, format);
  std::vector<std::string> out;
  for (const std::string_view one : images_in_fatbin(image))
    for (std::string& name : symbols_of(one, kernel::inspect_image(one))) out.push_back(std::move(name));
  return out;
}

}  // namespace troupe::jit
