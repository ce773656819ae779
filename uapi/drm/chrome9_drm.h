/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface of the DRM driver chrome9, version 1.0: render nodes of VIA Chrome9 HCM (VX855, VX875).
 *
 * A client creates objects, maps them, and submits streams of the command regulator (CR). A stream
 * names objects by relocations: the dwords that take a part of an address have zeroes there, and the
 * driver puts the address in. It checks each stream before the chip sees it. What it refuses changes
 * nothing.
 *
 * All structures have the same layout for 32-bit and 64-bit programs, and no holes. What is called
 * reserved has to be zero. Unknown flags are refused with -EINVAL. A later version may append fields
 * to a structure; a shorter structure of an older program counts as one with zeroes there.
 */
#ifndef CHROME9_DRM_H
#define CHROME9_DRM_H

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_CHROME9_GET_PARAM 0x00
#define DRM_CHROME9_GEM_CREATE 0x01
#define DRM_CHROME9_GEM_MMAP 0x02
#define DRM_CHROME9_GEM_WAIT 0x03
#define DRM_CHROME9_SUBMIT 0x04

/* Parameters, each a number of 64 bits. */

/* PCI device number of the graphics function. */
#define DRM_CHROME9_PARAM_CHIP 0
/* Bytes of the frame buffer that objects can have: all but the picture of firmware's display. */
#define DRM_CHROME9_PARAM_FRAME_BUFFER_SIZE 1
/* Bytes of addresses for system pages behind the GART. No object is larger. */
#define DRM_CHROME9_PARAM_GART_SIZE 2
/* The most that one submission may have. */
#define DRM_CHROME9_PARAM_MOST_DWORDS 3
#define DRM_CHROME9_PARAM_MOST_OBJECTS 4
#define DRM_CHROME9_PARAM_MOST_RELOCATIONS 5
#define DRM_CHROME9_PARAM_MOST_SYNCS 6
/* How often the chip had to be reset since the device was bound. */
#define DRM_CHROME9_PARAM_RESETS 7
/* Resets that submissions of this file have caused. */
#define DRM_CHROME9_PARAM_GUILTY_RESETS 8
/*
 * Refused submissions of this file, the number of the reason of the last one, and its position: the
 * index of a dword of the stream, of an object, of a relocation or of a synchronisation object,
 * depending on the reason, or 0xffffffff. All 0 before the first refusal. Documentation/chrome9/uapi.md
 * lists the numbers. Their meaning never changes.
 */
#define DRM_CHROME9_PARAM_REFUSALS 9
#define DRM_CHROME9_PARAM_REFUSAL_REASON 10
#define DRM_CHROME9_PARAM_REFUSAL_POSITION 11

/* Errors: -EINVAL for an unknown parameter. */
struct drm_chrome9_get_param {
	/* DRM_CHROME9_PARAM_* */
	__u32 param;
	__u32 reserved;
	/* The answer. */
	__u64 value;
};

/*
 * The object is in system pages. The 2D engine reaches the frame buffer only, and HQV is used with it
 * only, so such an object moves there while a stream uses it for one of these engines. Without the flag
 * the object is in the frame buffer, if there is room.
 */
#define DRM_CHROME9_GEM_SYSTEM (1 << 0)

/*
 * Create an object, which is zero.
 *
 * Errors: -EINVAL for size 0 and unknown flags; -ENOMEM.
 */
struct drm_chrome9_gem_create {
	/* Bytes; the answer is rounded up to whole pages. */
	__u64 size;
	/* DRM_CHROME9_GEM_* */
	__u32 flags;
	/* The answer: a handle, never 0. */
	__u32 handle;
};

/*
 * Return the offset at which mmap() of the device shows the object. A mapping begins at the beginning
 * of the object, and is shared.
 *
 * Errors: -ENOENT for an unknown handle.
 */
struct drm_chrome9_gem_mmap {
	__u32 handle;
	__u32 reserved;
	/* The answer. */
	__u64 offset;
};

/*
 * Wait until no submission uses the object.
 *
 * Errors: -ENOENT for an unknown handle; -ETIMEDOUT.
 */
struct drm_chrome9_gem_wait {
	__u32 handle;
	__u32 reserved;
	/* When to give up: nanoseconds of CLOCK_MONOTONIC. A time in the past only asks. */
	__s64 timeout_ns;
};

/* An object of a submission. Streams name it by its position in the list. */
struct drm_chrome9_object {
	__u32 handle;
	__u32 reserved;
};

/*
 * A part of an address. The list is sorted by dword, and for one dword by field.
 *
 * A 32-bit register has the whole address in one dword. Where an address is split into two parameters,
 * each of the two has a relocation, both with the same object and offset.
 */
struct drm_chrome9_relocation {
	/* Index of the dword in the stream. */
	__u32 dword;
	/* Index of the object in the list. */
	__u32 object;
	/* Bytes from the beginning of the object. */
	__u32 offset;
	/* Which address of the dword it is, if parts of several are in it: 0 is the one in the lowest bits. */
	__u32 field;
};

/* A synchronisation object. */
struct drm_chrome9_sync {
	__u32 handle;
	__u32 reserved;
	/* A point of its timeline; 0 for a binary object. */
	__u64 point;
};

/*
 * Execute a stream. It consists of units of 16 bytes, as the regulator fetches them.
 *
 * Errors: -EINVAL for a submission that is refused (see DRM_CHROME9_PARAM_REFUSAL_REASON); -ENOENT for
 * an unknown handle; -ENODATA for a synchronisation object or point that nothing submitted so far would
 * signal; -EFAULT; -ENOMEM if its objects do not fit together; -EBUSY if what it waits for takes more
 * than 30 s, or the chip does not work any more; -EPERM if the 2D engine or HQV is to use an object
 * that another driver uses; -EAGAIN if an object could not be cleared at this moment; -ECANCELED if
 * submissions of this file have hung the chip; -ENODEV when the device is gone.
 */
struct drm_chrome9_submit {
	/* Pointers to arrays of __u32, drm_chrome9_object, _relocation, and _sync twice. */
	__u64 stream;
	__u64 objects;
	__u64 relocations;
	__u64 wait;
	__u64 signal;
	/* Their lengths in elements. */
	__u32 dwords;
	__u32 object_count;
	__u32 relocation_count;
	__u32 wait_count;
	__u32 signal_count;
	/* There are none. */
	__u32 flags;
};

#define DRM_IOCTL_CHROME9_GET_PARAM \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_CHROME9_GET_PARAM, struct drm_chrome9_get_param)
#define DRM_IOCTL_CHROME9_GEM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_CHROME9_GEM_CREATE, struct drm_chrome9_gem_create)
#define DRM_IOCTL_CHROME9_GEM_MMAP \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_CHROME9_GEM_MMAP, struct drm_chrome9_gem_mmap)
#define DRM_IOCTL_CHROME9_GEM_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_CHROME9_GEM_WAIT, struct drm_chrome9_gem_wait)
#define DRM_IOCTL_CHROME9_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_CHROME9_SUBMIT, struct drm_chrome9_submit)

#if defined(__cplusplus)
}
#endif

#endif /* CHROME9_DRM_H */
