/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * C interfaces that the kernel's own Rust bindings lack. Static inlines have an out-of-line copy in
 * helpers.c and memory.c. The headers declare the rest.
 */
#ifndef LAPIDARY_EXTRA_H
#define LAPIDARY_EXTRA_H

#include <linux/hrtimer_types.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/workqueue.h>
#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>

#include "memory.h"
#include "sharing.h"

struct dma_fence *lapidary_fence_get(struct dma_fence *fence);
void lapidary_fence_put(struct dma_fence *fence);
bool lapidary_fence_is_signaled(struct dma_fence *fence);
void lapidary_fence_set_error(struct dma_fence *fence, int error);
int lapidary_fence_status(struct dma_fence *fence);

bool lapidary_gather(u64 array, u64 *to, size_t count);

struct dma_fence *lapidary_resv_foreign(struct dma_resv *resv, bool write, u64 first, u64 count);
u32 lapidary_resv_contexts(struct dma_resv *resv, bool write, u64 first, u64 count);
u64 lapidary_resv_last(struct dma_resv *resv, u64 context);
void lapidary_resv_attach(struct dma_resv *resv, const struct drm_exec *exec,
			  struct dma_fence *fence, enum dma_resv_usage usage);
size_t lapidary_gem_look_up(struct drm_file *file, const u32 *handles,
			    struct drm_gem_object **objects, size_t count);
void lapidary_exec_init(struct drm_exec *exec, unsigned int objects);
bool lapidary_fence_begin_signalling(void);
void lapidary_fence_end_signalling(bool cookie);

struct workqueue_struct *lapidary_workqueue_create(const char *name);
void lapidary_delayed_work_init(struct delayed_work *work, work_func_t func);
bool lapidary_delayed_work_queue(struct workqueue_struct *wq, struct delayed_work *work,
				 unsigned long delay);
bool lapidary_delayed_work_hasten(struct workqueue_struct *wq, struct delayed_work *work,
				  unsigned long delay);

int lapidary_current_task(char *name);
int lapidary_current_process(u32 *user, u64 *began);
u64 lapidary_boot_time(void);
int lapidary_wedged(struct drm_device *dev, bool rebind, int pid, const char *name);

void lapidary_refused(struct drm_device *dev, u32 position, const char *reason, size_t len);

struct drm_gem_object *lapidary_gem_next(struct drm_file *file, u32 *handle);
bool lapidary_gem_is_shared(struct drm_gem_object *object);
void lapidary_show_engine(struct drm_printer *printer, u64 nanoseconds);

void lapidary_coredump(struct device *dev, void *data, size_t len);
void lapidary_debugfs_add(struct drm_device *dev, const char *name,
			  int (*show)(struct seq_file *, void *), void *data);
struct drm_device *lapidary_debugfs_device(struct seq_file *seq, void **data);
u64 lapidary_client_id(struct drm_file *file, int *pid);
struct drm_file *lapidary_client_next(struct drm_device *dev, struct drm_file *last);
void lapidary_clients_lock(struct drm_device *dev);
void lapidary_clients_unlock(struct drm_device *dev);

void lapidary_event_submit(u64 client, u32 dwords, u32 objects, u32 waits);
void lapidary_event_commit(u64 context, u64 seqno, u64 addr, u32 dwords);
void lapidary_event_signalled(u64 context, u64 seqno, int error);
void lapidary_event_move(u64 size, u64 from, u64 to);
void lapidary_event_reset(u32 ring, u64 seqno);
void lapidary_event_refused(u64 client, u32 reason, u32 position, int error);
int lapidary_event_watch(u64 *sum);
void lapidary_event_unwatch(u64 *sum);

int lapidary_syncobj_find_fence(struct drm_file *file, u32 handle, u64 point,
				struct dma_fence **fence);
void lapidary_syncobj_get(struct drm_syncobj *syncobj);
void lapidary_syncobj_put(struct drm_syncobj *syncobj);
struct dma_fence *lapidary_syncobj_fence_get(struct drm_syncobj *syncobj);
struct dma_fence_chain *lapidary_fence_link_alloc(void);
void lapidary_fence_link_free(struct dma_fence_chain *link);
bool lapidary_fence_is_ordered(struct dma_fence *fence, u64 first, u64 count, u32 links,
			       u32 *pending);

#endif
