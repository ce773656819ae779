/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the Lapidary drivers add to the interface of the radeon driver.
 *
 * A program that wants to use an addition first asks DRM_IOCTL_RADEON_INFO for
 * LAPIDARY_INFO_FEATURES. Other drivers answer -EINVAL to that, and ignore the chunks below.
 */
#ifndef LAPIDARY_DRM_H
#define LAPIDARY_DRM_H

#include <linux/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Requests of DRM_IOCTL_RADEON_INFO, each with the value that is written through the pointer. */

/*
 * __u64: number of fences with a waiter that were signalled because the driver looked, not because
 * of an interrupt. If it is not 0, interrupts are lost.
 */
#define LAPIDARY_INFO_FENCES_POLLED 0x4c500000
/* __u64: set of LAPIDARY_FEATURE_* bits. */
#define LAPIDARY_INFO_FEATURES 0x4c500001
/* struct drm_lapidary_reset_status, of the open file that asks. */
#define LAPIDARY_INFO_RESET_STATUS 0x4c500002
/* struct drm_lapidary_last_refusal, of the open file that asks. */
#define LAPIDARY_INFO_LAST_REFUSAL 0x4c500003

/* DRM_IOCTL_RADEON_CS takes LAPIDARY_CHUNK_SYNC_IN and _OUT, binary objects and points of timelines. */
#define LAPIDARY_FEATURE_SYNCOBJ (1 << 0)
#define LAPIDARY_FEATURE_RESET_STATUS (1 << 1)
#define LAPIDARY_FEATURE_LAST_REFUSAL (1 << 2)
/* /proc/PID/fdinfo has drm-engine-gfx, and sizes of memory for vram, gtt and cpu. */
#define LAPIDARY_FEATURE_FDINFO (1 << 3)

struct drm_lapidary_reset_status {
	/* Resets of the GPU that a submission of this file caused. */
	__u32 guilty;
	/* Resets that other files caused while submissions of this file were under way. */
	__u32 innocent;
	/* Resets of the device, as RADEON_INFO_GPU_RESET_COUNTER. */
	__u32 resets;
	/* LAPIDARY_RESET_STATUS_* */
	__u32 flags;
};

/* Submissions of this file are refused with -ECANCELED from now on. */
#define LAPIDARY_RESET_STATUS_BANNED (1 << 0)

#define LAPIDARY_REFUSAL_TEXT_BYTES 104

/*
 * Why the last refused submission of this file was refused. The numbers of reasons are listed in
 * Documentation/radeon-uapi.md. The meaning of a number never changes.
 */
struct drm_lapidary_last_refusal {
	/* Refusals so far. If 0, the other fields have no meaning. */
	__u64 count;
	/*
	 * 0x1xx: the envelope, 0x2xx: a relocation, 0x3xx: a synchronisation object, 0x1000 and
	 * above: the commands; others: another cause.
	 */
	__u32 reason;
	/*
	 * Index of the dword of the commands, of the chunk, or of the entry at fault. 0xffffffff if
	 * there is none.
	 */
	__u32 position;
	/* The errno that the submission returned, positive. */
	__u32 error;
	/* 0. */
	__u32 pad;
	/* The reason in a few words, terminated by a zero. For people; it may change. */
	char text[LAPIDARY_REFUSAL_TEXT_BYTES];
};

/*
 * Chunks of DRM_IOCTL_RADEON_CS: arrays of struct drm_lapidary_sync, one chunk of each kind at
 * most, only together with commands. The commands are executed when all objects of SYNC_IN have
 * signalled. If the submission succeeds, the objects of SYNC_OUT receive its fence, in the order of
 * the entries. Otherwise they are not changed.
 */
#define LAPIDARY_CHUNK_SYNC_IN 0x4c500000
#define LAPIDARY_CHUNK_SYNC_OUT 0x4c500001

/* The most entries of such a chunk. */
#define LAPIDARY_MAX_SYNCS 256

struct drm_lapidary_sync {
	/* Handle of a synchronisation object of this file (DRM_IOCTL_SYNCOBJ_CREATE). */
	__u32 handle;
	/* 0. Any other value is refused. */
	__u32 flags;
	/* A point on the object's timeline, or 0 for a binary object. */
	__u64 point;
};

#if defined(__cplusplus)
}
#endif

#endif
