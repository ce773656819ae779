/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The system's header, and its ioctl codes as constants: they are computed by macros, which no
 * translator evaluates.
 */
#include <drm/radeon_drm.h>

static const unsigned int IOCTL_GEM_INFO = DRM_IOCTL_RADEON_GEM_INFO;
static const unsigned int IOCTL_GEM_CREATE = DRM_IOCTL_RADEON_GEM_CREATE;
static const unsigned int IOCTL_GEM_MMAP = DRM_IOCTL_RADEON_GEM_MMAP;
static const unsigned int IOCTL_GEM_SET_DOMAIN = DRM_IOCTL_RADEON_GEM_SET_DOMAIN;
static const unsigned int IOCTL_GEM_WAIT_IDLE = DRM_IOCTL_RADEON_GEM_WAIT_IDLE;
static const unsigned int IOCTL_CS = DRM_IOCTL_RADEON_CS;
static const unsigned int IOCTL_INFO = DRM_IOCTL_RADEON_INFO;
static const unsigned int IOCTL_GEM_SET_TILING = DRM_IOCTL_RADEON_GEM_SET_TILING;
static const unsigned int IOCTL_GEM_GET_TILING = DRM_IOCTL_RADEON_GEM_GET_TILING;
static const unsigned int IOCTL_GEM_BUSY = DRM_IOCTL_RADEON_GEM_BUSY;
static const unsigned int IOCTL_GEM_VA = DRM_IOCTL_RADEON_GEM_VA;
static const unsigned int IOCTL_GEM_OP = DRM_IOCTL_RADEON_GEM_OP;
static const unsigned int IOCTL_GEM_USERPTR = DRM_IOCTL_RADEON_GEM_USERPTR;
