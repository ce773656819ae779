// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Out-of-line copies of inline functions, for memory that is shared with other drivers or with a
 * process. They are exported because family modules instantiate generic functions of the library
 * that call them.
 */
#include <linux/export.h>

#include "sharing.h"

void lapidary_dma_buf_get(struct dma_buf *buf)
{
	get_dma_buf(buf);
}
EXPORT_SYMBOL_GPL(lapidary_dma_buf_get);

/* Map scattered pages to one range of kernel addresses, as ordinary memory. */
void *lapidary_pages_vmap(struct page **pages, unsigned int count)
{
	return vmap(pages, count, VM_MAP, PAGE_KERNEL);
}
EXPORT_SYMBOL_GPL(lapidary_pages_vmap);

void lapidary_pages_vunmap(void *address)
{
	vunmap(address);
}
EXPORT_SYMBOL_GPL(lapidary_pages_vunmap);

/* Return the number of pages of memory that the machine has. */
unsigned long lapidary_ram_pages(void)
{
	return totalram_pages();
}
EXPORT_SYMBOL_GPL(lapidary_ram_pages);

/* flush_workqueue() is a macro. */
void lapidary_workqueue_flush(struct workqueue_struct *wq)
{
	flush_workqueue(wq);
}
EXPORT_SYMBOL_GPL(lapidary_workqueue_flush);

/*
 * Return whether a range of the calling process is anonymous memory of its own. The lock of the
 * address space is held.
 */
static int own_memory(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;
	unsigned long at;

	for (at = start; at < end; at = vma->vm_end) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start > at)
			return -EFAULT;
		if (vma->vm_file)
			return -EPERM;
	}
	return 0;
}

/* Pin pages of the calling process for a long time, for reading and writing: all or none. */
long lapidary_user_pin(unsigned long start, unsigned long count, struct page **pages)
{
	struct mm_struct *mm = current->mm;
	unsigned long done = 0;
	long ret;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	ret = own_memory(mm, start, start + count * PAGE_SIZE);
	while (!ret && done < count) {
		long some = pin_user_pages(start + done * PAGE_SIZE, count - done,
					   FOLL_WRITE | FOLL_LONGTERM, pages + done);

		if (some > 0)
			done += some;
		else
			ret = some ? some : -EFAULT;
	}
	mmap_read_unlock(mm);
	if (ret)
		unpin_user_pages(pages, done);
	return ret;
}
EXPORT_SYMBOL_GPL(lapidary_user_pin);

/*
 * Unpin pages that the device may have written. Takes no page lock, because the holder of that lock
 * may wait for the device.
 */
void lapidary_user_unpin(struct page **pages, unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++)
		set_page_dirty(pages[i]);
	unpin_user_pages(pages, count);
}
EXPORT_SYMBOL_GPL(lapidary_user_unpin);
