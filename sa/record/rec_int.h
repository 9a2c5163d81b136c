/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * What the files of attributes share: the bits of the record identifier (RID), which is in
 * front of the attribute in a record. It is a LID, and a port or block number. 32 bits are
 * enough for NodeRecord, PortInfoRecord, SwitchInfoRecord and SMInfoRecord of InfiniBand;
 * tables and all records of Omni-Path have 64.
 */
enum { RID32 = 32, RID32_BYTES = RID32 / 8, RID = 64, RID_BYTES = RID / 8 };

/* The last components of a ServiceRecord, which Omni-Path has in the same order at another bit. */
/* clang-format off */
#define SERVICE_FIELDS(base) \
	{ "ServiceKey",       (base),        128, SA_EQ | SA_LIST8 }, \
	{ "ServiceName",      (base) +  128, 512, SA_EQ | SA_TEXT }, \
	{ "ServiceData8.1",   (base) +  640,   8, SA_EQ }, \
	{ "ServiceData8.2",   (base) +  648,   8, SA_EQ }, \
	{ "ServiceData8.3",   (base) +  656,   8, SA_EQ }, \
	{ "ServiceData8.4",   (base) +  664,   8, SA_EQ }, \
	{ "ServiceData8.5",   (base) +  672,   8, SA_EQ }, \
	{ "ServiceData8.6",   (base) +  680,   8, SA_EQ }, \
	{ "ServiceData8.7",   (base) +  688,   8, SA_EQ }, \
	{ "ServiceData8.8",   (base) +  696,   8, SA_EQ }, \
	{ "ServiceData8.9",   (base) +  704,   8, SA_EQ }, \
	{ "ServiceData8.10",  (base) +  712,   8, SA_EQ }, \
	{ "ServiceData8.11",  (base) +  720,   8, SA_EQ }, \
	{ "ServiceData8.12",  (base) +  728,   8, SA_EQ }, \
	{ "ServiceData8.13",  (base) +  736,   8, SA_EQ }, \
	{ "ServiceData8.14",  (base) +  744,   8, SA_EQ }, \
	{ "ServiceData8.15",  (base) +  752,   8, SA_EQ }, \
	{ "ServiceData8.16",  (base) +  760,   8, SA_EQ }, \
	{ "ServiceData16.1",  (base) +  768,  16, SA_EQ }, \
	{ "ServiceData16.2",  (base) +  784,  16, SA_EQ }, \
	{ "ServiceData16.3",  (base) +  800,  16, SA_EQ }, \
	{ "ServiceData16.4",  (base) +  816,  16, SA_EQ }, \
	{ "ServiceData16.5",  (base) +  832,  16, SA_EQ }, \
	{ "ServiceData16.6",  (base) +  848,  16, SA_EQ }, \
	{ "ServiceData16.7",  (base) +  864,  16, SA_EQ }, \
	{ "ServiceData16.8",  (base) +  880,  16, SA_EQ }, \
	{ "ServiceData32.1",  (base) +  896,  32, SA_EQ }, \
	{ "ServiceData32.2",  (base) +  928,  32, SA_EQ }, \
	{ "ServiceData32.3",  (base) +  960,  32, SA_EQ }, \
	{ "ServiceData32.4",  (base) +  992,  32, SA_EQ }, \
	{ "ServiceData64.1",  (base) + 1024,  64, SA_EQ }, \
	{ "ServiceData64.2",  (base) + 1088,  64, SA_EQ }
/* clang-format on */
