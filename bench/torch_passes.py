#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# torch_passes.py DEVICE ROWS COLUMNS EXPRESSION...: times expressions of PyTorch, such as "F.gelu(a) * b", for random
# matrices a, b and c of bf16. Prints one line: for each expression the seconds of one run, eager and compiled; "compiled
# 0" if it cannot be compiled. troupe bench runs it for measures that the GPU's memory limits.
import os
import statistics
import sys
import time


def seconds_of(torch, run, device, rounds=11):
    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    def timed(times):
        wait()
        start = time.perf_counter()
        for _ in range(times):
            run()
        wait()
        return (time.perf_counter() - start) / times

    timed(3)
    # A tenth of a second for each round: a GPU may take a millisecond to switch to another process.
    times = max(3, min(2000, int(0.1 / max(timed(5), 1e-6))))
    return statistics.median(timed(times) for _ in range(rounds))


def main():
    # Prints nothing but the line of results or the reason of a failure: PyTorch's compiler prints many warnings.
    out = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        import torch

        device = torch.device(sys.argv[1])
        rows, columns = int(sys.argv[2]), int(sys.argv[3])
        if device.type == "cuda":
            torch.cuda.set_device(device)
        matrices = [torch.randn(rows, columns, device=device, dtype=torch.bfloat16) for _ in range(3)]
        said = []
        for expression in sys.argv[4:]:
            function = eval("lambda a, b, c: " + expression, {"torch": torch, "F": torch.nn.functional})
            said.append("eager %.9g" % seconds_of(torch, lambda: function(*matrices), device))
            try:
                compiled = torch.compile(function)
                said.append("compiled %.9g" % seconds_of(torch, lambda: compiled(*matrices), device))
            except Exception:
                said.append("compiled 0")
    except Exception as e:
        print(str(e).split("\n")[0], file=out, flush=True)
        return 1
    print(" ".join(said), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
