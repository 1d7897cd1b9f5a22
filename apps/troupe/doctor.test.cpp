// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/troupe/doctor.hpp>

namespace troupe::apps {
namespace {

engine_report engine(std::string library) {
  engine_report e;
  e.file = {.library = std::move(library), .backend = "host", .path = "/engines/x.host.so"};
  return e;
}

std::vector<std::string> left_out_of(const std::vector<engine_report>& engines) {
  std::vector<std::string> names;
  for (const optional_engine& o : left_out(engines)) names.emplace_back(o.name);
  return names;
}

bool is_left_out(const std::vector<engine_report>& engines, const std::string& name) {
  const std::vector<std::string> names = left_out_of(engines);
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(doctor, treats_only_optional_engines_as_left_out) {
  EXPECT_TRUE(is_left_out({engine("memory"), engine("jit"), engine("module")}, "blas.host"));
  EXPECT_FALSE(is_left_out({engine("memory"), engine("blas"), engine("jit"), engine("module")}, "blas.host"));
  EXPECT_FALSE(is_left_out({engine("memory")}, "jit.host"))
      << "it needs no vendor's library, so its absence is a defect";
}

TEST(doctor, reports_missing_gpu_engines_only_on_machines_with_a_gpu) {
  engine_report platform = engine("platform");
  platform.file.backend = "cuda";
  EXPECT_TRUE(is_left_out({platform}, "blas.cuda"));
  EXPECT_TRUE(is_left_out({platform}, "graph.cuda"));
  EXPECT_FALSE(is_left_out({engine("memory")}, "blas.cuda"));
}

TEST(doctor, lists_no_left_out_engine_if_all_engines_are_missing) { EXPECT_TRUE(left_out_of({}).empty()); }

TEST(doctor, says_how_to_get_engines_that_were_left_out) {
  doctor_report r;
  r.engines = {engine("memory")};
  r.left_out = left_out(r.engines);
  for (const std::string& text : {doctor_text(r, {}), doctor_json(r)})
    EXPECT_NE(text.find("libopenblas-pthread-dev"), text.npos) << text;
}

TEST(doctor, reports_which_confinement_of_workers_is_possible) {
  doctor_report r;
  r.confinement = {.landlock = 7, .filters = true};
  EXPECT_NE(doctor_text(r, {}).find("(Landlock 7, seccomp)"), std::string::npos) << doctor_text(r, {});
  EXPECT_NE(doctor_json(r).find("\"landlock\": 7"), std::string::npos) << doctor_json(r);
  r.confinement = {.landlock = 0, .filters = true};
  for (const char* part : {"strict is refused: there is no Landlock", "(found: no Landlock, seccomp)"})
    EXPECT_NE(doctor_text(r, {}).find(part), std::string::npos) << doctor_text(r, {});
}

TEST(doctor, shows_the_notes_of_an_engine) {
  doctor_report r;
  r.engines = {engine("jit")};
  r.engines[0].is = engine_report::condition::serves;
  r.engines[0].notes = {"compiler: /usr/bin/c++, c++ 12.2", "cache: /home/me/.cache/troupe"};
  for (const char* library : {"", "jit"}) {
    r.library = library;
    for (const std::string& note : r.engines[0].notes)
      EXPECT_NE(doctor_text(r, {}).find(note), std::string::npos) << doctor_text(r, {});
  }
}

// Returns a report of a processor with AVX-512, which OpenBLAS 0.3.21 does not know.
doctor_report with_speed(double flops, std::string kernels, const char* setting) {
  x86_processor p;
  p.vendor = "GenuineIntel";
  p.signature = 0x000c06f2;
  p.avx = p.avx2 = p.fma = p.scalar_v3 = p.avx512_vl = p.avx512 = true;
  doctor_report r;
  r.speed.measured = true;
  r.speed.threads = 2, r.speed.n = 384;
  r.speed.flops = flops;
  r.speed.peak = {.flops = 200e9, .instruction = "AVX-512 FMA"};
  r.speed.kernels = std::move(kernels);
  r.speed.choice = kernel_choice::of(p, setting);
  return r;
}
// Returns the report as text, on one line.
std::string text_of(const doctor_report& r) {
  std::string text = doctor_text(r, {}), line;
  for (const char c : text)
    if (const bool blank = c == ' ' || c == '\n'; !blank || !line.ends_with(' ')) line += blank ? ' ' : c;
  return line;
}

TEST(doctor, reports_the_share_of_the_processors_peak) {
  const doctor_report r = with_speed(150e9, "SkylakeX", nullptr);
  const std::string text = text_of(r);
  EXPECT_NE(text.find("ok product 150 GFLOP/s on one core (gemm<double>, 384 x 384), 75 % of the processor's peak"),
            text.npos)
      << text;
  EXPECT_NE(text.find("200 GFLOP/s, measured: AVX-512 FMA on registers, double"), text.npos) << text;
  EXPECT_EQ(text.find("to do"), text.npos) << text;
  const std::string json = doctor_json(r);
  for (const char* part : {"\"kernels\": \"SkylakeX\"", "\"kernels_chosen_by\": \"troupe\"",
                           "\"kernels_openblas_takes\": \"Prescott\"", "\"share\": 0.75", "\"to_do\": null"})
    EXPECT_NE(json.find(part), json.npos) << part << json;
}

TEST(doctor, warns_below_half_of_the_peak_with_a_command_to_try) {
  const std::string slow = text_of(with_speed(60e9, "Prescott", "Prescott"));
  EXPECT_NE(slow.find("! product 60 GFLOP/s"), slow.npos) << slow;
  EXPECT_NE(slow.find("30 % of the processor's peak: less than half"), slow.npos) << slow;
  EXPECT_NE(slow.find("to do: unset OPENBLAS_CORETYPE"), slow.npos) << slow;
  EXPECT_NE(slow.rfind(", products at 30 % of the processor's peak ("), slow.npos) << "the last line, too: " << slow;
  const std::string busy = text_of(with_speed(60e9, "SkylakeX", nullptr));
  EXPECT_NE(busy.find("to do: stop other computations"), busy.npos) << busy;
  EXPECT_EQ(busy.find("CORETYPE"), busy.npos) << busy;
  EXPECT_EQ(text_of(with_speed(101e9, "SkylakeX", nullptr)).find("to do"), std::string::npos);
}

TEST(doctor, warns_of_mismatched_kernels_even_if_they_are_fast) {
  const std::string text = text_of(with_speed(120e9, "Haswell", "Haswell"));
  EXPECT_NE(text.find("! kernels Haswell, set by OPENBLAS_CORETYPE=Haswell; those for SkylakeX fit this processor"),
            text.npos)
      << text;
  EXPECT_NE(text.find("to do: unset OPENBLAS_CORETYPE"), text.npos) << text;
}

TEST(doctor, says_why_no_speed_was_measured) {
  doctor_report r;
  r.speed.why = "the worker went away";
  EXPECT_NE(text_of(r).find("could not be measured: the worker went away"), std::string::npos);
  EXPECT_EQ(text_of(doctor_report{}).find("Speed"), std::string::npos);
  EXPECT_NE(doctor_json(doctor_report{}).find("\"speed\": null"), std::string::npos);
}

TEST(doctor, reads_threads_and_kernels_from_the_engines_notes) {
  speed_report s;
  read_notes(s, {"threads: 16", "kernels: SkylakeX, chosen by Troupe: OpenBLAS 0.3.21 takes Prescott here", "more: 7"});
  EXPECT_EQ(s.threads, 16);
  EXPECT_EQ(s.kernels, "SkylakeX");
}

}  // namespace
}  // namespace troupe::apps
