#include "print.h"

#include "port.h"

void print(const char *text) {
    port_puts(text);
}

void print_unsigned(uint64_t value) {
    char digits[21];
    char *at = digits + sizeof digits;
    *--at = '\0';
    /* Division of 64 bits is slow on small processors, and rarely needed. */
    for (; value > UINT32_MAX; value /= 10) {
        *--at = (char)('0' + value % 10);
    }
    uint32_t rest = (uint32_t)value;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    port_puts(at);
}

void print_float(float value) {
    if (value != value) {
        port_puts("nan");
        return;
    }
    if (value < 0) {
        port_puts("-");
        value = -value;
    }
    if (value >= 4e6f) {
        port_puts("more than 4000000");
        return;
    }
    uint32_t thousandths = (uint32_t)(value * 1000 + 0.5f);
    char decimals[] = ".000";
    for (uint32_t i = 3, rest = thousandths; i > 0; i--, rest /= 10) {
        decimals[i] = (char)('0' + rest % 10);
    }
    print_unsigned(thousandths / 1000);
    port_puts(decimals);
}
