// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A heart cell's currents as ordinary differential equations, solved with error control by a thread for each cell.
#include <stdlib.h>
#include <math.h>
#include <stdio.h>

#define fp float
#define EQUATIONS 4
#define PARAMETERS 6
#define min_scale_factor 0.125
#define max_scale_factor 4.0
#define err_exponent 0.25
#define ATTEMPTS 12

__device__ fp gate_alpha(fp v, int which) {
	switch (which) {
	case 0: return (fp)0.1 * (v + (fp)40.5) / (1 - expf(-(v + (fp)40.5) / 10));
	case 1: return (fp)0.07 * expf(-(v + 65) / 20);
	default: return (fp)0.01 * (v + (fp)55.5) / (1 - expf(-(v + (fp)55.5) / 10));
	}
}
__device__ fp gate_beta(fp v, int which) {
	switch (which) {
	case 0: return 4 * expf(-(v + 65) / 18);
	case 1: return 1 / (1 + expf(-(v + 35) / 10));
	default: return (fp)0.125 * expf(-(v + 65) / 80);
	}
}

__device__ void slopes_of(fp time_now, fp *now, fp *out, fp *params_of) {
	fp v = now[0], m = now[1], h = now[2], n = now[3];
	fp stimulus = fmod(time_now, params_of[5]) <= 1 ? params_of[4] : 0;
	fp sodium = params_of[0] * pow(m, 3) * h * (v - 50);
	fp potassium = params_of[1] * pow(n, 4) * (v + 77);
	fp leak = params_of[2] * (v - (fp)-54.4);
	out[0] = (stimulus - sodium - potassium - leak) / params_of[3];
	for (int i = 1; i < EQUATIONS; i++)
		out[i] = gate_alpha(v, i - 1) * (1 - now[i]) - gate_beta(v, i - 1) * now[i];
}

// two estimates of different order, and their difference
__device__ void embedded_step(fp time_now, fp h, fp *now, fp *out, fp *params_of, fp *err) {
	fp k[3][EQUATIONS], y[EQUATIONS];
	int i;
	slopes_of(time_now, now, k[0], params_of);
	for (i = 0; i < EQUATIONS; i++) y[i] = now[i] + h * k[0][i];
	slopes_of(time_now + h, y, k[1], params_of);
	for (i = 0; i < EQUATIONS; i++) y[i] = now[i] + h * (k[0][i] + k[1][i]) / 4;
	slopes_of(time_now + h / 2, y, k[2], params_of);
	*err = 0;
	for (i = 0; i < EQUATIONS; i++) {
		out[i] = now[i] + h * (k[0][i] + k[1][i] + 4 * k[2][i]) / 6;
		*err = fmaxf(*err, fabs(h * (k[0][i] + k[1][i] - 2 * k[2][i]) / 3) / (1 + fabs(now[i])));
	}
}

__global__ void solve_cells(int workload, int xmax, fp tolerance, fp *d_y, fp *params_of) {
	int tid = blockIdx.x * blockDim.x + threadIdx.x;
	if (tid < workload) {
		fp *y = d_y + tid * EQUATIONS, *params = params_of + tid * PARAMETERS;
		fp y_new[EQUATIONS], err, x = 0, h = 0.01, scale;
		while (x < xmax) {
			for (int j = 0; j < ATTEMPTS; j++) {
				embedded_step(x, h, y, y_new, params, &err);
				if (err <= tolerance) break;
				h *= 0.5;
			}
			x += h;
			for (int i = 0; i < EQUATIONS; i++) y[i] = y_new[i];
			scale = err == 0.0 ? max_scale_factor : 0.8 * pow(tolerance / err, (fp)err_exponent);
			scale = fminf(fmaxf(scale, min_scale_factor), max_scale_factor);
			h = fminf(fminf(h * scale, (fp)0.05), xmax - x > 0 ? xmax - x : h);
		}
	}
}
