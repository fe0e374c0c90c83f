class Choices {
    int choose(Object value, int n) {
        switch (n) {
            case 1: return 10;
            case 2: case 3: n = 20; break;
            default: n = value instanceof String text && text.isEmpty() ? 1 : 2;
        }
        return value == null ? n : -n;
    }
    String name(String key) {
        return switch (key) { case "a" -> "first"; default -> "other"; };
    }
}
