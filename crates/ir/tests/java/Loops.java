class Loops {
    int nested(int[][] rows) {
        int sum = 0;
        for (int[] row : rows) {
            for (int item : row) {
                if (item == 0) continue;
                sum += item;
            }
        }
        return sum;
    }

    synchronized void locked(Object lock) {
        synchronized (lock) {
            nested(null);
        }
    }
}
