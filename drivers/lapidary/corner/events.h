/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints, system "lapidary": what happens to a submission, and to the GPU.
 *
 *   echo 1 >/sys/kernel/tracing/events/lapidary/enable; cat /sys/kernel/tracing/trace_pipe
 *
 * A fence has two numbers: its context, one for each ring, and its seqno in the context. The events
 * of dma_fence use the same two.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lapidary

#if !defined(LAPIDARY_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define LAPIDARY_EVENTS_H

#include <linux/tracepoint.h>

/* A client's commands have been proven harmless. */
TRACE_EVENT(lapidary_submit,
	TP_PROTO(u64 client, u32 dwords, u32 objects, u32 waits),
	TP_ARGS(client, dwords, objects, waits),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, dwords)
		__field(u32, objects)
		__field(u32, waits)
	),
	TP_fast_assign(
		__entry->client = client;
		__entry->dwords = dwords;
		__entry->objects = objects;
		__entry->waits = waits;
	),
	TP_printk("client=%llu dwords=%u objects=%u waits=%u",
		  __entry->client, __entry->dwords, __entry->objects, __entry->waits)
);

/* A job is on the ring. */
TRACE_EVENT(lapidary_commit,
	TP_PROTO(u64 context, u64 seqno, u64 addr, u32 dwords),
	TP_ARGS(context, seqno, addr, dwords),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u64, addr)
		__field(u32, dwords)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->seqno = seqno;
		__entry->addr = addr;
		__entry->dwords = dwords;
	),
	TP_printk("fence=%llu:%llu addr=%#llx dwords=%u",
		  __entry->context, __entry->seqno, __entry->addr, __entry->dwords)
);

/* A fence has signalled. */
TRACE_EVENT(lapidary_signalled,
	TP_PROTO(u64 context, u64 seqno, int error),
	TP_ARGS(context, seqno, error),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->seqno = seqno;
		__entry->error = error;
	),
	TP_printk("fence=%llu:%llu error=%d", __entry->context, __entry->seqno, __entry->error)
);

/* An object moves to another memory; address 0 is none. */
TRACE_EVENT(lapidary_move,
	TP_PROTO(u64 size, u64 from, u64 to),
	TP_ARGS(size, from, to),
	TP_STRUCT__entry(
		__field(u64, size)
		__field(u64, from)
		__field(u64, to)
	),
	TP_fast_assign(
		__entry->size = size;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("size=%llu from=%#llx to=%#llx", __entry->size, __entry->from, __entry->to)
);

/* A ring hangs in a job. The GPU is going to be reset. */
TRACE_EVENT(lapidary_reset,
	TP_PROTO(u32 ring, u64 seqno),
	TP_ARGS(ring, seqno),
	TP_STRUCT__entry(
		__field(u32, ring)
		__field(u64, seqno)
	),
	TP_fast_assign(
		__entry->ring = ring;
		__entry->seqno = seqno;
	),
	TP_printk("ring=%u job=%llu", __entry->ring, __entry->seqno)
);

/* A submission is refused. */
TRACE_EVENT(lapidary_refused,
	TP_PROTO(u64 client, u32 reason, u32 position, int error),
	TP_ARGS(client, reason, position, error),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, reason)
		__field(u32, position)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->client = client;
		__entry->reason = reason;
		__entry->position = position;
		__entry->error = error;
	),
	TP_printk("client=%llu reason=%#x position=%d error=%d",
		  __entry->client, __entry->reason, __entry->position, __entry->error)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <trace/define_trace.h>
