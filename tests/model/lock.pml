/* Model of drv/lock.h: the store that gives the lock back is held in a buffer of its thread until a locked instruction
 * or a system call of that thread, as x86 does, and may write over the mark of a sleeper.
 *
 * Threads take the lock ROUNDS times each. Never two have it, and all come to their end.
 *
 * -DNO_NAP: the same with sleeps that only a holder ends: then a thread sleeps for ever. The test runs this, too: it
 * must fail. */
#define THREADS 3
#ifndef ROUNDS
#define ROUNDS 2
#endif

byte state;          /* 0: free; 1: taken; 2: taken, and somebody may sleep */
bit kept[THREADS];   /* the store of 0 is in the thread's buffer */
bit asleep[THREADS];
byte inside;

inline drain(t)
{
	if
	:: kept[t] -> kept[t] = 0; state = 0
	:: else
	fi
}

proctype buffer(byte t)
{
end:	do
	:: atomic { kept[t] -> drain(t) }
	od
}

/* futex(FUTEX_WAIT) compares and sleeps at once. */
inline sleep(t)
{
	atomic { drain(t); asleep[t] = (state == 2) }
	do
	:: !asleep[t] -> break
#ifndef NO_NAP
	:: asleep[t] = 0; break
#endif
	od
}

inline take(t)
{
	atomic { drain(t); was = state; if :: !was -> state = 1 :: else fi }
	do
	:: !was -> break
	:: else ->
		atomic { drain(t); was = state; state = 2 }
		if
		:: was -> sleep(t)
		:: else
		fi
	od
}

inline give_back(t)
{
	was = state;
	kept[t] = 1;
	if
	:: was == 2 ->
		atomic {
			drain(t);
			if
			:: asleep[0] -> asleep[0] = 0
			:: asleep[1] -> asleep[1] = 0
			:: asleep[2] -> asleep[2] = 0
			:: else
			fi
		}
	:: else
	fi
}

proctype thread(byte t)
{
	byte was, round;

	do
	:: round == ROUNDS -> break
	:: else ->
		take(t);
		inside++;
		assert(inside == 1);
		inside--;
		give_back(t);
		round++
	od
}

init
{
	atomic {
		run buffer(0); run buffer(1); run buffer(2);
		run thread(0); run thread(1); run thread(2)
	}
}
