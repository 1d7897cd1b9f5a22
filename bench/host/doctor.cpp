// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/run_program.hpp>
#include <filesystem>

namespace troupe::bench {
figures run_doctor(const settings& s) {
  const std::filesystem::path program =
      std::filesystem::path(s.runtime_folder).parent_path().parent_path() / "bin" / "troupe";
  std::vector<double> times;
  for (int i = 0; i < s.rounds(5); ++i) times.push_back(run_program({program.string(), "doctor"}).wall_seconds);
  return {.ours = median(std::move(times))};
}

}  // namespace troupe::bench
