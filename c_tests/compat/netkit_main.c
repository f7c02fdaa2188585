/* The command line of netkit as a program of its own. */
#include "netkit.h"

#include <stdio.h>

int main(int argc, char** argv) {
    setvbuf(stdout, nullptr, _IONBF, 0);
    return nk_cli_run(argc, argv);
}
