# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# Two commands matter: `make run` and `make check`. Both do all the set-up themselves, in a cache folder
# outside the checkout (XDG_CACHE_HOME), and both are idempotent.

.DEFAULT_GOAL := help
.PHONY: help run check check-long check-debug shell modules install bench oracle mesa fuzz mutants setup clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

run: ## set up, boot the guest on a model, load our modules, draw build/first-light.png (make run CHIP=rv770)
	@scripts/setup
	@scripts/enter scripts/first-light $(CHIP)

check: ## set up, run all tests, print one table (make check STEPS="word…" for some)
	@scripts/setup
	@scripts/enter scripts/check $(STEPS)

check-long: ## the tests that take too long for make check (make check-long STEPS="word…")
	@scripts/setup
	@scripts/enter scripts/check --long $(STEPS)

check-debug: ## all guest tests on a kernel that looks for leaks, races and stale pointers (make check-debug STEPS="word…")
	@scripts/setup
	@scripts/make-kernel debug >/dev/null
	@scripts/enter scripts/check-debug $(STEPS)

oracle: ## upstream's radeon.ko and our driver on all models, test by test (make oracle CHIP=rv770, STEPS="word…" for some)
	@scripts/setup
	@scripts/enter scripts/oracle $(CHIP) $(STEPS)

shell: ## an interactive guest on the model (make shell CHIP=rv515)
	@scripts/setup
	@scripts/enter scripts/shell $(CHIP)

bench: ## what both drivers cost on the same model: instructions, register accesses, allocations (make bench CHIP=rv770, ROWS="word…")
	@scripts/setup
	@scripts/enter scripts/bench $(if $(CHIP),--chip $(CHIP)) $(ROWS)

mesa: ## unmodified Mesa and libdrm_radeon on both drivers, and what they say (make mesa CHIP=r520)
	@scripts/setup
	@scripts/enter scripts/mesa $(CHIP)

fuzz: ## checkers against models, ten million streams from a fresh seed (make fuzz CHIP=rv770, N=…, SEED=… to repeat)
	@scripts/setup
	@scripts/enter scripts/fuzz "$(N)" "$(CHIP)"

mutants: ## make small faults in model and driver, one at a time: do the tests notice? (make mutants LIST=model|driver|writes)
	@scripts/setup
	@scripts/enter scripts/mutants $(LIST)

setup: ## only the set-up: Debian root, kernel, modules, programs
	@scripts/setup

# With KDIR the modules are built by the host's own tools against that kernel (for a real card);
# without it inside the Debian root against the kernel that the set-up built.
modules: ## build lapidary.ko, r500.ko and r600.ko (KDIR=… for another kernel)
ifdef KDIR
	@mkdir -p build/modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) MO=$(CURDIR)/build/modules LLVM=1 modules
else
	@scripts/setup modules
endif

install: ## install the modules built with KDIR into /lib/modules
	$(MAKE) -C $(or $(KDIR),$(error say KDIR=…, the kernel the modules are for)) \
		M=$(CURDIR) MO=$(CURDIR)/build/modules LLVM=1 modules_install

clean: ## remove build/ (the cache folder stays)
	rm -rf build
