/* What the handler of tool_handlers.c does in front of each dispatch. */
#ifndef TESTS_HSA_TOOL_HANDLERS_H
#define TESTS_HSA_TOOL_HANDLERS_H

#define TOOL_TIMES 5000 /* more than fit into any queue */

enum tool_act {
	TOOL_NOTHING,
	TOOL_SERIALIZES, /* a barrier: the dispatch begins behind the last one of all queues */
	TOOL_LIMITS,     /* waits until an earlier dispatch has ended, as the library's thread tells it */
	TOOL_SUBMITS,    /* waits for a packet in a queue of its own */
	TOOL_CALLS,      /* calls functions on the queue */
	TOOL_REPEATS,    /* executes the dispatch TOOL_TIMES times */
};

#endif
