/* What of VM faults GPUVM_FAULT tells. */
#include <sys/resource.h>
#include <sys/wait.h>
#include "vgpu/kernel/kernel.h"
#include "vgpu/kernel/tests/test_packets.h"
#include "vgpu/shim/shim.h"

static uint64_t last_fault(void)
{
	struct uapi_gpuvm_fault fault = {0};

	CHECK_EQ(rig_info(AMDGPU_INFO_GPUVM_FAULT, &fault, sizeof(fault)), 0);
	return fault.addr;
}

/* A job that writes to the n-th page of the hole, and its end. */
static void fault_at(unsigned n)
{
	CHECK_EQ(rig_try_write(rig.list, RIG_HOLE_VA + n * 0x1000ull, 1), 0);
}

/* Opens the window of printk_ratelimit() anew, at a time in seconds from now. */
static void set_window(int64_t from_now_s)
{
	kern_lock();
	kern->messages_since_ns = sys_now_ns() + from_now_s * 1000000000;
	kern_unlock();
}

/* row 134: the window opens with the first fault; it is moved so that it cannot end while the test runs. */
static void ten_in_five_seconds(void)
{
	fault_at(0);
	set_window(3600);
	for (unsigned n = 1; n < 10; n++) {
		fault_at(n);
		CHECK_EQ(last_fault(), RIG_HOLE_VA + n * 0x1000);
	}
	for (unsigned n = 10; n < 13; n++) {
		fault_at(n);
		CHECK_EQ(last_fault(), RIG_HOLE_VA + 9 * 0x1000);
	}
	set_window(-6);
	fault_at(13);
	CHECK_EQ(last_fault(), RIG_HOLE_VA + 13 * 0x1000);
}

/* One wave that writes to the hole, then 1 to dword 1 of the data page, and ends when dword 0 is not 0. */
static const uint32_t code[] = {
	0x7e000280,             /* v_mov_b32 v0, 0 */
	0x7e020281,             /* v_mov_b32 v1, 1 */
	0xdc708000, 0x00020100, /* global_store_dword v0, v1, s[2:3] */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0xdc708000, 0x00040100, /* global_store_dword v0, v1, s[4:5] */
	0xdc518000, 0x01000000, /* global_load_dword v1, v0, s[0:1] glc */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0x7e080501,             /* v_readfirstlane_b32 s4, v1 */
	0xbf068004,             /* s_cmp_eq_u32 s4, 0 */
	0xbf85fffa,             /* s_cbranch_scc1 -6 */
	0xbf810000,             /* s_endpgm */
};

static void set_pointer(unsigned n, uint64_t va)
{
	set_sh(0x240 + 2 * n, (uint32_t)va);
	set_sh(0x241 + 2 * n, (uint32_t)(va >> 32));
}

static uint64_t submit_wave(uint64_t faulting_va)
{
	uint64_t seq;

	memset(rig.data, 0, 4096);
	memcpy(rig.data + 0x100 / 4, code, sizeof(code));
	rig.ib_dw = 0;
	set_pointer(0, RIG_DATA_VA);
	set_pointer(1, faulting_va);
	set_pointer(2, RIG_DATA_VA + 4);
	emit_dispatch_with(RIG_DATA_VA + 0x100, 6);
	CHECK_EQ(rig_submit(rig.list, &seq), 0);
	return seq;
}

/* Waits for the wave to have faulted, and while it runs asks what is known of it. */
static uint64_t fault_of_running_wave(uint64_t seq)
{
	uint64_t fault;

	while (!__atomic_load_n(&rig.data[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	fault = last_fault();
	__atomic_store_n(&rig.data[0], 1, __ATOMIC_RELEASE);
	CHECK_EQ(rig_wait(seq), 0);
	return fault;
}

/* row 134: planned in this order: the first fault is recorded late, the second never, the third at once. */
static void late_and_lost(void)
{
	const uint64_t at = RIG_HOLE_VA + 0x20000, before = last_fault();

	CHECK_EQ(shim_inject_parse("fault_late=1,fault_lost=2"), 0);
	set_window(-6);
	CHECK_EQ(fault_of_running_wave(submit_wave(at)), before);
	for (unsigned i = 0; i < 10000 && last_fault() == before; i++)
		usleep(1000);
	CHECK_EQ(last_fault(), at);
	CHECK_EQ(fault_of_running_wave(submit_wave(at + 0x1000)), at);
	usleep(40000);
	CHECK_EQ(last_fault(), at);
	CHECK_EQ(fault_of_running_wave(submit_wave(at + 0x2000)), at + 0x2000);
}

/* row 47: as a packet's access, a wave's happens at this level, with a finding. */
static void waves_reach_unlisted_memory(void)
{
	const uint64_t at = RIG_HOLE_VA + 0x40000, fault = last_fault();
	unsigned long before = vgpu_findings();
	uint32_t bo, *map;

	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo), 0);
	map = rig_map(bo, 4096);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, at, 4096, RIG_RWX), 0);
	vgpu_strict_set(VGPU_STRICT_REPORT);
	CHECK_EQ(fault_of_running_wave(submit_wave(at)), fault);
	vgpu_strict_set(VGPU_STRICT_OFF);
	CHECK_EQ(vgpu_findings() - before, 1);
	CHECK_EQ(*map, 1);
	munmap(map, 4096);
	CHECK_EQ(rig_close(bo), 0);
}

/* What a packet reads at va, into dword 4 of the data page. */
static uint32_t read_by_packet(uint64_t va)
{
	rig.ib_dw = 0;
	emit(0xc0044000); /* COPY_DATA from memory to memory, with confirmation */
	emit(0x00100501);
	emit((uint32_t)va);
	emit((uint32_t)(va >> 32));
	emit((uint32_t)(RIG_DATA_VA + 16));
	emit(0);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	return rig.data[4];
}

/* row 45: a packet reads what another one wrote elsewhere, in another VM and process; what a wave wrote, too */
static void faults_share_a_page(void)
{
	int status;
	pid_t pid;

	CHECK_EQ(rig_try_write(rig.list, RIG_HOLE_VA + 0x50008, 0x1234), 0);
	CHECK_EQ(read_by_packet(RIG_HOLE_VA + 0x60008), 0x1234);
	CHECK_EQ(read_by_packet(RIG_HOLE_VA + 0x6000c), 0);
	pid = fork();
	if (!pid) {
		rig_init("/dev/dri/renderD128");
		CHECK_EQ(read_by_packet(RIG_HOLE_VA + 0x70008), 0x1234);
		CHECK_EQ(rig_try_write(rig.list, RIG_HOLE_VA + 0x70008, 0x5678), 0);
		_exit(check_failed_ != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(read_by_packet(RIG_HOLE_VA + 0x60008), 0x5678);
	fault_of_running_wave(submit_wave(RIG_HOLE_VA + 0x5000c));
	CHECK_EQ(read_by_packet(RIG_HOLE_VA + 0x6000c), 1);
}

/* row 45: the page is mapped where the fault was, until something else is; and only on chips that retry. */
static void pages_are_redirected(bool retries)
{
	const uint64_t at = RIG_HOLE_VA + 0x80000, other = RIG_HOLE_VA + 0x90000;
	uint32_t bo;

	set_window(-6);
	CHECK_EQ(rig_try_write(rig.list, at + 8, 7), 0);
	CHECK_EQ(rig_try_write(rig.list, other, 1), 0);
	CHECK_EQ(last_fault(), other);
	CHECK_EQ(read_by_packet(at + 8), 7);
	CHECK_EQ(last_fault(), retries ? other : at);
	CHECK_EQ(rig_create(4096, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_EXPLICIT_SYNC, &bo), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_MAP, bo, at, 4096, RIG_RWX), 0);
	CHECK_EQ(rig_va(AMDGPU_VA_OP_UNMAP, bo, at, 4096, 0), 0);
	CHECK_EQ(rig_close(bo), 0);
	CHECK_EQ(rig_try_write(rig.list, at, 1), 0);
	CHECK_EQ(last_fault(), at);
	fault_of_running_wave(submit_wave(other + 0x1000));
	CHECK_EQ(last_fault(), other + 0x1000);
	CHECK_EQ(rig_try_write(rig.list, other + 0x2000, 1), 0);
	fault_of_running_wave(submit_wave(other + 0x1000));
	CHECK_EQ(last_fault(), other + (retries ? 0x2000 : 0x1000));
}

static long peak_KiB(void)
{
	struct rusage usage;

	CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* A job that faults at thousands of pages, each of which is redirected once: the memory that this takes grows with their
 * number, and not with its square. */
static void many_pages_are_redirected(void)
{
	const uint64_t at = RIG_HOLE_VA + 0x10000000;
	const unsigned pages = 4096;
	long before = peak_KiB();

	rig.ib_dw = 0;
	emit(0xc0055000); /* DMA_DATA: a fill */
	emit(2u << 29);
	emit(7);
	emit(0);
	emit((uint32_t)at);
	emit(0);
	emit(pages * 4096);
	CHECK_EQ(rig_submit(rig.list, NULL), 0);
	CHECK_EQ(rig_wait(UINT64_MAX), 0);
	CHECK(peak_KiB() - before < 64 << 10);
	set_window(-6);
	CHECK_EQ(rig_try_write(rig.list, at + 4096ull * pages + 8, 1), 0);
	CHECK_EQ(read_by_packet(at + 4096ull * (pages - 1)), 7);
	CHECK_EQ(last_fault(), at + 4096ull * pages);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	rig_start("gfx906");
	ten_in_five_seconds();
	late_and_lost();
	waves_reach_unlisted_memory();
	faults_share_a_page();
	pages_are_redirected(false);
	rig_stop();
	rig_start("gfx90c");
	pages_are_redirected(true);
	many_pages_are_redirected();
	rig_stop();
	return check_done("VM faults");
}
