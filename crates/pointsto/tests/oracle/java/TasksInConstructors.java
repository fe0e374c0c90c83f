/** A task makes an object whose constructor makes such a task again. */
class TasksInConstructors {
    static class Worker extends Thread {
        public void run() {
            Server server = new Server();
            server.worker.start();
        }
    }

    static class Server {
        final Worker worker;

        Server() {
            worker = new Worker();
        }
    }

    public static void main(String[] args) {
        new Server().worker.start();
    }
}
