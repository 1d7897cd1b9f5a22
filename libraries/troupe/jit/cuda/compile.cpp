// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/translate.hpp>
#include <troupe/jit/internal/compiler_options.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::jit {
namespace {

error refusal(reaction how, const std::string& text) { return error(how, "jit", "jit.compile: " + text); }

bool is_linked(const recipe& r) noexcept { return !r.relocatable && (!r.units.empty() || r.link_time_optimisation); }

// Returns the linker's options. Compiler options that affect code generation are passed to both the compiler and the
// linker.
std::vector<std::string> linker_options(const recipe& r, const target& to) {
  std::vector<std::string> all{"-arch=" + to.architecture};
  if (r.max_registers != 0) all.push_back(cat("-maxrregcount=", r.max_registers));
  if (r.optimisation == 0) all.emplace_back("-O0");
  if (r.optimisation == 1 || r.optimisation == 2) all.push_back(cat("-Xptxas=-O", r.optimisation));
  if (r.debug_information) all.emplace_back("-lineinfo");
  bool precise_division = !r.fast_math, precise_root = !r.fast_math;
  for (const std::string& option : r.options) {
    const std::string_view o = option;
    const auto value = [&](std::string_view name) { return o.starts_with(name) ? o.substr(name.size()) : ""; };
    if (const auto v = value("--ptxas-options="); !v.empty()) all.push_back("-Xptxas=" + std::string(v));
    if (const auto v = value("--split-compile="); !v.empty()) all.push_back("-split-compile=" + std::string(v));
    if (const auto v = value("--jump-table-density="); !v.empty() && r.link_time_optimisation)
      all.push_back("-jump-table-density=" + std::string(v));
    if (const auto v = value("--prec-div="); !v.empty()) precise_division = v == "true";
    if (const auto v = value("--prec-sqrt="); !v.empty()) precise_root = v == "true";
    if (o == "--device-debug") all.emplace_back("-g");
    if (o == "--device-stack-protector=true") all.emplace_back("-device-stack-protector");
    if (o == "--no-cache") all.emplace_back("-no-cache");
  }
  if (!r.link_time_optimisation) return all;
  const auto flag = [&](const char* name, bool on) { all.push_back(std::string(name) + (on ? "1" : "0")); };
  flag("-ftz=", r.flush_to_zero || r.fast_math);
  flag("-fma=", r.fuse_multiply_add);
  flag("-prec-div=", precise_division);
  flag("-prec-sqrt=", precise_root);
  return all;
}

bool is_lost_between_compiler_and_linker(std::string_view option) {
  return option.starts_with("--Ofast-compile=") || option.starts_with("--dopt=") ||
         option == "--extra-device-vectorization";
}

// Refuses every option that would be ignored, or that would make cached results wrong. Neither NVRTC nor nvJitLink
// reports the options that it ignores.
result<void> check_options(const recipe& r, const target& to) {
  for (std::size_t i = 0; i < r.options.size(); ++i) {
    const std::string& o = r.options[i];
    const std::string which = cat("options[", i, "] is ", detail::text(o));
    if (!is_allowed_for_nvrtc(o))
      return refusal(reaction::unsupported, which + ", which is not passed to NVRTC; " + alternative_to(o));
    if (to.is_ptx() && o.starts_with("--ptxas-options="))
      return refusal(reaction::unsupported, which + ", which applies to machine code; this is compiled for \"" +
                                                to.architecture +
                                                "\", PTX, and the driver has no such option: leave it out");
    if (r.link_time_optimisation && is_lost_between_compiler_and_linker(o))
      return refusal(reaction::unsupported,
                     which +
                         ", which applies to code generation; with link_time_optimisation the "
                         "linker generates the code and has no such option: leave one of the two out");
  }
  return {};
}

// One compile, and its messages up to now.
class job {
 public:
  job(const nvrtc& with, const std::string& architecture, const recipe& r, const compile_deadline& how_long)
      : with_(with), target_{architecture}, recipe_(r), how_long_(how_long) {}

  compiled run() {
    const std::int64_t begin = wall_clock_ns();
    auto made = is_linked(recipe_) ? linked() : alone();
    if (!made) {
      out_.failed = made.error();
      return std::move(out_);
    }
    out_.image = kernel::with_names(std::move(made->bytes), made->names);
    note_inputs(begin);
    return std::move(out_);
  }

 private:
  result<translated> alone() {
    const code what = !recipe_.relocatable             ? target_.is_ptx() ? code::ptx : code::machine_code
                      : recipe_.link_time_optimisation ? code::lto_ir
                      : target_.is_ptx()               ? code::relocatable_ptx
                                                       : code::relocatable_code;
    return translate(with_, recipe_, {recipe_.name, recipe_.source, recipe_.kernels, recipe_.globals}, target_, what,
                     how_long_, out_);
  }

  result<translated> linked() {
    const code what = recipe_.link_time_optimisation ? code::lto_ir : code::relocatable_code;
    const std::vector<std::string> none;
    std::vector<translated> made;
    linker::order order{
        .options = linker_options(recipe_, target_), .lto = recipe_.link_time_optimisation, .ptx = target_.is_ptx()};
    made.reserve(1 + recipe_.units.size());
    kernel::image_names names;
    const auto add_names = [&](const kernel::image_names& more) {
      names.kernels.insert(names.kernels.end(), more.kernels.begin(), more.kernels.end());
      names.globals.insert(names.globals.end(), more.globals.begin(), more.globals.end());
    };
    const auto compile = [&](const std::string& name, const std::string& text, const std::vector<std::string>& kernels,
                             const std::vector<std::string>& globals) -> result<void> {
      auto one = TROUPE_TRY(translate(with_, recipe_, {name, text, kernels, globals}, target_, what, how_long_, out_));
      made.push_back(std::move(one));
      add_names(made.back().names);
      order.parts.push_back({name, made.back().bytes});
      return {};
    };
    TROUPE_TRY(compile(recipe_.name, recipe_.source, recipe_.kernels, recipe_.globals));
    for (const unit& u : recipe_.units) {
      if (!u.source.empty()) {
        TROUPE_TRY(compile(u.name, u.source, none, none));
        continue;
      }
      const std::string_view image(reinterpret_cast<const char*>(u.image.data()), u.image.size());
      add_names(kernel::names_in(image));  // the names that a unit's own recipe has appended
      order.parts.push_back({u.name, kernel::without_names(image)});
    }
    if (how_long_.over()) {  // the linker cannot be interrupted
      out_.was_stopped = true;
      return how_long_.cancelled() ? was_cancelled(recipe_) : out_of_time(recipe_, "linking it had not ended after ");
    }
    auto image = TROUPE_TRY(with_.links->link(order, recipe_.name, out_.log));
    return translated{std::move(image), std::move(names)};
  }

  // Records the inputs, unless one was written after the compiler began: then it is unknown whether the compiler read
  // the old or the new content.
  void note_inputs(std::int64_t begin) {
    if (mentions_time(recipe_)) return;
    read_files read = files_nvrtc_may_read(recipe_);
    if (!read.why_unknown.empty()) {
      out_.log += "note: cache: not kept: " + read.why_unknown + "\n";
      return;
    }
    for (const plan::stamp& s : read.made_from)
      if (s.changed_ns > begin - clock_step_ns) return;
    out_.made_from = std::move(read.made_from);
    out_.lasting = true;
  }

  const nvrtc& with_;
  const target target_;
  const recipe& recipe_;
  const compile_deadline& how_long_;
  compiled out_;
};

}  // namespace

result<compiler> compiler_for(const nvrtc& with, const recipe& r, capability gpu) {
  if (!r.compiler.empty())
    return refusal(reaction::unsupported,
                   "compiler is \"" + r.compiler + "\"; a GPU's compiler is NVRTC, which is a library: leave it empty");
  auto to = TROUPE_TRY(target_for(r.architecture, gpu, with.known));
  TROUPE_TRY(check_options(r, to));
  std::string identity = with.identity + to.architecture;
  if (is_linked(r)) {
    if (to.is_ptx() && !r.link_time_optimisation)
      return refusal(reaction::unsupported, "units are linked for \"" + to.architecture +
                                                "\", PTX; several sources become one PTX only with "
                                                "link_time_optimisation: set it true");
    const auto links = TROUPE_TRY(with.links->identity());
    identity += links;
  }
  return compiler{.path = {},
                  .identity = std::move(identity),
                  .version = "NVRTC " + with.version,
                  .architecture = to.architecture,
                  .note = to.note};
}

compiled compile(const nvrtc& with, const compiler& c, const recipe& r, const compile_deadline& how_long) {
  compiled out = job(with, c.architecture, r, how_long).run();
  out.log.insert(0, c.note);
  return out;
}

}  // namespace troupe::jit
