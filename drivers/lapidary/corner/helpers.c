// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Out-of-line copies of static inline functions and of macros, for Rust.
 *
 * They are exported because generic Rust code that calls them is instantiated in the family modules.
 */
#include <linux/devcoredump.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/export.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <drm/drm_debugfs.h>
#include <drm/drm_device.h>
#include <drm/drm_print.h>

#include "extra.h"

struct dma_fence *lapidary_fence_get(struct dma_fence *fence)
{
	return dma_fence_get(fence);
}
EXPORT_SYMBOL_GPL(lapidary_fence_get);

void lapidary_fence_put(struct dma_fence *fence)
{
	dma_fence_put(fence);
}
EXPORT_SYMBOL_GPL(lapidary_fence_put);

bool lapidary_fence_is_signaled(struct dma_fence *fence)
{
	return dma_fence_is_signaled(fence);
}
EXPORT_SYMBOL_GPL(lapidary_fence_is_signaled);

void lapidary_fence_set_error(struct dma_fence *fence, int error)
{
	dma_fence_set_error(fence, error);
}
EXPORT_SYMBOL_GPL(lapidary_fence_set_error);

/* Return 0 while pending, 1 after success, a negative errno after an error. */
int lapidary_fence_status(struct dma_fence *fence)
{
	return dma_fence_get_status(fence);
}
EXPORT_SYMBOL_GPL(lapidary_fence_status);

/* Return whether this transaction has locked a reservation. If not, the caller has a bug. */
static bool locked_by(struct dma_resv *resv, const struct drm_exec *exec)
{
	return !WARN_ON_ONCE(READ_ONCE(resv->lock.ctx) != &exec->ticket);
}

/*
 * Return a pending fence of a context that is not one of count contexts from first on, which a
 * reader (or with write, a writer) has to wait for, with a reference, or NULL. The reservation need
 * not be locked.
 */
struct dma_fence *lapidary_resv_foreign(struct dma_resv *resv, bool write, u64 first, u64 count)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence, *found = NULL;

	dma_resv_iter_begin(&cursor, resv, dma_resv_usage_rw(write));
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (fence->context - first >= count) {
			found = dma_fence_get(fence);
			break;
		}
	}
	dma_resv_iter_end(&cursor);
	return found;
}
EXPORT_SYMBOL_GPL(lapidary_resv_foreign);

/*
 * Return which of count contexts from first on, at most 32, have a pending fence that a reader (or
 * with write, a writer) has to wait for, a bit for each. The reservation is locked, so no reference
 * to a fence is taken.
 */
u32 lapidary_resv_contexts(struct dma_resv *resv, bool write, u64 first, u64 count)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	u32 found = 0;

	dma_resv_for_each_fence(&cursor, resv, dma_resv_usage_rw(write), fence) {
		if (fence->context - first < count && !dma_fence_is_signaled(fence))
			found |= BIT(fence->context - first);
	}
	return found;
}
EXPORT_SYMBOL_GPL(lapidary_resv_contexts);

/*
 * From an array of addresses in user memory, copy the record of two numbers at each of the first
 * count. Return false if one does not exist.
 */
bool lapidary_gather(u64 array, u64 *to, size_t count)
{
	const u64 __user *at = u64_to_user_ptr(array);
	const u64 __user *record;
	u64 address;

	might_fault();
	for (; count; count--, at++, to += 2) {
		if (!user_read_access_begin(at, sizeof(*at)))
			return false;
		unsafe_get_user(address, at, fault);
		user_read_access_end();
		record = u64_to_user_ptr(address);
		if (!user_read_access_begin(record, 2 * sizeof(*record)))
			return false;
		unsafe_get_user(to[0], record, fault);
		unsafe_get_user(to[1], record + 1, fault);
		user_read_access_end();
	}
	return true;
fault:
	user_read_access_end();
	return false;
}
EXPORT_SYMBOL_GPL(lapidary_gather);

/*
 * Return the number of the last pending fence of a context, or 0. The reservation need not be
 * locked.
 */
u64 lapidary_resv_last(struct dma_resv *resv, u64 context)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	u64 last = 0;

	dma_resv_iter_begin(&cursor, resv, DMA_RESV_USAGE_READ);
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (fence->context == context)
			last = max(last, (u64)fence->seqno);
	}
	dma_resv_iter_end(&cursor);
	return last;
}
EXPORT_SYMBOL_GPL(lapidary_resv_last);

/*
 * Add a fence to a reservation that is locked by the transaction and has a reserved slot. The core
 * replaces a fence of the same context whose usage is not stronger.
 */
void lapidary_resv_attach(struct dma_resv *resv, const struct drm_exec *exec,
			  struct dma_fence *fence, enum dma_resv_usage usage)
{
	if (locked_by(resv, exec))
		dma_resv_add_fence(resv, fence, usage);
}
EXPORT_SYMBOL_GPL(lapidary_resv_attach);

/*
 * Look up the objects of handles under one lock, each with a reference. Return how many there are
 * before the first invalid handle.
 */
size_t lapidary_gem_look_up(struct drm_file *file, const u32 *handles,
			    struct drm_gem_object **objects, size_t count)
{
	struct drm_gem_object *object;
	size_t i;

	spin_lock(&file->table_lock);
	for (i = 0; i < count; i++) {
		object = idr_find(&file->object_idr, handles[i]);
		if (!object)
			break;
		drm_gem_object_get(object);
		objects[i] = object;
	}
	spin_unlock(&file->table_lock);
	return i;
}
EXPORT_SYMBOL_GPL(lapidary_gem_look_up);

/*
 * Begin a lock transaction that a signal may end, and in which objects may be named several times.
 */
void lapidary_exec_init(struct drm_exec *exec, unsigned int objects)
{
	drm_exec_init(exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, objects);
}
EXPORT_SYMBOL_GPL(lapidary_exec_init);

/* Tell lockdep that the code between the two calls can always make progress. */
bool lapidary_fence_begin_signalling(void)
{
	return dma_fence_begin_signalling();
}
EXPORT_SYMBOL_GPL(lapidary_fence_begin_signalling);

void lapidary_fence_end_signalling(bool cookie)
{
	dma_fence_end_signalling(cookie);
}
EXPORT_SYMBOL_GPL(lapidary_fence_end_signalling);

/* Make a queue for one device. It works under memory pressure, because retirement frees memory. */
struct workqueue_struct *lapidary_workqueue_create(const char *name)
{
	return alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM | WQ_HIGHPRI, name);
}
EXPORT_SYMBOL_GPL(lapidary_workqueue_create);

void lapidary_delayed_work_init(struct delayed_work *work, work_func_t func)
{
	INIT_DELAYED_WORK(work, func);
}
EXPORT_SYMBOL_GPL(lapidary_delayed_work_init);

/* Queue the work unless it is queued already. */
bool lapidary_delayed_work_queue(struct workqueue_struct *wq, struct delayed_work *work,
				 unsigned long delay)
{
	return queue_delayed_work(wq, work, delay);
}
EXPORT_SYMBOL_GPL(lapidary_delayed_work_queue);

/* Queue the work, or change the time of work that is queued already. */
bool lapidary_delayed_work_hasten(struct workqueue_struct *wq, struct delayed_work *work,
				  unsigned long delay)
{
	return mod_delayed_work(wq, work, delay);
}
EXPORT_SYMBOL_GPL(lapidary_delayed_work_hasten);

/* Log one line for developers who ask for it (drm.debug=2). Rate limited. */
void lapidary_refused(struct drm_device *dev, u32 position, const char *reason, size_t len)
{
	drm_dbg_ratelimited(dev, "commands refused at dword %u: %.*s\n", position, (int)len, reason);
}
EXPORT_SYMBOL_GPL(lapidary_refused);

/*
 * Return the fence of a synchronisation object, -ENOENT for an invalid handle, or another error if
 * nothing has been submitted.
 */
int lapidary_syncobj_find_fence(struct drm_file *file, u32 handle, u64 point,
				struct dma_fence **fence)
{
	return drm_syncobj_find_fence(file, handle, point, 0, fence);
}
EXPORT_SYMBOL_GPL(lapidary_syncobj_find_fence);

void lapidary_syncobj_get(struct drm_syncobj *syncobj)
{
	drm_syncobj_get(syncobj);
}
EXPORT_SYMBOL_GPL(lapidary_syncobj_get);

void lapidary_syncobj_put(struct drm_syncobj *syncobj)
{
	drm_syncobj_put(syncobj);
}
EXPORT_SYMBOL_GPL(lapidary_syncobj_put);

struct dma_fence *lapidary_syncobj_fence_get(struct drm_syncobj *syncobj)
{
	return drm_syncobj_fence_get(syncobj);
}
EXPORT_SYMBOL_GPL(lapidary_syncobj_fence_get);

/* Allocate a link of a timeline's chain. */
struct dma_fence_chain *lapidary_fence_link_alloc(void)
{
	return dma_fence_chain_alloc();
}
EXPORT_SYMBOL_GPL(lapidary_fence_link_alloc);

void lapidary_fence_link_free(struct dma_fence_chain *link)
{
	dma_fence_chain_free(link);
}
EXPORT_SYMBOL_GPL(lapidary_fence_link_free);

/*
 * Return whether every part of a fence has signalled or is of one of count contexts from first on.
 * Set the bits of those contexts in pending. Looks at a limited number of links; beyond that the
 * answer is no.
 */
bool lapidary_fence_is_ordered(struct dma_fence *fence, u64 first, u64 count, u32 links,
			       u32 *pending)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *part;
	bool ordered = true;

	dma_fence_unwrap_for_each(part, &cursor, fence) {
		u64 index = part->context - first;
		bool done = dma_fence_is_signaled(part);

		if ((done || index < count) && links--) {
			if (!done)
				*pending |= BIT(index);
			continue;
		}
		ordered = false;
		break;
	}
	if (!ordered) {
		/* The walk ended early and holds references. */
		dma_fence_put(cursor.chain);
	}
	return ordered;
}
EXPORT_SYMBOL_GPL(lapidary_fence_is_ordered);

/*
 * Return the object of a file with the lowest handle not below the given one, with a reference, or
 * NULL. The handle becomes that of the object.
 */
struct drm_gem_object *lapidary_gem_next(struct drm_file *file, u32 *handle)
{
	struct drm_gem_object *object = NULL;
	int id = *handle;

	spin_lock(&file->table_lock);
	if (id >= 0)
		object = idr_get_next(&file->object_idr, &id);
	if (object)
		drm_gem_object_get(object);
	spin_unlock(&file->table_lock);
	*handle = id;
	return object;
}
EXPORT_SYMBOL_GPL(lapidary_gem_next);

/* Return whether more than one client, or another driver, holds the object. */
bool lapidary_gem_is_shared(struct drm_gem_object *object)
{
	return drm_gem_object_is_shared_for_memory_stats(object);
}
EXPORT_SYMBOL_GPL(lapidary_gem_is_shared);

/* Print the line of the only engine. */
void lapidary_show_engine(struct drm_printer *printer, u64 nanoseconds)
{
	drm_printf(printer, "drm-engine-gfx:\t%llu ns\n", nanoseconds);
}
EXPORT_SYMBOL_GPL(lapidary_show_engine);

/* Return the number of the current process, and write its name to 16 bytes. */
int lapidary_current_task(char *name)
{
	strscpy_pad(name, current->comm, TASK_COMM_LEN);
	return task_tgid_nr(current);
}
EXPORT_SYMBOL_GPL(lapidary_current_task);

/*
 * Return the number of the current process, the time on the boot clock at which it began, and its
 * real user. A user who makes a user namespace can have as many users in it as are mapped there.
 * All of them count as the user who made the namespace.
 */
int lapidary_current_process(u32 *user, u64 *began)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	*user = __kuid_val(uid);
	*began = current->group_leader->start_boottime;
	return task_tgid_nr(current);
}
EXPORT_SYMBOL_GPL(lapidary_current_process);

/* Return nanoseconds on the boot clock. */
u64 lapidary_boot_time(void)
{
	return ktime_get_boottime_ns();
}
EXPORT_SYMBOL_GPL(lapidary_boot_time);

/* Tell user space that the GPU was reset, or that it needs a new probe. */
int lapidary_wedged(struct drm_device *dev, bool rebind, int pid, const char *name)
{
	struct drm_wedge_task_info info = { .pid = pid };

	if (name)
		strscpy(info.comm, name, sizeof(info.comm));
	return drm_dev_wedged_event(dev, rebind ? DRM_WEDGE_RECOVERY_REBIND :
				    DRM_WEDGE_RECOVERY_NONE, name ? &info : NULL);
}
EXPORT_SYMBOL_GPL(lapidary_wedged);
/* Keep a dump of a device. The kernel takes over the memory, which is from vmalloc(). */
void lapidary_coredump(struct device *dev, void *data, size_t len)
{
	dev_coredumpv(dev, data, len, GFP_KERNEL);
}
EXPORT_SYMBOL_GPL(lapidary_coredump);

/* Add a file to the device's folder in debugfs. */
void lapidary_debugfs_add(struct drm_device *dev, const char *name,
			  int (*show)(struct seq_file *, void *), void *data)
{
	drm_debugfs_add_file(dev, name, show, data);
}
EXPORT_SYMBOL_GPL(lapidary_debugfs_add);

/* Return the device of such a file, and the data that it was added with. */
struct drm_device *lapidary_debugfs_device(struct seq_file *seq, void **data)
{
	struct drm_debugfs_entry *entry = seq->private;

	*data = entry->file.data;
	return entry->dev;
}
EXPORT_SYMBOL_GPL(lapidary_debugfs_device);

void lapidary_clients_lock(struct drm_device *dev)
{
	mutex_lock(&dev->filelist_mutex);
}
EXPORT_SYMBOL_GPL(lapidary_clients_lock);

void lapidary_clients_unlock(struct drm_device *dev)
{
	mutex_unlock(&dev->filelist_mutex);
}
EXPORT_SYMBOL_GPL(lapidary_clients_unlock);

/* Return the open file after this one, or the first; NULL at the end. The list is locked. */
struct drm_file *lapidary_client_next(struct drm_device *dev, struct drm_file *last)
{
	struct list_head *next = last ? last->lhead.next : dev->filelist.next;

	return next == &dev->filelist ? NULL : list_entry(next, struct drm_file, lhead);
}
EXPORT_SYMBOL_GPL(lapidary_client_next);

/*
 * Return the core's number of an open file. Write the process behind it to pid, unless that is
 * NULL.
 */
u64 lapidary_client_id(struct drm_file *file, int *pid)
{
	if (pid) {
		rcu_read_lock();
		*pid = pid_nr(rcu_dereference(file->pid));
		rcu_read_unlock();
	}
	return file->client_id;
}
EXPORT_SYMBOL_GPL(lapidary_client_id);
