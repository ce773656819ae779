/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An example of the chrome9 interface in C. It needs uapi/drm/chrome9_drm.h and libdrm:
 *
 *     cc -std=c99 -I uapi/drm -I /usr/include/libdrm tests/clients/chrome9/example.c -ldrm -o example
 *
 * It opens the first render node of the driver, fills a rectangle of an object by the 2D engine, waits, looks at the pixels,
 * and says what it found. The exit status is 0 if all of them are right.
 *
 * Numbers of registers are those of drivers/chrome9/registers/engine2d.xml; a test compares them.
 */
#define _POSIX_C_SOURCE 200809L
/* Offsets of objects have more than 32 bits, also for 32-bit programs. */
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "chrome9_drm.h"

/* Registers of the 2D engine, by their offsets. */
#define GECMD 0x0000
#define GEMODE 0x0004
#define PITCH 0x0008
#define DIMENSION 0x000c
#define DSTPOS 0x0010
#define DSTBASE 0x0014
#define KEYCONTROL 0x0048
#define MONOPATFGC 0x0058

/* A header: so many pairs of an offset and a value follow. */
#define REGISTERS_2D 0xfe000000u
/* What pads to a multiple of four dwords. */
#define NULL_DWORD 0xcc000000u

/* GEMODE: 32 bits a pixel. */
#define BPP_32 (3u << 8)
/* GECMD: a blit (1) with the raster operation "pattern" (F0h), where the pattern is one colour (bit 13). */
#define FILL (0xf0u << 24 | 1u << 13 | 1u)

/* The surface: 64 x 32 pixels of 4 bytes. */
#define WIDTH 64
#define HEIGHT 32
#define ROW (WIDTH * 4)
/* The rectangle. */
#define X 16
#define Y 8
#define W 32
#define H 16
#define COLOUR 0x00336699u

static int fail(const char *what)
{
	fprintf(stderr, "example: %s: %s\n", what, strerror(errno));
	return -1;
}

/* Open the first render node of the driver. */
static int open_device(void)
{
	int minor;

	for (minor = 128; minor < 192; minor++) {
		char path[64];
		drmVersionPtr version;
		int fd, found;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		version = drmGetVersion(fd);
		found = version && !strcmp(version->name, "chrome9");
		if (found)
			printf("%s: %s %d.%d.%d\n", path, version->name, version->version_major,
			       version->version_minor, version->version_patchlevel);
		drmFreeVersion(version);
		if (found)
			return fd;
		close(fd);
	}
	errno = ENODEV;
	return -1;
}

static int get_param(int fd, uint32_t param, uint64_t *value)
{
	struct drm_chrome9_get_param argument;

	memset(&argument, 0, sizeof(argument));
	argument.param = param;
	if (drmIoctl(fd, DRM_IOCTL_CHROME9_GET_PARAM, &argument))
		return fail("GET_PARAM");
	*value = argument.value;
	return 0;
}

/* Create an object and map it. */
static int create(int fd, uint64_t size, uint32_t *handle, uint32_t **pixels)
{
	struct drm_chrome9_gem_create create;
	struct drm_chrome9_gem_mmap map;
	void *address;

	memset(&create, 0, sizeof(create));
	create.size = size;
	if (drmIoctl(fd, DRM_IOCTL_CHROME9_GEM_CREATE, &create))
		return fail("GEM_CREATE");
	*handle = create.handle;
	memset(&map, 0, sizeof(map));
	map.handle = create.handle;
	if (drmIoctl(fd, DRM_IOCTL_CHROME9_GEM_MMAP, &map))
		return fail("GEM_MMAP");
	address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	if (address == MAP_FAILED)
		return fail("mmap");
	*pixels = (uint32_t *)address;
	return 0;
}

/* Submit a fill of the rectangle. */
static int fill(int fd, uint32_t handle)
{
	const uint32_t stream[] = {
		/* A header has four dwords. */
		REGISTERS_2D, 8, 0, 0,
		GEMODE, BPP_32,
		/* In units of 8 bytes; bits 31:16 are the destination's. */
		PITCH, (ROW / 8) << 16,
		DIMENSION, (H - 1) << 16 | (W - 1),
		DSTPOS, Y << 16 | X,
		/* The driver puts the address in: see the relocation. */
		DSTBASE, 0,
		KEYCONTROL, 0,
		MONOPATFGC, COLOUR,
		/* The last one, because it starts the engine. */
		GECMD, FILL,
		/* Padding to a whole unit would be here. This stream has five units; one without effect follows. */
		NULL_DWORD, NULL_DWORD, NULL_DWORD, NULL_DWORD,
	};
	struct drm_chrome9_object object;
	struct drm_chrome9_relocation relocation;
	struct drm_chrome9_submit submit;

	memset(&object, 0, sizeof(object));
	object.handle = handle;
	memset(&relocation, 0, sizeof(relocation));
	/* The value of DSTBASE. */
	relocation.dword = 13;
	relocation.object = 0;
	relocation.offset = 0;
	memset(&submit, 0, sizeof(submit));
	submit.stream = (uintptr_t)stream;
	submit.dwords = sizeof(stream) / sizeof(stream[0]);
	submit.objects = (uintptr_t)&object;
	submit.object_count = 1;
	submit.relocations = (uintptr_t)&relocation;
	submit.relocation_count = 1;
	if (drmIoctl(fd, DRM_IOCTL_CHROME9_SUBMIT, &submit)) {
		int error = errno;
		uint64_t reason = 0, position = 0;

		get_param(fd, DRM_CHROME9_PARAM_REFUSAL_REASON, &reason);
		get_param(fd, DRM_CHROME9_PARAM_REFUSAL_POSITION, &position);
		fprintf(stderr, "reason %#llx at %lld\n", (unsigned long long)reason,
			(long long)position);
		errno = error;
		return fail("SUBMIT");
	}
	return 0;
}

/* Wait until nothing uses the object, at most ten seconds. */
static int wait_idle(int fd, uint32_t handle)
{
	struct drm_chrome9_gem_wait wait;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	memset(&wait, 0, sizeof(wait));
	wait.handle = handle;
	wait.timeout_ns = (int64_t)(now.tv_sec + 10) * 1000000000 + now.tv_nsec;
	if (drmIoctl(fd, DRM_IOCTL_CHROME9_GEM_WAIT, &wait))
		return fail("GEM_WAIT");
	return 0;
}

int main(void)
{
	uint64_t chip = 0, frame_buffer = 0;
	uint32_t handle = 0, *pixels = NULL;
	unsigned int x, y, wrong = 0;
	int fd = open_device();

	if (fd < 0) {
		fail("no device");
		return 1;
	}
	if (get_param(fd, DRM_CHROME9_PARAM_CHIP, &chip) ||
	    get_param(fd, DRM_CHROME9_PARAM_FRAME_BUFFER_SIZE, &frame_buffer))
		return 1;
	printf("chip %04llx, %llu MiB of frame buffer\n", (unsigned long long)chip,
	       (unsigned long long)frame_buffer >> 20);
	if (create(fd, ROW * HEIGHT, &handle, &pixels) || fill(fd, handle) || wait_idle(fd, handle))
		return 1;
	for (y = 0; y < HEIGHT; y++) {
		for (x = 0; x < WIDTH; x++) {
			int inside = x >= X && x < X + W && y >= Y && y < Y + H;

			/* A new object is zero. */
			if (pixels[y * WIDTH + x] != (inside ? COLOUR : 0))
				wrong++;
		}
	}
	if (wrong) {
		printf("%u of %d pixels are wrong\n", wrong, WIDTH * HEIGHT);
		return 1;
	}
	printf("all %d pixels are right\n", WIDTH * HEIGHT);
	munmap(pixels, ROW * HEIGHT);
	close(fd);
	return 0;
}
