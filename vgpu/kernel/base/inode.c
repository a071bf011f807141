#include "vgpu/kernel/base/inode.h"

struct kern_inode *kern_inode_find(uint64_t dev, uint64_t ino)
{
	struct kern_list *head = kern_inode_bucket(ino);

	for (struct kern_list *pos = head->next; pos != head; pos = pos->next) {
		struct kern_inode *in = kern_entry(pos, struct kern_inode, hash);

		if (in->ino == ino && in->dev == dev)
			return in;
	}
	return NULL;
}

struct kern_inode *kern_inode_of_fd(int fd)
{
	struct stat st;

	return sys_fstat(fd, &st) ? NULL : kern_inode_find(st.st_dev, st.st_ino);
}
