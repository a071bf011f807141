/* Configuration from the environment: drv_config, read once at the first call of any tuff function, constant
 * afterwards. docs/variables.md lists the variables; the table in config.c has the parser of each.
 *
 * A program that has more rights than its caller (set-user-ID, set-group-ID, file capabilities: AT_SECURE) ignores the
 * variables that name files, libraries or programs: their code would run, or their contents change, with its rights. */
#ifndef DRV_CONFIG_H
#define DRV_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* TUFF_COPY: the engine that copies, for tests and for finding a fault. */
enum drv_copy_engine { DRV_COPY_AUTO, DRV_COPY_SDMA, DRV_COPY_SHADER, DRV_COPY_CPU };

/* HSA_OVERRIDE_GFX_VERSION=major.minor.stepping, in decimal as in ROCm, for all devices. With _<n> at the end of
 * the name, for ROCm's node n: host NUMA nodes count first, GPUs follow in order. */
struct drv_override {
	int node; /* -1: all */
	uint8_t major, minor, stepping;
};
#define DRV_OVERRIDES_MAX 32

struct drv_config {
	bool privileged; /* this program has more rights than its caller (AT_SECURE) */
	unsigned log;    /* TUFF_LOG, enum drv_log_category */
	int log_fd;      /* TUFF_LOG_FILE; stderr otherwise */
	/* Of TUFF_LOG_FILE: the program may have closed log_fd, and a file of its own there. */
	uint64_t log_device, log_inode;
	uint32_t amd_log_level;    /* AMD_LOG_LEVEL, which adds to log */
	uint32_t serialize_kernel; /* AMD_SERIALIZE_KERNEL, HIP_LAUNCH_BLOCKING: bit 0 waits before, bit 1 after */
	uint32_t serialize_copy;   /* AMD_SERIALIZE_COPY: the same for copies */
	enum drv_copy_engine copy;
	uint32_t spin_us;     /* TUFF_SPIN_US: how long a wait polls before it sleeps */
	uint32_t staging_KiB; /* TUFF_STAGING_KIB: size of one staging buffer */
	bool peer_access;     /* TUFF_PEER_ACCESS: GPUs may reach one another's VRAM */
	uint32_t split_ms;    /* TUFF_SPLIT_MS: longest part of a long grid; 0: no grid is split */
	char whole[512];      /* TUFF_WHOLE: kernels whose grids are not split, comma separated */
	bool user_queues;     /* TUFF_USERQ: jobs go to user queues where the kernel makes them */
	bool poll;            /* TUFF_POLL: queues are polled without a doorbell write, too */
	const char *cu_mask;  /* owned, for ever; HSA_CU_MASK without spaces, NULL when there is none */
	bool cu_mask_later;   /* HSA_CU_MASK_SKIP_INIT: the mask narrows masks that are set, not new queues */
	const char *tools;    /* owned, for ever; HSA_TOOLS_LIB, NULL when there is none */
	/* The following texts are owned, for ever; NULL when a variable is not set or empty. */
	const char *hip_visible;      /* HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES, GPU_DEVICE_ORDINAL */
	const char *hip_include;      /* TUFF_HIP_INCLUDE: folder of HIP's headers, for hiprtc */
	const char *clang_folder;     /* HIP_CLANG_PATH: folder that hiprtc searches first for clang */
	const char *hiprtc;           /* TUFF_HIPRTC: the only compiler that hiprtc uses, comgr or clang */
	const char *rocm_path;        /* ROCM_PATH: where ROCm is installed */
	const char *device_libraries; /* HIP_DEVICE_LIB_PATH: folder of ROCm's device libraries */
	const char *kpack_path;       /* ROCM_KPACK_PATH: archives of code, in place of those that programs name */
	const char *kpack_prefix;     /* ROCM_KPACK_PATH_PREFIX: archives that come before those */
	bool kpack_disable;           /* ROCM_KPACK_DISABLE: no code is loaded from archives */
	const char *path;             /* PATH, for hiprtc's search; "/usr/bin:/bin" in a privileged program */
	unsigned overrides;
	struct drv_override override[DRV_OVERRIDES_MAX];
	char visible[512]; /* ROCR_VISIBLE_DEVICES */
	bool visible_set;  /* the variable exists, even if empty */
	bool fine_vram;    /* HSA_FORCE_FINE_GRAIN_PCIE: fine-grained VRAM outside hives, too */
	char problem[160]; /* the first value that could not be parsed and was ignored; "": none */
};

/* The configuration; never NULL, never changes. Thread safe. */
const struct drv_config *drv_config(void);

#endif
