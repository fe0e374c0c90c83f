class Handlers {
    static String step(String text) throws Exception { return text; }
    static String run(String text) {
        String state = "start";
        try {
            state = step(text);
            state = step(state);
        } catch (IllegalStateException | IllegalArgumentException e) {
            return state + e;
        } catch (Exception e) {
            throw new RuntimeException(e);
        } finally {
            System.out.println(state);
        }
        return text;
    }
}
