// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The tracepoints of events.h, as functions. Rust can call only tracepoints that the kernel's own
 * headers declare.
 *
 * While an event is off, its function consists of a patched-out branch and a return.
 */
#include <linux/export.h>
#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "events.h"
#include "extra.h"

void lapidary_event_submit(u64 client, u32 dwords, u32 objects, u32 waits)
{
	trace_lapidary_submit(client, dwords, objects, waits);
}
EXPORT_SYMBOL_GPL(lapidary_event_submit);

void lapidary_event_commit(u64 context, u64 seqno, u64 addr, u32 dwords)
{
	trace_lapidary_commit(context, seqno, addr, dwords);
}
EXPORT_SYMBOL_GPL(lapidary_event_commit);

void lapidary_event_signalled(u64 context, u64 seqno, int error)
{
	trace_lapidary_signalled(context, seqno, error);
}
EXPORT_SYMBOL_GPL(lapidary_event_signalled);

void lapidary_event_move(u64 size, u64 from, u64 to)
{
	trace_lapidary_move(size, from, to);
}
EXPORT_SYMBOL_GPL(lapidary_event_move);

void lapidary_event_reset(u32 ring, u64 seqno)
{
	trace_lapidary_reset(ring, seqno);
}
EXPORT_SYMBOL_GPL(lapidary_event_reset);

void lapidary_event_refused(u64 client, u32 reason, u32 position, int error)
{
	trace_lapidary_refused(client, reason, position, error);
}
EXPORT_SYMBOL_GPL(lapidary_event_refused);

#if IS_ENABLED(CONFIG_KUNIT)
/* For the test: adds up the numbers of the fences that signal while this is registered. */
static void watch(void *data, u64 context, u64 seqno, int error)
{
	*(u64 *)data += context + seqno + (u64)-error;
}

int lapidary_event_watch(u64 *sum)
{
	return register_trace_lapidary_signalled(watch, sum);
}

void lapidary_event_unwatch(u64 *sum)
{
	unregister_trace_lapidary_signalled(watch, sum);
	tracepoint_synchronize_unregister();
}
#endif
