# SAGUARO_FUZZER: --with-fuzzer builds the fuzz targets with libFuzzer (clang) in place of
# the program that replays their corpora. FUZZ_CFLAGS for every file, FUZZ_LIBS for targets.
AC_DEFUN([SAGUARO_FUZZER], [
AC_ARG_WITH([fuzzer],
	[AS_HELP_STRING([--with-fuzzer], [fuzz targets with libFuzzer; needs CC=clang; see 'make fuzz'])],
	[], [with_fuzzer=no])
FUZZ_CFLAGS=
FUZZ_LIBS=
AS_IF([test "x$with_fuzzer" != xno], [
	FUZZ_CFLAGS=-fsanitize=fuzzer-no-link
	FUZZ_LIBS=-fsanitize=fuzzer
	saguaro_cflags=$CFLAGS
	CFLAGS="$CFLAGS $FUZZ_CFLAGS"
	AC_MSG_CHECKING([for libFuzzer])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_ERROR([--with-fuzzer needs clang and its runtime: CC=clang])])
	CFLAGS=$saguaro_cflags])
AM_CONDITIONAL([WITH_FUZZER], [test "x$with_fuzzer" != xno])
AC_SUBST([FUZZ_CFLAGS])
AC_SUBST([FUZZ_LIBS])
])
