/* Runs one of many lowered networks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* includes */
typedef struct {
    const char *name;
    void (*run)(const void *input, void *output);
    int (*test)(void);
    size_t input_bytes, output_bytes;
} network_t;

static const network_t networks[] = {
/* table */
};

int main(int argc, char **argv) {
    size_t i;

    for (i = 0; argc > 1 && i < sizeof networks / sizeof *networks; i++) {
        const network_t *network = &networks[i];
        if (strcmp(network->name, argv[1]) == 0 && argc > 2) {
            return network->test();
        }
        if (strcmp(network->name, argv[1]) == 0) {
            /* Room of exactly the sizes, so that a sanitizer sees what is beyond. */
            void *input = malloc(network->input_bytes), *output = malloc(network->output_bytes);
            while (input && output && fread(input, network->input_bytes, 1, stdin) == 1) {
                memset(output, 0x55, network->output_bytes);
                network->run(input, output);
                fwrite(output, network->output_bytes, 1, stdout);
            }
            free(input);
            free(output);
            return 0;
        }
    }
    fprintf(stderr, "no such network\n");
    return 2;
}
