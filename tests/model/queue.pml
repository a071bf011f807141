/* Model of how packets of an AQL queue are noticed and submitted: hsa/queue/packet.c, rt_queue_run() and rt_queue_attempt(),
 * flow/flow.c, flow_retire(), flow_attempt() and flow_gpu_flush(), with the stores of x86 held back in a buffer of each
 * thread until a fence or a locked instruction.
 *
 * Two producers publish three packets between them and ring. The second one waits for a gate that the host opens at
 * some time. A thread that finds the flow's lock (busy) free translates, at most BATCH packets, into the open job; then
 * it submits the job, or leaves it open (collecting) and has the progress thread submit it. A thread that waits flushes.
 * When nothing can happen any more, every packet has been read, and no job is open.
 *
 * -DNO_FENCE_PUBLISH, -DNO_FENCE_RELEASE: without one of the two fences a packet sleeps; -DNO_LOOK_AGAIN: the same when
 * the holder does not look again; -DNO_RELEASED: the same when the flusher does not; -DNO_STALL: a job stays open
 * when collecting queues no attempt. The test runs these, too: they must fail. */
#ifndef PACKETS
#define PACKETS 3 /* 2: a smaller model, for every day */
#endif
#define GATED   1
#define BATCH   2
#define THREADS 4 /* producers 0 and 1, progress 2, a thread that flushes 3 */

bit header[PACKETS + 1]; /* published; the last one never */
byte write_index, read_index;
bit busy, stopped, collecting, gate;
byte open; /* packets in the open job */
bit queued; /* the queue is in the progress thread's list; its lock makes changes visible at once */

/* The one store of a thread that matters at a time: 0: none, 1: header[arg] = 1, 2: busy = 0. */
byte kept[THREADS], arg[THREADS];

inline drain(t)
{
	d_step {
		if
		:: kept[t] == 1 -> header[arg[t]] = 1
		:: kept[t] == 2 -> busy = 0
		:: else
		fi;
		kept[t] = 0;
	}
}

/* A store that the buffer keeps; the one before goes first. */
inline keep(t, what, which)
{
	d_step {
		if
		:: kept[t] == 1 -> header[arg[t]] = 1
		:: kept[t] == 2 -> busy = 0
		:: else
		fi;
		kept[t] = what;
		arg[t] = which;
	}
}

/* A thread sees its own store before the others do. */
#define SEES_PACKET(t) (header[read_index] || (kept[t] == 1 && arg[t] == read_index))

proctype buffer(byte t)
{
end:	do
	:: atomic { kept[t] -> drain(t) }
	od
}

inline give_back(t)
{
	keep(t, 2, 0);
#ifndef NO_FENCE_RELEASE
	drain(t);
#endif
}

/* Holds busy: submits the open job. */
inline close()
{
	d_step { open = 0; collecting = 0 }
}

/* Holds busy: reads packets. */
inline translate(t)
{
	taken = 0;
	do
	:: taken == BATCH || !SEES_PACKET(t) -> break
	:: else ->
		if
		:: read_index == GATED && !gate ->
			stopped = 1;
			queued = 1;
			break
		:: else ->
			d_step { header[read_index] = 0; read_index++; taken++; open++ }
		fi
	od;
	/* flow_retire() */
	if
	:: open -> close()
	:: open ->
		/* the GPU has enough to do */
		collecting = 1;
#ifndef NO_STALL
		queued = 1
#endif
	:: !open
	fi
}

/* rt_queue_run(). */
inline read_packets(t)
{
	do
	:: stopped || !SEES_PACKET(t) -> break
	:: else ->
		/* a locked exchange: what the buffer holds is seen first */
		atomic { drain(t); was = busy; busy = 1 }
		if
		:: was -> break
		:: else ->
			translate(t);
			give_back(t);
#ifdef NO_LOOK_AGAIN
			break
#endif
		fi
	od
}

proctype producer(byte t; byte count)
{
	byte index, taken;
	bit was;

	do
	:: !count -> break
	:: else ->
		atomic { drain(t); index = write_index; write_index++ }
		keep(t, 1, index);
#ifndef NO_FENCE_PUBLISH
		drain(t);
#endif
		read_packets(t);
		count--
	od
}

/* A wait of the client: what was collected is submitted before it. */
proctype flusher(byte t)
{
	byte taken;
	bit was;

	do
	:: !collecting -> break
	:: else ->
		atomic { drain(t); was = busy; busy = 1 }
		if
		:: was
		:: else ->
			close();
			give_back(t);
#ifndef NO_RELEASED
			read_packets(t)
#endif
		fi
	od
}

proctype progress(byte t)
{
	byte taken;
	bit was;

end:	do
	:: queued ->
		/* the list is the thread's while it attempts */
		queued = 0;
		/* the end of the collecting time, or another look */
		atomic { drain(t); was = busy; busy = 1 }
		if
		:: was -> queued = 1
		:: else ->
			close();
			stopped = 0;
			give_back(t);
			read_packets(t);
			if
			:: stopped || collecting -> queued = 1
			:: else
			fi
		fi
	od
}

proctype host()
{
	gate = 1
}

init {
	atomic {
		run producer(0, PACKETS - 1);
		run producer(1, 1);
		run progress(2);
		run flusher(3);
		run host();
		run buffer(0);
		run buffer(1);
		run buffer(2);
		run buffer(3)
	}
	/* when nothing else can happen */
	timeout -> assert(read_index == PACKETS && !open)
}
