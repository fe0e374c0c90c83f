/** Tasks and constructors make each other at so many places that contexts of contexts grow beyond measure. */
class MultiplyingContexts {
    static class Node {
        Node left;
        Node right;
        Object value;
        Worker worker;

        Node(int depth) {
            value = this;
            if (depth > 0) {
                left = new Node(depth - 1);
                left = new Node(depth - 2);
                left = new Node(depth - 3);
                right = new Node(depth - 1);
                right = new Node(depth - 2);
                right = new Node(depth - 3);
                worker = new Worker(left);
                worker = new Worker(right);
                worker = new Worker(this);
                worker.start();
            }
        }
    }

    static class Worker extends Thread {
        Node node;

        Worker(Node node) {
            this.node = node;
        }

        public void run() {
            node.left = new Node(1);
            node.left.left = new Node(2);
            node.right = new Node(3);
            node.right.right = new Node(4);
            node.value = node.left.value;
        }
    }

    public static void main(String[] args) {
        new Node(3);
        new Node(4);
        new Node(5);
    }
}
