/* A plugin of QEMU that counts instructions: in all, and between the calls of layer_begins() and layer_ends() of
 * examples/firmware. It prints
 *
 *     layer COUNT        at the end of each layer
 *     total COUNT        when the program ends
 *
 * The addresses of the two functions are its arguments: begins=ADDRESS,ends=ADDRESS.
 *
 * QEMU's packages bring no header for plugins; the declarations are those of version 1 of its interface. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

enum { NO_REGISTERS = 0, INLINE_ADD = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*callback)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            void (*callback)(unsigned, void *),
                                            int flags,
                                            void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation, void *to, uint64_t by);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id, void *), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed, started;
static uint64_t begins, ends;

static void on_begin(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    started = executed;
}

static void on_end(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    fprintf(stderr, "layer %" PRIu64 "\n", executed - started);
}

static void translate(plugin_id id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, INLINE_ADD, &executed, 1);
        if (address == begins) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_begin, NO_REGISTERS, NULL);
        } else if (address == ends) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end, NO_REGISTERS, NULL);
        }
    }
}

static void finish(plugin_id id, void *data) {
    (void)id;
    (void)data;
    fprintf(stderr, "total %" PRIu64 "\n", executed);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id,
                                                               const struct qemu_info *info,
                                                               int argc,
                                                               char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "begins=", 7) == 0) {
            begins = strtoull(argv[i] + 7, NULL, 0);
        } else if (strncmp(argv[i], "ends=", 5) == 0) {
            ends = strtoull(argv[i] + 5, NULL, 0);
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
