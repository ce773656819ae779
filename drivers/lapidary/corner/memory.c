// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Out-of-line copies of inline functions, for the memory code in Rust. They are exported because
 * family modules instantiate generic functions of the library that call them.
 */
#include <linux/aperture.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/highmem.h>
#include <linux/shmem_fs.h>
#include <linux/shrinker.h>
#include <drm/drm_device.h>
#include <drm/drm_vma_manager.h>

#include "memory.h"

unsigned long lapidary_page_to_pfn(const struct page *page)
{
	return page_to_pfn(page);
}
EXPORT_SYMBOL_GPL(lapidary_page_to_pfn);

bool lapidary_dma_mapping_error(struct device *dev, dma_addr_t addr)
{
	return dma_mapping_error(dev, addr);
}
EXPORT_SYMBOL_GPL(lapidary_dma_mapping_error);

bool lapidary_dma_need_sync(struct device *dev, dma_addr_t addr)
{
	return dma_need_sync(dev, addr);
}
EXPORT_SYMBOL_GPL(lapidary_dma_need_sync);

/*
 * Return the protection of device memory: write-combining, and not encrypted where the CPU encrypts
 * RAM.
 */
pgprot_t lapidary_pgprot_vram(pgprot_t prot)
{
	return pgprot_decrypted(pgprot_writecombine(prot));
}
EXPORT_SYMBOL_GPL(lapidary_pgprot_vram);

int lapidary_wc_reserve(resource_size_t start, resource_size_t size)
{
	return arch_io_reserve_memtype_wc(start, size);
}
EXPORT_SYMBOL_GPL(lapidary_wc_reserve);

void lapidary_wc_free(resource_size_t start, resource_size_t size)
{
	arch_io_free_memtype_wc(start, size);
}
EXPORT_SYMBOL_GPL(lapidary_wc_free);

void __iomem *lapidary_wc_map(resource_size_t start, size_t size)
{
	return ioremap_wc(start, size);
}
EXPORT_SYMBOL_GPL(lapidary_wc_map);

/*
 * Mark a mapping in the making: its pages are known by number only; it neither grows nor is dumped.
 */
void lapidary_vma_raw_pages(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
}
EXPORT_SYMBOL_GPL(lapidary_vma_raw_pages);

/* Mark a mapping in the making: it does not grow. */
void lapidary_vma_fixed(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTEXPAND);
}
EXPORT_SYMBOL_GPL(lapidary_vma_fixed);

bool lapidary_gem_get_unless_zero(struct drm_gem_object *object)
{
	return kref_get_unless_zero(&object->refcount);
}
EXPORT_SYMBOL_GPL(lapidary_gem_get_unless_zero);

/* Remove all page table entries of all mappings of an object. */
void lapidary_gem_unmap(struct drm_gem_object *object)
{
	drm_vma_node_unmap(&object->vma_node, object->dev->anon_inode->i_mapping);
}
EXPORT_SYMBOL_GPL(lapidary_gem_unmap);

/*
 * Give an object a shared-memory file, if it has none. The file is on the device's own mount, if
 * there is one. Takes no lock. Of two concurrent callers one installs its file and the other drops
 * its own.
 */
int lapidary_gem_file(struct drm_gem_object *object)
{
	const vma_flags_t flags = mk_vma_flags(VMA_NORESERVE_BIT);
	struct vfsmount *mount = drm_gem_get_huge_mnt(object->dev);
	struct file *file;

	if (READ_ONCE(object->filp))
		return 0;
	file = mount ? shmem_file_setup_with_mnt(mount, "lapidary", object->size, flags) :
		       shmem_file_setup("lapidary", object->size, flags);
	if (IS_ERR(file))
		/* Without memory for an inode this file system returns "no space". */
		return PTR_ERR(file) == -ENOSPC ? -ENOMEM : PTR_ERR(file);
	if (cmpxchg(&object->filp, NULL, file))
		fput(file);
	return 0;
}
EXPORT_SYMBOL_GPL(lapidary_gem_file);

/* Free the pages of an object. They are not pinned or mapped. Pages allocated later are zero. */
void lapidary_gem_discard(struct drm_gem_object *object)
{
	shmem_truncate_range(file_inode(object->filp), 0, (loff_t)-1);
}
EXPORT_SYMBOL_GPL(lapidary_gem_discard);

/*
 * Let new files of objects allocate their pages in pieces as large as fit, if the kernel supports
 * it.
 */
int lapidary_gem_large_pieces(struct drm_device *dev)
{
	int ret = drm_gem_huge_mnt_create(dev, "within_size");

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	/*
	 * The function may leave an error in huge_mnt, and objects would take their files from
	 * there.
	 */
	if (IS_ERR(dev->huge_mnt)) {
		ret = PTR_ERR(dev->huge_mnt);
		dev->huge_mnt = NULL;
	}
#endif
	return ret;
}
EXPORT_SYMBOL_GPL(lapidary_gem_large_pieces);

void lapidary_resv_assert_held(struct dma_resv *resv)
{
	dma_resv_assert_held(resv);
}
EXPORT_SYMBOL_GPL(lapidary_resv_assert_held);

/* Fill pages from device memory. */
void lapidary_pages_from_io(struct page **pages, size_t count, const void __iomem *from)
{
	size_t i;

	for (i = 0; i < count; i++, from += PAGE_SIZE) {
		void *to = kmap_local_page(pages[i]);

		memcpy_fromio(to, from, PAGE_SIZE);
		kunmap_local(to);
		cond_resched();
	}
}
EXPORT_SYMBOL_GPL(lapidary_pages_from_io);

/* Write pages to device memory. */
void lapidary_pages_to_io(struct page **pages, size_t count, void __iomem *to)
{
	size_t i;

	for (i = 0; i < count; i++, to += PAGE_SIZE) {
		const void *from = kmap_local_page(pages[i]);

		memcpy_toio(to, from, PAGE_SIZE);
		kunmap_local(from);
		cond_resched();
	}
}
EXPORT_SYMBOL_GPL(lapidary_pages_to_io);

struct lapidary_shrinker {
	struct shrinker *shrinker;
	void *data;
	unsigned long (*count)(void *data);
	unsigned long (*scan)(void *data, unsigned long want);
};

static unsigned long shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct lapidary_shrinker *own = shrinker->private_data;

	return own->count(own->data) ?: SHRINK_EMPTY;
}

static unsigned long shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct lapidary_shrinker *own = shrinker->private_data;

	return own->scan(own->data, sc->nr_to_scan);
}

/*
 * Return a registered shrinker, or NULL. Its callbacks may be called until lapidary_shrinker_free()
 * returns.
 */
struct lapidary_shrinker *lapidary_shrinker_new(const char *name, void *data,
						unsigned long (*count)(void *data),
						unsigned long (*scan)(void *data, unsigned long want))
{
	struct lapidary_shrinker *own = kzalloc(sizeof(*own), GFP_KERNEL);

	if (!own)
		return NULL;
	own->shrinker = shrinker_alloc(0, "drm-%s", name);
	if (!own->shrinker) {
		kfree(own);
		return NULL;
	}
	own->data = data;
	own->count = count;
	own->scan = scan;
	own->shrinker->count_objects = shrinker_count;
	own->shrinker->scan_objects = shrinker_scan;
	own->shrinker->private_data = own;
	shrinker_register(own->shrinker);
	return own;
}
EXPORT_SYMBOL_GPL(lapidary_shrinker_new);

void lapidary_shrinker_free(struct lapidary_shrinker *own)
{
	shrinker_free(own->shrinker);
	kfree(own);
}
EXPORT_SYMBOL_GPL(lapidary_shrinker_free);

int lapidary_aperture_evict(struct pci_dev *pdev, const char *name)
{
	return aperture_remove_conflicting_pci_devices(pdev, name);
}
EXPORT_SYMBOL_GPL(lapidary_aperture_evict);
