# SAGUARO_WARNINGS: sets WARN_CFLAGS to the warnings every file is built with.
AC_DEFUN([SAGUARO_WARNINGS], [
WARN_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wformat=2"
AC_SUBST([WARN_CFLAGS])
])
