/* Reports of calls to tools. Without a tool a call costs no more than the test of hip_slow_flags. */
#include <string.h>

#include "api/tool/tool.h"
#include <hip/api/profile.h>

#define OFFSETS_MAX 14 /* arguments that HIP_ARGS_14 passes */
#define NESTED_MAX  8  /* calls of a thread inside one another: a tool may call HIP in its callbacks */
#define NUMBERS     512

/* --- the table of calls ----------------------------------------------------------------------- */

static const struct row {
	const char *name;
	uint16_t id;
	uint16_t offset_B[OFFSETS_MAX];
} call_rows[] = {
#if TUFF_HIP_ABI == 5
#define TOOL_CALL(name, five, six, seven, ...) {#name, five, {__VA_ARGS__}},
#elif TUFF_HIP_ABI == 6
#define TOOL_CALL(name, five, six, seven, ...) {#name, six, {__VA_ARGS__}},
#else
#define TOOL_CALL(name, five, six, seven, ...) {#name, seven, {__VA_ARGS__}},
#endif
#include "api/tool/tool_calls.h"
};

static const struct row *row_of(const char *function)
{
	for (size_t i = 0; i < sizeof(call_rows) / sizeof(call_rows[0]); i++)
		if (call_rows[i].id && !strcmp(call_rows[i].name, function))
			return &call_rows[i];
	return NULL;
}

const char *hipApiName(uint32_t id)
{
	for (size_t i = 0; id && i < sizeof(call_rows) / sizeof(call_rows[0]); i++)
		if (call_rows[i].id == id)
			return call_rows[i].name;
	return "unknown";
}

/* Copies the arguments to their offsets in the record; tools follow pointers themselves. A row without offsets
 * gives an empty record: with the default 0 the second argument would overwrite the first. */
static void fill_args(struct hip_tool_data *data, const struct row *row, const struct hip_arg *args)
{
	bool known = row->offset_B[1] || !args[0].value || !args[1].value;

	for (unsigned i = 0; known && i < OFFSETS_MAX && args[i].value; i++)
		if (row->offset_B[i] + args[i].size_B <= sizeof(data->args))
			memcpy(data->args + row->offset_B[i], args[i].value, args[i].size_B);
}

/* --- the tool --------------------------------------------------------------------------------- */

/* layout: AMD's hip_api_trace_data_t */
struct trace {
	struct hip_tool_data data;
	uint64_t enter_ns, more; /* the tool's own data */
	void (*enter)(uint32_t id, struct trace *trace);
	void (*exit)(uint32_t id, struct trace *trace);
};

typedef int (*tool_fn)(int domain, uint32_t operation, void *data);
static _Atomic(tool_fn) tool;

/* Calls the tool; 0: the tool wants a report. */
static int tool_query(int domain, uint32_t operation, void *data)
{
	tool_fn fn = atomic_load_explicit(&tool, memory_order_acquire);

	return fn ? fn(domain, operation, data) : -1;
}

/* Not held while a tool's function runs. */
static struct drv_lock tool_lock = DRV_LOCK(DRV_RANK_HIP_TOOL);

/* A thread of the parent may have the lock. */
static void lock_forked(void)
{
	tool_lock = (struct drv_lock)DRV_LOCK(DRV_RANK_HIP_TOOL);
}

__attribute__((constructor)) static void watch_forks(void)
{
	(void)!pthread_atfork(NULL, NULL, lock_forked);
}

/* False in a child of a process that had initialised HIP: such a child has no tool. */
static bool tool_lock_take(void)
{
	if (hip.child)
		return false;
	drv_lock(&tool_lock);
	return true;
}

/* The callback interface of HIP 5.2, which has a function for each number. */
#if TUFF_HIP_ABI == 5
typedef void *(*old_data_fn)(uint32_t id, void *record, const void *data, void *arg);
typedef void (*old_call_fn)(uint32_t domain, uint32_t id, const void *data, void *arg);
typedef void (*old_number_fn)(uint64_t number);
typedef void (*old_work_fn)(uint32_t op, void *record, void *arg);

struct old_calls {
	old_data_fn data; /* gives the record of a call, and is called again when the call has ended */
	void *data_arg;
	old_call_fn call;
	void *call_arg;
};

static struct {                         /* guarded by tool_lock */
	struct old_calls call[NUMBERS]; /* indexed by the number of the call */
	unsigned calls;                 /* entries that have `data` */
	old_number_fn number;
	old_work_fn work;
	void *work_arg;
	_Atomic bool wanted[HIP_TOOL_WORK_OPS];
	uint64_t numbers; /* operations reported so far */
} old_calls;

static bool old_is_on(void)
{
	return old_calls.calls ||
	       (old_calls.work && (old_calls.wanted[HIP_TOOL_DISPATCH] || old_calls.wanted[HIP_TOOL_COPY] ||
				   old_calls.wanted[HIP_TOOL_BARRIER]));
}
#endif

/* --- whether calls are reported --------------------------------------------------------------- */

static unsigned open_calls; /* of all threads, begun under a tool. Guarded by tool_lock */

static bool is_wanted_locked(void)
{
	drv_rank_assert(DRV_RANK_HIP_TOOL);
#if TUFF_HIP_ABI == 5
	if (old_is_on())
		return true;
#endif
	return atomic_load(&tool);
}

/* The flag stays while a call is open: without it the call would not be closed. */
static void set_flag_locked(void)
{
	if (is_wanted_locked() || open_calls)
		atomic_fetch_or(&hip_slow_flags, HIP_SLOW_TOOL);
	else
		atomic_fetch_and(&hip_slow_flags, ~HIP_SLOW_TOOL);
}

/* False: the tool has ended meanwhile. */
static bool report_open(void)
{
	bool wanted;

	if (!tool_lock_take())
		return false;
	wanted = is_wanted_locked();
	open_calls += wanted;
	drv_unlock(&tool_lock);
	return wanted;
}

static void report_close(void)
{
	if (!tool_lock_take())
		return;
	open_calls--;
	set_flag_locked();
	drv_unlock(&tool_lock);
}

/* --- calls of the thread ---------------------------------------------------------------------- */

struct call {
	const char *function; /* __func__ of the function that entered: compared as a pointer at exit */
	const struct row *row;
	bool reported, wants[HIP_TOOL_WORK_OPS];
	struct trace trace;
#if TUFF_HIP_ABI == 5
	struct old_calls old;
	struct hip_tool_data *old_data; /* borrowed from the tool */
#endif
};

struct calls {
	unsigned count;
	struct call call[NESTED_MAX];
};
static _Thread_local void *calls_memory; /* struct calls; NULL: not allocated yet */

/* The innermost call of the thread. NULL: none. */
static struct call *call_current(void)
{
	struct calls *calls = calls_memory;

	return calls && calls->count ? &calls->call[calls->count - 1] : NULL;
}

static void enter_new(struct call *c, const struct hip_arg *args)
{
	struct trace *t = &c->trace;

	for (uint32_t op = 0; op < HIP_TOOL_WORK_OPS; op++)
		c->wants[op] = !tool_query(HIP_TOOL_WORK, op, NULL);
	c->reported = c->row && !tool_query(HIP_TOOL_CALLS, c->row->id, t);
	if (!c->reported || !t->enter)
		return;
	fill_args(&t->data, c->row, args);
	t->enter(c->row->id, t);
}

#if TUFF_HIP_ABI == 5
static void enter_old(struct call *c, const struct hip_arg *args)
{
	if (!c->row || !tool_lock_take())
		return;
	c->old = old_calls.call[c->row->id];
	drv_unlock(&tool_lock);
	if (c->old.data)
		c->old_data = c->old.data(c->row->id, NULL, NULL, NULL);
	if (!c->old_data || !c->old.call)
		return;
	fill_args(c->old_data, c->row, args);
	c->old.call(HIP_TOOL_CALLS, c->row->id, c->old_data, c->old.call_arg);
	c->old_data->phase = HIP_TOOL_EXIT;
}

static void exit_old(struct call *c)
{
	if (!c->old_data)
		return;
	if (c->old.call)
		c->old.call(HIP_TOOL_CALLS, c->row->id, c->old_data, c->old.call_arg);
	c->old.data(c->row->id, NULL, NULL, c->old.data_arg);
}
#endif

void hip_tool_enter(const char *function, const struct hip_arg *args)
{
	struct calls *calls = hip_thread_memory(&calls_memory, sizeof(*calls));
	struct call *c;

	/* Out of memory, or nested too deep: the call runs without a report. */
	if (!calls || calls->count == NESTED_MAX || !report_open())
		return;
	c = &calls->call[calls->count];
	memset(c, 0, sizeof(*c));
	c->function = function;
	c->row = row_of(function);
	calls->count++;
	enter_new(c, args);
#if TUFF_HIP_ABI == 5
	enter_old(c, args);
#endif
}

void hip_tool_exit(const char *function)
{
	struct calls *calls = calls_memory;
	struct call *c = call_current();

	if (!c || c->function != function)
		return;
	hip_tool_report_ended();
	if (c->reported && c->trace.exit)
		c->trace.exit(c->row->id, &c->trace);
#if TUFF_HIP_ABI == 5
	exit_old(c);
#endif
	calls->count--;
	report_close();
}

/* --- work ------------------------------------------------------------------------------------- */

bool hip_tool_is_enabled(enum hip_tool_work_op op)
{
	const struct call *c = call_current();

#if TUFF_HIP_ABI == 5
	if (old_calls.work && old_calls.wanted[op])
		return true;
#endif
	return c && c->wants[op];
}

uint64_t hip_tool_correlation(void)
{
	const struct call *c = call_current();

#if TUFF_HIP_ABI == 5
	if (old_calls.work && old_calls.number) {
		uint64_t number = __atomic_fetch_add(&old_calls.numbers, 1, __ATOMIC_RELAXED);

		old_calls.number(number);
		return number;
	}
#endif
	return c && c->reported ? c->trace.data.correlation : 0;
}

void hip_tool_report(const struct hip_tool_record *record)
{
	struct hip_tool_record copy = *record;

#if TUFF_HIP_ABI == 5
	if (old_calls.work) {
		/* HIP 5.2 reports no kernel names. */
		if (copy.op == HIP_TOOL_DISPATCH)
			copy.bytes = 0;
		old_calls.work(copy.op, &copy, old_calls.work_arg);
		return;
	}
#endif
	(void)tool_query(HIP_TOOL_WORK, copy.op, &copy);
}

/* --- public functions ------------------------------------------------------------------------- */

void hipRegisterTracerCallback(int (*function)(int domain, uint32_t operation_id, void *data))
{
	if (!tool_lock_take())
		return;
	atomic_store_explicit(&tool, function, memory_order_release);
	set_flag_locked();
	drv_unlock(&tool_lock);
}

static const struct {
	uint32_t kind;
	const char *name;
} kind_rows[] = {
	{0, "InternalMarker"},
	{HIP_TOOL_KERNEL, "KernelExecution"},
	{HIP_TOOL_TO_HOST, "CopyDeviceToHost"},
	{HIP_TOOL_FROM_HOST, "CopyHostToDevice"},
	{HIP_TOOL_ON_DEVICE, "CopyDeviceToDevice"},
	{HIP_TOOL_MARKER, "Marker"},
	{HIP_TOOL_BOX_TO_HOST, "CopyDeviceToHost2D"},
	{HIP_TOOL_BOX_FROM_HOST, "CopyHostToDevice2D"},
	{HIP_TOOL_BOX_ON_DEVICE, "CopyDeviceToDevice2D"},
	{HIP_TOOL_FILL, "FillBuffer"},
};

const char *hipGetCmdName(uint32_t id)
{
	for (size_t i = 0; i < sizeof(kind_rows) / sizeof(kind_rows[0]); i++)
		if (kind_rows[i].kind == id)
			return kind_rows[i].name;
	return "Unknown command kind";
}

#if TUFF_HIP_ABI == 5
static bool is_number(uint32_t id)
{
	for (size_t i = 0; i < sizeof(call_rows) / sizeof(call_rows[0]); i++)
		if (id && call_rows[i].id == id)
			return true;
	return false;
}

static hipError_t set_call(uint32_t id, old_call_fn fn, void *arg)
{
	if (!is_number(id))
		return hipErrorInvalidValue;
	if (!tool_lock_take())
		return hipErrorNotInitialized;
	old_calls.call[id].call = fn;
	old_calls.call[id].call_arg = arg;
	drv_unlock(&tool_lock);
	return hipSuccess;
}

static hipError_t set_data(uint32_t id, old_data_fn fn, void *arg)
{
	if (!is_number(id))
		return hipErrorInvalidValue;
	if (!tool_lock_take())
		return hipErrorNotInitialized;
	old_calls.calls += !!fn;
	old_calls.calls -= !!old_calls.call[id].data;
	old_calls.call[id].data = fn;
	old_calls.call[id].data_arg = arg;
	set_flag_locked();
	drv_unlock(&tool_lock);
	return hipSuccess;
}

hipError_t hipRegisterApiCallback(uint32_t id, void *fn, void *arg)
{
	return set_call(id, (old_call_fn)fn, arg);
}

hipError_t hipRemoveApiCallback(uint32_t id)
{
	return set_call(id, NULL, NULL);
}

hipError_t hipRegisterActivityCallback(uint32_t id, void *fn, void *arg)
{
	return set_data(id, (old_data_fn)fn, arg);
}

hipError_t hipRemoveActivityCallback(uint32_t id)
{
	return set_data(id, NULL, NULL);
}

/* Called by the tool before it enables reports of work, and not again while work is reported. */
void hipInitActivityCallback(void *number_fn, void *work_fn, void *arg)
{
	if (!tool_lock_take())
		return;
	old_calls.number = (old_number_fn)number_fn;
	old_calls.work = (old_work_fn)work_fn;
	old_calls.work_arg = arg;
	drv_unlock(&tool_lock);
}

bool hipEnableActivityCallback(uint32_t op, bool enable)
{
	if (op >= HIP_TOOL_WORK_OPS || !tool_lock_take())
		return false;
	old_calls.wanted[op] = enable;
	set_flag_locked();
	drv_unlock(&tool_lock);
	return true;
}
#endif
