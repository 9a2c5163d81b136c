# SAGUARO_WARNINGS: sets WARN_CFLAGS to the warnings every file is built with, and
# saguaro_clang to whether the compiler is clang.
AC_DEFUN([SAGUARO_WARNINGS], [
WARN_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wformat=2"
dnl Tables end in a row { NULL }, which gcc knows to be whole and clang 14 does not.
AC_MSG_CHECKING([whether the compiler is clang])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#ifndef __clang__
#error another compiler
#endif
]], [])], [AC_MSG_RESULT([yes])
	saguaro_clang=yes
	WARN_CFLAGS="$WARN_CFLAGS -Wno-missing-field-initializers"], [AC_MSG_RESULT([no])
	saguaro_clang=no])
AC_SUBST([WARN_CFLAGS])
])
