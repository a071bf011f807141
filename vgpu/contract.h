/* Rows of docs/vgpu-contract.md that findings name: number, name, and the situation in the document's words.
 * kernel/tests/contract_test.c compares the numbers and the words with the document. */
#ifndef VGPU_CONTRACT_H
#define VGPU_CONTRACT_H

/* clang-format off */
#define CONTRACT_ROWS(X) \
	X(1, IOCTL_UNKNOWN, "ioctl number that the release lacks") \
	X(3, IOCTL_SIZE, "argument shorter or longer than the struct") \
	X(10, KFD_OPENED, "/dev/kfd asked for") \
	X(16, BO_SIZE_0, "size 0") \
	X(17, VRAM_FULL, "VRAM full, VRAM asked for") \
	X(18, WINDOW_FULL, "CPU access required, window full") \
	X(24, HANDLE_CLOSED_TWICE, "handle closed twice") \
	X(25, HANDLE_CLOSED, "closed handle used") \
	X(38, HANDLES_LEFT, "buffers left when a file closes") \
	X(41, VA_MAPPED, "MAP over a mapping") \
	X(43, VA_UNMAP_SIZE, "UNMAP with another size") \
	X(47, VA_UNLISTED, "mapped, neither listed nor always valid") \
	X(52, VA_APERTURE, "aperture address in a global instruction") \
	X(58, IB_UNALIGNED_4, "IB not 4-byte aligned") \
	X(59, IB_UNALIGNED_32, "IB not 32-byte aligned") \
	X(60, IB_SIZE, "IB size 0, odd or too large") \
	X(61, SDMA_IB_UNPADDED, "SDMA IB not padded to 8 dwords") \
	X(62, IB_UNREACHABLE, "IB not listed or not mapped") \
	X(64, PACKET_WRONG_RING, "graphics packet on a compute ring") \
	X(65, PACKET_MALFORMED, "unknown opcode or form, reserved bits, count past the end") \
	X(66, REGISTER_FORBIDDEN, "register outside the open windows") \
	X(67, REGISTER_STALE, "register of an earlier job relied upon") \
	X(68, IB_CHAIN, "bad chain packet") \
	X(69, SDMA_IB_NESTED, "chain or nested IB on SDMA") \
	X(70, IB_CHANGED, "IB changed after submission") \
	X(74, SUBMIT_AWAITED, "WAIT_FOR_SUBMIT of what never comes") \
	X(80, IB_SECURE, "SECURE IB without TMZ") \
	X(81, BARRIER_MISSING, "job uses what the one before wrote, without a barrier") \
	X(82, DEPENDENCY_MISSING, "two rings share memory without a dependency") \
	X(84, EOP_NO_WRITEBACK, "end of pipe without write-back") \
	X(85, INVALIDATE_MISSING, "no invalidate after the CPU rewrote memory") \
	X(88, HDP_FLUSH_MISSING, "CPU writes VRAM without HDP flush") \
	X(90, ATOMIC_PCIE, "atomic over PCIe without support") \
	X(91, SCRATCH_SIZE, "scratch too small or without waves") \
	X(92, LDS_BOUNDS, "LDS access beyond the group's") \
	X(93, REGISTER_COUNT, "register count below what the code uses") \
	X(95, GRID_SIZE, "workgroup over 1024, grid overflow") \
	X(96, WAVE_SIZE, "wave size of launch and code differ") \
	X(99, POLL_ENDLESS, "WAIT_REG_MEM that nothing satisfies") \
	X(100, EOP_NOWHERE, "end of pipe write into nothing") \
	X(102, TIMESTAMP_UNITS, "timestamp units") \
	X(105, USERQ_EARLY, "doorbell before its memory") \
	X(106, USERQ_DOORBELL, "doorbell and memory differ") \
	X(107, USERQ_OVERRUN, "write pointer too far ahead") \
	X(108, USERQ_UNMAPPED, "queue memory unmapped") \
	X(109, USERQ_SIGNAL_EARLY, "USERQ_SIGNAL before the write pointer") \
	X(110, USERQ_NO_SIGNAL, "no PROTECTED_FENCE_SIGNAL") \
	X(116, SCRATCH_WAVESIZE, "WAVESIZE changed under waves that use the same scratch") \
	X(117, CODE_PREFETCH, "code whose prefetch runs past the mapping") \
	X(118, L2_DROPPED, "L2 invalidated without write-back") \
	X(122, WAIT_MISSING, "register, or LDS, used while a load into it is under way") \
	X(123, LDS_RACE, "waves of a workgroup race in LDS") \
	X(124, WAIT_STATES, "two instructions that hardware does not keep apart, with too little between them") \
	X(125, VA_NOT_LANDED, "a job touches what was mapped under it before anything shows that its page tables have it: a later job of the VM that has begun, or the fence of GEM_VA, and no mapping was removed in between") \
	X(126, GWS, "global wave sync of a resource that the job lacks; that nobody has set up since it came to this owner; for more workgroups than fit") \
	X(128, ATOMIC_FLOAT_UNCACHED, "a wave's floating-point atomic on memory that L2 does not hold (MTYPE UC or CC: fine-grained), before gfx942") \
	X(160, IB_NOT_EXECUTABLE, "IB of a compute ring, or the target of its chain, mapped without EXECUTABLE") \
	X(161, SCRATCH_WAVES, "scratch for fewer waves in a shader engine (WAVES by engines) than a workgroup has") \
	X(168, VMID_CODE_STALE, "a VMID comes from another process, and a dispatch follows before the instruction and scalar caches of its XCC were invalidated")
/* clang-format on */

enum contract_row {
#define CONTRACT_ROW(number, name, situation) CONTRACT_##name = number,
	CONTRACT_ROWS(CONTRACT_ROW)
#undef CONTRACT_ROW
};

#endif
