/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the Lapidary drivers add to the interface of the radeon driver.
 *
 * Requests for DRM_IOCTL_RADEON_INFO. A driver without them answers -EINVAL.
 */
#ifndef LAPIDARY_DRM_H
#define LAPIDARY_DRM_H

/*
 * __u64: number of fences that a waiter got because the driver looked, not because an interrupt came. Anything
 * but 0 means that interrupts get lost.
 */
#define LAPIDARY_INFO_FENCES_POLLED 0x4c500000

#endif
