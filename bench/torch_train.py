#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# torch_train.py DEVICE STEPS NETWORK NUMBER...: trains a network of bench/networks in PyTorch, with the same values: "residual"
# with IMAGES SIZE WIDTH BLOCKS, "bottleneck" with IMAGES SIZE WIDTH KINDS and the BLOCKS of four stages, or "block" of a
# transformer with SEQUENCES TOKENS WIDTH HEADS. Prints one line: steps per second, eager and compiled, the first loss, and
# the loss after STEPS steps. It prints "compiled 0" if the network cannot be compiled. troupe bench runs it for dnn.train,
# dnn.resnet50 and dnn.gpt, and with the device cpu for dnn.train.host.
import math
import os
import statistics
import sys
import time

KINDS, RATE = 10, 0.1


def layer_type(torch, sequences):
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self, inputs, outputs, filter=1, stride=1):
            super().__init__()
            self.conv = nn.Conv2d(inputs, outputs, filter, stride, filter // 2, bias=False)
            self.norm = nn.BatchNorm2d(outputs)
            fill(torch, self.conv.weight, math.sqrt(6 / (inputs * filter * filter)), sequences)

        def forward(self, x):
            return self.norm(self.conv(x))

    return Layer


def residual_network(torch, sequences, width, blocks):
    nn = torch.nn

    Layer = layer_type(torch, sequences)

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.first = Layer(inputs, outputs, 3, stride)
            self.second = Layer(outputs, outputs, 3, 1)
            changes = stride != 1 or inputs != outputs
            self.shortcut = Layer(inputs, outputs, 1, stride) if changes else nn.Identity()

        def forward(self, x):
            return torch.relu(self.second(torch.relu(self.first(x))) + self.shortcut(x))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = Layer(3, width, 3, 1)
            all_blocks, channels = [], width
            for stage in range(3):
                for b in range(blocks):
                    outputs = width << stage
                    all_blocks.append(Block(channels, outputs, 2 if stage > 0 and b == 0 else 1))
                    channels = outputs
            self.blocks = nn.Sequential(*all_blocks)
            self.head = linear(torch, sequences, channels, KINDS)

        def forward(self, x):
            x = self.blocks(torch.relu(self.stem(x)))
            with torch.autocast(x.device.type, enabled=False):
                return self.head(x.float().mean((2, 3)))

    return Network()


class Sequences:
    """Counts the lists of values, in the order of residual_network."""

    def __init__(self):
        self.made = 0

    def next(self, torch, count, limit):
        first = self.made * 1000003 & 0xFFFFFFFF
        self.made += 1
        h = (torch.arange(1, count + 1, dtype=torch.int64) + first & 0xFFFFFFFF) * 2654435761 & 0xFFFFFFFF
        h ^= h >> 16
        h = h * 2246822519 & 0xFFFFFFFF
        h ^= h >> 13
        return ((h.double() * 2.0**-31 - 1) * limit).float()


def fill(torch, to, limit, sequences):
    with torch.no_grad():
        to.copy_(sequences.next(torch, to.numel(), limit).reshape(to.shape))


def bottleneck_network(torch, sequences, width, kinds, blocks):
    nn = torch.nn

    Layer = layer_type(torch, sequences)

    class Block(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.shortcut = Layer(inputs, 4 * width, 1, stride) if inputs != 4 * width else nn.Identity()
            self.narrow, self.seen = Layer(inputs, width), Layer(width, width, 3, stride)
            self.wide = Layer(width, 4 * width)

        def forward(self, x):
            return torch.relu(self.wide(torch.relu(self.seen(torch.relu(self.narrow(x))))) + self.shortcut(x))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, channels, all_blocks = Layer(3, width, 7, 2), width, []
            for stage in range(4):
                for b in range(blocks[stage]):
                    all_blocks.append(Block(channels, width << stage, 2 if stage > 0 and b == 0 else 1))
                    channels = 4 * (width << stage)
            self.pool = nn.MaxPool2d(3, 2, 1)
            self.blocks = nn.Sequential(*all_blocks)
            self.head = linear(torch, sequences, channels, kinds)

        def forward(self, x):
            return self.head(self.blocks(self.pool(torch.relu(self.stem(x)))).mean((2, 3)))

    return Network()


def linear(torch, sequences, inputs, outputs):
    layer = torch.nn.Linear(inputs, outputs)
    # In Troupe's networks, this matrix is inputs x outputs.
    weights = torch.empty(inputs, outputs)
    fill(torch, weights, math.sqrt(1 / inputs), sequences)
    with torch.no_grad():
        layer.weight.copy_(weights.t())
        layer.bias.zero_()
    return layer


def transformer_block(torch, sequences, width, heads):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.attended = (linear(torch, sequences, width, n * width) for n in (3, 1))
            self.wide = linear(torch, sequences, width, 4 * width)
            self.narrow = linear(torch, sequences, 4 * width, width)

        def forward(self, x):
            n, tokens, _ = x.shape
            parts = self.qkv(self.first_norm(x)).view(n, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
            h = x + self.attended(y.transpose(1, 2).reshape(n, tokens, width))
            return h + self.narrow(F.gelu(self.wide(self.second_norm(h)), approximate="tanh"))

    return Block()


def training_of_images(torch, device, sequences, images, size, all_kinds, make):
    pixels = sequences.next(torch, images * 3 * size * size, 1).reshape(images, 3, size, size)
    pixels = pixels.to(device, torch.bfloat16).to(memory_format=torch.channels_last)
    kinds = (torch.arange(images) % all_kinds).to(device)
    model = make().to(device).to(memory_format=torch.channels_last)
    return model, lambda called: torch.nn.functional.cross_entropy(called(pixels).float(), kinds)


def residual_training(torch, device, sequences, images, size, width, blocks):
    model, loss = training_of_images(
        torch, device, sequences, images, size, KINDS, lambda: residual_network(torch, sequences, width, blocks)
    )
    return model, torch.optim.SGD(model.parameters(), lr=RATE), loss


def bottleneck_training(torch, device, sequences, images, size, width, kinds, *blocks):
    model, loss = training_of_images(
        torch, device, sequences, images, size, kinds, lambda: bottleneck_network(torch, sequences, width, kinds, blocks)
    )
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=device.type == "cuda"), loss


def block_training(torch, device, sequences, number, tokens, width, heads):
    x = sequences.next(torch, number * tokens * width, 1).reshape(number, tokens, width).to(device)
    model = transformer_block(torch, sequences, width, heads).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=device.type == "cuda")
    return model, optimizer, lambda called: called(x).square().mean()


def train(torch, compiled, device, steps, network, *numbers):
    make = {"residual": residual_training, "bottleneck": bottleneck_training, "block": block_training}[network]
    model, optimizer, loss_of = make(torch, device, Sequences(), *numbers)
    called = torch.compile(model) if compiled else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = loss_of(called)
        loss.backward()
        optimizer.step()
        return loss

    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    losses = [step().item() for _ in range(steps)]
    rates = []
    for _ in range(15):
        wait()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        rates.append(steps / (time.perf_counter() - start))
    return statistics.median(rates), losses


def main():
    steps, network, numbers = int(sys.argv[2]), sys.argv[3], [int(word) for word in sys.argv[4:]]
    # Prints nothing but the line of results or the reason of a failure: PyTorch's compiler prints many warnings.
    out = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        import torch

        device = torch.device(sys.argv[1])
        if device.type == "cuda":
            torch.cuda.set_device(device)
        torch.backends.cudnn.benchmark = True
        eager, losses = train(torch, False, device, steps, network, *numbers)
    except Exception as e:
        print(str(e).split("\n")[0], file=out, flush=True)
        return 1
    try:
        compiled, _ = train(torch, True, device, steps, network, *numbers)
    except Exception:
        compiled = 0
    print(f"eager {eager:.9g} compiled {compiled:.9g} losses {losses[0]:.5f} {losses[-1]:.5f}", file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
