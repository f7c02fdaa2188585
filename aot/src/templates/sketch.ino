// Runs the network @file@ once on zeros and prints the output.
#include <@header@>

static @element@ input[@SYMBOL@_AOT_INPUT_ELEMENTS];
static @element@ output[@SYMBOL@_AOT_OUTPUT_ELEMENTS];

void setup() {
  Serial.begin(115200);
  const unsigned long start = micros();
  @run@(input, output);
  const unsigned long end = micros();
  for (unsigned i = 0; i < @SYMBOL@_AOT_OUTPUT_ELEMENTS; i++) {
    Serial.println(output[i]@digits@);
  }
  Serial.print(end - start);
  Serial.println(" us");
}

void loop() {}
