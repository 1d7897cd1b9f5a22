// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A gas on a grid of elements with four faces each: variables as planes of one array, far-away values in constant memory.
#include <iostream>
#include <fstream>
#include <cmath>

#define GAMMA 1.4f
#define DIMENSIONS 3
#define FACES 4

#define block_length 64
#if block_length > 128
#warning "that many threads may be more than some devices have registers for"
#endif

#define V_DENSITY 0
#define V_MOMENTUM  1
#define V_ENERGY (V_MOMENTUM+DIMENSIONS)
#define VARIABLES (V_ENERGY+1)

#define WALL -1
#define FAR_AWAY -2

__constant__ float far_variables[VARIABLES];

struct state { float density; float3 momentum; float energy; };

__device__ inline void load_state(int e, int count, float* variables, state& s)
{
	s.density = variables[e + V_DENSITY*count];
	s.momentum.x = variables[e + (V_MOMENTUM+0)*count];
	s.momentum.y = variables[e + (V_MOMENTUM+1)*count];
	s.momentum.z = variables[e + (V_MOMENTUM+2)*count];
	s.energy = variables[e + V_ENERGY*count];
}

__device__ inline float dot(const float3& a, const float3& b) { return a.x*b.x + a.y*b.y + a.z*b.z; }

__device__ inline float pressure_of(const state& s)
{
	return (float(GAMMA)-float(1.0f))*(s.energy - float(0.5f)*dot(s.momentum, s.momentum)/s.density);
}
__device__ inline float speed_of(const state& s) { return sqrtf(dot(s.momentum, s.momentum))/s.density; }
__device__ inline float speed_of_sound_of(const state& s) { return sqrtf(float(GAMMA)*pressure_of(s)/s.density); }

// the flux through a face with this normal
__device__ inline void flow(const state& s, const float3& normal, float (&out)[VARIABLES])
{
	const float through = dot(s.momentum, normal)/s.density, p = pressure_of(s);
	out[V_DENSITY]    = through*s.density;
	out[V_MOMENTUM+0] = through*s.momentum.x + p*normal.x;
	out[V_MOMENTUM+1] = through*s.momentum.y + p*normal.y;
	out[V_MOMENTUM+2] = through*s.momentum.z + p*normal.z;
	out[V_ENERGY]     = through*(s.energy + p);
}

__global__ void step_factors(int count, float* variables, float* areas, float* factors)
{
	const int e = (blockDim.x*blockIdx.x + threadIdx.x);
	state s;       load_state(e, count, variables, s);
	factors[e] = float(0.5f) / (sqrtf(areas[e]) * (speed_of(s) + speed_of_sound_of(s)));
}

__global__ void fluxes_of(int count, int* neighbours, float* normals, float* variables, float* fluxes)
{
	const float viscosity = float(0.2f);
	const int e = (blockDim.x*blockIdx.x + threadIdx.x);

	state here, there;
	load_state(e, count, variables, here);
	float sum[VARIABLES] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, flow_here[VARIABLES], flow_there[VARIABLES];

	#pragma unroll
	for(int f = 0; f < FACES; f++)
	{
		int other = neighbours[e + f*count];
		float3 normal = make_float3(normals[e + (f + 0*FACES)*count], normals[e + (f + 1*FACES)*count], normals[e + (f + 2*FACES)*count]);

		if(other == WALL)
		{
			float p = pressure_of(here);
			sum[V_MOMENTUM+0] += normal.x*p;
			sum[V_MOMENTUM+1] += normal.y*p;
			sum[V_MOMENTUM+2] += normal.z*p;
			continue;
		}
		if(other == FAR_AWAY) load_state(0, 1, far_variables, there);
		else load_state(other, count, variables, there);

		flow(here, normal, flow_here);
		flow(there, normal, flow_there);
		for(int v = 0; v < VARIABLES; v++) sum[v] += float(0.5f)*(flow_here[v] + flow_there[v]);

		if(other >= 0)
		{
			float factor = float(0.5f)*viscosity*sqrtf(dot(normal, normal));
			factor *= speed_of(here) + speed_of(there) + speed_of_sound_of(here) + speed_of_sound_of(there);
			sum[V_DENSITY]    -= factor*(here.density - there.density);
			sum[V_MOMENTUM+0] -= factor*(here.momentum.x - there.momentum.x);
			sum[V_MOMENTUM+1] -= factor*(here.momentum.y - there.momentum.y);
			sum[V_MOMENTUM+2] -= factor*(here.momentum.z - there.momentum.z);
			sum[V_ENERGY]     -= factor*(here.energy - there.energy);
		}
	}
	for(int v = 0; v < VARIABLES; v++) fluxes[e + v*count] = sum[v];
}
