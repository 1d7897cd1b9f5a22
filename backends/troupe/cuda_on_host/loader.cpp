// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>
#include <unistd.h>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda_on_host/internal/elf.hpp>
#include <troupe/cuda_on_host/internal/fiber_stacks.hpp>
#include <troupe/cuda_on_host/launcher.hpp>
#include <troupe/cuda_on_host/loader.hpp>
#include <troupe/cuda_on_host/processor.hpp>
#include <troupe/cuda_on_host/seal.hpp>
#include <troupe/kernel/find_named.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace troupe::cuda_on_host {

static_assert(TROUPE_HOST_F16 == static_cast<int>(dtype::f16) && TROUPE_HOST_BF16 == static_cast<int>(dtype::bf16) &&
              TROUPE_HOST_F8E4M3 == static_cast<int>(dtype::f8e4m3) &&
              TROUPE_HOST_F8E5M2 == static_cast<int>(dtype::f8e5m2) &&
              TROUPE_HOST_F32 == static_cast<int>(dtype::f32) && TROUPE_HOST_C64 == static_cast<int>(dtype::c64) &&
              TROUPE_HOST_I8 == static_cast<int>(dtype::i8) && TROUPE_HOST_BOOL == static_cast<int>(dtype::boolean));

namespace {

struct library_traits {
  using type = void*;
  static constexpr type null = nullptr;
  static void close(void* handle) noexcept { ::dlclose(handle); }
};
using library = unique_handle<library_traits>;

error refuse(reaction r, const std::string& name, const std::string& what) {
  return error(r, "kernel", "image '" + name + "' " + what);
}

// Checks the table as it is stored in the file, before any code of the image runs.
result<void> check_table(const elf_facts& facts, const std::string& name) {
  if (!facts.table)
    return refuse(
        reaction::caller_bug, name,
        "exports no troupe_host_image_table; expected a shared object made for the host engine (see image.h)");
  troupe_host_image table{};
  if (!facts.table->empty()) std::memcpy(&table, facts.table->data(), std::min(sizeof table, facts.table->size()));
  if (table.magic != TROUPE_HOST_IMAGE_MAGIC)
    return refuse(reaction::caller_bug, name,
                  "has a troupe_host_image_table that does not begin with its magic number");
  if (table.version != TROUPE_HOST_IMAGE_VERSION || table.bytes != sizeof table)
    return refuse(reaction::unsupported, name,
                  cat("is of version ", table.version, " (", table.bytes, " bytes); expected version ",
                      TROUPE_HOST_IMAGE_VERSION, " (", sizeof table, " bytes): compile it again"));
  return {};
}

result<void> check_processor(std::string_view features, const std::string& name) {
  const std::string missing = missing_in_processor(features);
  if (missing.empty()) return {};
  return refuse(reaction::unsupported, name,
                "was compiled for a processor with " + missing + ", which this one lacks: compile it here");
}

// Returns a path that leads to the descriptor and that was never used before. The dynamic linker takes a path that it
// knows for the library it has loaded from there, and the system reuses descriptor numbers, even of libraries that
// could not be unloaded.
std::string path_of(int fd) {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  std::string path = "/proc/self/fd";
  for (int bit = 0; bit < 64; ++bit) path += (number >> bit & 1) != 0 ? "//" : "/.";
  return cat(path, "/", fd);
}

// Rewords an error of the dynamic linker: removes the path, which means nothing to the user, and demangles names.
std::string why_not_opened(std::string said, const std::string& path) {
  for (const std::string& prefix : {path + ": ", std::string("undefined symbol: ")}) {
    if (!said.starts_with(prefix)) continue;
    said.erase(0, prefix.size());
    if (!prefix.starts_with("undefined")) continue;
    const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(said.c_str(), nullptr, nullptr, nullptr),
                                                       std::free);
    said = "it uses " + std::string(plain ? plain.get() : said.c_str()) +
           ", which neither it nor a library that it names defines; link what defines it into the image";
  }
  return said;
}

// Opens the image from a file in memory, because dlopen needs a file.
result<library> open_library(std::span<const std::byte> bytes, const std::string& name) {
  const file_descriptor fd = create_in_memory(name.substr(0, 200).c_str());
  if (!fd) return error_of_errno("kernel", "memfd_create for image '" + name + "'");
  if (!write_all(fd.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    const int code = errno;
    return error_of_errno("kernel", cat("write of image '", name, "'", hint_of_size_limit(code)), code);
  }
  const std::string path = path_of(fd.get());
  library handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) {
    const char* why = ::dlerror();
    return refuse(reaction::caller_bug, name,
                  "cannot be loaded: " + (why ? why_not_opened(why, path) : "dlopen gives no reason"));
  }
  return handle;
}

dtype known(std::uint32_t code) noexcept {
  const auto t = static_cast<dtype>(code);
  return code < 256 && is_known(t) ? t : dtype{};
}

}  // namespace

struct loaded_image::content {
  library handle;
  std::vector<loaded_kernel> kernels;
  std::vector<loaded_global> globals;
};

loaded_image::loaded_image(std::shared_ptr<const content> c) noexcept : content_(std::move(c)) {}
const std::vector<loaded_kernel>& loaded_image::kernels() const noexcept { return content_->kernels; }
const std::vector<loaded_global>& loaded_image::globals() const noexcept { return content_->globals; }

namespace {

result<loaded_kernel> read_kernel(const troupe_host_kernel& k, std::uint64_t shared_bytes, const std::string& image) {
  if (!k.name || !k.run || k.how > TROUPE_HOST_NEVER || (k.parameter_count != 0 && !k.parameters))
    return refuse(reaction::caller_bug, image,
                  std::string("has a kernel '") + (k.name ? k.name : "") +
                      "' whose entry is incomplete; expected a name, a function, parameters and a known way to run");
  loaded_kernel out{.name = k.name, .parameters = {}, .attributes = {}, .run = k.run};
  for (const troupe_host_parameter& p : std::span(k.parameters, k.parameter_count)) {
    if (p.kind > TROUPE_HOST_POINTER)
      return refuse(reaction::caller_bug, image,
                    cat("has a kernel ", out.name, " whose parameter ", out.parameters.size(), " is of kind ", p.kind,
                        "; expected a value (0) or a pointer (1, 2)"));
    out.parameters.push_back({.type = p.type ? p.type : "",
                              .passing = static_cast<kernel::passing>(p.kind),
                              .element = known(p.dtype),
                              .bytes = p.bytes,
                              .alignment = p.alignment});
  }
  out.attributes.how = static_cast<execution>(k.how);
  out.attributes.max_threads = k.max_threads;
  out.attributes.static_shared_bytes = static_cast<std::uint32_t>(k.shared_bytes + shared_bytes);
  out.attributes.stack_bytes = k.how == TROUPE_HOST_FIBERS ? fiber_stacks::bytes_each : 0;
  if (k.reason) out.attributes.reason = k.reason;
  if (k.shared_bytes + shared_bytes > launch_limits::shared_bytes)
    return refuse(reaction::caller_bug, image,
                  cat("has a kernel ", out.name, " with ", k.shared_bytes + shared_bytes,
                      " bytes of static shared memory; expected at most ", launch_limits::shared_bytes));
  return out;
}

result<loaded_global> read_global(const troupe_host_global& g, const std::string& image) {
  if (!g.name || !g.address)
    return refuse(reaction::caller_bug, image,
                  std::string("has a global '") + (g.name ? g.name : "") +
                      "' whose entry is incomplete; expected a name and an address");
  return loaded_global{
      .name = g.name, .address = g.address, .bytes = g.bytes, .constant = g.constant != 0, .type = known(g.dtype)};
}

}  // namespace

result<loaded_image> loaded_image::load(std::span<const std::byte> bytes, const std::string& name) {
  const auto seal = TROUPE_TRY(read_seal(bytes, name));
  if (seal) bytes = seal->object;
  auto facts = TROUPE_TRY(read_elf(bytes, name));
  if (!seal && begins_a_seal(bytes.subspan(facts.end)))
    return refuse(reaction::caller_bug, name, "is damaged: the end of its seal is missing; compile it again");
  TROUPE_TRY(check_table(facts, name));
  if (seal) TROUPE_TRY(check_processor(seal->processor, name));
  TROUPE_TRY(check_processor(facts.processor.value_or(""), name));
  auto handle = open_library(bytes, name);
  if (!handle) return handle.error();
  const auto* table = static_cast<const troupe_host_image*>(::dlsym(handle->get(), "troupe_host_image_table"));
  if (!table)
    return refuse(reaction::caller_bug, name, "has a hidden troupe_host_image_table; expected default visibility");
  TROUPE_TRY(check_processor(table->processor ? table->processor : "", name));
  if ((table->kernel_count != 0 && !table->kernels) || (table->global_count != 0 && !table->globals))
    return refuse(reaction::caller_bug, name, "has a table that counts kernels or globals but does not point to them");

  link_map* map = nullptr;
  if (::dlinfo(handle->get(), RTLD_DI_LINKMAP, &map) != 0)
    return refuse(reaction::fatal, name, std::string("cannot be located in memory: ") + ::dlerror());
  const std::span kernels(table->kernels, table->kernel_count);
  std::vector<std::uint64_t> bodies;
  for (const troupe_host_kernel& k : kernels)
    bodies.push_back(k.body ? reinterpret_cast<std::uint64_t>(k.body) - map->l_addr : 0);
  const std::vector<std::uint64_t> shared = shared_bytes_of(facts, bodies);

  auto c = std::make_shared<content>();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto k = TROUPE_TRY(read_kernel(kernels[i], kernels[i].body ? shared[i] : 0, name));
    c->kernels.push_back(std::move(k));
  }
  for (const troupe_host_global& g : std::span(table->globals, table->global_count)) {
    auto one = TROUPE_TRY(read_global(g, name));
    c->globals.push_back(std::move(one));
  }
  c->handle = std::move(*handle);
  return loaded_image(std::move(c));
}

const loaded_kernel* loaded_image::find_kernel(std::string_view name) const noexcept {
  return kernel::find_named(kernels(), name);
}
const loaded_global* loaded_image::find_global(std::string_view name) const noexcept {
  return kernel::find_named(globals(), name);
}

}  // namespace troupe::cuda_on_host
