// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <cerrno>
#include <cstddef>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/host/openblas_admission.hpp>
#include <troupe/worker/plugins/openblas_threads.hpp>
#include <vector>

namespace troupe::blas {
namespace {

// Makes OpenBLAS take its memory now, by a product that is too large for its routines that need none.
void compute_something() {
  constexpr int n = 192;
  std::vector<double> a(std::size_t{n} * n), c(a.size());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, a.data(), n, 0, c.data(), n);
}

}  // namespace

result<openblas_admission> openblas_admission::make(const std::string& library, std::uint32_t lanes) {
  openblas_admission out;
  // OpenBLAS's own threads have memory. The lanes of each engine and their helpers may compute at once.
  const int wanted = openblas_engines * (openblas_get_num_threads() + static_cast<int>(lanes));
  const int found = openblas_threads_with_memory(wanted);
  if (found == wanted) return out;
  if (found == 0)
    return error(error::details{
        .reaction = reaction::fatal,
        .domain = library,
        .code = ENOMEM,
        .text = "OpenBLAS needs 128 MiB of memory for each thread that computes, and the limit of the worker's memory "
                "leaves no room for one thread: raise device_options::worker_memory_limit, or the limit that your "
                "program was started with (ulimit -v, ulimit -d)"});
  compute_something();
  out.turns_ = std::make_unique<std::mutex>();
  return out;
}

std::string openblas_admission::threads_text() const {
  const int threads = openblas_get_num_threads(), all = openblas_get_num_procs();
  if (!is_limited()) return cat("threads: ", threads);
  return cat("threads: ", threads, " of ", all, ", and one request at a time, because memory is limited");
}

}  // namespace troupe::blas
