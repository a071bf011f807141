/* Imports of other devices' buffers: the first job that lists one. */
#include "vgpu/kernel/base/uapi.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/memory.h"

/* Whether `importer` reaches the VRAM of `exporter`: over links of one hive, or over PCI when all of it is in the
 * window, the kernel has PCI_P2PDMA, and nothing between them (IOMMU, switch) forbids it: the SPEC's p2p. */
static bool are_peers(const struct kern_device *exporter, const struct kern_device *importer)
{
	if (exporter->hive && exporter->hive == importer->hive)
		return true;
	return exporter->visible_B == exporter->vram_B && !exporter->no_p2p && !importer->no_p2p;
}

/* Without peer access the buffer moves to GTT; views that hold its place are made again. */
void kern_prime_map(struct kern_bo *bo)
{
	struct kern_bo *exported = bo->foreign;

	bo->unmapped = false;
	if (exported->heap != AMDGPU_GEM_DOMAIN_VRAM || are_peers(exported->dev, bo->dev) ||
	    kern_heap_charge(exported, AMDGPU_GEM_DOMAIN_GTT, false))
		return;
	kern_bo_moved(exported);
	/* No finding: a client can detect peer access only by trying. */
	vgpu_log("row 120: BO %u: used by a device without peer access, it moved to GTT", exported->id);
}
