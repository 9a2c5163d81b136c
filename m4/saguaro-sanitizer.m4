# SAGUARO_SANITIZER: --with-sanitizer=LIST sets SAN_CFLAGS, used to compile and to link.
AC_DEFUN([SAGUARO_SANITIZER], [
AC_ARG_WITH([sanitizer],
	[AS_HELP_STRING([--with-sanitizer=LIST], [build with -fsanitize=LIST, e.g. address,undefined])],
	[], [with_sanitizer=no])
SAN_CFLAGS=
AS_IF([test "x$with_sanitizer" != xno],
	[SAN_CFLAGS="-fsanitize=$with_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"])
AC_SUBST([SAN_CFLAGS])
])
