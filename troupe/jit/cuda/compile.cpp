// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <nvrtc.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <tuple>

#include <troupe/base/clock.hpp>
#include <troupe/base/unique_handle.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/includes.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>
#include <troupe/kernel/internal/bytes.hpp>

// Not in every NVRTC that this runs with.
extern "C" nvrtcResult nvrtcSetFlowCallback(nvrtcProgram, int (*)(void*, void*), void*) __attribute__((weak));

namespace troupe::jit {
namespace {

// A folder that is not there: what the source includes is not to be found where the worker happens to be.
constexpr std::string_view nowhere = "/troupe-source/";

struct program_traits {
  using type = nvrtcProgram;
  static constexpr type null = nullptr;
  static void close(type p) noexcept { (void)::nvrtcDestroyProgram(&p); }
};

error failure(reaction how, const std::string& text, nvrtcResult code = NVRTC_SUCCESS) {
  return error(error::details{
      .reaction = how, .domain = "jit", .code = static_cast<std::int64_t>(code), .text = "jit.compile: " + text});
}

error call_failed(const char* call, nvrtcResult r) {
  const bool memory = r == NVRTC_ERROR_OUT_OF_MEMORY;
  return failure(memory ? reaction::retry_later : reaction::fatal, std::string(call) + ": " + ::nvrtcGetErrorString(r),
                 r);
}

std::int64_t wall_clock_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

// One compile, and what it has said so far.
class job {
 public:
  job(const nvrtc& with, const std::string& architecture, const recipe& r, std::int64_t deadline_ns)
      : with_(with), target_{architecture}, recipe_(r), deadline_ns_(deadline_ns) {}

  compiled run() {
    const std::int64_t begin = wall_clock_ns();
    if (auto fine = make(); !fine)
      out_.failed = fine.error();
    else if (auto done = compile(); !done)
      out_.failed = done.error();
    else
      note_inputs(begin);
    return std::move(out_);
  }

 private:
  result<void> make() {
    std::vector<const char*> names, texts;
    for (const auto& [name, text] : recipe_.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    const std::string name = std::string(nowhere) + recipe_.name;
    nvrtcProgram made = nullptr;
    if (const nvrtcResult r = ::nvrtcCreateProgram(&made, recipe_.source.c_str(), name.c_str(),
                                                   static_cast<int>(names.size()), texts.data(), names.data());
        r != NVRTC_SUCCESS)
      return call_failed("nvrtcCreateProgram", r);
    program_.reset(made);
    for (const std::string& name : recipe_.kernels)
      if (const nvrtcResult r = ::nvrtcAddNameExpression(made, name.c_str()); r != NVRTC_SUCCESS)
        return call_failed("nvrtcAddNameExpression", r);
    for (const std::string& name : recipe_.globals)
      if (const nvrtcResult r = ::nvrtcAddNameExpression(made, ("&" + name).c_str()); r != NVRTC_SUCCESS)
        return call_failed("nvrtcAddNameExpression", r);
    return {};
  }

  std::vector<std::string> options() const {
    std::vector<std::string> all{"--gpu-architecture=" + target_.architecture,
                                 "--std=c++" + std::to_string(recipe_.standard),
                                 std::string("--fmad=") + (recipe_.fuse_multiply_add ? "true" : "false")};
    if (recipe_.fast_math) all.emplace_back("--use_fast_math");
    if (recipe_.fast_math && !recipe_.fuse_multiply_add) all.emplace_back("--fmad=false");
    if (recipe_.flush_to_zero) all.emplace_back("--ftz=true");
    if (recipe_.max_registers != 0) all.push_back("--maxrregcount=" + std::to_string(recipe_.max_registers));
    if (recipe_.optimisation != 3) all.push_back("--ptxas-options=-O" + std::to_string(recipe_.optimisation));
    if (recipe_.debug_information) all.emplace_back("--generate-line-info");
    for (const auto& [name, value] : recipe_.definitions) all.push_back("--define-macro=" + name + "=" + value);
    for (const std::string& folder : recipe_.include_paths) all.push_back("--include-path=" + folder);
    all.push_back("--include-path=" + with_.include_folder);
    all.push_back("--include-path=" + with_.include_folder + "/cccl");
    all.insert(all.end(), recipe_.options.begin(), recipe_.options.end());
    return all;
  }

  struct patience {
    std::int64_t deadline_ns;
    std::atomic<bool> over{false};
  };

  result<void> compile() {
    const std::vector<std::string> given = options();
    std::vector<const char*> pointers;
    for (const std::string& o : given) pointers.push_back(o.c_str());
    patience until{deadline_ns_};
    const auto ask = [](void* payload, void*) -> int {
      auto& u = *static_cast<patience*>(payload);
      if (now_ns() >= u.deadline_ns) u.over = true;
      return u.over ? 1 : 0;  // once yes, always yes
    };
    if (nvrtcSetFlowCallback != nullptr) (void)::nvrtcSetFlowCallback(program_.get(), ask, &until);
    const nvrtcResult r = ::nvrtcCompileProgram(program_.get(), static_cast<int>(pointers.size()), pointers.data());
    read_log();
    out_.timed_out = until.over;
    if (until.over) return out_of_time(recipe_, "NVRTC had not ended after ", " and was stopped");
    if (r != NVRTC_SUCCESS) return why(r);
    return take_image();
  }

  void read_log() {
    std::size_t bytes = 0;
    if (::nvrtcGetProgramLogSize(program_.get(), &bytes) != NVRTC_SUCCESS || bytes <= 1) return;
    std::string log(bytes, '\0');
    if (::nvrtcGetProgramLog(program_.get(), log.data()) == NVRTC_SUCCESS) out_.log += log.c_str();
    if (!out_.log.ends_with('\n')) out_.log += '\n';
    for (std::size_t at = out_.log.find(nowhere); at != std::string::npos; at = out_.log.find(nowhere, at))
      out_.log.erase(at, nowhere.size());
  }

  error why(nvrtcResult r) const {
    const std::string said = first_error(out_.log), what = said.empty() ? ::nvrtcGetErrorString(r) : said;
    if (r == NVRTC_ERROR_INVALID_OPTION)
      return failure(reaction::unsupported,
                     recipe_.name + ": NVRTC " + with_.version + " does not know an option: " + what, r);
    if (r == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
      return failure(
          reaction::unsupported,
          recipe_.name + ": " + what + "; libnvrtc-builtins of NVRTC " + with_.version + " must be installed", r);
    if (r != NVRTC_ERROR_COMPILATION && r != NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
      return call_failed("nvrtcCompileProgram", r);
    const bool no_file =
        what.find("could not open source file") != what.npos || what.find("cannot open source file") != what.npos;
    return failure(reaction::caller_bug,
                   recipe_.name + " does not compile: " + what +
                       (no_file ? "; looked for in recipe::headers, recipe::include_paths and CUDA's own headers in " +
                                      with_.include_folder + ", which TROUPE_CUDA_INCLUDE can name"
                                : ""),
                   r);
  }

  result<void> take_image() {
    const bool ptx = target_.is_ptx();
    std::size_t bytes = 0;
    nvrtcResult r = ptx ? ::nvrtcGetPTXSize(program_.get(), &bytes) : ::nvrtcGetCUBINSize(program_.get(), &bytes);
    if (r != NVRTC_SUCCESS || bytes == 0) return call_failed("nvrtcGetCUBINSize", r);
    std::string image(bytes, '\0');
    r = ptx ? ::nvrtcGetPTX(program_.get(), image.data()) : ::nvrtcGetCUBIN(program_.get(), image.data());
    if (r != NVRTC_SUCCESS) return call_failed("nvrtcGetCUBIN", r);
    if (ptx) image.resize(image.find_last_not_of('\0') + 1);
    kernel::image_names names;
    for (const auto& [list, to, prefix] :
         {std::tuple(&recipe_.kernels, &names.kernels, ""), std::tuple(&recipe_.globals, &names.globals, "&")})
      for (const std::string& name : *list) {
        const char* lowered = nullptr;
        if (r = ::nvrtcGetLoweredName(program_.get(), (prefix + name).c_str(), &lowered); r != NVRTC_SUCCESS)
          return call_failed(("nvrtcGetLoweredName of " + name).c_str(), r);
        to->emplace_back(name, lowered);
      }
    out_.image = kernel::with_names(std::move(image), names);
    return {};
  }

  // All of it was written before the compiler began: else nobody knows which of two contents it has seen.
  void note_inputs(std::int64_t begin) {
    constexpr std::int64_t clock_step_ns = 10'000'000;
    if (mentions_time(recipe_)) return;
    read_files read = files_a_compile_may_read(recipe_);
    if (!read.why_unknown.empty()) {
      out_.log += "note: cache: not kept: " + read.why_unknown + "\n";
      return;
    }
    for (const stamp& s : read.made_from)
      if (s.changed_ns > begin - clock_step_ns) return;
    out_.made_from = std::move(read.made_from);
    out_.lasting = true;
  }

  const nvrtc& with_;
  const target target_;
  const recipe& recipe_;
  const std::int64_t deadline_ns_;
  unique_handle<program_traits> program_;
  compiled out_;
};

// Size and time of a file: another one has others.
void identify(kernel::byte_writer& to, const std::string& path) {
  const auto s = glance_at(path);
  to.text(path);
  to.value(s ? s->bytes : 0);
  to.value(s ? s->changed_ns : 0);
}

}  // namespace

result<nvrtc> nvrtc::find() {
  nvrtc out;
  int major = 0, minor = 0, count = 0;
  if (const nvrtcResult r = ::nvrtcVersion(&major, &minor); r != NVRTC_SUCCESS) return call_failed("nvrtcVersion", r);
  out.version = std::to_string(major) + "." + std::to_string(minor);
  if (const nvrtcResult r = ::nvrtcGetNumSupportedArchs(&count); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetNumSupportedArchs", r);
  out.known.resize(static_cast<std::size_t>(count));
  if (const nvrtcResult r = ::nvrtcGetSupportedArchs(out.known.data()); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetSupportedArchs", r);
  std::sort(out.known.begin(), out.known.end());
  const char* const named = std::getenv("TROUPE_CUDA_INCLUDE");
  out.include_folder = named != nullptr && *named != '\0' ? named : TROUPE_CUDA_INCLUDE_FOLDER;
  kernel::byte_writer identity;
  identity.text("NVRTC " + out.version);
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&::nvrtcVersion), &library) != 0 && library.dli_fname != nullptr)
    identify(identity, library.dli_fname);
  identify(identity, out.include_folder + "/cuda.h");
  out.identity = std::move(identity).bytes();
  return out;
}

result<compiler> compiler_for(const nvrtc& with, const recipe& r, capability gpu) {
  if (!r.compiler.empty())
    return failure(reaction::unsupported,
                   "compiler is \"" + r.compiler + "\"; on a GPU NVRTC compiles, which is no program: leave it empty");
  auto to = target_for(r.architecture, gpu, with.known);
  if (!to) return to.error();
  return compiler{.path = {},
                  .identity = with.identity + to->architecture,
                  .version = "NVRTC " + with.version,
                  .architecture = to->architecture,
                  .note = to->note};
}

compiled compile(const nvrtc& with, const compiler& c, const recipe& r, std::int64_t deadline_ns) {
  compiled out = job(with, c.architecture, r, deadline_ns).run();
  out.log.insert(0, c.note);
  return out;
}

}  // namespace troupe::jit
