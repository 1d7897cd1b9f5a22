// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda_on_host/compiler_flags.hpp>
#include <troupe/cuda_on_host/processor.hpp>
#include <troupe/cuda_on_host/seal.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>
#include <troupe/jit/cache/includes.hpp>
#include <troupe/jit/host/command.hpp>
#include <troupe/jit/host/compile.hpp>
#include <troupe/jit/host/dependencies.hpp>
#include <troupe/jit/host/diagnosis.hpp>
#include <troupe/jit/internal/compiler_options.hpp>
#include <troupe/plan/files.hpp>

#include <cstring>
#include <filesystem>

namespace troupe::jit {
namespace {

// Names relative to `place`, a folder for the user's files within the private folder. Our own files are beside that
// folder.
constexpr const char *place = "in", *preprocessed = "../preprocessed", *dependencies = "../dependencies",
                     *features = "../features.h", *definitions = "../definitions.h", *translated = "../translated.ii",
                     *image = "../image.so";

// The translator runs in the worker, without the limits of a compiler's process, and needs up to a hundred bytes of
// memory for each byte of text. Typical programs, including the standard library, have a few MiB of text.
constexpr std::uint64_t most_preprocessed_bytes = std::uint64_t{16} << 20, most_image_bytes = std::uint64_t{1} << 30;

std::int64_t wall_clock_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Removes the "./" with which the compiler names headers in memory, where a message names a file, but not in quoted
// source lines.
void name_headers(std::string& text) {
  for (std::size_t at = text.find("./"); at != std::string::npos; at = text.find("./", at)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    if (before.empty() || before.back() == '\n' || before.ends_with("from "))
      text.erase(at, 2);
    else
      at += 2;
  }
}

error failure(reaction how, const std::string& text) { return error(how, "jit", "jit.compile: " + text); }

cuda_on_host::compiler_settings settings_of(const installation& at, const recipe& r) {
  cuda_on_host::compiler_settings s;
  s.cuda_folder = at.cuda_folder;
  s.standard = r.standard;
  s.fast_math = r.fast_math;
  s.fuse_multiply_add = r.fuse_multiply_add;
  s.optimisation = r.optimisation;
  s.debug_information = r.debug_information;
  s.include_folders.push_back(".");  // headers in memory are searched first
  s.include_folders.insert(s.include_folders.end(), r.include_paths.begin(), r.include_paths.end());
  return s;
}

// One compile: its folder, and its messages up to now.
class job {
 public:
  job(const installation& at, const compiler& with, const recipe& r, const compile_deadline& how_long)
      : at_(at), with_(with), recipe_(r), settings_(settings_of(at, r)), how_long_(how_long) {}

  compiled run() {
    const std::int64_t begin = wall_clock_ns();
    if (result<void> fine = prepare(); !fine) return fail(fine.error());
    if (!preprocess() || !translate() || !build()) return std::move(out_);
    auto bytes = plan::read_file(folder_->path() + "/" + place + "/" + image);
    if (!bytes) return fail(failure(reaction::fatal, recipe_.name + ": the compiler wrote no image"));
    out_.image = cuda_on_host::sealed(std::move(*bytes), features_);
    note_inputs(begin);
    return std::move(out_);
  }

 private:
  compiled fail(error why) {
    out_.failed = std::move(why);
    return std::move(out_);
  }

  result<void> prepare() {
    folder_ = TROUPE_TRY(plan::private_folder::make());
    const std::string in = folder_->path() + "/" + place;
    bool written = plan::write_file(in, recipe_.name, recipe_.source);
    for (const auto& [name, text] : recipe_.headers) written = written && plan::write_file(in, name, text);
    // Written to a file: on the command line, the macros would also apply to our own headers, which come first.
    std::string macros;
    for (const auto& [name, value] : recipe_.definitions)
      macros.append("#define ").append(name).append(" ").append(value).append("\n");
    written = written && plan::write_file(in, definitions, macros);
    written = written && plan::write_file(in, features, cuda_on_host::feature_query());
    if (written) return {};
    return error_of_errno("jit", "jit.compile: writing the source to " + in);
  }

  bool step(std::vector<std::string> arguments, const char* output, std::uint64_t file_bytes) {
    command c{.line = {with_.path},
              .folder = folder_->path(),
              .place = place,
              .output = output,
              .how_long = how_long_,
              .file_bytes = file_bytes};
    c.line.insert(c.line.end(), arguments.begin(), arguments.end());
    auto outcome = run_command(at_.compiler_guard, c);
    if (!outcome) return stop(outcome.error());
    replace_all(outcome->messages, folder_->path() + "/", "");
    replace_all(outcome->messages, at_.cuda_folder + "/", "");
    for (const char* ours : {definitions, translated, image})
      replace_all(outcome->messages, ours, std::string_view(ours).substr(3));
    name_headers(outcome->messages);
    out_.log += outcome->messages;
    if (outcome->cut_bytes != 0) out_.log += cat("\n… (", outcome->cut_bytes, " bytes more)\n");
    if (outcome->was_stopped) {
      out_.was_stopped = true;
      return stop(how_long_.cancelled() ? was_cancelled(recipe_)
                                        : out_of_time(recipe_, "the compiler had not ended after ", " and was killed"));
    }
    if (outcome->exit_code == 0) return true;
    return stop(failure(reaction::caller_bug, recipe_.name + " does not compile: " +
                                                  diagnosis(outcome->messages, outcome->exit_code, with_.version)));
  }
  bool stop(error why) {
    out_.failed = std::move(why);
    return false;
  }

  bool preprocess() {
    std::vector<std::string> arguments = cuda_on_host::preprocessor_arguments(settings_, recipe_.name);
    arguments.insert(arguments.end(), recipe_.options.begin(), recipe_.options.end());
    arguments.insert(arguments.end(),
                     {"-include", features, "-include", definitions, "-MD", "-MT", "x", "-MF", dependencies});
    const bool fine = step(std::move(arguments), preprocessed, most_preprocessed_bytes + 1);
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(folder_->path() + "/" + place + "/" + preprocessed, unknown);
    if (out_.was_stopped || unknown || bytes <= most_preprocessed_bytes) return fine;
    out_.log.clear();  // removes the preprocessor's message that its output is too large
    return stop(failure(reaction::caller_bug,
                        cat(recipe_.name, " is more than ", most_preprocessed_bytes,
                            " bytes after preprocessing; include less, or look for macros that expand without end")));
  }

  // Returns false after the deadline. For the steps in this process, because nothing kills them.
  bool in_time() {
    if (!how_long_.over()) return true;
    out_.was_stopped = true;
    return stop(how_long_.cancelled() ? was_cancelled(recipe_)
                                      : out_of_time(recipe_, "translating it had not ended after "));
  }

  bool translate() {
    if (!in_time()) return false;
    const std::string in = folder_->path() + "/" + place + "/";
    auto text = plan::read_file(in + preprocessed);
    if (!text || !cuda_on_host::extract_features(*text, features_))
      return stop(failure(reaction::fatal, recipe_.name + ": the preprocessor's output is incomplete"));
    const cuda_on_host::translation t =
        cuda_on_host::translate(*text, {.kernels = recipe_.kernels,
                                        .globals = recipe_.globals,
                                        .own_folder = at_.cuda_folder,
                                        .read_source = [&](const std::string& file) {
                                          return plan::read_file(file.starts_with('/') ? file : in + file);
                                        }});
    for (const cuda_on_host::finding& f : t.findings) out_.log += to_string(f) + "\n";
    for (const cuda_on_host::finding& f : t.left_out)
      out_.log += cat(f.file, ":", f.line, ": note: the kernel that contains this needs a GPU: ", f.text, "\n");
    if (!t.findings.empty())
      return stop(failure(reaction::caller_bug, recipe_.name + " does not compile: " + to_string(t.findings.front())));
    if (!in_time()) return false;
    if (plan::write_file(in, translated, t.text)) return true;
    return stop(error_of_errno("jit", "jit.compile: writing the translated source"));
  }

  bool build() {
    std::vector<std::string> arguments = cuda_on_host::compiler_arguments(settings_, translated, image);
    // Sanitizer runtimes are linked to programs, not to shared objects.
    for (const std::string& option : recipe_.options)
      if (option.starts_with("-fsanitize")) arguments.push_back("-Wl,-z,undefs");
    arguments.insert(arguments.end(), recipe_.options.begin(), recipe_.options.end());
    return step(std::move(arguments), "", most_image_bytes);
  }

  // Records the inputs, unless one was written after the compiler began: then it is unknown whether the compiler read
  // the old or the new content.
  void note_inputs(std::int64_t begin) {
    constexpr std::int64_t clock_step_ns = 10'000'000;
    const auto rule = plan::read_file(folder_->path() + "/" + place + "/" + dependencies);
    if (!rule || mentions_time(recipe_)) return;
    for (const std::string& option : recipe_.options)
      if (!reads_no_files(option)) {
        out_.log += "note: cache: not kept: it is unknown which files " + option + " reads\n";
        return;
      }
    for (const std::string& path : paths_to_watch(*rule, recipe_.include_paths)) {
      auto s = plan::stamp_of(path);
      if (!s || s->changed_ns > begin - clock_step_ns) return;
      if (s->is == plan::stamp::kind::file && mentions_time(plan::read_file(path).value_or(""))) return;
      out_.made_from.push_back(std::move(*s));
    }
    // Adds what the compiler's list lacks: files whose existence was tested, and places that were searched without
    // success.
    for (plan::stamp& s : files_a_compile_may_read(recipe_).made_from) {
      if (s.changed_ns > begin - clock_step_ns) return;
      out_.made_from.push_back(std::move(s));
    }
    out_.lasting = true;
  }

  const installation& at_;
  const compiler& with_;
  const recipe& recipe_;
  const cuda_on_host::compiler_settings settings_;
  const compile_deadline& how_long_;
  std::optional<plan::private_folder> folder_;
  std::string features_;  // processor features that the code requires
  compiled out_;
};

}  // namespace

compiled compile(const installation& at, const compiler& with, const recipe& r, const compile_deadline& how_long) {
  return job(at, with, r, how_long).run();
}

}  // namespace troupe::jit
