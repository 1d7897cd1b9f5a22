// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <cuda_runtime.h>

// softmax(Q K^T * scale) V without storing Q K^T. A loop over tiles of Bc keys and values; each of the Bc threads of a
// block has one row of queries, and keeps its sum l and maximum m so far.
__global__
void forward_kernel(const float* Q, const float* K, const float* V, const int N, const int d,
                    const int Tc, const int Tr, const int Bc, const int Br, const float softmax_scale,
                    float* l, float *m, float* O) {
    int tx = threadIdx.x;
    int bx = blockIdx.x; int by = blockIdx.y;  // batch and head

    int qkv_at = (bx * gridDim.y * N * d) + (by * N * d);
    int lm_at = (bx * gridDim.y * N) + (by * N);

    // tiles of Q, K, V and S, one after another
    extern __shared__ float sram[];
    int tile = Bc * d;
    float* Qi = sram;
    float* Kj = &sram[tile];
    float* Vj = &sram[tile * 2];
    float* S = &sram[tile * 3];

    for (int j = 0; j < Tc; j++) {
        for (int x = 0; x < d; x++) {
            Kj[(tx * d) + x] = K[qkv_at + (tile * j) + (tx * d) + x];
            Vj[(tx * d) + x] = V[qkv_at + (tile * j) + (tx * d) + x];
        }
        __syncthreads();

        for (int i = 0; i < Tr; i++) {
            for (int x = 0; x < d; x++) {
                Qi[(tx * d) + x] = Q[qkv_at + (tile * i) + (tx * d) + x];
            }
            float m_before = m[lm_at + (Br * i) + tx];
            float l_before = l[lm_at + (Br * i) + tx];

            // a row of S, and its maximum
            float m_row = -INFINITY;
            for (int y = 0; y < Bc; y++) {
                float sum = 0;
                for (int x = 0; x < d; x++) sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
                sum *= softmax_scale;
                S[(Bc * tx) + y] = sum;
                if (sum > m_row) m_row = sum;
            }
            // the exponentials of the row, and their sum
            float l_row = 0;
            for (int y = 0; y < Bc; y++) {
                S[(Bc * tx) + y] = __expf(S[(Bc * tx) + y] - m_row);
                l_row += S[(Bc * tx) + y];
            }

            // earlier results are scaled to the new maximum
            float m_now = max(m_before, m_row);
            float l_now = (__expf(m_before - m_now) * l_before) + (__expf(m_row - m_now) * l_row);
            for (int x = 0; x < d; x++) {
                float pv = 0;
                for (int y = 0; y < Bc; y++) pv += S[(Bc * tx) + y] * Vj[(y * d) + x];
                float& o = O[qkv_at + (tile * i) + (tx * d) + x];
                o = (1 / l_now) * ((l_before * __expf(m_before - m_now) * o) + (__expf(m_row - m_now) * pv));
            }
            m[lm_at + (Br * i) + tx] = m_now;
            l[lm_at + (Br * i) + tx] = l_now;
        }
        __syncthreads();  // before the next tile is loaded
    }
}
