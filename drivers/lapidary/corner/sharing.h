/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions that Rust cannot call directly, for memory that is shared with other drivers or with a
 * process. See sharing.c.
 */
#ifndef LAPIDARY_SHARING_H
#define LAPIDARY_SHARING_H

#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

void lapidary_dma_buf_get(struct dma_buf *buf);
void *lapidary_pages_vmap(struct page **pages, unsigned int count);
void lapidary_pages_vunmap(void *address);
unsigned long lapidary_ram_pages(void);
void lapidary_workqueue_flush(struct workqueue_struct *wq);
long lapidary_user_pin(unsigned long start, unsigned long count, struct page **pages);
void lapidary_user_unpin(struct page **pages, unsigned long count);

#endif
