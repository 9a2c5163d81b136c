/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "conf/opafm.h"

/*
 * Settings of opa-fm without effect here: either Saguaro has no such function, or the
 * function needs no setting. Settings with an effect are rows of option tables. A name with
 * '/' at its end is a section with everything in it.
 */
static const char *const ignored[] = {
	/* other managers */
	"Fe/",
	"Pm/",
	"PmPortGroups/",

	/* all managers */
	"Shared/Start",
	"Shared/Name",
	"Shared/Hfi",
	"Shared/Port",
	"Shared/StartupRetries",
	"Shared/StartupStableWait",
	"Shared/SubnetSize",
	"Shared/CoreDumpLimit",
	"Shared/CoreDumpDir",
	"Shared/ElevatedPriority",
	"Shared/LogLevel",
	"Shared/LogMode",
	"Shared/SyslogFacility",
	"Shared/SyslogMode",
	"Shared/SslSecurityEnable",
	"Shared/SslSecurityDir",
	"Shared/SslSecurityEnabled",
	"Shared/SslSecurityFmCertificate",
	"Shared/SslSecurityFmPrivateKey",
	"Shared/SslSecurityFmCaCertificate",
	"Shared/SslSecurityFmCertChainDepth",
	"Shared/SslSecurityFmDHParameters",
	"Shared/SslSecurityFmCaCRLEnable",
	"Shared/SslSecurityFmCaCRL",
	"Shared/Debug",
	"Shared/RmppDebug",
	"Shared/ConfigConsistencyCheckLevel",
	"Shared/APP_LogMask",
	"Shared/CAL_LogMask",
	"Shared/CS_LogMask",
	"Shared/DVR_LogMask",
	"Shared/FE_LogMask",
	"Shared/IF3_LogMask",
	"Shared/MAI_LogMask",
	"Shared/PA_LogMask",
	"Shared/PM_LogMask",
	"Shared/SA_LogMask",
	"Shared/SM_LogMask",

	/* subnet manager: several of them */
	"Sm/Start",
	"Sm/ElevatedPriority",
	"Sm/MasterPingInterval",
	"Sm/MasterPingMaxFail",
	"Sm/DbSyncInterval",
	"Sm/ConfigConsistencyCheckLevel",
	"Sm/MonitorStandby",

	/* routing and LIDs */
	"Sm/ForceRebalance",
	"Sm/ShortestPathBalanced",
	"Sm/LID",
	"Sm/LIDSpacing",
	"Sm/LidStrategy",
	"Sm/MulticastMask",
	"Sm/FatTreeTopology/Debug",
	"Sm/AdaptiveRouting/Debug",
	"Sm/HypercubeTopology/",
	"Sm/MeshTorusTopology/",
	"Sm/PreDefinedTopology/",
	"Sm/Multicast/",
	"Sm/SmAppliances/",

	/* links and lanes */
	"Sm/TimerScalingEnable",
	"Sm/VL15FlowControlDisable",
	"Sm/VL15CreditRate",
	"Sm/MinSharedVLMem",
	"Sm/DedicatedVLMemMulti",
	"Sm/WireDepthOverride",
	"Sm/ReplayDepthOverride",
	"Sm/DynamicPortAlloc",
	"Sm/CableInfoPolicy",
	"Sm/HFILinkPolicy/WidthPolicy/",
	"Sm/ISLLinkPolicy/WidthPolicy/",
	"Sm/LongTermPortQuarantine/",
	"Sm/Preemption/",
	"Sm/CongestionControl/Debug",
	"Sm/NeighborNormalRetries",
	"Sm/PortBounceLogLimit",
	"Sm/SwitchCascadeActivateEnable",

	/* subnet administration */
	"Sm/SaRespTime",
	"Sm/SaRmppChecksum",
	"Sm/NoReplyIfBusy",
	"Sm/QueryValidation",
	"Sm/DsapInUse",

	/* packets */
	"Sm/SmaBatchSize",
	"Sm/MaxParallelReqs",
	"Sm/LftMultiblock",
	"Sm/UseAggregateMADs",
	"Sm/CheckMftResponses",
	"Sm/SmaSpoofingCheck",
	"Sm/MinRespTimeout",
	"Sm/CumulativeTimeoutLimit",
	"Sm/SweepErrorsThreshold",
	"Sm/SweepAbandonThreshold",
	"Sm/TrapHoldDown",
	"Sm/TrapThreshold",
	"Sm/TrapThresholdMinCount",
	"Sm/TrapLogSuppressTriggerInterval",
	"Sm/TrapSubscriptions/",
	"Sm/McDosThreshold",
	"Sm/McDosInterval",
	"Sm/McDosAction",
	"Sm/NonRespTimeout",
	"Sm/NonRespMaxCount",
	"Sm/NodeAppearanceMsgThreshold",
	"Sm/ForceAttributeRewrite",
	"Sm/SkipAttributeWrite",
	"Sm/UseCachedNodeData",
	"Sm/PsThreads",

	/* aids for developers */
	"Sm/SmPerfDebug",
	"Sm/SaPerfDebug",
	"Sm/LoopTestOn",
	"Sm/LoopTestFastMode",
	"Sm/LoopTestPackets",
	"Sm/LoopbackMode",
	"Sm/DebugJm",
	"Sm/DebugVf",
	"Sm/DebugRouting",
	"Sm/DebugLidAssign",
};

/* "Shared" holds for every manager, so Sm may set the same itself. */
static bool is_shared(const char *path)
{
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		if (strncmp(ignored[i], "Shared/", 7) == 0 &&
		    strcmp(ignored[i] + 7, path) == 0) {
			return true;
		}
	}
	return false;
}

enum opafm_known opafm_known(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		size_t n = strlen(ignored[i]);
		bool section = ignored[i][n - 1] == '/';
		if (len == n - section && strncmp(ignored[i], path, len) == 0) {
			return section ? OPAFM_IGNORED_SECTION : OPAFM_IGNORED;
		}
	}
	return strncmp(path, "Sm/", 3) == 0 && is_shared(path + 3) ? OPAFM_IGNORED
	                                                           : OPAFM_UNKNOWN;
}
