# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What saguaro.conf of a new installation sets. One of before stays as it is.
/^#m_key_file /c\
# Each port gets an M_Key of its own, which follows from a random key in this folder. An OpenSM beside\
# this subnet manager cannot set up ports then; one that comes after it cannot, either, unless you first remove this\
# line, run 'systemctl restart saguarod' and wait until 'saguaro status' says that the subnet is up: then no port has a key.\
m_key_file auto
/^#m_key_lease_period /c\
# Where the subnet manager and its keys are lost, ports can be taken over half an hour after somebody tried. OpenSM then\
# needs no key, only this time.\
m_key_lease_period 1800
/^#sm_key_file /c\
# Other subnet managers need a copy of this random key, or their port in allowed_sm_guids. An OpenSM beside or after this one is given\
# it as sm_key; until then it stays standby of nobody, and an alarm names it.\
sm_key_file auto
/^#sa_key_file /c\
# Programs that are to be trusted need a copy of this random key. They need it for OpenSM, too, if it is given the key as sa_key.\
sa_key_file auto
/^#dump_files_dir /s|.*|dump_files_dir /var/log/saguaro|
