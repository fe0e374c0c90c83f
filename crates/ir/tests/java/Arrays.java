class Arrays {
    Object[][][] make(int n) {
        int[][] numbers = new int[n][2];
        return new Object[n][n][];
    }
}
