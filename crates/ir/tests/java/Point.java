record Point(int x, Object tag) {
    static String text(Point point, int n) {
        Class<?> type = Point[].class;
        return "p" + point + n + type + 'c' + 1.5;
    }
}
