// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

TEST(doctor, promises_what_this_version_has_and_was_built_without) {
  EXPECT_EQ(left_out_of({engine("memory"), engine("jit"), engine("module")}), std::vector<std::string>{"blas.host"});
  EXPECT_TRUE(left_out_of({engine("memory"), engine("blas"), engine("jit"), engine("module")}).empty())
      << "what a later version may have is not left out of this one";
}

TEST(doctor, knows_no_engine_to_be_left_out_where_there_are_none_at_all) { EXPECT_TRUE(left_out_of({}).empty()); }

TEST(doctor, says_how_to_get_what_was_left_out) {
  doctor_report r;
  r.engines = {engine("memory")};
  r.left_out = left_out(r.engines);
  for (const std::string& text : {doctor_text(r, {}), doctor_json(r)})
    EXPECT_NE(text.find("libopenblas-pthread-dev"), text.npos) << text;
}

TEST(doctor, shows_what_an_engine_notes) {
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

}  // namespace
}  // namespace troupe::apps
