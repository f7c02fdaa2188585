// Runs a model that is part of the sketch and prints 3.00, 3.00 once a second.
#define NETKIT_TARGET_MCU_ARM 1
#include <nk.hpp>

#include "test_mlp_model.h"

static unsigned char memory[4096];
static nk::arena arena(memory);
static nk::model model;

void setup() {
    Serial.begin(115200);
    if (model.load(test_mlp_model, arena) != NK_OK) {
        Serial.println(nk_last_error());
    }
}

void loop() {
    const float input[] = {1, 2};
    float output[2];
    if (model.run(arena, input, output) == NK_OK) {
        Serial.print(output[0]);
        Serial.print(", ");
        Serial.println(output[1]);
    } else {
        Serial.println(nk_last_error());
    }
    delay(1000);
}
