// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Out-of-line copies of inline functions, for memory that is shared with other drivers or with a process. Exported,
 * because family modules instantiate generic functions of the library that call them.
 */
#include <linux/export.h>

#include "sharing.h"

void lapidary_dma_buf_get(struct dma_buf *buf)
{
	get_dma_buf(buf);
}
EXPORT_SYMBOL_GPL(lapidary_dma_buf_get);

/* One range of the kernel's addresses for pages that lie apart, as ordinary memory. */
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

/* A macro. */
void lapidary_workqueue_flush(struct workqueue_struct *wq)
{
	flush_workqueue(wq);
}
EXPORT_SYMBOL_GPL(lapidary_workqueue_flush);
