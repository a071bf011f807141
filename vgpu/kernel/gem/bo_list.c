#include <stdlib.h>
#include "vgpu/kernel/gem/bo_list.h"
#include "vgpu/kernel/base/call.h"
#include "vgpu/kernel/gem/bo.h"
#include "vgpu/kernel/gem/evict.h"
#include "vgpu/kernel/gem/handle.h"
#include "vgpu/kernel/sync/fence.h"

#define LIST_MAX (128u << 10) /* AMDGPU_BO_LIST_MAX_ENTRIES: Debian's 6.1, 6.12 and 7.2 have it */

/* --- content --- */

static void entry_attach(struct kern_bo_list *list, unsigned i, struct kern_bo *bo)
{
	struct kern_list_entry *entry = &list->entry[i];

	entry->bo = kern_bo_get(bo);
	entry->list = list;
	kern_list_add_tail(&bo->lists, &entry->bo_link);
	list->userptrs += kern_bo_is_userptr(bo);
	list->implicit += !(bo->flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC);
	list->unmapped |= bo->unmapped;
	list->displaced |= kern_bo_displaced(bo);
	if (bo->preferred == AMDGPU_GEM_DOMAIN_GWS)
		list->gws = bo;
}

static int keep_fence(struct kern_fence *f, void *arg)
{
	struct kern_resv *resv = arg;

	if (!kern_resv_reserve(resv))
		kern_resv_add(resv, f);
	return 0;
}

/* The buffer leaves the list, so the fences that it knew through the list become its own. Without memory for that
 * the buffer merely seems idle early. */
static void entry_detach(struct kern_list_entry *entry)
{
	struct kern_bo *bo = entry->bo;

	for (unsigned i = 0; i < entry->list->resv.count; i++)
		if (!entry->list->resv.fence[i]->signalled)
			keep_fence(entry->list->resv.fence[i], bo->vm ? &bo->vm->resv : &bo->resv);
	if (entry->list->used > bo->used_late)
		bo->used_late = entry->list->used;
	kern_list_del(&entry->bo_link);
	kern_bo_put(bo);
}

static void list_empty(struct kern_bo_list *list)
{
	while (list->count)
		entry_detach(&list->entry[--list->count]);
	kern_free(list->entry);
	list->entry = NULL;
	list->gws = NULL;
	list->userptrs = list->implicit = 0;
}

/* Replaces the content; on failure the list is as before. */
static int list_fill(struct kern_file *file, struct kern_bo_list *list, const uint32_t *handles, unsigned count)
{
	struct kern_list_entry *entry = kern_alloc(count * sizeof(*entry) + 1);

	if (!entry)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct kern_handle *handle = kern_handle_must(file, handles[i], "BO list");
		int r = !handle                                                                        ? -ENOENT
			: kern_bo_is_userptr(handle->bo) && handle->bo->user_proc != kern_local.serial ? -EPERM
												       : 0;

		if (r) {
			kern_free(entry);
			return r;
		}
	}
	list_empty(list);
	list->entry = entry;
	for (unsigned i = 0; i < count; i++) {
		entry_attach(list, i, kern_handle_find(file, handles[i])->bo);
		list->count = i + 1;
	}
	list->id = ++kern->next_id;
	return 0;
}

static struct kern_bo_list *list_create(void)
{
	struct kern_bo_list *list = kern_alloc(sizeof(*list));

	if (!list)
		return NULL;
	list->refs = 1;
	kern_live(KERN_BO_LISTS, 1);
	kern_call_current()->list = list; /* until it has its place */
	return list;
}

void kern_bo_list_put(struct kern_bo_list *list)
{
	if (!list || --list->refs)
		return;
	list_empty(list);
	kern_resv_fini(&list->resv);
	kern_free(list->handles);
	kern_live(KERN_BO_LISTS, -1);
	kern_free(list);
}

/* --- from user memory --- */

/* Of an entry of another size than the kernel's only what both have is read: the rest need not be there. */
static int read_entries(const struct drm_amdgpu_bo_list_in *in, struct drm_amdgpu_bo_list_entry *to)
{
	uint32_t stride = in->bo_info_size, size_B = stride < sizeof(*to) ? stride : sizeof(*to);
	int r = 0;

	if (stride == sizeof(*to))
		return kern_copy_in(to, in->bo_info_ptr, in->bo_number * sizeof(*to));
	for (uint32_t i = 0; !r && i < in->bo_number; i++)
		r = kern_copy_in(&to[i], in->bo_info_ptr + (uint64_t)i * stride, size_B);
	return r;
}

/* Reads the handles. *handles is in the segment; the caller frees it. */
static int read_handles(const struct drm_amdgpu_bo_list_in *in, uint32_t **handles)
{
	struct drm_amdgpu_bo_list_entry *entry;
	uint32_t *out;
	int r;

	if (in->bo_number > LIST_MAX)
		return -EINVAL;
	out = kern_alloc(in->bo_number * sizeof(*out) + 1);
	entry = kern_alloc(in->bo_number * sizeof(*entry) + 1);
	r = out && entry ? read_entries(in, entry) : -ENOMEM;
	for (uint32_t i = 0; !r && i < in->bo_number; i++)
		out[i] = entry[i].bo_handle;
	kern_free(entry);
	if (r)
		kern_free(out);
	else
		*handles = out;
	return r;
}

static int op_create(struct kern_file *file, const struct drm_amdgpu_bo_list_in *in, const uint32_t *handles,
		     uint32_t *id)
{
	struct kern_bo_list *list = list_create();
	int r = list ? list_fill(file, list, handles, in->bo_number) : -ENOMEM;

	if (!r)
		*id = kern_idr_add(&file->lists, list, &r);
	kern_call_current()->list = NULL;
	if (r)
		kern_bo_list_put(list);
	return r;
}

/* Jobs in flight keep the content that they were submitted with, so an update makes a new list under the number. */
static int op_update(struct kern_file *file, const struct drm_amdgpu_bo_list_in *in, const uint32_t *handles)
{
	struct kern_bo_list *old = kern_idr_find(&file->lists, in->list_handle), *list;
	int r;

	if (!old)
		return -ENOENT;
	list = list_create();
	r = list ? list_fill(file, list, handles, in->bo_number) : -ENOMEM;
	kern_call_current()->list = NULL;
	if (r) {
		kern_bo_list_put(list);
		return r;
	}
	file->lists.slot[in->list_handle] = list;
	kern_bo_list_put(old);
	return 0;
}

int kern_bo_list_ioctl(struct kern_file *file, void *arg)
{
	union drm_amdgpu_bo_list *args = arg;
	struct drm_amdgpu_bo_list_in in = args->in;
	uint32_t *handles = NULL, id = in.list_handle;
	int r = in.operation == AMDGPU_BO_LIST_OP_DESTROY ? 0 : read_handles(&in, &handles);

	if (r)
		return r;
	switch (in.operation) {
	case AMDGPU_BO_LIST_OP_CREATE:
		r = op_create(file, &in, handles, &id);
		break;
	case AMDGPU_BO_LIST_OP_DESTROY:
		kern_bo_list_put(kern_idr_remove(&file->lists, in.list_handle));
		id = 0;
		break;
	case AMDGPU_BO_LIST_OP_UPDATE:
		r = op_update(file, &in, handles);
		break;
	default:
		r = -EINVAL;
	}
	kern_free(handles);
	if (r)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.list_handle = id;
	return 0;
}

/* --- chunk lists --- */

/* The same numbers, and each still names the same buffer. */
static bool list_is(struct kern_file *file, const struct kern_bo_list *list, const uint32_t *handles,
		    unsigned count)
{
	if (!list || list->count != count || memcmp(list->handles, handles, count * sizeof(*handles)))
		return false;
	for (unsigned i = 0; i < count; i++) {
		struct kern_handle *handle = kern_handle_find(file, handles[i]);

		if (!handle || handle->bo != list->entry[i].bo)
			return false;
	}
	return true;
}

int kern_bo_list_of_chunk(struct kern_file *file, const struct drm_amdgpu_bo_list_in *in, struct kern_bo_list **out)
{
	struct kern_bo_list *list;
	uint32_t *handles;
	int r = read_handles(in, &handles);

	if (r)
		return r;
	if (list_is(file, file->recent, handles, in->bo_number)) {
		kern_free(handles);
		*out = kern_bo_list_get(file->recent);
		return 0;
	}
	list = list_create();
	r = list ? list_fill(file, list, handles, in->bo_number) : -ENOMEM;
	kern_call_current()->list = NULL;
	if (r) {
		kern_free(handles);
		kern_bo_list_put(list);
		return r;
	}
	list->handles = handles;
	kern_bo_list_put(file->recent);
	file->recent = list;
	*out = kern_bo_list_get(list);
	return 0;
}
