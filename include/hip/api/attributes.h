/* Attributes of launches, of graphs' kernel nodes, and of streams. */
#ifndef HIP_API_ATTRIBUTES_H
#define HIP_API_ATTRIBUTES_H

#include <hip/api/device.h>

typedef enum hipAccessProperty {
	hipAccessPropertyNormal = 0,
	hipAccessPropertyStreaming = 1,
	hipAccessPropertyPersisting = 2
} hipAccessProperty;
typedef struct hipAccessPolicyWindow {
	void *base_ptr;
	hipAccessProperty hitProp;
	float hitRatio;
	hipAccessProperty missProp;
	size_t num_bytes;
} hipAccessPolicyWindow;

/* How a thread waits for a stream. The library waits in its own way, whatever the policy says. */
typedef enum hipSynchronizationPolicy {
	hipSyncPolicyAuto = 1,
	hipSyncPolicySpin = 2,
	hipSyncPolicyYield = 3,
	hipSyncPolicyBlockingSync = 4
} hipSynchronizationPolicy;

typedef struct hipLaunchMemSyncDomainMap {
	unsigned char default_;
	unsigned char remote;
} hipLaunchMemSyncDomainMap;

typedef enum hipLaunchAttributeID {
	hipLaunchAttributeAccessPolicyWindow = 1,
	hipLaunchAttributeCooperative = 2,
	hipLaunchAttributeSynchronizationPolicy = 3,
	hipLaunchAttributePriority = 8,
	hipLaunchAttributeMemSyncDomainMap = 9,
	hipLaunchAttributeMemSyncDomain = 10,
	hipLaunchAttributeMax = 11
} hipLaunchAttributeID;

/* Functions read and write the member of the attribute alone: before 7 a program has fewer bytes. */
typedef union hipLaunchAttributeValue {
#if TUFF_HIP_ABI >= 7
	char pad[64];
#endif
	hipAccessPolicyWindow accessPolicyWindow;
	int cooperative;
	int priority;
	hipSynchronizationPolicy syncPolicy;
	hipLaunchMemSyncDomainMap memSyncDomainMap;
	int memSyncDomain;
} hipLaunchAttributeValue;

typedef struct hipLaunchAttribute_st {
	hipLaunchAttributeID id;
	char pad[8 - sizeof(hipLaunchAttributeID)];
	__extension__ union {
		hipLaunchAttributeValue val;
		hipLaunchAttributeValue value;
	};
} hipLaunchAttribute;

#define hipStreamAttrID                         hipLaunchAttributeID
#define hipStreamAttrValue                      hipLaunchAttributeValue
#define hipStreamAttributeSynchronizationPolicy hipLaunchAttributeSynchronizationPolicy
#define hipStreamAttributePriority              hipLaunchAttributePriority

#endif
