/* drv/: render nodes, device facts, topology, clock, chip table, configuration, log, errors, handles. This header
 * is the room's interface; each header below names its objects, owners and locks. */
#ifndef DRV_DRV_H
#define DRV_DRV_H

#include "drv/chip.h"
#include "drv/clock.h"
#include "drv/config.h"
#include "drv/device.h"
#include "drv/error.h"
#include "drv/handle.h"
#include "drv/lock.h"
#include "drv/log.h"
#include "drv/status.h"
#include "drv/topology.h"

#endif
