/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Inline functions of the memory code that Rust cannot call. See memory.c. */
#ifndef LAPIDARY_MEMORY_H
#define LAPIDARY_MEMORY_H

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <drm/drm_gem.h>

unsigned long lapidary_page_to_pfn(const struct page *page);
bool lapidary_dma_mapping_error(struct device *dev, dma_addr_t addr);
bool lapidary_dma_need_sync(struct device *dev, dma_addr_t addr);
pgprot_t lapidary_pgprot_vram(pgprot_t prot);
int lapidary_wc_reserve(resource_size_t start, resource_size_t size);
void lapidary_wc_free(resource_size_t start, resource_size_t size);
void __iomem *lapidary_wc_map(resource_size_t start, size_t size);
void lapidary_vma_raw_pages(struct vm_area_struct *vma);
void lapidary_vma_fixed(struct vm_area_struct *vma);
bool lapidary_gem_get_unless_zero(struct drm_gem_object *object);
void lapidary_gem_unmap(struct drm_gem_object *object);
int lapidary_gem_file(struct drm_gem_object *object);
void lapidary_gem_discard(struct drm_gem_object *object);
int lapidary_gem_large_pieces(struct drm_device *dev);
void lapidary_resv_assert_held(struct dma_resv *resv);
void lapidary_pages_from_io(struct page **pages, size_t count, const void __iomem *from);
void lapidary_pages_to_io(struct page **pages, size_t count, void __iomem *to);

struct lapidary_shrinker;
struct lapidary_shrinker *lapidary_shrinker_new(const char *name, void *data,
						unsigned long (*count)(void *data),
						unsigned long (*scan)(void *data, unsigned long want));
void lapidary_shrinker_free(struct lapidary_shrinker *shrinker);
int lapidary_aperture_evict(struct pci_dev *pdev, const char *name);

#endif
