// What every start of a program costs: the floor of cold_bench.
int main() { return 0; }
