/* What a call prints to C stdout, for tests of printing functions. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "check.h"

#include <unistd.h>

static char captured[64 * 1024];
static int capture_file, capture_stdout;

/* From here on stdout goes to a file. */
CHECK_UNUSED static void capture_begin(void) {
    char name[] = "/tmp/nk_capture_XXXXXX";
    fflush(stdout);
    capture_file = mkstemp(name);
    capture_stdout = dup(STDOUT_FILENO);
    if (capture_file < 0 || capture_stdout < 0 || dup2(capture_file, STDOUT_FILENO) < 0) {
        fprintf(stderr, "cannot redirect stdout\n");
        exit(2);
    }
    remove(name);
}

/* Stdout is as before; gives what was written meanwhile. What the library printed must have been flushed by itself. */
CHECK_UNUSED static const char *capture_end(void) {
    ssize_t size = pread(capture_file, captured, sizeof captured - 1, 0);
    captured[size > 0 ? size : 0] = '\0';
    fflush(stdout);
    dup2(capture_stdout, STDOUT_FILENO);
    close(capture_stdout);
    close(capture_file);
    return captured;
}

/* The call prints exactly this text. */
#define EXPECT_PRINTS(call, text)                                                                                      \
    do {                                                                                                               \
        capture_begin();                                                                                               \
        call;                                                                                                          \
        const char *printed = capture_end();                                                                           \
        EXPECT_THAT(strcmp(printed, (text)) == 0, "%s prints \"%s\"", #call, printed);                                 \
    } while (0)

#endif
