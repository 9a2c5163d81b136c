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
