#version 450

// One access to an image for each point.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint mode, count, width; float lod; };
layout(set = 0, binding = 0) uniform sampler2D plane;
layout(set = 0, binding = 1) uniform sampler2DArray layers;
layout(set = 0, binding = 2) uniform sampler3D volume;
layout(set = 0, binding = 3) uniform writeonly image2D stored;
layout(set = 0, binding = 4, r32ui) uniform uimage2D counters;
layout(set = 0, binding = 5) readonly buffer Points { vec4 point[]; };
layout(set = 0, binding = 6) writeonly buffer Results { vec4 result[]; };
layout(set = 0, binding = 7) uniform samplerCube faces;
layout(set = 0, binding = 8) uniform samplerBuffer typed;
layout(set = 0, binding = 9) uniform writeonly imageBuffer typed_out;

void main()
{
	uint i = gl_GlobalInvocationID.x;
	vec4 r = vec4(0);

	if (i >= count)
		return;
	vec4 p = point[i];
	ivec2 at = ivec2(i % width, i / width);
	switch (mode) {
	case 0: r = texelFetch(plane, at, int(lod)); break;
	case 1: r = textureLod(plane, p.xy, lod); break;
	case 2: r = textureLod(layers, p.xyz, lod); break;
	case 3: r = textureLod(volume, p.xyz, lod); break;
	case 4: imageStore(stored, at, p); break;
	case 5: r = vec4(imageAtomicAdd(counters, at, i + 5)); break;
	case 6: r = textureGather(plane, p.xy, 0); break;
	case 7: r = vec4(textureSize(layers, 0), textureQueryLevels(layers)); break;
	case 8: r = textureGrad(plane, p.xy, vec2(lod, 0), vec2(0, lod)); break;
	case 9: r = textureLodOffset(plane, p.xy, lod, ivec2(1, -2)); break;
	case 10: r = texture(plane, p.xy); break;
	case 11: r = textureLod(faces, p.xyz, lod); break;
	case 12: r = texelFetch(typed, int(i)); break;
	case 13: imageStore(typed_out, int(i), p); break;
	}
	result[i] = r;
}
