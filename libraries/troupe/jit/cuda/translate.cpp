// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <nvrtc.h>
#include <time.h>

#include <atomic>
#include <filesystem>
#include <tuple>

#include <troupe/base/files/bytes.hpp>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/host_code.hpp>
#include <troupe/jit/cuda/nvrtc/messages.hpp>
#include <troupe/jit/cuda/translate.hpp>

// Older versions of NVRTC lack this function.
extern "C" nvrtcResult nvrtcSetFlowCallback(nvrtcProgram, int (*)(void*, void*), void*) __attribute__((weak));

namespace troupe::jit {
namespace {

// A folder that does not exist, so that NVRTC does not search the worker's current folder for the source's includes.
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

class translation {
 public:
  translation(const nvrtc& with, const recipe& r, const source_text& source, const target& to, code what,
              const compile_deadline& how_long, compiled& said)
      : with_(with), recipe_(r), source_(source), target_(to), what_(what), how_long_(how_long), said_(said) {}

  result<translated> run() {
    auto attempted = attempt(source_.text, false);
    // Sources may rely on what nvcc includes before them. These headers are added only if NVRTC refuses the source:
    // they take time, and their names may conflict with the source's.
    if (attempted && is_refused(*attempted)) attempted = attempt(source_.text, true);
    // The last attempt leaves out the host code, much of which NVRTC refuses. It is not the first attempt, because
    // names alone decide what is left out, and device code may call host code that compiles.
    if (attempted && is_refused(*attempted)) {
      const std::optional<std::string> rest = without_host_code(recipe_, source_);
      if (rest) attempted = better(*std::move(attempted), attempt(*rest, true));
    }
    if (!attempted) return attempted.error();
    said_.log += attempted->said.log;
    said_.remarks += attempted->remarks;
    if (attempted->code != NVRTC_SUCCESS) return why(attempted->code, attempted->said.first_error);
    return take_image();
  }

 private:
  result<void> make(const std::string& source) {
    std::vector<const char*> names, texts;
    for (const auto& [name, text] : recipe_.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    const std::string name = std::string(nowhere) + source_.name;
    nvrtcProgram made = nullptr;
    if (const nvrtcResult r = ::nvrtcCreateProgram(&made, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                                   texts.data(), names.data());
        r != NVRTC_SUCCESS)
      return call_failed("nvrtcCreateProgram", r);
    program_.reset(made);
    for (const std::string& name : source_.kernels)
      if (const nvrtcResult r = ::nvrtcAddNameExpression(made, name.c_str()); r != NVRTC_SUCCESS)
        return call_failed("nvrtcAddNameExpression", r);
    for (const std::string& name : source_.globals)
      if (const nvrtcResult r = ::nvrtcAddNameExpression(made, ("&" + name).c_str()); r != NVRTC_SUCCESS)
        return call_failed("nvrtcAddNameExpression", r);
    return {};
  }

  std::vector<std::string> options(bool with_what_nvcc_includes) const {
    std::vector<std::string> all{"--gpu-architecture=" + target_.architecture, cat("--std=c++", recipe_.standard),
                                 std::string("--fmad=") + (recipe_.fuse_multiply_add ? "true" : "false")};
    if (recipe_.fast_math) all.emplace_back("--use_fast_math");
    if (recipe_.fast_math && !recipe_.fuse_multiply_add) all.emplace_back("--fmad=false");
    if (recipe_.flush_to_zero) all.emplace_back("--ftz=true");
    if (recipe_.max_registers != 0) all.push_back(cat("--maxrregcount=", recipe_.max_registers));
    if (recipe_.optimisation != 3) all.push_back(cat("--ptxas-options=-O", recipe_.optimisation));
    if (recipe_.debug_information) all.emplace_back("--generate-line-info");
    // Compiles functions without annotations for the GPU: NVRTC would otherwise refuse host functions beside kernels,
    // and functions for both that have no annotation.
    all.emplace_back("--device-as-default-execution-space");
    all.emplace_back("--define-macro=__extension__=");  // used in headers for GCC, which is nvcc's host compiler
    all.push_back("--define-macro=CUDA_VERSION=" + with_.cuda_version);
    for (const auto& [name, value] : recipe_.definitions) all.push_back("--define-macro=" + name + "=" + value);
    for (const std::string& folder : recipe_.include_paths) all.push_back("--include-path=" + folder);
    if (with_what_nvcc_includes) all.push_back("--pre-include=" + with_.own_headers + "/troupe_default_includes.h");
    all.push_back("--include-path=" + with_.own_headers);
    all.push_back("--include-path=" + with_.include_folder);
    all.push_back("--include-path=" + with_.include_folder + "/cccl");
    if (what_ == code::lto_ir) all.emplace_back("--dlink-time-opt");
    if (what_ == code::relocatable_code || what_ == code::relocatable_ptx)
      all.emplace_back("--relocatable-device-code=true");
    for (const std::string& option : recipe_.options)
      if (option != "--device-as-default-execution-space") all.push_back(option);
    return all;
  }

  // Returns a key for everything that the headers depend on, or, if that is unknown, an empty key and a remark.
  std::string key_of_headers(const std::vector<std::string>& given, std::string& remarks) {
    const auto unknown = [&](const std::string& why) {
      remarks += "note: precompiled headers: not used: " + why + "\n";
      return std::string();
    };
    if (mentions_time(recipe_)) return unknown("the program mentions the time");
    const std::int64_t begin = wall_clock_ns();
    recipe alone{.source = source_.text, .name = source_.name};
    alone.headers = recipe_.headers;
    alone.include_paths = recipe_.include_paths;
    alone.definitions = recipe_.definitions;
    const read_files read = files_nvrtc_may_read(alone);
    if (!read.why_unknown.empty()) return unknown(read.why_unknown);
    for (const plan::stamp& s : read.made_from)
      if (s.changed_ns > begin - clock_step_ns) return unknown(s.path + " was written just before the compile began");
    byte_writer key;
    key.texts(given);
    for (const auto& [name, text] : recipe_.headers) {
      key.text(name);
      key.text(text);
    }
    write(key, read.made_from);
    return std::move(key).bytes();
  }

  // Returns nullopt if the program is compiled without precompiled headers.
  result<std::optional<precompiled::turn>> turn_for_headers(std::vector<std::string>& given, std::string& remarks) {
    if (!recipe_.precompiled_headers) return std::optional<precompiled::turn>();
    std::string key = key_of_headers(given, remarks);
    if (key.empty()) return std::optional<precompiled::turn>();
    auto mine = TROUPE_TRY(with_.headers->begin(std::move(key), how_long_));
    if (!mine) return was_stopped();
    given.insert(given.end(), {"--pch", "--pch-dir=" + mine->folder(), "--pch-verbose=false"});
    return mine;
  }

  error was_stopped() {
    said_.was_stopped = true;
    if (how_long_.cancelled()) return was_cancelled(recipe_);
    return out_of_time(recipe_, "NVRTC had not ended after ", " and was stopped");
  }

  struct question {
    const compile_deadline& how_long;
    std::atomic<bool> over{false};
  };

  struct outcome {
    nvrtcResult code;
    messages said;
    std::string remarks;
  };

  static bool is_refused(const outcome& o) { return o.code == NVRTC_ERROR_COMPILATION && !lacks_a_file(o.said.log); }

  // Chooses which outcome to report. An error in the source itself occurs in both outcomes; any other error of the
  // second attempt is due to the code that was left out.
  static result<outcome> better(outcome whole, result<outcome> without_host_code) {
    if (!without_host_code || without_host_code->code == NVRTC_SUCCESS) return without_host_code;
    const std::string& first = without_host_code->said.first_error;
    return whole.said.errors.contains(first) ? std::move(without_host_code) : result<outcome>(std::move(whole));
  }

  result<outcome> attempt(const std::string& source, bool with_what_nvcc_includes) {
    TROUPE_TRY(make(source));
    std::vector<std::string> given = options(with_what_nvcc_includes);
    outcome out{};
    const auto headers = TROUPE_TRY(turn_for_headers(given, out.remarks));
    std::vector<const char*> pointers;
    for (const std::string& o : given) pointers.push_back(o.c_str());
    question until{how_long_};
    const auto ask = [](void* payload, void*) -> int {
      auto& u = *static_cast<question*>(payload);
      if (u.how_long.over()) u.over = true;
      return u.over ? 1 : 0;  // once a compile was stopped, it stays so
    };
    if (nvrtcSetFlowCallback != nullptr) (void)::nvrtcSetFlowCallback(program_.get(), ask, &until);
    out.code = ::nvrtcCompileProgram(program_.get(), static_cast<int>(pointers.size()), pointers.data());
    std::string log = read_log();
    if (headers && out.code == NVRTC_SUCCESS) out.remarks += headers->ended(program_.get(), log);
    out.said = messages_for_user(source_, log, nowhere, with_.own_headers);
    if (!until.over) return out;
    said_.log += out.said.log;
    return was_stopped();
  }

  std::string read_log() const {
    std::size_t bytes = 0;
    if (::nvrtcGetProgramLogSize(program_.get(), &bytes) != NVRTC_SUCCESS || bytes <= 1) return {};
    std::string log(bytes, '\0');
    if (::nvrtcGetProgramLog(program_.get(), log.data()) != NVRTC_SUCCESS) return {};
    log.resize(std::min(log.find('\0'), log.size()));
    if (!log.ends_with('\n')) log += '\n';
    return log;
  }

  static bool lacks_a_file(std::string_view said) {
    return said.find("could not open source file") != said.npos || said.find("cannot open source file") != said.npos;
  }

  error why(nvrtcResult r, const std::string& first) const {
    const std::string what = first.empty() ? ::nvrtcGetErrorString(r) : first;
    if (r == NVRTC_ERROR_INVALID_OPTION)
      return failure(reaction::unsupported,
                     source_.name + ": NVRTC " + with_.version + " does not know an option: " + what, r);
    if (r == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
      return failure(
          reaction::unsupported,
          source_.name + ": " + what + "; libnvrtc-builtins of NVRTC " + with_.version + " must be installed", r);
    if (r != NVRTC_ERROR_COMPILATION && r != NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
      return call_failed("nvrtcCompileProgram", r);
    return failure(
        reaction::caller_bug,
        source_.name + " does not compile: " + what +
            (lacks_a_file(what) ? "; it was searched for in recipe::headers, recipe::include_paths and the folder of "
                                  "CUDA's own headers, " +
                                      with_.include_folder + " (set TROUPE_CUDA_INCLUDE to use another folder)"
                                : ""),
        r);
  }

  result<translated> take_image() const {
    std::size_t bytes = 0;
    const bool ptx = what_ == code::ptx || what_ == code::relocatable_ptx, lto = what_ == code::lto_ir;
    const auto [bytes_of, get, call] = ptx   ? std::tuple(&::nvrtcGetPTXSize, &::nvrtcGetPTX, "nvrtcGetPTX")
                                       : lto ? std::tuple(&::nvrtcGetLTOIRSize, &::nvrtcGetLTOIR, "nvrtcGetLTOIR")
                                             : std::tuple(&::nvrtcGetCUBINSize, &::nvrtcGetCUBIN, "nvrtcGetCUBIN");
    nvrtcResult r = bytes_of(program_.get(), &bytes);
    if (r != NVRTC_SUCCESS || bytes == 0) return call_failed(call, r);
    translated out{std::string(bytes, '\0'), {}};
    if (r = get(program_.get(), out.bytes.data()); r != NVRTC_SUCCESS) return call_failed(call, r);
    if (ptx) out.bytes.resize(out.bytes.find_last_not_of('\0') + 1);
    for (const auto& [list, to, prefix] :
         {std::tuple(&source_.kernels, &out.names.kernels, ""), std::tuple(&source_.globals, &out.names.globals, "&")})
      for (const std::string& name : *list) {
        const char* lowered = nullptr;
        if (r = ::nvrtcGetLoweredName(program_.get(), (prefix + name).c_str(), &lowered); r != NVRTC_SUCCESS)
          return call_failed(("nvrtcGetLoweredName of " + name).c_str(), r);
        to->emplace_back(name, lowered);
      }
    return out;
  }

  const nvrtc& with_;
  const recipe& recipe_;
  const source_text& source_;
  const target& target_;
  const code what_;
  const compile_deadline& how_long_;
  compiled& said_;
  unique_handle<program_traits> program_;
};

}  // namespace

result<translated> translate(const nvrtc& with, const recipe& r, const source_text& source, const target& to, code what,
                             const compile_deadline& how_long, compiled& said) {
  return translation(with, r, source, to, what, how_long, said).run();
}

// NVRTC finds a header in memory by its name alone, whatever the current folder is.
read_files files_nvrtc_may_read(const recipe& r) {
  std::error_code unknown_place;
  return files_a_compile_may_read(r, std::filesystem::current_path(unknown_place).string());
}

std::int64_t wall_clock_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

}  // namespace troupe::jit
