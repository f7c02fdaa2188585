
/* Runs the @count@ test cases of the model and returns how many fail: 0 if the network works here. */
int @symbol@_selftest(@parameters@);
