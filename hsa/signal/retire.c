/* Signals whose completions the CPU applies: the progress thread applies them as they end. */
#include "hsa/signal/signals.h"

/* Visits each listed signal once; false: some have completions pending. */
static bool retire_attempt(struct rt *rt, struct rt_work *work)
{
	struct rt_signals *s = rt->signals;
	struct rt_signal *list, *signal;
	bool done;

	(void)work;
	pthread_mutex_lock(&s->retire_lock);
	list = s->retiring;
	s->retiring = NULL;
	while (list) {
		signal = list;
		list = signal->next_listed;
		signal->listed = false;
		pthread_mutex_unlock(&s->retire_lock);
		if (rt_signal_apply_completions(rt, signal))
			rt_signal_retire_later(rt, signal);
		pthread_mutex_lock(&s->retire_lock);
	}
	done = !s->retiring;
	pthread_mutex_unlock(&s->retire_lock);
	return done;
}

/* Takes no signal's lock, since the caller may hold one. */
void rt_signal_retire_later(struct rt *rt, struct rt_signal *signal)
{
	struct rt_signals *s = rt->signals;

	pthread_mutex_lock(&s->retire_lock);
	if (!signal->listed) {
		signal->listed = true;
		signal->next_listed = s->retiring;
		s->retiring = signal;
	}
	pthread_mutex_unlock(&s->retire_lock);
	rt_progress_add(rt, &s->retire);
}

void rt_retire_init(struct rt_signals *s)
{
	s->retire.attempt = retire_attempt;
	pthread_mutex_init(&s->retire_lock, NULL);
}
