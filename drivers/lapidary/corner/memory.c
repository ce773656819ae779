// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Out-of-line copies of inline functions, for the memory code in Rust. Exported, because family
 * modules instantiate generic functions of the library that call them.
 */
#include <linux/aperture.h>
#include <linux/export.h>

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

/* Protection of device memory: write-combining, and not encrypted where the CPU encrypts RAM. */
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

/* For a mapping in the making: its pages are known by number only, it neither grows nor is dumped. */
void lapidary_vma_raw_pages(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
}
EXPORT_SYMBOL_GPL(lapidary_vma_raw_pages);

int lapidary_aperture_evict(struct pci_dev *pdev, const char *name)
{
	return aperture_remove_conflicting_pci_devices(pdev, name);
}
EXPORT_SYMBOL_GPL(lapidary_aperture_evict);
