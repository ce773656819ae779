// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Plays the firmware's part: announces a frame buffer that firmware is said to have left, so that
 * simpledrm binds it and claims its memory. The guest's own firmware knows nothing of the GPU model.
 *
 * There is no module exit, because the driver that evicts the frame buffer unregisters the platform device.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/platform_data/simplefb.h>
#include <linux/platform_device.h>

static unsigned long long base;
module_param(base, ullong, 0);
MODULE_PARM_DESC(base, "physical address of the first pixel");

static unsigned int width = 640, height = 480, stride = 640 * 4;
module_param(width, uint, 0);
MODULE_PARM_DESC(width, "pixels in a line");
module_param(height, uint, 0);
MODULE_PARM_DESC(height, "lines");
module_param(stride, uint, 0);
MODULE_PARM_DESC(stride, "bytes from line to line");

static int __init firmware_fb_init(void)
{
	struct simplefb_platform_data mode = {
		.width = width,
		.height = height,
		.stride = stride,
		.format = "x8r8g8b8",
	};
	struct resource memory =
		DEFINE_RES_MEM_NAMED(base, (resource_size_t)stride * height, "BOOTFB");
	struct platform_device *fb;

	fb = platform_device_register_resndata(NULL, "simple-framebuffer", 0, &memory, 1,
					       &mode, sizeof(mode));
	return PTR_ERR_OR_ZERO(fb);
}
module_init(firmware_fb_init);

MODULE_DESCRIPTION("Announces a firmware frame buffer, for tests");
MODULE_LICENSE("Dual MIT/GPL");
