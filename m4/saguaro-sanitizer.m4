# SAGUARO_SANITIZER: --with-sanitizer=LIST sets SAN_CFLAGS, used to compile and to link,
# and CHECK_ASAN_OPTIONS, which the tests put in front of their ASAN_OPTIONS.
AC_DEFUN([SAGUARO_SANITIZER], [
AC_ARG_WITH([sanitizer],
	[AS_HELP_STRING([--with-sanitizer=LIST], [build with -fsanitize=LIST, e.g. address,undefined])],
	[], [with_sanitizer=no])
SAN_CFLAGS=
AS_IF([test "x$with_sanitizer" != xno],
	[SAN_CFLAGS="-fsanitize=$with_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"])
AC_SUBST([SAN_CFLAGS])
dnl clang's LeakSanitizer notes thread-local blocks as they are first used and reads them at
dnl the end; those of libomp's threads, which end meanwhile, are gone then, and it dies.
CHECK_ASAN_OPTIONS=
AS_IF([test "x$saguaro_clang" = xyes], [CHECK_ASAN_OPTIONS=intercept_tls_get_addr=0])
AC_SUBST([CHECK_ASAN_OPTIONS])
])
