class Wide {
    long count;
    static double total;
    long next(long[] items, int i, long by) {
        items[i] += by;
        long old = count++;
        total *= 2;
        return old + (items[i] = by);
    }
}
