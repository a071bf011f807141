#version 450
#extension GL_KHR_shader_subgroup_arithmetic : enable

// c[i] = a[i] * k + b[i]; counts the items, and adds the a[] of each workgroup by LDS and by subgroups.
layout(local_size_x = 128) in;
layout(push_constant) uniform Push { uint n; float k; };
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) buffer C { uint items, sum, unused0, unused1; float c[]; };
shared uint seen[128];

void main()
{
	uint i = gl_GlobalInvocationID.x, local = gl_LocalInvocationID.x;
	uint mine = i < n ? uint(a[i]) % 64 : 0;

	seen[local] = mine;
	barrier();
	uint all = subgroupAdd(seen[127 - local]);
	if (subgroupElect())
		atomicAdd(sum, all);
	if (i < n) {
		c[i] = a[i] * k + b[i];
		atomicAdd(items, 1);
	}
}
