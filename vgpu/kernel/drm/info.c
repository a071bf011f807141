/* INFO: a table of queries. Each fills one answer; the ioctl copies as much of it as the client requests. */
#include <time.h>
#include "vgpu/kernel/drm/info.h"
#include "vgpu/kernel/base/profile.h"
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/drm/proc.h"
#include "vgpu/kernel/gem/fault.h"
#include "vgpu/kernel/gem/vm.h"
#include "vgpu/kernel/sched/ctx.h"

/* Large enough for every fixed answer; READ_MMR_REG and VBIOS_IMAGE copy by themselves. */
union answer {
	uint32_t u32[128]; /* large enough for fields that later kernels append */
	uint64_t u64;
	struct uapi_dev_info dev;
	struct uapi_hw_ip ip;
	struct uapi_memory_info memory;
	struct uapi_gpuvm_fault fault;
	struct drm_amdgpu_info_vram_gtt vram_gtt;
	struct drm_amdgpu_info_gds gds;
	struct drm_amdgpu_info_firmware fw;
	struct drm_amdgpu_info_vce_clock_table vce;
	struct drm_amdgpu_info_video_caps caps;
};

struct query {
	struct kern_file *file;
	struct kern_device *dev;
	const struct vgpu_chip *chip;
	const struct kern_profile *profile;
	const struct drm_amdgpu_info *args;
	union answer *answer;
};

/* The size of the answer, or -errno. */
typedef int query_fn(const struct query *q);

static int answer_u32(const struct query *q, uint32_t value)
{
	q->answer->u32[0] = value;
	return 4;
}

static int answer_u64(const struct query *q, uint64_t value)
{
	q->answer->u64 = value;
	return 8;
}

/* --- device --- */

static int accel_working(const struct query *q)
{
	return answer_u32(q, 1);
}

static void dev_info_va(const struct query *q, struct uapi_dev_info *d)
{
	d->virtual_address_offset = q->profile->va_bottom;
	d->virtual_address_max = KERN_VA_HOLE_START;
	d->virtual_address_alignment = KERN_PAGE;
	d->pte_fragment_size = 2u << 20;
	d->gart_page_size = KERN_PAGE;
	d->high_va_offset = KERN_VA_HOLE_END;
	d->high_va_max = kern_vm_size(q->dev) | ~KERN_VA_MASK;
}

/* Cache sizes as amdgpu_discovery_get_gfx_info() reads them: tables before 1.2, as GFX9 has, have no sizes; 2.1 of
 * MI300 has sizes of the scalar caches, and the others in fields of its own, which the kernel does not report. */
static void dev_info_caches(const struct vgpu_chip *chip, struct uapi_dev_info *d)
{
	if (chip->gc_version[0] > 9) {
		d->tcp_cache_size = chip->l1_B / 1024;
		d->num_sqc_per_wgp = 1;
		d->sqc_data_cache_size = 16;
		d->sqc_inst_cache_size = 32;
		d->gl1c_cache_size = chip->gl1_B / 1024;
		d->gl2c_cache_size = chip->l2_B / 1024;
	} else if (kern_family_of(chip) == KERN_GFX943) {
		d->sqc_data_cache_size = 16;
		d->sqc_inst_cache_size = 64;
	}
}

/* The first two engines' first arrays, 16 bits each (gfx_v9_0_get_cu_info()). */
static uint32_t always_on_mask(const struct vgpu_chip *chip, const struct uapi_dev_info *d)
{
	uint32_t mask = 0;

	for (unsigned se = 0; se < 2 && se < chip->engines; se++)
		for (unsigned array = 0; array < 2 && array < chip->arrays_per_engine; array++)
			mask |= d->cu_ao_bitmap[se][array] << (16 * se + 8 * array);
	return mask;
}

static int dev_info(const struct query *q)
{
	const struct vgpu_chip *chip = q->chip;
	struct uapi_dev_info *d = &q->answer->dev;

	*d = (struct uapi_dev_info){
		.device_id = chip->device_id,
		.chip_rev = chip->chip_rev,
		.external_rev = chip->external_rev,
		.pci_rev = chip->pci_rev,
		.family = chip->family,
		.num_shader_engines = chip->engines,
		.num_shader_arrays_per_engine = chip->arrays_per_engine,
		.gpu_counter_freq = chip->counter_khz,
		.max_engine_clock = chip->engine_khz,
		.max_memory_clock = chip->memory_khz,
		.min_engine_clock = chip->engine_khz / 5,
		.min_memory_clock = chip->memory_khz / 5,
		.cu_active_number = chip->cus_active * q->dev->xccs, /* cu_bitmap is of the first XCC */
		.enabled_rb_pipes_mask = (1u << chip->rbs) - 1,
		.num_rb_pipes = chip->rbs,
		.num_hw_gfx_contexts = 8,
		.ce_ram_size = chip->ce_ram_B,
		.vram_type = chip->vram_type,
		.vram_bit_width = chip->vram_bits,
		.ids_flags = chip->ids_flags,
		.wave_front_size = chip->wave_lanes,
		.num_shader_visible_vgprs = chip->vgprs,
		.num_cu_per_sh = chip->cus_per_array,
		.num_tcc_blocks = chip->tccs,
		.gs_vgt_table_depth = 32,
		.gs_prim_buffer_depth = 1792,
		.max_gs_waves_per_vgt = 32,
		.gc_double_offchip_lds_buf = 1,
		.mall_size = chip->mall_B,
		.userq_ip_mask = kern_ip_userqs(q->dev),
	};
	dev_info_caches(chip, d);
	if (q->profile->pcie_in_dev_info) {
		d->pcie_gen = vgpu_chip_pcie_gen(chip);
		d->pcie_num_lanes = vgpu_chip_pcie_lanes(chip);
	}
	dev_info_va(q, d);
	vgpu_chip_cu_bitmap(chip, d->cu_bitmap);
	if (chip->gc_version[0] < 11) { /* later chips have no always-on CUs */
		memcpy(d->cu_ao_bitmap, d->cu_bitmap, sizeof(d->cu_ao_bitmap));
		d->cu_ao_mask = always_on_mask(chip, d);
	}
	return q->profile->dev_info_B;
}

/* --- IP blocks --- */

static uint32_t ring_mask(const struct query *q, uint32_t ip)
{
	unsigned rings = kern_ip_hw_rings(q->dev, ip), entities = kern_ip_entities(ip);

	return (1u << (rings < entities ? rings : entities)) - 1;
}

static int hw_ip_info(const struct query *q)
{
	uint32_t type = q->args->query_hw_ip.type;
	const uint16_t *version = type == AMDGPU_HW_IP_DMA ? q->chip->sdma_version : q->chip->gc_version;
	struct uapi_hw_ip *ip = &q->answer->ip;

	if (q->args->query_hw_ip.ip_instance || !kern_ip_entities(type))
		return -EINVAL;
	*ip = (struct uapi_hw_ip){0};
	if (!kern_ip_hw_rings(q->dev, type))
		return q->profile->hw_ip_B;
	ip->major = version[0];
	ip->minor = type == AMDGPU_HW_IP_DMA ? q->chip->sdma_block_minor : q->chip->gc_block_minor;
	ip->ib_start_alignment = type == AMDGPU_HW_IP_DMA ? 256 : 32;
	ip->ib_size_alignment = type == AMDGPU_HW_IP_DMA ? 4 : 32;
	ip->available_rings = q->dev->userq == KERN_USERQ_ONLY ? 0 : ring_mask(q, type);
	ip->userq_num_slots = kern_ip_userq_slots(q->dev, type);
	if (q->profile->drm_minor >= 48)
		ip->ip_discovery_version = (uint32_t)version[0] << 16 | (uint32_t)version[1] << 8 | version[2];
	return q->profile->hw_ip_B;
}

/* Counts the XCCs and copy engines of the file's partition, if it has one. */
static int hw_ip_count(const struct query *q)
{
	unsigned partitions = q->file->partition < 0 ? 1 : q->dev->partitions;
	uint32_t type = q->args->query_hw_ip.type;

	if (!kern_ip_hw_rings(q->dev, type))
		return -EINVAL;
	if (type == AMDGPU_HW_IP_DMA)
		return answer_u32(q, kern_ip_hw_rings(q->dev, type) / partitions);
	return answer_u32(q, q->file->partition < 0 ? 1 : q->dev->xccs / partitions);
}

static int max_ibs(const struct query *q)
{
	memcpy(q->answer->u32, kern_ip_max_ibs, sizeof(kern_ip_max_ibs));
	return sizeof(kern_ip_max_ibs);
}

/* Absent firmware answers zeroes. Versions are made up: large enough for every feature test that Mesa makes. */
static int fw_version(const struct query *q)
{
	uint32_t type = q->args->query_fw.fw_type, index = q->args->query_fw.index;
	bool present = type == AMDGPU_INFO_FW_GFX_MEC || type == AMDGPU_INFO_FW_SDMA ||
		       type == AMDGPU_INFO_FW_SMC || type == AMDGPU_INFO_FW_SOS || type == AMDGPU_INFO_FW_GFX_RLC;

	if (q->chip->gfx_rings)
		present |= type == AMDGPU_INFO_FW_GFX_ME || type == AMDGPU_INFO_FW_GFX_PFP ||
			   type == AMDGPU_INFO_FW_GFX_CE;
	if (q->chip->gc_version[0] >= 11) /* the later schedulers' and the power-up's own */
		present |= type == UAPI_INFO_FW_MES || type == UAPI_INFO_FW_MES_KIQ || type == UAPI_INFO_FW_IMU;
	if (q->args->query_fw.ip_instance || !type || type == 9 || type > UAPI_INFO_FW_LAST)
		return -EINVAL;
	if ((type == AMDGPU_INFO_FW_GFX_MEC && index > 1) ||
	    (type == AMDGPU_INFO_FW_SDMA && index >= kern_ip_hw_rings(q->dev, AMDGPU_HW_IP_DMA)))
		return -EINVAL;
	q->answer->fw = (struct drm_amdgpu_info_firmware){present ? 300 : 0, present ? 45 : 0};
	return sizeof(q->answer->fw);
}

/* --- memory --- */

/* VRAM that the kernel reserves: page tables and the like (AMDGPU_VM_RESERVED_VRAM). */
#define RESERVED_VRAM_B (8ull << 20)

static struct uapi_heap_info info_heap(uint64_t total, uint64_t reserved, uint64_t used)
{
	uint64_t usable = total - reserved;

	return (struct uapi_heap_info){total, usable, used, usable * 3 / 4};
}

/* Without what processes had that have died. */
static const struct kern_device *info_usage(const struct query *q)
{
	if (kern->procs > 1)
		kern_proc_sweep();
	return q->dev;
}

static int info_memory(const struct query *q)
{
	const struct kern_device *dev = info_usage(q);

	q->answer->memory = (struct uapi_memory_info){
		info_heap(dev->vram_B, RESERVED_VRAM_B, dev->vram_used_B),
		info_heap(dev->visible_B, RESERVED_VRAM_B, dev->visible_used_B),
		info_heap(dev->gtt_B, 0, dev->gtt_used_B),
	};
	return sizeof(q->answer->memory);
}

static int vram_gtt(const struct query *q)
{
	q->answer->vram_gtt = (struct drm_amdgpu_info_vram_gtt){q->dev->vram_B - RESERVED_VRAM_B,
								q->dev->visible_B - RESERVED_VRAM_B, q->dev->gtt_B};
	return sizeof(q->answer->vram_gtt);
}

static int vram_usage(const struct query *q)
{
	return answer_u64(q, info_usage(q)->vram_used_B);
}

static int visible_usage(const struct query *q)
{
	return answer_u64(q, info_usage(q)->visible_used_B);
}

static int gtt_usage(const struct query *q)
{
	return answer_u64(q, info_usage(q)->gtt_used_B);
}

static int bytes_moved(const struct query *q)
{
	return answer_u64(q, q->dev->bytes_moved);
}

static int info_evictions(const struct query *q)
{
	return answer_u64(q, q->dev->evictions);
}

static int cpu_faults(const struct query *q)
{
	return answer_u64(q, q->dev->cpu_faults);
}

static int gds_config(const struct query *q)
{
	q->answer->gds = (struct drm_amdgpu_info_gds){.gds_total_size = q->chip->gds_B};
	q->answer->gds.gws_per_compute_partition = vgpu_chip_gws(q->chip);
	q->answer->gds.oa_per_compute_partition = vgpu_chip_gws(q->chip) ? 16 : 0;
	return sizeof(q->answer->gds);
}

/* --- state --- */

static int info_timestamp(const struct query *q)
{
	return answer_u64(q, engine_clock(q->chip));
}

static int vram_lost(const struct query *q)
{
	return answer_u32(q, q->dev->vram_lost);
}

static int gpuvm_fault(const struct query *q)
{
	struct kern_vm_fault f = kern_fault_recorded(q->file->vm);

	q->answer->fault = (struct uapi_gpuvm_fault){f.addr, f.status, f.vmhub};
	return sizeof(q->answer->fault);
}

/* ECC of registers brings RAS to all blocks but memory's (Linux amdgpu_ras_check_supported); the upper half has those
 * that are enabled. */
static int ras_features(const struct query *q)
{
	const uint64_t blocks = 2 * AMDGPU_INFO_RAS_ENABLED_FUSE - 1;
	const uint64_t memory = AMDGPU_INFO_RAS_ENABLED_UMC | AMDGPU_INFO_RAS_ENABLED_DF;

	return answer_u64(q, q->dev->sramecc ? (blocks & ~memory) << 32 : 0);
}

static int info_sensor(const struct query *q)
{
	uint32_t engine_mhz = q->chip->engine_khz / 1000, memory_mhz = q->chip->memory_khz / 1000;

	if (q->profile->drm_minor < 50 && q->args->sensor_info.type > AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK)
		return -EINVAL;
	switch (q->args->sensor_info.type) { /* an idle card in a cool room */
	case AMDGPU_INFO_SENSOR_GFX_SCLK:
	case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_SCLK:
	case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK:
		return answer_u32(q, engine_mhz);
	case AMDGPU_INFO_SENSOR_GFX_MCLK:
	case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK:
	case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_MCLK:
		return answer_u32(q, memory_mhz);
	case AMDGPU_INFO_SENSOR_GPU_TEMP:
		return answer_u32(q, 35000);
	case AMDGPU_INFO_SENSOR_GPU_LOAD:
		return answer_u32(q, 0);
	case AMDGPU_INFO_SENSOR_GPU_AVG_POWER:
		return answer_u32(q, 40);
	case AMDGPU_INFO_SENSOR_VDDGFX:
		return answer_u32(q, 800);
	case AMDGPU_INFO_SENSOR_VDDNB:
		return vgpu_chip_is_apu(q->chip) ? answer_u32(q, 750) : -EINVAL;
	default:
		return -EINVAL; /* the rest no card of these reports */
	}
}

static int video_caps(const struct query *q)
{
	if (q->args->video_cap.type > AMDGPU_INFO_VIDEO_CAPS_ENCODE)
		return -EINVAL;
	memset(&q->answer->caps, 0, sizeof(q->answer->caps));
	return sizeof(q->answer->caps);
}

static int vce_clocks(const struct query *q)
{
	memset(&q->answer->vce, 0, sizeof(q->answer->vce));
	return sizeof(q->answer->vce);
}

static int num_handles(const struct query *q)
{
	(void)q;
	return -ENODATA; /* UVD of older chips only */
}

static int crtc_from_id(const struct query *q)
{
	(void)q;
	return -EINVAL; /* no display */
}

/* --- answers of other sizes --- */

/* A VBIOS of one block: signature, length in units of 512 bytes, and no tables: no firmware boots this card. */
#define VBIOS_B 512

static int info_vbios(const struct query *q)
{
	uint8_t image[VBIOS_B] = {0x55, 0xaa, VBIOS_B / 512};
	uint64_t to = q->args->return_pointer;
	uint32_t size_B = q->args->return_size, offset = q->args->vbios_info.offset;

	switch (q->args->vbios_info.type) {
	case AMDGPU_INFO_VBIOS_SIZE:
		return answer_u32(q, VBIOS_B);
	case AMDGPU_INFO_VBIOS_IMAGE:
		if (offset >= VBIOS_B)
			return -EINVAL;
		size_B = size_B < VBIOS_B - offset ? size_B : VBIOS_B - offset;
		return kern_copy_out(to, image + offset, size_B);
	case AMDGPU_INFO_VBIOS_INFO:
		memset(q->answer->u32, 0, 200); /* struct drm_amdgpu_info_vbios */
		memcpy((char *)q->answer->u32, "tuff virtual GPU", 17);
		memcpy((char *)q->answer->u32 + 64, "113-TUFF-000", 13);
		return 200;
	default:
		return -EINVAL;
	}
}

/* Registers that the kernel lets user space read, by dword offset of SOC15's first GC segments. All idle. */
static bool register_value(const struct query *q, uint32_t offset, uint32_t *value)
{
	static const uint32_t idle[] = {
		0x2004, 0x2002, 0x2005, 0x2006, 0x200e, 0x200f,                         /* GRBM_STATUS, 2, SE0..3 */
		0x21a0, 0x219d, 0x219e, 0x219f, 0x2187, 0x2188, 0x2189, 0x2184, 0x2186, /* CP_* */
		0x2185, 0x260d,                                                         /* CP_CPC_*, DB_DEBUG2 */
		0x1285, 0x1485,                                                         /* SDMA0/1_STATUS_REG */
	};

	*value = 0;
	if (offset == 0x263e) { /* GB_ADDR_CONFIG */
		*value = q->chip->gb_addr_config;
		return true;
	}
	for (size_t i = 0; i < kern_array_len(idle); i++)
		if (idle[i] == offset)
			return true;
	return false;
}

static int read_mmr(const struct query *q)
{
	uint32_t count = q->args->read_mmr_reg.count, instance = q->args->read_mmr_reg.instance, value[128];
	uint32_t se = instance >> AMDGPU_INFO_MMR_SE_INDEX_SHIFT & AMDGPU_INFO_MMR_SE_INDEX_MASK;
	uint32_t sh = instance >> AMDGPU_INFO_MMR_SH_INDEX_SHIFT & AMDGPU_INFO_MMR_SH_INDEX_MASK;
	size_t size_B = count * sizeof(value[0]);

	if (!count || count > 128)
		return -EINVAL;
	if ((se != AMDGPU_INFO_MMR_SE_INDEX_MASK && se >= 4) || (sh != AMDGPU_INFO_MMR_SH_INDEX_MASK && sh >= 2))
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		if (!register_value(q, q->args->read_mmr_reg.dword_offset + i, &value[i]))
			return -EFAULT;
	if (size_B > q->args->return_size)
		size_B = q->args->return_size;
	return kern_copy_out(q->args->return_pointer, value, size_B);
}

/* --- dispatch --- */

/* DRM minor version of each query newer than 3.40. */
static const uint8_t since_minor[] = {
	[AMDGPU_INFO_VIDEO_CAPS] = 41,
	[AMDGPU_INFO_MAX_IBS] = 54, /* Linux 6.6 */
	[AMDGPU_INFO_GPUVM_FAULT] = 55,
};

static query_fn *const queries[] = {
	[AMDGPU_INFO_ACCEL_WORKING] = accel_working,
	[AMDGPU_INFO_CRTC_FROM_ID] = crtc_from_id,
	[AMDGPU_INFO_HW_IP_INFO] = hw_ip_info,
	[AMDGPU_INFO_HW_IP_COUNT] = hw_ip_count,
	[AMDGPU_INFO_TIMESTAMP] = info_timestamp,
	[AMDGPU_INFO_FW_VERSION] = fw_version,
	[AMDGPU_INFO_NUM_BYTES_MOVED] = bytes_moved,
	[AMDGPU_INFO_VRAM_USAGE] = vram_usage,
	[AMDGPU_INFO_GTT_USAGE] = gtt_usage,
	[AMDGPU_INFO_GDS_CONFIG] = gds_config,
	[AMDGPU_INFO_VRAM_GTT] = vram_gtt,
	[AMDGPU_INFO_READ_MMR_REG] = read_mmr,
	[AMDGPU_INFO_DEV_INFO] = dev_info,
	[AMDGPU_INFO_VIS_VRAM_USAGE] = visible_usage,
	[AMDGPU_INFO_NUM_EVICTIONS] = info_evictions,
	[AMDGPU_INFO_MEMORY] = info_memory,
	[AMDGPU_INFO_VCE_CLOCK_TABLE] = vce_clocks,
	[AMDGPU_INFO_VBIOS] = info_vbios,
	[AMDGPU_INFO_NUM_HANDLES] = num_handles,
	[AMDGPU_INFO_SENSOR] = info_sensor,
	[AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS] = cpu_faults,
	[AMDGPU_INFO_VRAM_LOST_COUNTER] = vram_lost,
	[AMDGPU_INFO_RAS_ENABLED_FEATURES] = ras_features,
	[AMDGPU_INFO_VIDEO_CAPS] = video_caps,
	[AMDGPU_INFO_MAX_IBS] = max_ibs,
	[AMDGPU_INFO_GPUVM_FAULT] = gpuvm_fault,
};

int kern_info_ioctl(struct kern_file *file, void *arg)
{
	const struct drm_amdgpu_info *args = arg;
	union answer answer;
	struct query q = {.file = file,
			  .dev = file->dev,
			  .chip = kern_local.chip[file->dev->index],
			  .profile = kern_profile_of(file->dev),
			  .args = args,
			  .answer = &answer};
	int size_B;

	if (!args->return_size || !args->return_pointer)
		return -EINVAL;
	if (args->query >= kern_array_len(queries) || !queries[args->query])
		return -EINVAL;
	if (args->query < kern_array_len(since_minor) && since_minor[args->query] > q.profile->drm_minor)
		return -EINVAL;
	memset(&answer, 0, sizeof(answer));
	size_B = queries[args->query](&q);
	if (size_B <= 0)
		return size_B;
	if ((uint32_t)size_B > args->return_size)
		size_B = (int)args->return_size;
	return kern_copy_out(args->return_pointer, &answer, (size_t)size_B);
}
