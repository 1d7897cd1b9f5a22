// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <algorithm>
#include <map>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cuda/linker.hpp>
#include <troupe/jit/cuda/symbols.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>

namespace troupe::jit {

// The functions that are loaded: FUNCTION(name of the pointer, name in the library).
#define TROUPE_NVJITLINK_FUNCTIONS(FUNCTION)         \
  FUNCTION(create, nvJitLinkCreate)                  \
  FUNCTION(destroy, nvJitLinkDestroy)                \
  FUNCTION(add, nvJitLinkAddData)                    \
  FUNCTION(complete, nvJitLinkComplete)              \
  FUNCTION(cubin_bytes, nvJitLinkGetLinkedCubinSize) \
  FUNCTION(cubin, nvJitLinkGetLinkedCubin)           \
  FUNCTION(ptx_bytes, nvJitLinkGetLinkedPtxSize)     \
  FUNCTION(ptx, nvJitLinkGetLinkedPtx)               \
  FUNCTION(errors_bytes, nvJitLinkGetErrorLogSize)   \
  FUNCTION(errors, nvJitLinkGetErrorLog)             \
  FUNCTION(remarks_bytes, nvJitLinkGetInfoLogSize)   \
  FUNCTION(remarks, nvJitLinkGetInfoLog)             \
  FUNCTION(version, nvJitLinkVersion)

struct linker::calls {
#define TROUPE_FUNCTION(NAME, SYMBOL) decltype(&::SYMBOL) NAME;
  TROUPE_NVJITLINK_FUNCTIONS(TROUPE_FUNCTION)
#undef TROUPE_FUNCTION
};

namespace {

using kernel::container;

error failure(reaction how, const std::string& text, nvJitLinkResult code = NVJITLINK_SUCCESS) {
  return error(error::details{
      .reaction = how, .domain = "jit", .code = static_cast<std::int64_t>(code), .text = "jit.compile: " + text});
}

error no_library(const std::string& why) {
  return failure(reaction::unsupported,
                 "units and link_time_optimisation need nvJitLink: " + why +
                     "; install libnvJitLink of the CUDA toolkit (Debian packages of NVIDIA: libnvjitlink), or leave "
                     "both");
}

// nvJitLink is searched for in the folder of NVRTC, because both belong to one toolkit.
std::string beside_nvrtc(const std::string& file) {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&::nvrtcVersion), &library) == 0 || library.dli_fname == nullptr)
    return {};
  const std::string path = library.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash + 1) + file;
}

bool is_archive(std::string_view bytes) noexcept { return bytes.starts_with("!<arch>\n"); }

// Returns the type that nvJitLink has for a part. The error says which types are expected.
result<nvJitLinkInputType> type_of(const linker::part& p, bool lto) {
  if (is_archive(p.bytes)) return NVJITLINK_INPUT_LIBRARY;
  const kernel::image_format format = kernel::inspect_image(p.bytes);
  if (format.is == container::lto_ir) {
    if (lto) return NVJITLINK_INPUT_LTOIR;
    return failure(reaction::caller_bug,
                   p.name + " is LTO IR, but link_time_optimisation is false; expected true if a part is LTO IR");
  }
  if (!format.wrong.empty())
    return failure(reaction::caller_bug, p.name + " " + format.wrong +
                                             "; expected LTO IR, PTX, a relocatable cubin, a fatbin, or an archive");
  return format.is == container::machine_code ? NVJITLINK_INPUT_CUBIN
         : format.is == container::fat        ? NVJITLINK_INPUT_FATBIN
                                              : NVJITLINK_INPUT_PTX;
}

// nvJitLink 13.0 crashes if two parts of machine code define the same name.
result<void> check_names(const std::vector<linker::part>& parts) {
  std::map<std::string, const std::string*> defined;
  for (const linker::part& p : parts)
    for (std::string& name : strong_symbols(p.bytes))
      if (const auto [at, first] = defined.emplace(std::move(name), &p.name); !first && at->second != &p.name)
        return failure(reaction::caller_bug, at->first + " is defined in " + *at->second + " and in " + p.name +
                                                 "; expected one definition, or static functions");
  return {};
}

// Returns the first line that reports an error. Lines that only name a place in the linker's code are returned if there
// are no others.
std::string first_complaint(std::string_view errors) {
  std::string_view line = errors.substr(0, errors.find('\n'));
  for (std::string_view left = errors; !left.empty();
       left.remove_prefix(std::min(left.find('\n'), left.size() - 1) + 1))
    if (const std::string_view l = left.substr(0, left.find('\n')); !l.empty() && !l.starts_with("ERROR ")) {
      line = l;
      break;
    }
  for (const std::string_view word : {"error   : ", "ptxas fatal   : "})
    if (line.starts_with(word)) line.remove_prefix(word.size());
  return std::string(line);
}

}  // namespace

result<std::shared_ptr<const linker::calls>> linker::load() {
  const std::scoped_lock guard(lock_);
  if (loaded_ != nullptr) return loaded_;
  const std::string file = "libnvJitLink.so." + nvrtc_version_.substr(0, nvrtc_version_.find('.'));
  library_functions library({file, beside_nvrtc(file)});
  const auto made = std::make_shared<calls>();  // nvJitLink's functions; the library stays loaded
#define TROUPE_FIND(NAME, SYMBOL) library.find(made->NAME, #SYMBOL);
  TROUPE_NVJITLINK_FUNCTIONS(TROUPE_FIND)
#undef TROUPE_FIND
  if (!library.missing().empty()) return no_library(library.missing());
  unsigned major = 0, minor = 0;
  (void)made->version(&major, &minor);
  version_ = cat("nvJitLink ", major, ".", minor);
  identity_ = version_;
  if (Dl_info at{}; ::dladdr(reinterpret_cast<const void*>(made->version), &at) != 0 && at.dli_fname != nullptr)
    if (const auto s = plan::stamp_without_content(at.dli_fname))
      identity_ += cat(" ", s->path, " ", s->bytes, " ", s->changed_ns);
  loaded_ = made;
  return loaded_;
}

result<std::string> linker::identity() {
  TROUPE_TRY(load());
  return identity_;
}

std::string linker::description() {
  const auto loaded = load();
  return loaded ? version_ : "none: " + loaded.error().text();
}

result<std::string> linker::link(const order& o, const std::string& name, std::string& log) {
  const auto loaded = TROUPE_TRY(load());
  const calls& call = *loaded;
  std::vector<nvJitLinkInputType> types;
  for (const part& p : o.parts) {
    const auto type = TROUPE_TRY(type_of(p, o.lto));
    types.push_back(type);
  }
  TROUPE_TRY(check_names(o.parts));

  std::vector<const char*> options;
  for (const std::string& option : o.options) options.push_back(option.c_str());
  if (o.lto) options.push_back("-lto");
  if (o.ptx) options.push_back("-ptx");
  struct closer {
    const calls& call;
    nvJitLinkHandle handle = nullptr;
    ~closer() {
      if (handle != nullptr) (void)call.destroy(&handle);
    }
  } linking{call};
  // If an option is unknown, nvJitLink returns a handle, too, whose log names the option.
  nvJitLinkResult r = call.create(&linking.handle, static_cast<std::uint32_t>(options.size()), options.data());
  const part* guilty = nullptr;
  for (std::size_t i = 0; i < o.parts.size() && r == NVJITLINK_SUCCESS; ++i) {
    const part& p = o.parts[i];
    const bool text = types[i] == NVJITLINK_INPUT_PTX;
    const std::string ended(text ? p.bytes : std::string_view());  // PTX must end with a zero byte
    r = call.add(linking.handle, types[i], text ? ended.c_str() : p.bytes.data(), p.bytes.size() + (text ? 1 : 0),
                 p.name.c_str());
    if (r != NVJITLINK_SUCCESS) guilty = &p;
  }
  if (r == NVJITLINK_SUCCESS) r = call.complete(linking.handle);

  const auto text = [&](auto bytes_of, auto get) {
    std::size_t bytes = 0;
    std::string out;
    if (linking.handle == nullptr || bytes_of(linking.handle, &bytes) != NVJITLINK_SUCCESS || bytes <= 1) return out;
    out.resize(bytes);
    if (get(linking.handle, out.data()) != NVJITLINK_SUCCESS) return std::string();
    out.resize(std::min(out.find('\0'), out.size()));
    if (!out.ends_with('\n')) out += '\n';
    return out;
  };
  const std::string errors = text(call.errors_bytes, call.errors);
  log += errors + text(call.remarks_bytes, call.remarks);
  if (r != NVJITLINK_SUCCESS) {
    const bool ours = r == NVJITLINK_ERROR_UNRECOGNIZED_OPTION || r == NVJITLINK_ERROR_UNSUPPORTED_ARCH ||
                      r == NVJITLINK_ERROR_UNRECOGNIZED_ARCH || r == NVJITLINK_ERROR_OUTDATED_LIBRARY;
    const std::string complaint = first_complaint(errors);
    const bool code =
        guilty != nullptr && types[static_cast<std::size_t>(guilty - o.parts.data())] == NVJITLINK_INPUT_CUBIN;
    return failure(ours ? reaction::unsupported : reaction::caller_bug,
                   name + " does not link: " + (guilty != nullptr ? guilty->name + ": " : "") +
                       (complaint.empty() ? cat("nvJitLink ended with code ", static_cast<int>(r)) : complaint) +
                       (code ? "; expected relocatable machine code for the architecture of the whole program" : ""),
                   r);
  }
  std::size_t bytes = 0;
  r = o.ptx ? call.ptx_bytes(linking.handle, &bytes) : call.cubin_bytes(linking.handle, &bytes);
  std::string image(bytes, '\0');
  if (r == NVJITLINK_SUCCESS && bytes != 0)
    r = o.ptx ? call.ptx(linking.handle, image.data()) : call.cubin(linking.handle, image.data());
  if (r != NVJITLINK_SUCCESS || bytes == 0)
    return failure(reaction::fatal, name + ": nvJitLink reported success but returned no code", r);
  if (o.ptx) image.resize(image.find_last_not_of('\0') + 1);
  return image;
}

}  // namespace troupe::jit
