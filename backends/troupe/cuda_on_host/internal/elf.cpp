// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <troupe/cuda_on_host/image.h>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/internal/elf.hpp>

#include <algorithm>
#include <cstring>

namespace troupe::cuda_on_host {

namespace {

#if defined(__x86_64__)
constexpr std::uint16_t this_machine = EM_X86_64;
constexpr std::uint64_t relative = R_X86_64_RELATIVE, absolute = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint16_t this_machine = EM_AARCH64;
constexpr std::uint64_t relative = R_AARCH64_RELATIVE, absolute = R_AARCH64_ABS64;
#else
#error "this machine is not supported: add its number in ELF headers (EM_...)"
#endif

constexpr std::uint64_t most_processor_bytes = 4096;

class reader {
 public:
  reader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  result<elf_facts> read() {
    Elf64_Ehdr header;
    if (bytes_.size() < EI_NIDENT || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
      return refuse(reaction::caller_bug, "is not an ELF object; expected a shared object made for the host engine");
    const auto* ident = reinterpret_cast<const unsigned char*>(bytes_.data());
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
      return refuse(reaction::unsupported, "is an ELF object of another kind; expected 64 bits and little endian");
    if (!at(0, header)) return truncated(sizeof header);
    if (header.e_machine != this_machine)
      return refuse(reaction::unsupported, cat("is for ELF machine ", header.e_machine, "; expected ", this_machine,
                                               ", this one: compile it here"));
    if (header.e_type != ET_DYN)
      return refuse(reaction::caller_bug,
                    cat("is an ELF object of type ", header.e_type, "; expected a shared object (", ET_DYN, ")"));
    if (header.e_phentsize != sizeof(Elf64_Phdr) || (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
      return refuse(reaction::caller_bug, "has headers of unexpected size; expected those of ELF-64");
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr p;
      if (!at(header.e_phoff + i * sizeof p, p)) return truncated(header.e_phoff + (i + 1) * sizeof p);
      if (p.p_type == PT_LOAD && !inside(p.p_offset, p.p_filesz)) return truncated(p.p_offset + p.p_filesz);
      if (p.p_type == PT_LOAD) segments_.push_back(p);
    }
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr s;
      if (!at(header.e_shoff + i * sizeof s, s)) return truncated(header.e_shoff + (i + 1) * sizeof s);
      if (s.sh_type != SHT_NOBITS && !inside(s.sh_offset, s.sh_size)) return truncated(s.sh_offset + s.sh_size);
      sections_.push_back(s);
    }
    for (const Elf64_Shdr& s : sections_)
      if ((s.sh_type == SHT_DYNSYM || s.sh_type == SHT_SYMTAB) && s.sh_link < sections_.size())
        read_symbols(s, sections_[s.sh_link]);
    if (facts_.table) read_processor();
    return std::move(facts_);
  }

 private:
  bool inside(std::uint64_t offset, std::uint64_t size) noexcept {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return false;
    facts_.end = std::max(facts_.end, offset + size);
    return true;
  }
  template <class T>
  bool at(std::uint64_t offset, T& out) noexcept {
    if (!inside(offset, sizeof out)) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return true;
  }
  error refuse(reaction r, const std::string& what) const {
    return error(r, "kernel", "image '" + name_ + "' " + what);
  }
  error truncated(std::uint64_t need) const {
    return refuse(reaction::caller_bug,
                  cat("is truncated: it has ", bytes_.size(), " bytes, but its headers describe ", need));
  }

  void read_symbols(const Elf64_Shdr& symbols, const Elf64_Shdr& strings) {
    if (strings.sh_type != SHT_STRTAB) return;
    const auto* text = reinterpret_cast<const char*>(bytes_.data() + strings.sh_offset);
    for (std::uint64_t i = 0; i + 1 <= symbols.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym s;
      if (!at(symbols.sh_offset + i * sizeof s, s) || s.st_name >= strings.sh_size || s.st_shndx == SHN_UNDEF) continue;
      const std::string_view name(text + s.st_name, ::strnlen(text + s.st_name, strings.sh_size - s.st_name));
      const unsigned type = ELF64_ST_TYPE(s.st_info);
      if (symbols.sh_type == SHT_DYNSYM && name == "troupe_host_image_table") {
        facts_.table = content(s.st_value, s.st_size);
        table_address_ = s.st_value;
      }
      if (symbols.sh_type != SHT_SYMTAB) continue;
      if (type == STT_FUNC) facts_.functions.push_back({name, s.st_value, s.st_size});
      if (type == STT_TLS) facts_.thread_locals.push_back({name, s.st_value, s.st_size});
    }
  }

  // Returns the file's content for an address range. The result is shorter than `size` if part of the range is not in
  // the file.
  std::span<const std::byte> content(std::uint64_t address, std::uint64_t size) const noexcept {
    for (const Elf64_Phdr& p : segments_)
      if (address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz) {
        const std::uint64_t into = address - p.p_vaddr;
        return bytes_.subspan(p.p_offset + into, std::min<std::uint64_t>(size, p.p_filesz - into));
      }
    return {};
  }

  // Finds the text through the relocations, because only the dynamic linker stores its address in the table.
  void read_processor() {
    const std::uint64_t pointer = table_address_ + offsetof(troupe_host_image, processor);
    std::uint64_t address = 0;
    if (const auto target = content(pointer, sizeof address); target.size() == sizeof address)
      std::memcpy(&address, target.data(), sizeof address);
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_RELA && s.sh_link < sections_.size()) {
        for (std::uint64_t i = 0; i < s.sh_size / sizeof(Elf64_Rela); ++i) {
          Elf64_Rela r;
          if (!at(s.sh_offset + i * sizeof r, r)) break;  // the size is damaged: no more entries follow
          if (r.r_offset != pointer) continue;
          const std::uint64_t type = ELF64_R_TYPE(r.r_info), addend = static_cast<std::uint64_t>(r.r_addend);
          Elf64_Sym symbol{};
          if (type != relative &&
              (type != absolute || !at(sections_[s.sh_link].sh_offset + ELF64_R_SYM(r.r_info) * sizeof symbol, symbol)))
            return;
          address = symbol.st_value + addend;
        }
      }
    if (address == 0) return;
    const auto text = content(address, most_processor_bytes);
    if (text.empty()) return;
    const auto* first = reinterpret_cast<const char*>(text.data());
    const std::size_t length = ::strnlen(first, text.size());
    if (length < text.size()) facts_.processor = std::string_view(first, length);
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t table_address_ = 0;
  elf_facts facts_;
};

// Returns true if a variable's mangled name marks it as local to the function: _ZZ <function> E <variable>, with more Z
// in front if the variable is in a lambda of the function.
bool is_local_to(std::string_view variable, std::string_view function) {
  if (!variable.starts_with("_ZZ")) return false;
  variable.remove_prefix(2);
  while (variable.starts_with('Z')) variable.remove_prefix(1);
  const std::string encoding =
      (function.starts_with("_Z") ? std::string(function.substr(2)) : cat(function.size(), function)) + "E";
  return variable.starts_with(encoding);
}

}  // namespace

result<elf_facts> read_elf(std::span<const std::byte> bytes, const std::string& name) {
  return reader(bytes, name).read();
}

std::vector<std::uint64_t> shared_bytes_of(const elf_facts& facts, std::span<const std::uint64_t> functions) {
  std::vector<std::string_view> names(functions.size());
  for (const elf_facts::symbol& f : facts.functions)
    for (std::size_t i = 0; i < functions.size(); ++i)
      if (f.address == functions[i]) names[i] = f.name;
  std::vector<std::uint64_t> bytes(functions.size());
  for (const elf_facts::symbol& v : facts.thread_locals) {
    if (v.name.find("troupe_cuda") != std::string_view::npos && !v.name.starts_with("_ZZ")) continue;  // the prelude's
    bool found = false;
    for (std::size_t i = 0; i < names.size() && !found; ++i)
      if (!names[i].empty() && is_local_to(v.name, names[i])) {
        bytes[i] += v.bytes;
        found = true;
      }
    if (!found)
      for (std::uint64_t& b : bytes) b += v.bytes;
  }
  return bytes;
}

}  // namespace troupe::cuda_on_host
